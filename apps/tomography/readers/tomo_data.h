/* Measurements: paths, and for each a list of data with their standard deviations.
 *
 * Paths are numbered: (source * stations + receiver) * 2 + (the major arc). Sources are the events
 * in the order of their list, then the stations (ambient noise: from station to station). A set is
 * what a path's data have in common with others': measures and standard deviations. Paths with
 * equal sets share one, so that a table whose paths have all the same needs no more than one.
 * Delays are seconds against the reference Earth: positive is late, so slow.
 *
 * Plain arrays; a table that was made is only read, by any thread. All calls are local.
 */
#ifndef TOMO_DATA_H
#define TOMO_DATA_H

#include <stdbool.h>
#include <stdint.h>

#include "apps/tomography/earth/tomo_reference.h"
#include "apps/tomography/readers/tomo_io.h"
#include "osla_error.h"

typedef struct tomo_data {
  int64_t n_measures;
  tomo_measure *measure; /* [n_measures] by tomo_measure_compare */
  int64_t n_sets;
  int64_t *set_first;   /* [n_sets + 1] into the two below */
  int32_t *set_measure; /* ascending in each set */
  double *set_sigma;    /* s, > 0 */
  int64_t n_paths;
  int64_t *path_id;  /* [n_paths] ascending */
  int32_t *path_set; /* [n_paths]; NULL: all have set 0 */
  int64_t *first;    /* [n_paths + 1] each path's first datum; NULL: all have set 0 */
  double *delay;     /* [n_data] s; NULL: they are made from a model */
} tomo_data;

/* A path's set. */
typedef struct tomo_set {
  int64_t number;
  int count;
  const int32_t *measure; /* [count] */
  const double *sigma;    /* [count] s */
} tomo_set;

tomo_set tomo_data_set(const tomo_data *data, int64_t path);
int64_t tomo_data_first(const tomo_data *data, int64_t path); /* of n_paths: how many data */
int tomo_data_most(const tomo_data *data);                    /* the greatest set's data */

/* A table of no path, whose one set has all the measures, with deviations that are a part of the
 * period; takes `measure`, also after an error. Errors: MEM. */
osla_err tomo_data_common(tomo_measure *measure, int count, double sigma_fraction, tomo_data *data);

/* Keeps those paths only, whose ids ascend. */
void tomo_data_keep(tomo_data *data, const int64_t *path_id, int64_t n_paths);

void tomo_data_free(tomo_data *data); /* leaves zeros */

/* --- from files --- */

/* What a table speaks of, and what it may leave out. */
typedef struct tomo_data_lists {
  const tomo_site *stations, *events;
  int64_t n_stations, n_events;
  const tomo_reference *reference;   /* NULL: the stand-ins */
  double sigma_fraction;             /* of the period, where no deviation is given */
  double min_distance, max_distance; /* degrees: pairs beyond are left out */
} tomo_data_lists;

enum { TOMO_NOTES_MAX = 10, TOMO_NOTE_TEXT = 120 };

/* What has been made of the file. */
typedef struct tomo_data_notes {
  int64_t rows;                  /* in the file */
  int64_t distant;               /* left out by distance */
  int64_t sigma_missing;         /* had no deviation */
  int64_t unmatched;             /* name what is on no list, or a path that has no direction */
  int64_t listed;                /* of them are here, those that come first: */
  int64_t place[TOMO_NOTES_MAX]; /* line, or element of HDF5 from 0 */
  char note[TOMO_NOTES_MAX][TOMO_NOTE_TEXT];
} tomo_data_notes;

/* A process that reads a table in HDF5, which may kill its reader (reader_process.h: start it
 * before the transport is made). *out is NULL if the file is no HDF5. The path is borrowed. Errors:
 * MEM. */
typedef struct tomo_data_reader tomo_data_reader;
osla_err tomo_data_reader_start(const char *file, tomo_data_reader **out);
void tomo_data_reader_stop(tomo_data_reader **reader); /* accepts NULL */

/* Reads a table, CSV with a header or HDF5 (doc/measurements.md has the columns), on one rank.
 *   reader  of this file; used up; NULL: if one is needed, it is started here
 *   data    [out]  the caller's to free
 *   notes   [out]
 * Errors: IO or ARG with one line "FILE:LINE: column NAME: what and the value" (HDF5: "FILE:
 * NAME[element]"), also if no row is left; MEM; UNSUPPORTED: HDF5 in a build without it. */
osla_err tomo_data_read(const char *file, tomo_data_reader *reader, const tomo_data_lists *lists,
                        tomo_data *data, tomo_data_notes *notes);

#endif
