/* A field of the knots at every pixel of a map, or along an arc.
 *
 * Which knots a pixel sees, and with what weights, is found once; each field then costs a product.
 * Local; a created raster is never changed.
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
  int64_t *first;    /* [width * height + 1] where the pixel's entries begin; none: outside */
  int32_t *knot;     /* pixels by rows, from the lower left */
  float *weight;
} tomo_raster;

/* Of a map of `width` pixels, as high as its frame is.
 * Errors: OSLA_ERR_MEM, OSLA_ERR_ARG (a width outside 2 .. 4096). */
osla_err tomo_raster_of_map(const tomo_mesh *mesh, const tomo_frame *frame, int width,
                            tomo_raster **raster);
/* Of `width` places along an arc; height 1. */
osla_err tomo_raster_of_arc(const tomo_mesh *mesh, const tomo_arc *arc, int width,
                            tomo_raster **raster);
void tomo_raster_destroy(tomo_raster **raster);

/* value[pixel] of field[knots]; NaN outside the map. */
void tomo_raster_fill(const tomo_raster *raster, const double *field, float *value);

/* field[knots] of coefficients m[knots * N_r] at a depth. */
void tomo_field_at_depth(const tomo_mesh *mesh, const tomo_radial *radial, const double *m,
                         double depth_km, double *field);

/* km of path per 1000 km^2 of km of path per knot, and back: the mean area of a knot. */
double tomo_density_scale(const tomo_mesh *mesh);

#endif
