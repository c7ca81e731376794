/* A prior from a file: what the weights of tomo_prior_options are multiplied by.
 *
 * CSV with a header, a line for each layer of depth:
 *
 *     depth_top_km,depth_bottom_km,sigma_percent,smoothing
 *     0,220,5,0.5
 *     220,1000,2,1.5
 *
 * A radial function belongs to the layer that holds its Greville depth (the bottom belongs to the
 * layer below it, that of the deepest to itself); each must have one. sigma_percent is the prior's
 * standard deviation of a coefficient; the column smoothing may be absent. Or a result file of
 * `osla invert --posterior` (tomo_store.h) of the same mesh and radial functions: its deviations
 * are the prior's. Local.
 */
#ifndef TOMO_PRIOR_FILE_H
#define TOMO_PRIOR_FILE_H

#include <stdint.h>

#include "apps/tomography/earth/tomo_radial.h"
#include "apps/tomography/readers/tomo_prior_process.h"
#include "osla_error.h"

typedef struct tomo_prior_factors {
  double *damping; /* [knots * N_r] 1 / (standard deviation in percent)^2 */
  double *lateral; /* [N_r]; NULL: the file says nothing of it */
} tomo_prior_factors;

/* Reads it.
 *   reader  of this file; used up; NULL: if one is needed, it is started here
 * Errors: OSLA_ERR_IO with one line "FILE:LINE: ..." or "FILE: ...", OSLA_ERR_MEM; then nothing is
 * the caller's. */
osla_err tomo_prior_read(const char *file, tomo_prior_reader *reader, int64_t knots,
                         const tomo_radial *radial, tomo_prior_factors *factors);
void tomo_prior_release(tomo_prior_factors *factors);

#endif
