/* Parses times independently of the readers. The parser follows apps/tomography/readers/tomo_time.h
 * for ISO 8601 and tomo_text.h for an earthquake's time in several columns, and shares no code with
 * the readers. */
#include "tests/fuzz/fuzz_parse.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Days from 1970-01-01 to the first day of the month. */
static double days_until(int year, int month)
{
  static const int before[12] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
  const int y = year - 1, leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return 365.0 * y + y / 4 - y / 100 + y / 400 - 719162 + before[month - 1] + (month > 2 && leap);
}

bool fuzz_time_of(const double part[6], double *time_s)
{
  const double y = part[0], m = part[1], d = part[2], h = part[3], n = part[4], s = part[5];
  if (y < 1 || y > 9999 || m < 1 || m > 12 || d < 1 || h > 24 || n > 59 || s >= 61) return false;
  const bool last = m > 11;
  const double first = days_until((int)y, (int)m);
  const double next = days_until((int)y + last, last ? 1 : (int)m + 1);
  if (d > next - first || (h > 23 && (n > 0 || s > 0))) return false;
  *time_s = 86400 * (first + d - 1) + 3600 * h + 60 * n + s;
  return true;
}

/* If *text begins with `form`, in which 0 stands for any digit, moves *text behind that part and
 * returns true. */
static bool skip(const char **text, const char *form)
{
  const char *c = *text;
  for (; *form; form++, c++)
    if (*form == '0' ? !isdigit((unsigned char)*c) : *c != *form) return false;
  *text = c;
  return true;
}

/* Parses the end of a time: nothing, Z, or the offset of a time zone. The result is in seconds. */
static bool zone(const char *text, double *east)
{
  const char *c = text + 1;
  *east = 0;
  if (!*text || strcmp(text, "Z") == 0) return true;
  if (*text != '+' && *text != '-') return false;
  if (!skip(&c, "00")) return false;
  const int hours = atoi(text + 1);
  int minutes = 0;
  if (*c) {
    c += *c == ':';
    minutes = atoi(c);
    if (!skip(&c, "00") || *c) return false;
  }
  *east = (*text == '-' ? -1 : 1) * (3600.0 * hours + 60.0 * minutes);
  return hours < 24 && minutes < 60;
}

static bool read_time(const char *text, double *time_s)
{
  double part[6] = {atoi(text), 1, 1, 0, 0, 0}, east = 0;
  const char *c = text;
  if (!skip(&c, "0000")) return false;
  if (skip(&c, "-00")) {
    part[1] = atoi(c - 2);
    if (skip(&c, "-00")) {
      part[2] = atoi(c - 2);
      if (skip(&c, "T00:00") || skip(&c, " 00:00")) {
        part[3] = atoi(c - 5);
        part[4] = atoi(c - 2);
        if (skip(&c, ":00")) {
          const char *second = c - 2;
          if (*c == '.' && !isdigit((unsigned char)c[1])) return false;
          for (c += *c == '.'; c > second + 2 && isdigit((unsigned char)*c);)
            c++;
          char copy[64];
          (void)snprintf(copy, sizeof copy, "%.*s", (int)(c - second), second);
          part[5] = strtod(copy, NULL);
        }
        if (!zone(c, &east)) return false;
        c = "";
      } else {
        (void)skip(&c, "Z");
      }
    }
  }
  if (*c || !fuzz_time_of(part, time_s)) return false;
  *time_s -= east;
  return true;
}

bool fuzz_event_time(const char *text, double *time_s)
{
  double early;
  *time_s = NAN;
  if (!fuzz_is_given(text) || (*text == '-' && read_time(text + 1, &early))) return true;
  return read_time(text, time_s);
}

static void iso(fuzz_text *t, const char *text, double *time_s)
{
  if (!fuzz_event_time(text, time_s)) (void)fuzz_text_reject(t, "no time");
}

/* Parses the fields with index from .. 5 (year to second), up to the first missing one. Returns the
 * number of parsed fields. */
static int parts(fuzz_text *t, const char *const field[6], int from, double part[6])
{
  int n = from;
  while (n < 6 && fuzz_is_given(field[n])) {
    (void)fuzz_text_number(t, field[n], n == 0 ? -99999 : 0, 9999, &part[n]);
    if (n < 5 && part[n] > floor(part[n])) (void)fuzz_text_reject(t, "a broken part");
    n++;
  }
  for (int i = n; i < 6; i++)
    if (fuzz_is_given(field[i])) (void)fuzz_text_reject(t, "a part without an earlier one");
  return n - from;
}

double fuzz_columns_time(fuzz_text *t, const char *date, const char *time,
                         const char *const field[6], bool has_day)
{
  const size_t digits = strspn(time, "0123456789");
  const bool clock = digits > 0 && digits < 3 && time[digits] == ':';
  const char *unsigned_time = time + (*time == '-');
  double value = NAN, part[6] = {1, 1, 1, 0, 0, 0}, of_day[6] = {1970, 1, 1, 0, 0, 0}, clock_s = 0;
  char text[2 * FUZZ_LINE];
  if (fuzz_is_given(time) && !clock) {
    const bool whole =
      strlen(unsigned_time) > 10 && unsigned_time[4] == '-' && unsigned_time[7] == '-';
    if (has_day && !whole) (void)fuzz_text_reject(t, "neither a time of day nor a whole time");
    if (fuzz_is_given(date) && strncmp(date, time, 10) != 0) (void)fuzz_text_reject(t, "two days");
    if (whole) {
      iso(t, time, &value);
      return value;
    }
    date = time;
  }
  if (!fuzz_is_given(date)) {
    static const char *const none[6] = {"", "", "", "", "", ""};
    const char *days[6] = {field[0], field[1], field[2], none[0], none[0], none[0]};
    const int n = parts(t, clock ? days : field, 0, part);
    if (clock && n != 3) (void)fuzz_text_reject(t, "a time of day without a day");
    if (n == 0 || part[0] < 1) return NAN;
    if (!fuzz_time_of(part, &value)) (void)fuzz_text_reject(t, "no time");
    (void)snprintf(text, sizeof text, "1970-01-01T%s", time);
    if (clock) iso(t, text, &clock_s);
    return value + clock_s;
  }
  if (clock) {
    (void)snprintf(text, sizeof text, "%sT%s", date, time);
    iso(t, text, &value);
    return value;
  }
  if (parts(t, field, 3, of_day) == 0) {
    iso(t, date, &value);
    return value;
  }
  (void)snprintf(text, sizeof text, "%sT00:00", date);
  iso(t, text, &value);
  if (!fuzz_time_of(of_day, &clock_s)) (void)fuzz_text_reject(t, "no time of day");
  return value + clock_s;
}
