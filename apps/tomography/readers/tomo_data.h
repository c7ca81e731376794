/* Measurements: paths, each with a list of data and their standard deviations.
 *
 * A path has the number (source * stations + receiver) * 2 + (1 for the major arc). Sources are
 * numbered in the order of the lists, first the events, then the stations, which are the sources of
 * ambient noise. A set holds the measures and standard deviations of a path's data. Paths with
 * equal sets share one stored set, so a table whose paths all have equal measures and deviations
 * needs only one set. Delays are seconds relative to the reference Earth; positive means late,
 * hence slow.
 *
 * The arrays do not change once the table is made, so any thread may read them. All calls are
 * local.
 */
#ifndef TOMO_DATA_H
#define TOMO_DATA_H

#include <stdbool.h>
#include <stdint.h>

#include "apps/tomography/earth/tomo_reference.h"
#include "apps/tomography/earth/tomo_sphere.h"
#include "apps/tomography/readers/tomo_io.h"
#include "osla_error.h"

typedef struct tomo_data {
  int64_t n_measures;
  tomo_measure *measure; /* [n_measures] measures in the order of tomo_measure_compare */
  int64_t n_sets;
  /* [n_sets + 1] index into set_measure and set_sigma of each set's first element */
  int64_t *set_first;
  int32_t *set_measure; /* indices into `measure`, ascending in each set */
  double *set_sigma;    /* standard deviations in s, > 0 */
  int64_t n_paths;
  int64_t *path_id;  /* [n_paths] numbers of the paths (tomo_path_id), ascending */
  int32_t *path_set; /* [n_paths] set of each path; NULL: all paths have set 0 */
  int64_t *first; /* [n_paths + 1] index of each path's first datum; NULL: all paths have set 0 */
  double *delay;  /* [n_data] delays in s; NULL: they will be computed from a model */
} tomo_data;

/* The measures and standard deviations of one path. */
typedef struct tomo_set {
  int64_t number;
  int count;
  const int32_t *measure; /* [count] indices into tomo_data's `measure` */
  const double *sigma;    /* [count] standard deviations in s */
} tomo_set;

/* Number of a path, equal on all ranks. `source` is an index into the list of events followed by
 * the list of stations. */
int64_t tomo_path_id(int64_t source, int64_t station, int64_t stations, tomo_arc_kind kind);

tomo_set tomo_data_set(const tomo_data *data, int64_t path);
/* Returns the index of the first datum of a path. Returns the number of all data if path is
 * n_paths. */
int64_t tomo_data_first(const tomo_data *data, int64_t path);
/* Returns the number of data in the set of measurements that has most data. */
int tomo_data_max_count(const tomo_data *data);

/* Creates a table without paths and with one set, which has all measures; the deviations are
 * sigma_fraction times the period. The table becomes the owner of the array `measure`; after an
 * error the array is freed. Errors: MEM. */
osla_err tomo_data_create_common(tomo_measure *measure, int count, double sigma_fraction,
                                 tomo_data *data);

/* Removes all paths but those in path_id, which must ascend. */
void tomo_data_keep_paths(tomo_data *data, const int64_t *path_id, int64_t n_paths);

void tomo_data_free(tomo_data *data); /* frees the arrays and sets all members to 0 */

/* --- tables read from files --- */

/* Input for reading a table of measurements: the stations and events that its rows may name, and
 * limits of distance. */
typedef struct tomo_data_lists {
  const tomo_site *stations, *events;
  int64_t n_stations, n_events;
  /* reference Earth; NULL: the built-in formulas of tomo_reference.h */
  const tomo_reference *reference;
  /* standard deviation divided by the period, for data without a given deviation */
  double sigma_fraction;
  /* least and greatest epicentral distance in degrees; rows with other distances are excluded */
  double min_distance, max_distance;
} tomo_data_lists;

enum { TOMO_NOTES_MAX = 10, TOMO_NOTE_TEXT = 120 };

/* Numbers of rows that were read, excluded or not matched, of a table of measurements. */
typedef struct tomo_data_notes {
  int64_t rows;          /* number of rows in the file */
  int64_t distant;       /* number of rows excluded by distance */
  int64_t sigma_missing; /* number of rows without a standard deviation */
  /* number of rows whose station or event is not on a list, or whose two points are equal or
   * antipodal, so that no unique path joins them */
  int64_t unmatched;
  /* number of elements of `place` and `note`, which describe the first unmatched rows */
  int64_t listed;
  /* line number in a CSV file, or index (from 0) in an HDF5 data set */
  int64_t place[TOMO_NOTES_MAX];
  char note[TOMO_NOTES_MAX][TOMO_NOTE_TEXT];
} tomo_data_notes;

/* Starts a process that reads a table in HDF5, because a damaged file may crash HDF5. Start it
 * before the transport is created (reader_process.h). *out is NULL if the file is not HDF5. The
 * text `file` must outlive *out. Errors: MEM. */
typedef struct tomo_data_reader tomo_data_reader;
osla_err tomo_data_reader_start(const char *file, tomo_data_reader **out);
/* stops the process and sets *reader to NULL; does nothing if *reader is NULL */
void tomo_data_reader_stop(tomo_data_reader **reader);

/* Reads a table, CSV with a header or HDF5 (doc/measurements.md lists the columns), on one rank.
 *   reader  process started for this file, which can be used once; NULL: tomo_data_read starts one
 *           for HDF5
 *   data    [out]  owned by the caller
 *   notes [out] numbers of excluded rows
 * Errors: IO or ARG with one line "FILE:LINE: column NAME: what and the value" (HDF5: "FILE:
 * NAME[element]"); ARG if all rows are excluded; MEM; UNSUPPORTED for an HDF5 file in a build
 * without HDF5. */
osla_err tomo_data_read(const char *file, tomo_data_reader *reader, const tomo_data_lists *lists,
                        tomo_data *data, tomo_data_notes *notes);

#endif
