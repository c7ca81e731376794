/* Vertical sections of the report. */
#ifndef INVERT_SECTION_H
#define INVERT_SECTION_H

#include "apps/tomography/draw/tomo_draw.h"

enum { INVERT_SECTIONS_MAX = 8 };

typedef struct invert_section {
  double latitude[2], longitude[2]; /* of its ends, degrees */
} invert_section;

/* "LAT,LON/LAT,LON", and more pairs of points in the same way; NULL: none.
 * Errors: OSLA_ERR_ARG with the text that is wrong. */
osla_err invert_parse_sections(const char *text, invert_section section[INVERT_SECTIONS_MAX],
                               int *count);

/* The sections as arcs called A, B, ...; if there are none, three where the paths
 * are densest, of 120 degrees, or of a region (frame) within it (field: km of path per knot), which
 * cross at 40 degrees at least. Returns how many.
 */
int invert_section_tracks(const invert_section *section, int count, const tomo_mesh *mesh,
                          const double *density, const tomo_frame *frame,
                          tomo_track track[INVERT_SECTIONS_MAX]);

#endif
