/* Reads the deviations of a result file in HDF5 in a separate process, because a damaged file may
 * crash HDF5. Start it before the transport is created (reader_process.h). Local. */
#ifndef TOMO_PRIOR_PROCESS_H
#define TOMO_PRIOR_PROCESS_H

#include <stdint.h>

#include "osla_error.h"

typedef struct tomo_prior_reader tomo_prior_reader;

/* Starts the process. *out is NULL if the file is not HDF5. The path is borrowed. Errors: MEM. */
osla_err tomo_prior_reader_start(const char *file, tomo_prior_reader **out);
void tomo_prior_reader_stop(tomo_prior_reader **reader); /* accepts NULL */

/* Receives the n deviations; can be called once. Errors: IO with one line, also if the file does
 * not have n; MEM. */
osla_err tomo_prior_reader_take(tomo_prior_reader *reader, int64_t n, double *data);

#endif
