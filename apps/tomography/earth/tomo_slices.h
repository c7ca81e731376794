/* Fields of coefficients at many places and a few depths: the splines are evaluated, the lateral
 * ones once for each place. Creation and destruction are local; a created object is never changed:
 * all other calls are thread-safe.
 */
#ifndef TOMO_SLICES_H
#define TOMO_SLICES_H

#include <stdbool.h>

#include "apps/tomography/earth/tomo_mesh.h"
#include "apps/tomography/earth/tomo_radial.h"

typedef struct tomo_slices tomo_slices;

/* Borrows mesh and basis.
 *   depth_km  [in]  n depths within the model; NULL, 0: the Greville depths of the basis
 * Errors: OSLA_ERR_ARG, OSLA_ERR_MEM. */
osla_err tomo_slices_create(const tomo_mesh *mesh, const tomo_radial *radial, int n,
                            const double *depth_km, tomo_slices **slices);
void tomo_slices_destroy(tomo_slices **slices);

int tomo_slices_count(const tomo_slices *slices);
const double *tomo_slices_depths(const tomo_slices *slices); /* km, owned by the object */
const tomo_mesh *tomo_slices_mesh(const tomo_slices *slices);

/* A field: coefficients as in tomo_model.h; or flat, one for each knot. */
typedef struct tomo_field {
  const double *coefficient;
  bool flat;
} tomo_field;

/* Values of fields at the place v (unit vector) and all depths; of a flat one a single value.
 * Coefficients that are all >= 0 give values >= 0, and coefficients that bound others bound the
 * other field, as the weights are >= 0 and add up to 1.
 *   value  [out]  value[i * stride] is that of depth i, for each field its own pointer */
void tomo_slices_at(const tomo_slices *slices, const double v[3], int n_fields,
                    const tomo_field *field, double *const *value, int64_t stride);

#endif
