/* The picture of --map: true model, recovered model and ray density, one below the other.
 *
 * The maps are equal-area (tomo_draw.h). The picture replaces an older file atomically, as in
 * tomo_store.h. Local.
 */
#ifndef TOMO_MAP_H
#define TOMO_MAP_H

#include <stdint.h>

#include "apps/tomography/draw/tomo_draw.h"

#define TOMO_MAP_CENTRE 180.0 /* default longitude of the middle of the map (in the Pacific) */

typedef struct tomo_map {
  const tomo_mesh *mesh;
  const tomo_radial *radial;
  /* [knots * N_r] coefficients of the true model, percent; NULL: the picture has no map of the true
   * model */
  const double *m_true;
  const double *m_recovered; /* [knots * N_r] coefficients of the recovered model, percent */
  const double *density;     /* [knots] km of path at each knot */
  double depth_km;           /* depth of the model maps */
  tomo_world world;          /* frame, coastlines and sites that all maps have in common */
  const char *title;         /* title above all maps, or NULL */
} tomo_map;

/* Writes the picture.
 *   file  [in]  path; SVG if it ends in .svg, PDF in .pdf, else PNG
 * Errors: OSLA_ERR_UNSUPPORTED if gnuplot is not installed (the caller may continue), OSLA_ERR_IO,
 * OSLA_ERR_MEM, OSLA_ERR_ARG. No file remains after an error. */
osla_err tomo_map_write(const tomo_map *map, const char *file);

#endif
