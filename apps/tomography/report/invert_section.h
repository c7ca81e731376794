/* Vertical sections of the HTML report. */
#ifndef INVERT_SECTION_H
#define INVERT_SECTION_H

#include "apps/tomography/draw/tomo_draw.h"

enum { INVERT_SECTIONS_MAX = 8 };

typedef struct invert_section {
  double latitude[2], longitude[2]; /* positions of both ends, degrees */
} invert_section;

/* Parses "LAT,LON/LAT,LON", or several pairs separated by "/"; NULL: no section. Errors:
 * OSLA_ERR_ARG with the wrong text. */
osla_err invert_parse_sections(const char *text, invert_section section[INVERT_SECTIONS_MAX],
                               int *count);

/* Makes the arcs of the sections, called A, B, ... Without sections it chooses three where the
 * paths are densest: 120 degrees long or, on a regional map, within the frame; they cross at
 * angles of at least 40 degrees. density[knots]: km of path at each knot. Returns the number of
 * arcs.
 */
int invert_section_tracks(const invert_section *section, int count, const tomo_mesh *mesh,
                          const double *density, const tomo_frame *frame,
                          tomo_track track[INVERT_SECTIONS_MAX]);

#endif
