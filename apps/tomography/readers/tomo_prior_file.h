/* A prior from a file: factors of the weights in tomo_prior_options.
 *
 * The file is CSV with a header and one line for each layer of depth:
 *
 *     depth_top_km,depth_bottom_km,sigma_percent,smoothing
 *     0,220,5,0.5
 *     220,1000,2,1.5
 *
 * A radial function belongs to the layer that contains its Greville depth, and every radial
 * function must have one. The depth at which two layers meet belongs to the lower layer; the bottom
 * of the deepest layer belongs to that layer. sigma_percent is the prior's standard deviation of a
 * coefficient; the column smoothing is optional. Alternatively the file is a result of `osla invert
 * --posterior` (tomo_store.h) with the same mesh and radial functions, whose deviations become
 * those of the prior. Local.
 */
#ifndef TOMO_PRIOR_FILE_H
#define TOMO_PRIOR_FILE_H

#include <stdint.h>

#include "apps/tomography/earth/tomo_radial.h"
#include "osla_error.h"

/* A process that reads the deviations of a result file in HDF5, because a damaged file may crash
 * HDF5. Start it before the transport is created (reader_process.h). */
typedef struct tomo_prior_reader tomo_prior_reader;

/* Starts the process that reads an HDF5 file. *out is NULL if the file is not HDF5. The text `file`
 * must outlive *out. Errors: MEM. */
osla_err tomo_prior_reader_start(const char *file, tomo_prior_reader **out);
/* stops the process and sets *reader to NULL; does nothing if *reader is NULL */
void tomo_prior_reader_stop(tomo_prior_reader **reader);

/* Receives n deviations from the process; can be called once. Errors: IO with one line, also if the
 * file does not have exactly n deviations; MEM. */
osla_err tomo_prior_reader_receive(tomo_prior_reader *reader, int64_t n, double *data);

typedef struct tomo_prior_factors {
  /* [knots * N_r] damping of each coefficient: 1 / (standard deviation in percent)^2 */
  double *damping;
  /* [N_r] factor of lateral smoothing of each radial function; NULL if the file gives none */
  double *lateral;
} tomo_prior_factors;

/* Reads a prior.
 *   reader  process started for this file, which can be used once; NULL: tomo_prior_read starts one
 *           for HDF5
 * Errors: OSLA_ERR_IO with one line "FILE:LINE: ..." or "FILE: ...", OSLA_ERR_MEM. After an error
 * *factors holds no arrays. */
osla_err tomo_prior_read(const char *file, tomo_prior_reader *reader, int64_t knots,
                         const tomo_radial *radial, tomo_prior_factors *factors);
void tomo_prior_factors_free(tomo_prior_factors *factors);

#endif
