/* The time of an event given in several columns (private to tomo_events). Local, thread-safe. */
#ifndef TOMO_EVENT_TIME_H
#define TOMO_EVENT_TIME_H

#include "apps/tomography/readers/tomo_text.h"

enum { EVENT_TIME_PARTS = 6 }; /* year, month, day, hour, minute, second */

/* Fields of a row; "" if the row or the table does not have the field. */
typedef struct event_time {
  const char *date; /* ISO 8601; has no time of day if `time` has one */
  const char *time; /* a time of day, or a complete ISO 8601 time, which is then used alone */
  const char *const *part; /* [EVENT_TIME_PARTS] */
  /* true if the table has a column for the date or year, so that a number in `time` is not a
   * year */
  bool has_day;
} event_time;

/* Combines the fields to seconds (tomo_time.h). NaN: no field is given, or the year is before 1.
 * Errors: a part that is not a number or not valid; a later part without an earlier one; a time of
 * day without a day; with a column for the date, a `time` that is neither a time of day nor
 * complete; two different days. */
osla_err event_time_read(const text_reader *reader, const event_time *fields, double *time_s);

/* Error IO if a table has a column for a later part but none for an earlier one, and no column for
 * the time. */
osla_err event_time_check_header(const text_reader *reader, bool has_date, bool has_time,
                                 const int column[EVENT_TIME_PARTS]);

#endif
