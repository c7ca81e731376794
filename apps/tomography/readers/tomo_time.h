/* Times of catalogues: seconds of UTC since 1970, without leap seconds. Local, thread-safe. */
#ifndef TOMO_TIME_H
#define TOMO_TIME_H

#include <stdbool.h>

/* Parses ISO 8601, extended form, down to any precision: 2018, 2018-01, 2018-01-31,
 * 2018-01-31T02:00, 2018-01-31T02:00:31.8; a blank may replace T. A time of day may be followed by
 * Z (UTC), +hh:mm, +hhmm or +hh. Missing parts have their first value: 2018 is the begin of that
 * year. Years are 1 to 9999; second 60 is the first of the next minute, and 24:00:00 the begin of
 * the next day. Returns false for any other text. */
bool tomo_time_read(const char *text, double *seconds);

/* Converts a date and a time of day; returns false for an invalid one. Seconds 0 <= s < 61; hour 24
 * is valid only with 0 minutes and 0 seconds. */
bool tomo_time_make(int year, int month, int day, int hour, int minute, double second,
                    double *seconds);

#endif
