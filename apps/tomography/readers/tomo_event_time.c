/* Combines the columns of a table that hold an event's time (contract: tomo_text.h).
 *
 * Catalogues write the time in one column, as a date and a time of day (the ISC), as a date with
 * columns for hour, minute and second, or with a column for each part (OpenQuake, NOAA).
 */
#include "apps/tomography/readers/tomo_text.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { YEAR, MONTH, DAY, HOUR, MINUTE, SECOND, PARTS = EVENT_TIME_PARTS };
static const char *const names[PARTS] = {"year", "month", "day", "hour", "minute", "second"};
/* lower bound for reading a year; earlier than any year in a catalogue */
static const double any_year = -99999.0;

/* True for one or two digits and a colon, for example "02:00" or "2:00:31.8". */
static bool is_time_of_day(const char *text)
{
  const size_t digits = strspn(text, "0123456789");
  return digits > 0 && digits <= 2 && text[digits] == ':';
}

/* True for an ISO 8601 date followed by more text. */
static bool has_day_and_more(const char *text)
{
  if (*text == '-') text++;
  return strlen(text) > 10 && text[4] == '-' && text[7] == '-';
}

/* Reads the numbers of the parts `from` .. `until` - 1 (year, month, ...). Missing parts of `part`
 * stay unchanged; *given is set to the number of parts read. */
static osla_err read_parts(const text_reader *reader, const char *const *field, int from, int until,
                           double part[PARTS], int *given)
{
  int missing = -1;
  *given = 0;
  for (int i = from; i < until; i++) {
    if (text_is_missing(field[i])) {
      if (missing < 0) missing = i;
      continue;
    }
    OSLA_CALL(
      text_parse_number(reader, names[i], field[i], i == YEAR ? any_year : 0.0, 9999.0, &part[i]));
    TEXT_CHECK(reader, i == SECOND || part[i] <= floor(part[i]), "%s %g is not a whole number",
               names[i], part[i]);
    TEXT_CHECK(reader, missing < 0, "%s %g is given without the %s", names[i], part[i],
               names[missing]);
    ++*given;
  }
  return OSLA_OK;
}

static osla_err to_seconds(const text_reader *reader, const double part[PARTS], double *time_s)
{
  if (part[YEAR] < 1.0) { /* a year before 1 counts as unknown */
    *time_s = NAN;
    return OSLA_OK;
  }
  TEXT_CHECK(reader,
             tomo_time_make((int)part[0], (int)part[1], (int)part[2], (int)part[3], (int)part[4],
                            part[5], time_s),
             "there is no time %g-%g-%g %g:%g:%g", part[0], part[1], part[2], part[3], part[4],
             part[5]);
  return OSLA_OK;
}

/* Parses an ISO 8601 date and a time of day. */
static osla_err read_joined(const text_reader *reader, const char *date, const char *time,
                            double *time_s)
{
  char both[2 * TOMO_LINE_MAX];
  (void)snprintf(both, sizeof both, "%sT%s", date, time);
  return text_parse_event_time(reader, "time", both, time_s);
}

/* Parses a date given as text, with a time of day given as text, given in parts, or missing. */
static osla_err read_dated(const text_reader *reader, const event_time *fields, const char *date,
                           const char *time, double *time_s)
{
  char made[64];
  double part[PARTS] = {0.0};
  int given;
  if (!text_is_missing(time)) return read_joined(reader, date, time, time_s);
  OSLA_CALL(read_parts(reader, fields->part, HOUR, PARTS, part, &given));
  if (given == 0) return text_parse_event_time(reader, "time", date, time_s);
  (void)snprintf(made, sizeof made, "%02.0f:%02.0f:%09.6f", part[HOUR], part[MINUTE], part[SECOND]);
  return read_joined(reader, date, made, time_s);
}

/* Parses a date given in parts, with a time of day given as text or in parts. */
static osla_err read_undated(const text_reader *reader, const event_time *fields, const char *time,
                             double *time_s)
{
  char made[64], shown[TEXT_SHOWN];
  double part[PARTS] = {1.0, 1.0, 1.0};
  int given;
  const bool apart = !text_is_missing(time);
  OSLA_CALL(read_parts(reader, fields->part, YEAR, apart ? HOUR : PARTS, part, &given));
  if (!apart) return given > 0 ? to_seconds(reader, part, time_s) : OSLA_OK;
  text_printable(time, shown);
  TEXT_CHECK(reader, given == HOUR, "time \"%s\" is given without the day", shown);
  (void)snprintf(made, sizeof made, "%04.0f-%02.0f-%02.0f", part[YEAR], part[MONTH], part[DAY]);
  return read_joined(reader, made, time, time_s);
}

osla_err event_time_read(const text_reader *reader, const event_time *fields, double *time_s)
{
  const char *date = fields->date, *time = fields->time;
  char shown[TEXT_SHOWN], shown_date[TEXT_SHOWN];
  *time_s = NAN;
  if (!text_is_missing(time) && !is_time_of_day(time)) {
    const bool complete = has_day_and_more(time);
    text_printable(time, shown);
    text_printable(date, shown_date);
    TEXT_CHECK(reader, complete || !fields->has_day,
               "time \"%s\" is neither a time of day, such as 02:00:31.8, nor a day and a "
               "time, such as 2018-01-31T02:00:31.8",
               shown);
    TEXT_CHECK(reader, text_is_missing(date) || strncmp(date, time, 10) == 0,
               "time \"%s\" is not of the date \"%s\"", shown, shown_date);
    if (complete) return text_parse_event_time(reader, "time", time, time_s);
    date = time;
    time = "";
  }
  return text_is_missing(date) ? read_undated(reader, fields, time, time_s)
                               : read_dated(reader, fields, date, time, time_s);
}

osla_err event_time_check_header(const text_reader *reader, bool has_date, bool has_time,
                                 const int column[EVENT_TIME_PARTS])
{
  int missing = -1;
  for (int i = has_date ? HOUR : YEAR; i < PARTS && !has_time; i++) {
    if (column[i] < 0 && missing < 0) missing = i;
    TEXT_CHECK(reader, column[i] < 0 || missing < 0,
               "the header has a column for the %s and none for the %s", names[i], names[missing]);
  }
  return OSLA_OK;
}
