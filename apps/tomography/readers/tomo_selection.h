/* Selection of stations and earthquakes from several files. Local, thread-safe. */
#ifndef TOMO_SELECTION_H
#define TOMO_SELECTION_H

#include <stdbool.h>

#include "apps/tomography/readers/tomo_io.h"

/* A region in degrees: longitudes from `west` eastwards to `east`, within -360 .. 360, and
 * latitudes. It may cross the date line. */
typedef struct tomo_region {
  bool given;
  double west, east, south, north;
} tomo_region;

typedef struct tomo_selection {
  bool time_given, magnitude_given;
  /* selected times t in seconds (tomo_text.h), from <= t < until; an infinite value means no
   * bound */
  double from_s, until_s;
  /* least and greatest selected magnitude, inclusive; an infinite value means no bound */
  double magnitude_least, magnitude_most;
  tomo_region events, stations;
} tomo_selection;

/* Returns the selection that excludes no entry. */
tomo_selection tomo_selection_all(void);

/* The calls tomo_selection_parse_NAME parse an option's value; `option` ("--time") names the option
 * in the error message. Errors: ARG.
 *   time       FROM/UNTIL, each as in tomo_text.h, or empty
 *   magnitude  LEAST/MOST, each a number, or empty
 *   region     W/E/S/N */
osla_err tomo_selection_parse_time(tomo_selection *choice, const char *option, const char *text);
osla_err tomo_selection_parse_magnitude(tomo_selection *choice, const char *option,
                                        const char *text);
osla_err tomo_selection_parse_region(tomo_region *region, const char *option, const char *text);

/* Numbers of entries of all files: `read` (all), `used`, and the excluded ones by reason. An entry
 * that is excluded for several reasons is counted once. */
typedef struct tomo_counts {
  int64_t read, used;
  int64_t no_place; /* events without coordinates; `placeless` describes the first of them */
  int64_t time,     /* entries outside the selected time */
    no_time;        /* events without a time */
  int64_t magnitude, no_magnitude;
  int64_t region;
  int64_t same; /* duplicates of a used entry (tomo_text.h) */
  tomo_unlocated placeless;
} tomo_counts;

/* Reads the files in order and returns the selected events or stations. An event without an id gets
 * its index in the list of all events, from 1, as id; events without coordinates are excluded after
 * this numbering. A station is used if one of its epochs overlaps the selected time, or if it has
 * no epochs. The station's selected epochs are merged into one entry; its other epochs are counted
 * in counts->time.
 *   files   [in]   n >= 1 paths
 *   sites   [out]  malloc'ed, the caller frees it; NULL on error
 *   counts  [out]
 * Errors: OSLA_ERR_IO with one line, "FILE:LINE: what and the offending value" for an error in the
 * contents, "FILE: reason" for the file as a whole (missing, unreadable, no entries, no event with
 * coordinates); MEM; ARG if no entry is left. */
osla_err tomo_select_sites(bool events, char *const *files, int n, const tomo_selection *choice,
                           tomo_site **sites, tomo_counts *counts);

#endif
