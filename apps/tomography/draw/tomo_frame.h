/* What a map shows, and how: the world in Mollweide's projection (tomo_projection.h), or a region
 * in Lambert's azimuthal one about its middle; both keep areas.
 *
 * Pure, thread-safe. Snyder (1987), "Map Projections - A Working Manual", USGS Prof. Paper 1395,
 * p. 185: x = k cos(p) sin(l - l0), y = k (cos(p0) sin(p) - sin(p0) cos(p) cos(l - l0)),
 * k = sqrt(2 / (1 + cos(c))), c the distance from the middle (p0, l0).
 */
#ifndef TOMO_FRAME_H
#define TOMO_FRAME_H

#include <stdbool.h>
#include <stdint.h>

typedef struct tomo_frame {
  bool regional;
  double longitude, latitude; /* of the middle, geographic degrees; of the world the latter is 0 */
  double half_width, half_height; /* in the plane: 2 and 1; of a region in radii of the Earth */
} tomo_frame;

/* TOMO_FRAME_REGION: the largest distance from the middle, degrees, that makes a region. */
#define TOMO_FRAME_REGION 35.0

tomo_frame tomo_frame_world(double longitude);

/* The region that holds n places (unit vectors), and a little more; false: they are too far apart,
 * or n = 0. */
bool tomo_frame_region(int64_t n, const double (*place)[3], tomo_frame *frame);

/* Geographic latitude and longitude (degrees) to the plane, also beyond the frame; of a region
 * false more than 60 degrees off. */
bool tomo_frame_forward(const tomo_frame *frame, double latitude, double longitude, double *x,
                        double *y);

/* The plane to latitude and longitude (degrees); false outside of the map. */
bool tomo_frame_inverse(const tomo_frame *frame, double x, double y, double *latitude,
                        double *longitude);

/* Degrees between the lines of the graticule. */
double tomo_frame_step(const tomo_frame *frame);

#endif
