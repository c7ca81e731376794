/* Points, distances and great-circle arcs on the unit sphere.
 *
 * All functions are local, pure and thread-safe; none can fail. Angles are in radians unless the
 * argument's name says degrees. Geographic latitude is converted to geocentric latitude with the
 * WGS84 flattening, tan(geocentric) = (1 - f)^2 tan(geographic), so that arcs on the sphere are
 * close to geodesics on the ellipsoid (Dahlen & Tromp 1998, "Theoretical Global Seismology").
 */
#ifndef TOMO_SPHERE_H
#define TOMO_SPHERE_H

#define TOMO_EARTH_RADIUS_KM 6371.0

/* Converts geographic latitude and longitude (degrees) to a geocentric unit vector v, and back.
 * Longitudes from tomo_lat_lon are in -180 .. 180. */
void tomo_unit_vector(double latitude_degrees, double longitude_degrees, double v[3]);
void tomo_lat_lon(const double v[3], double *latitude_degrees, double *longitude_degrees);

/* Angle between two unit vectors, 0 .. pi, accurate for small angles and near pi. */
double tomo_distance(const double a[3], const double b[3]);

typedef enum tomo_arc_kind { TOMO_ARC_MINOR, TOMO_ARC_MAJOR } tomo_arc_kind;

typedef enum tomo_arc_state {
  TOMO_ARC_OK,
  TOMO_ARC_COINCIDENT, /* the points are closer than TOMO_ARC_TOLERANCE: no direction */
  TOMO_ARC_ANTIPODAL   /* the points are antipodal within TOMO_ARC_TOLERANCE: no unique plane */
} tomo_arc_state;

#define TOMO_ARC_TOLERANCE 1e-3 /* 1e-3 radians are 6.4 km */

typedef struct tomo_arc {
  double origin[3];  /* unit vector of the source */
  double tangent[3]; /* unit vector at the source along the arc */
  double angle;      /* length of the arc in radians, 0 .. 2 pi */
} tomo_arc;

/* Computes the minor or the major arc from a to b (unit vectors). The arc is set only if
 * TOMO_ARC_OK is returned; otherwise no unique arc exists. */
tomo_arc_state tomo_arc_make(const double a[3], const double b[3], tomo_arc_kind kind,
                             tomo_arc *arc);

/* The point at angle s from the source: origin cos s + tangent sin s. */
void tomo_arc_point(const tomo_arc *arc, double s, double v[3]);

#endif
