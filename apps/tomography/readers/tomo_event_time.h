/* Private to tomo_events: the time of an event whose parts stand in several columns. Local,
 * thread-safe. */
#ifndef TOMO_EVENT_TIME_H
#define TOMO_EVENT_TIME_H

#include "apps/tomography/readers/tomo_text.h"

enum { EVENT_TIME_PARTS = 6 }; /* year, month, day, hour, minute, second */

/* The fields of a row; "" where the row or the table has none. */
typedef struct event_time {
  const char *date;        /* ISO 8601; without a time of day if `time` holds one */
  const char *time;        /* a time of day, or a time of ISO 8601, which then counts alone */
  const char *const *part; /* [EVENT_TIME_PARTS], as far as they are given */
  bool has_day; /* the table has a column for the date or the year: `time` alone is no year */
} event_time;

/* Combines them to seconds (tomo_time.h). NaN: nothing is given, or a year before 1. Errors: a part
 * that is no number or no time, and one that would not count: a later part without an earlier one,
 * a time of day without a day, a time that is neither a time of day nor complete where there is a
 * date, and two days that differ. */
osla_err event_time_read(const text_reader *reader, const event_time *fields, double *time_s);

/* Refuses a table with a column for a later part and none for an earlier one, unless it has a
 * column for the time. */
osla_err event_time_check_header(const text_reader *reader, bool has_date, bool has_time,
                                 const int column[EVENT_TIME_PARTS]);

#endif
