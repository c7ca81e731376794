/* The picture of --map: true model, recovered model and ray density, one below the other.
 *
 * Equal-area, by tomo_draw.h. The picture is put in place at once, as tomo_store.h says. Local.
 */
#ifndef TOMO_MAP_H
#define TOMO_MAP_H

#include <stdint.h>

#include "apps/tomography/draw/tomo_frame.h"
#include "apps/tomography/earth/tomo_mesh.h"
#include "apps/tomography/earth/tomo_radial.h"
#include "apps/tomography/readers/tomo_io.h"

#define TOMO_MAP_CENTRE 180.0 /* the Pacific in the middle */

typedef struct tomo_map {
  const tomo_mesh *mesh;
  const tomo_radial *radial;
  const double *m_true;      /* N_m, percent; NULL leaves the panel out */
  const double *m_recovered; /* N_m, percent */
  const double *density;     /* km per knot */
  double depth_km;           /* of both model maps */
  tomo_frame frame;          /* what both maps show */
  const tomo_site *stations; /* n_stations */
  int64_t n_stations;
  const tomo_site *events; /* n_events */
  int64_t n_events;
  const char *title;          /* one line above all maps, or NULL */
  const char *data_directory; /* holds coastlines.txt; NULL or missing file = no coastlines */
} tomo_map;

/* Writes the picture.
 *   file  [in]  path; SVG if it ends in .svg, PDF in .pdf, else PNG
 * Errors: OSLA_ERR_UNSUPPORTED when gnuplot is not installed (one line says so; the caller goes
 * on), OSLA_ERR_IO, OSLA_ERR_MEM, OSLA_ERR_ARG. No file remains after an error. */
osla_err tomo_map_write(const tomo_map *map, const char *file);

#endif
