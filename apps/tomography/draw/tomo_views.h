/* What maps of one model have in common: the pixels of their raster, ray density, scales.
 * Local. */
#ifndef TOMO_VIEWS_H
#define TOMO_VIEWS_H

#include "apps/tomography/draw/tomo_draw.h"

typedef struct tomo_views {
  const tomo_mesh *mesh;
  const tomo_radial *radial;
  tomo_raster *raster;
  int64_t pixels;
  float *density;       /* [pixels] km of path per 1000 km^2 */
  double least_density; /* where it is below, pictures of a model are grey: a hundredth of the mean,
                           with one digit */
  double *field;        /* [knots] scratch */
} tomo_views;

/* Maps `width` pixels wide, of what the frame has, of a model whose knots have so many km of paths
 * each. Errors: OSLA_ERR_MEM, OSLA_ERR_ARG. */
osla_err tomo_views_create(const tomo_mesh *mesh, const tomo_radial *radial, const double *density,
                           const tomo_frame *frame, int width, tomo_views **views);
void tomo_views_destroy(tomo_views **views);

/* value[pixels] of coefficients at a depth. */
void tomo_views_fill(tomo_views *views, const double *m, double depth_km, float *value);

/* The part (0 .. 1) of the area that is grey, and the one of a map that is beyond the scale. */
double tomo_views_grey(const tomo_views *views);
double tomo_views_clipped(const tomo_views *views, const float *value, const tomo_scale *scale);

/* Scales that serve all n maps value[0 .. n - 1][pixels]: the least with round ends that have 98 %
 * of the area of each that is not grey within; about zero for anomalies. `below` and `above` say if
 * something is beyond. Errors: OSLA_ERR_MEM. */
osla_err tomo_views_anomaly_scale(const tomo_views *views, float *const *value, int n,
                                  const char *label, tomo_scale *scale);
osla_err tomo_views_amount_scale(const tomo_views *views, float *const *value, int n,
                                 tomo_palette palette, const char *label, tomo_scale *scale);
/* Logarithmic; of the density. */
osla_err tomo_views_density_scale(const tomo_views *views, tomo_scale *scale);

#endif
