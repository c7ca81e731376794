/* From the rows of a table to paths and their data (tomo_data.h). Rows become data, in the order of
 * the file (tomo_intake.c); these are sorted by path and measure, and paths whose data are of the
 * same measures with the same deviations get one set (tomo_sets.c). Time grows like rows times
 * their logarithm; memory: 40 bytes a row while they are read, some 20 after. Private. Local.
 */
#ifndef TOMO_INTAKE_H
#define TOMO_INTAKE_H

#include "apps/tomography/readers/tomo_data.h"
#include "apps/tomography/readers/tomo_ids.h"
#include "apps/tomography/readers/tomo_table.h"

/* A datum that is kept. */
typedef struct datum {
  int64_t path_id, place;
  double delay, sigma;
  int32_t measure;
} datum;

typedef struct intake {
  const tomo_data_lists *lists;
  tomo_data_notes *notes;
  tomo_ids *stations, *events;
  const char *file; /* for messages */
  bool elements;
  datum *datum;
  int64_t count, capacity;
  tomo_measure *measure; /* [n_measures] in the order of their first rows */
  int32_t n_measures, measures_capacity;
  int32_t *slot; /* hash table of measures, -1: free */
  uint32_t slots;
} intake;

/* Makes the table; *data is to be freed also after an error. Errors: IO (a datum that comes twice),
 * MEM. */
osla_err intake_finish(intake *in, tomo_data *data);

#endif
