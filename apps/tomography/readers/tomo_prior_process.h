/* A process that reads the deviations of a result file in HDF5, which may kill its reader
 * (reader_process.h: start it before the transport is made). Local. */
#ifndef TOMO_PRIOR_PROCESS_H
#define TOMO_PRIOR_PROCESS_H

#include <stdint.h>

#include "osla_error.h"

typedef struct tomo_prior_reader tomo_prior_reader;

/* *out is NULL if the file is no HDF5. The path is borrowed. Errors: MEM. */
osla_err tomo_prior_reader_start(const char *file, tomo_prior_reader **out);
void tomo_prior_reader_stop(tomo_prior_reader **reader); /* accepts NULL */

/* Once: the n deviations. Errors: IO with one line, also where there are not n; MEM. */
osla_err tomo_prior_reader_take(tomo_prior_reader *reader, int64_t n, double *data);

#endif
