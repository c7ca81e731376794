/* Stations and earthquakes from several files, and which of them are used. Local, thread-safe. */
#ifndef TOMO_CHOICE_H
#define TOMO_CHOICE_H

#include <stdbool.h>

#include "apps/tomography/readers/tomo_io.h"

/* From west eastwards to east, degrees, -360 .. 360; the date line is like any other. */
typedef struct tomo_region {
  bool given;
  double west, east, south, north;
} tomo_region;

typedef struct tomo_choice {
  bool time_given, magnitude_given;
  double from_s, until_s;                 /* from <= t < until (tomo_time.h); infinite: open */
  double magnitude_least, magnitude_most; /* both within; infinite: open */
  tomo_region events, stations;
} tomo_choice;

/* Nothing is left out. */
tomo_choice tomo_choice_all(void);

/* Parse what a user wrote; `option` ("--time") names it in the message. Errors: ARG.
 *   time       FROM/UNTIL, each as in tomo_time.h, or empty
 *   magnitude  LEAST/MOST, each a number, or empty
 *   region     W/E/S/N */
osla_err tomo_choice_time(tomo_choice *choice, const char *option, const char *text);
osla_err tomo_choice_magnitude(tomo_choice *choice, const char *option, const char *text);
osla_err tomo_choice_region(tomo_region *region, const char *option, const char *text);

/* What became of the entries of all files: read = used + the others. An entry is counted once, by
 * the first reason. */
typedef struct tomo_counts {
  int64_t read, used;
  int64_t no_place;      /* events: the first ones are in `placeless` */
  int64_t time, no_time; /* outside; events: of no known time */
  int64_t magnitude, no_magnitude;
  int64_t region;
  int64_t same; /* as another one that is used: tomo_same.h */
  tomo_placeless placeless;
} tomo_counts;

/* Read the files, one after the other, and keep what is chosen. A station is used if one of its
 * epochs overlaps the time, or it has none: its epochs in that time are one entry, the others are
 * counted under `time`.
 *   files   [in]   n >= 1 paths
 *   sites   [out]  malloc'ed, the caller frees it; NULL on error
 *   counts  [out]
 * Errors: as tomo_read_stations; ARG where nothing is left. */
osla_err tomo_choose_stations(char *const *files, int n, const tomo_choice *choice,
                              tomo_site **sites, tomo_counts *counts);
/* The same of events; one without id gets its number in the list, from 1, as its id. An event
 * without a place is left out, and counts for these numbers. */
osla_err tomo_choose_events(char *const *files, int n, const tomo_choice *choice, tomo_site **sites,
                            tomo_counts *counts);

#endif
