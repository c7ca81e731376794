/* Times of catalogues: seconds of UTC since 1970, without leap seconds. Local, thread-safe. */
#ifndef TOMO_TIME_H
#define TOMO_TIME_H

#include <stdbool.h>

/* ISO 8601, extended form: a year, a day or a time of day, the last as far as it is given:
 * 2018, 2018-01, 2018-01-31, 2018-01-31T02:00, 2018-01-31T02:00:31.8, a blank in the place of T,
 * and behind the time of day nothing or Z (UTC) or +hh:mm, +hhmm, +hh. What is not given is its
 * first: 2018 is the begin of that year. Years 1 to 9999; second 60 is the next minute's first, and
 * 24:00:00, the end of a day, the next day's first. Returns false for all else. */
bool tomo_time_read(const char *text, double *seconds);

/* A day and a time of day; false where there is none such. Seconds 0 <= s < 61; hour 24 is valid
 * with 0 minutes and 0 seconds only. */
bool tomo_time_make(int year, int month, int day, int hour, int minute, double second,
                    double *seconds);

#endif
