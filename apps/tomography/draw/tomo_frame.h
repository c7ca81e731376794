/* Frame and projection of a map: the world in the Mollweide projection, or a region in Lambert's
 * azimuthal projection about its middle. Both projections are equal-area.
 *
 * Pure, thread-safe. Snyder (1987), "Map Projections - A Working Manual", USGS Prof. Paper 1395, p.
 * 185: x = k cos(p) sin(l - l0), y = k (cos(p0) sin(p) - sin(p0) cos(p) cos(l - l0)), k = sqrt(2 /
 * (1 + cos(c))), c is the distance from the middle (p0, l0). */
#ifndef TOMO_FRAME_H
#define TOMO_FRAME_H

#include <stdbool.h>
#include <stdint.h>

typedef struct tomo_frame {
  bool regional;
  /* middle of the map in geographic degrees; latitude 0 for the world */
  double longitude, latitude;
  double half_width, /* half the width of the map: 2 for the world, Earth radii for a region */
    half_height;     /* half the height of the map: 1 for the world, Earth radii for a region */
} tomo_frame;

/* Largest distance that a point of a region may have from the middle of the region, degrees. */
#define TOMO_FRAME_REGION 35.0

tomo_frame tomo_frame_world(double longitude);

/* Makes the frame of a region that holds n points (unit vectors), with a margin. Returns false if
 * the points are too far apart, or if n = 0. */
bool tomo_frame_region(int64_t n, const double (*place)[3], tomo_frame *frame);

/* Projects geographic latitude and longitude (degrees); the result may be outside of the frame.
 * Returns false if the point is more than 60 degrees from the middle of a region. */
bool tomo_frame_forward(const tomo_frame *frame, double latitude, double longitude, double *x,
                        double *y);

/* Converts map coordinates to geographic latitude and longitude (degrees). Returns false if (x, y)
 * is outside of the map. */
bool tomo_frame_inverse(const tomo_frame *frame, double x, double y, double *latitude,
                        double *longitude);

/* Returns the distance between neighbouring lines of the graticule, degrees. */
double tomo_frame_step(const tomo_frame *frame);

/* Mollweide's equal-area projection onto the ellipse with half axes 2 and 1.
 *
 * Pure, thread-safe. Snyder (1987), "Map Projections - A Working Manual", USGS Prof. Paper 1395,
 * p. 249: 2 t + sin 2 t = pi sin(latitude), x = 2 (longitude - centre) / pi cos t, y = sin t.
 */
/* Longitude relative to the map's centre, in degrees from -180 to below 180. */
double projection_relative(double longitude, double centre);

/* Projects geographic latitude and relative longitude (degrees). */
void projection_forward(double latitude, double relative_longitude, double *x, double *y);

#endif
