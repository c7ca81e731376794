/* Points and great-circle arcs on the unit sphere (contract: tomo_sphere.h). The distance atan2(|a
 * x b|, a . b) is accurate at all angles. The major arc starts in the opposite direction, -t, and
 * has the length 2 pi - distance. */
#include "apps/tomography/earth/tomo_sphere.h"

#include <math.h>

static const double flattening = 1.0 / 298.257223563;

static double scaled_latitude(double degrees, double factor)
{
  if (fabs(degrees) >= 90.0) return degrees > 0.0 ? 90.0 : -90.0;
  return atan(factor * tan(degrees * M_PI / 180.0)) * 180.0 / M_PI;
}

void tomo_unit_vector(double latitude_degrees, double longitude_degrees, double v[3])
{
  const double factor = (1.0 - flattening) * (1.0 - flattening);
  double latitude = scaled_latitude(latitude_degrees, factor) * M_PI / 180.0;
  double longitude = longitude_degrees * M_PI / 180.0;
  v[0] = cos(latitude) * cos(longitude);
  v[1] = cos(latitude) * sin(longitude);
  v[2] = sin(latitude);
}

void tomo_lat_lon(const double v[3], double *latitude_degrees, double *longitude_degrees)
{
  double geocentric = atan2(v[2], hypot(v[0], v[1])) * 180.0 / M_PI;
  *latitude_degrees = scaled_latitude(geocentric, 1.0 / ((1.0 - flattening) * (1.0 - flattening)));
  *longitude_degrees = atan2(v[1], v[0]) * 180.0 / M_PI;
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
  if (M_PI - distance < TOMO_ARC_TOLERANCE) return TOMO_ARC_ANTIPODAL;
  double cosine = dot(a, b), t[3];
  for (int i = 0; i < 3; i++)
    t[i] = b[i] - cosine * a[i];
  double length = sqrt(dot(t, t)), sign = kind == TOMO_ARC_MINOR ? 1.0 : -1.0;
  for (int i = 0; i < 3; i++) {
    arc->origin[i] = a[i];
    arc->tangent[i] = sign * t[i] / length;
  }
  arc->angle = kind == TOMO_ARC_MINOR ? distance : 2.0 * M_PI - distance;
  return TOMO_ARC_OK;
}

void tomo_arc_point(const tomo_arc *arc, double s, double v[3])
{
  double c = cos(s), d = sin(s);
  for (int i = 0; i < 3; i++)
    v[i] = arc->origin[i] * c + arc->tangent[i] * d;
}
