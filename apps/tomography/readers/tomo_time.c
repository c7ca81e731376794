/* Times of catalogues (contract: tomo_text.h). */
#include "apps/tomography/readers/tomo_text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

bool tomo_time_make(int year, int month, int day, int hour, int minute, double second,
                    double *seconds)
{
  static const int days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  if (year < 1 || year > 9999 || month < 1 || month > 12) return false;
  if (day < 1 || day > days[month - 1] + (leap && month == 2)) return false;
  if (hour < 0 || hour > 24 || minute < 0 || minute > 59) return false;
  if (!(second >= 0.0 && second < 61.0)) return false;
  if (hour == 24 && (minute > 0 || second > 0.0)) return false;
  struct tm begin = {.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day};
  *seconds = (double)timegm(&begin) + 3600.0 * hour + 60.0 * minute + second;
  return true;
}

/* Reads exactly `count` digits and advances *at. */
static bool read_digits(const char **at, int count, int *value)
{
  *value = 0;
  for (int i = 0; i < count; i++, (*at)++) {
    if (!isdigit((unsigned char)**at)) return false;
    *value = 10 * *value + (**at - '0');
  }
  return true;
}

static bool read_char(const char **at, char wanted)
{
  if (**at != wanted) return false;
  (*at)++;
  return true;
}

/* Reads the seconds of a time: two digits and an optional fraction. */
static bool read_seconds(const char **at, double *value)
{
  int whole;
  if (!read_digits(at, 2, &whole)) return false;
  *value = whole;
  double unit = 0.1;
  if (!read_char(at, '.')) return true;
  if (!isdigit((unsigned char)**at)) return false;
  for (; isdigit((unsigned char)**at); (*at)++, unit *= 0.1)
    *value += unit * (**at - '0');
  *value = fmin(*value, nextafter(whole + 1.0, 0.0));
  return true;
}

/* Reads the time zone after a time of day: none, Z, or the offset from UTC. */
static bool read_zone(const char **at, double *east_s)
{
  int hour, minute = 0;
  *east_s = 0.0;
  if (**at == '\0' || read_char(at, 'Z')) return true;
  const double sign = **at == '-' ? -1.0 : 1.0;
  if (!read_char(at, '+') && !read_char(at, '-')) return false;
  if (!read_digits(at, 2, &hour)) return false;
  const bool colon = read_char(at, ':');
  if ((colon || **at != '\0') && !read_digits(at, 2, &minute)) return false;
  *east_s = sign * (3600.0 * hour + 60.0 * minute);
  return hour <= 23 && minute <= 59;
}

bool tomo_time_read(const char *text, double *seconds)
{
  int year, month = 1, day = 1, hour = 0, minute = 0;
  double second = 0.0, east_s = 0.0;
  const char *at = text;
  if (!read_digits(&at, 4, &year)) return false;
  if (read_char(&at, '-')) {
    if (!read_digits(&at, 2, &month)) return false;
    if (read_char(&at, '-')) {
      if (!read_digits(&at, 2, &day)) return false;
      if (read_char(&at, 'T') || read_char(&at, ' ')) {
        if (!read_digits(&at, 2, &hour) || !read_char(&at, ':') || !read_digits(&at, 2, &minute))
          return false;
        if (read_char(&at, ':') && !read_seconds(&at, &second)) return false;
        if (!read_zone(&at, &east_s)) return false;
        /* in XML Schema a date without a time of day may end with Z */
      } else if (!read_char(&at, 'Z')) {
        if (*at != '\0') return false;
      }
    }
  }
  if (*at != '\0' || !tomo_time_make(year, month, day, hour, minute, second, seconds)) return false;
  *seconds -= east_s;
  return true;
}
