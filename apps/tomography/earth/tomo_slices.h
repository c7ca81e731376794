/* Evaluates fields at many points and a few fixed depths. The lateral splines are evaluated once
 * for each point, the radial ones once for each depth. Creation and destruction are local. A
 * created object never changes: all other calls are thread-safe. */
#ifndef TOMO_SLICES_H
#define TOMO_SLICES_H

#include <stdbool.h>

#include "apps/tomography/earth/tomo_mesh.h"
#include "apps/tomography/earth/tomo_radial.h"

typedef struct tomo_slices {
  const tomo_mesh *mesh;
  int n, n_radial;
  double *depth_km; /* [n] */
  double *basis;    /* [n][n_radial] values of the radial functions at the depths */
} tomo_slices;

/* Creates an evaluator; it borrows mesh and basis.
 *   depth_km  [in]  n depths within the model; NULL: the Greville depths of the basis
 * Errors: OSLA_ERR_ARG, OSLA_ERR_MEM. */
osla_err tomo_slices_create(const tomo_mesh *mesh, const tomo_radial *radial, int n,
                            const double *depth_km, tomo_slices **slices);
void tomo_slices_destroy(tomo_slices **slices);

/* A field on the mesh. It has the coefficients of a model (tomo_model.h), or, if it is flat (does
 * not depend on depth), one coefficient for each knot. */
typedef struct tomo_field {
  const double *coefficient;
  bool flat;
} tomo_field;

/* A field with its texts in files, which are ASCII. In a mesh of prisms (tomo_prisms.h) the data
 * set is called "mesh_" followed by `name`. */
typedef struct tomo_variable {
  const char *name, *long_name, *units;
  const char *comment;   /* attribute "comment" of the variable; may be NULL */
  const char *ancillary; /* names of related variables, separated by blanks; may be NULL */
  tomo_field field;
} tomo_variable;

/* Values of fields at the point v (unit vector) and all depths; a flat field has a single value. A
 * value is a mean of coefficients with weights >= 0 that add up to 1. So coefficients >= 0 give
 * values >= 0, and a field with larger coefficients has larger values.
 *   value  [out]  one pointer for each field f: value[f][i * stride] is the value at depth i */
void tomo_slices_at(const tomo_slices *slices, const double v[3], int n_fields,
                    const tomo_field *field, double *const *value, int64_t stride);

#endif
