/* Maps of one model on one raster: pixels, ray density, colour scales. Local. */
#ifndef TOMO_VIEWS_H
#define TOMO_VIEWS_H

#include "apps/tomography/draw/tomo_draw.h"

typedef struct tomo_views {
  const tomo_mesh *mesh;
  const tomo_radial *radial;
  tomo_raster *raster;
  int64_t pixels;
  float *density; /* [pixels] km of path per 1000 km^2 */
  /* ray density below which the pixels of model maps are grey: a hundredth of the mean density,
   * rounded to one digit */
  double least_density;
  double *field; /* [knots] work array */
} tomo_views;

/* Creates maps that are `width` pixels wide. density[knots]: km of path at each knot. Errors:
 * OSLA_ERR_MEM, OSLA_ERR_ARG. */
osla_err tomo_views_create(const tomo_mesh *mesh, const tomo_radial *radial, const double *density,
                           const tomo_frame *frame, int width, tomo_views **views);
void tomo_views_destroy(tomo_views **views);

/* Sets value[pixels] to the model with coefficients m, evaluated at a depth. */
void tomo_views_fill(tomo_views *views, const double *m, double depth_km, float *value);

/* Return fractions of a map's area, 0..1: tomo_views_grey returns the fraction of grey pixels,
 * tomo_views_clipped the fraction whose values lie beyond the scale. */
double tomo_views_grey(const tomo_views *views);
double tomo_views_clipped(const tomo_views *views, const float *value, const tomo_scale *scale);

/* Make a colour scale that n maps value[0 .. n - 1][pixels] share: the smallest range with round
 * ends that holds 98 % of the area of each map, without grey pixels. The range of an anomaly scale
 * is symmetric. The members `below` and `above` tell whether values lie beyond the ends. Errors:
 * OSLA_ERR_MEM. */
osla_err tomo_views_anomaly_scale(const tomo_views *views, float *const *value, int n,
                                  const char *label, tomo_scale *scale);
osla_err tomo_views_amount_scale(const tomo_views *views, float *const *value, int n,
                                 tomo_palette palette, const char *label, tomo_scale *scale);
/* Makes a logarithmic scale for the ray density. */
osla_err tomo_views_density_scale(const tomo_views *views, tomo_scale *scale);

#endif
