/* Interpolation of a field on the knots to the pixels of a map or of an arc.
 *
 * Creation finds the knots and weights of each pixel once; each field then costs a sparse product.
 * Local; a raster is constant after its creation.
 */
#ifndef TOMO_RASTER_H
#define TOMO_RASTER_H

#include <stdint.h>

#include "apps/tomography/draw/tomo_frame.h"
#include "apps/tomography/earth/tomo_mesh.h"
#include "apps/tomography/earth/tomo_radial.h"
#include "apps/tomography/earth/tomo_sphere.h"

typedef struct tomo_raster {
  int width, height; /* pixels */
  /* [width * height + 1] index of each pixel's first entry in knot and weight; a pixel without
   * entries is outside the map */
  int64_t *first;
  /* knots of all entries; the pixels are ordered by rows, from the lower left corner */
  int32_t *knot;
  float *weight;
} tomo_raster;

/* Makes the raster of a map that is `width` pixels wide; its height follows from the frame. Errors:
 * OSLA_ERR_MEM, OSLA_ERR_ARG (width outside 2..4096). */
osla_err tomo_raster_of_map(const tomo_mesh *mesh, const tomo_frame *frame, int width,
                            tomo_raster **raster);
/* Makes the raster of `width` points along an arc; its height is 1. */
osla_err tomo_raster_of_arc(const tomo_mesh *mesh, const tomo_arc *arc, int width,
                            tomo_raster **raster);
void tomo_raster_destroy(tomo_raster **raster);

/* value[pixels] := interpolated field[knots]; NaN outside the map. */
void tomo_raster_fill(const tomo_raster *raster, const double *field, float *value);

/* Sets field[knots] to the model with coefficients m[knots * N_r], evaluated at a depth. */
void tomo_field_at_depth(const tomo_mesh *mesh, const tomo_radial *radial, const double *m,
                         double depth_km, double *field);

/* Returns the factor that converts km of path at a knot to km of path per 1000 km^2. All knots are
 * taken to have the mean area. */
double tomo_density_scale(const tomo_mesh *mesh);

#endif
