/* Turns the rows of a table into paths and their data (tomo_data.h). tomo_datum_list.c reads rows
 * into data, in the order of the file. tomo_data_sets.c sorts the data by path and measure, and
 * gives one set to all paths with equal measures and deviations. Time: O(n log n) for n rows.
 * Memory: 40 bytes a row while rows are read, some 20 afterwards. Private. Local. */
#ifndef TOMO_DATUM_LIST_H
#define TOMO_DATUM_LIST_H

#include "apps/tomography/readers/tomo_data.h"
#include "apps/tomography/readers/tomo_ids.h"
#include "apps/tomography/readers/tomo_table.h"

/* A datum of a row that is used. */
typedef struct datum {
  int64_t path_id, place;
  double delay, sigma;
  int32_t measure;
} datum;

typedef struct datum_list {
  const tomo_data_lists *lists;
  tomo_data_notes *notes;
  tomo_ids *stations, *events;
  const char *file; /* name of the table's file, for messages */
  bool elements;
  datum *datum;
  int64_t count, capacity;
  tomo_measure *measure; /* [n_measures] in the order of their first rows */
  int32_t n_measures, measures_capacity;
  int32_t *slot; /* hash table of indices into `measure`; -1: free */
  uint32_t slots;
} datum_list;

/* Fills *data, which the caller must free even after an error. Errors: IO (two rows with the same
 * path and measure), MEM. */
osla_err datum_list_to_table(datum_list *in, tomo_data *data);

#endif
