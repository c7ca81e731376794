/* Mollweide's equal-area projection onto the ellipse with half axes 2 and 1.
 *
 * Pure, thread-safe. Snyder (1987), "Map Projections - A Working Manual", USGS Prof. Paper 1395,
 * p. 249: 2 t + sin 2 t = pi sin(latitude), x = 2 (longitude - centre) / pi cos t, y = sin t.
 */
#ifndef TOMO_PROJECTION_H
#define TOMO_PROJECTION_H

#include <stdbool.h>

/* Longitude relative to the map's centre, in degrees from -180 to below 180. */
double projection_relative(double longitude, double centre);

/* Projects geographic latitude and relative longitude (degrees). */
void projection_forward(double latitude, double relative_longitude, double *x, double *y);

/* Converts map coordinates to geographic latitude and longitude (degrees). Returns false if (x, y)
 * is outside of the ellipse. */
bool projection_inverse(double x, double y, double centre, double *latitude, double *longitude);

#endif
