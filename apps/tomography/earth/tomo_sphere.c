/* Points and great-circle arcs on the unit sphere.
 *
 *     geocentric latitude  tan(lat') = (1 - f)^2 tan(lat), f = 1 / 298.257223563 (WGS84)
 *     distance             atan2(|a x b|, a . b), accurate at all angles
 *     arc                  x(s) = a cos s + t sin s, t = (b - (a . b) a) / |...|
 *
 * The major arc starts in the opposite direction, -t, and has the length 2 pi - distance.
 * Source: Dahlen & Tromp (1998), "Theoretical Global Seismology".
 */
#include "apps/tomography/earth/tomo_sphere.h"

#include <math.h>

static const double pi = 3.14159265358979323846;
static const double flattening = 1.0 / 298.257223563;

static double scaled_latitude(double degrees, double factor)
{
  if (fabs(degrees) >= 90.0) return degrees > 0.0 ? 90.0 : -90.0;
  return atan(factor * tan(degrees * pi / 180.0)) * 180.0 / pi;
}

double tomo_geocentric_latitude(double geographic_degrees)
{
  return scaled_latitude(geographic_degrees, (1.0 - flattening) * (1.0 - flattening));
}

void tomo_unit_vector(double latitude_degrees, double longitude_degrees, double v[3])
{
  double latitude = tomo_geocentric_latitude(latitude_degrees) * pi / 180.0;
  double longitude = longitude_degrees * pi / 180.0;
  v[0] = cos(latitude) * cos(longitude);
  v[1] = cos(latitude) * sin(longitude);
  v[2] = sin(latitude);
}

void tomo_lat_lon(const double v[3], double *latitude_degrees, double *longitude_degrees)
{
  double geocentric = atan2(v[2], hypot(v[0], v[1])) * 180.0 / pi;
  *latitude_degrees = scaled_latitude(geocentric, 1.0 / ((1.0 - flattening) * (1.0 - flattening)));
  *longitude_degrees = atan2(v[1], v[0]) * 180.0 / pi;
}

static double dot(const double a[3], const double b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

double tomo_distance(const double a[3], const double b[3])
{
  double c[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
  return atan2(sqrt(dot(c, c)), dot(a, b));
}

tomo_arc_state tomo_arc_make(const double a[3], const double b[3], tomo_arc_kind kind,
                             tomo_arc *arc)
{
  double distance = tomo_distance(a, b);
  if (distance < TOMO_ARC_TOLERANCE) return TOMO_ARC_COINCIDENT;
  if (pi - distance < TOMO_ARC_TOLERANCE) return TOMO_ARC_ANTIPODAL;
  double cosine = dot(a, b), t[3];
  for (int i = 0; i < 3; i++)
    t[i] = b[i] - cosine * a[i];
  double length = sqrt(dot(t, t)), sign = kind == TOMO_ARC_MINOR ? 1.0 : -1.0;
  for (int i = 0; i < 3; i++) {
    arc->origin[i] = a[i];
    arc->tangent[i] = sign * t[i] / length;
  }
  arc->angle = kind == TOMO_ARC_MINOR ? distance : 2.0 * pi - distance;
  return TOMO_ARC_OK;
}

void tomo_arc_point(const tomo_arc *arc, double s, double v[3])
{
  double c = cos(s), d = sin(s);
  for (int i = 0; i < 3; i++)
    v[i] = arc->origin[i] * c + arc->tangent[i] * d;
}
