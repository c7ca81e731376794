/* Mollweide's projection; see tomo_projection.h. The equation for t is solved by Newton's method
 * with Snyder's start value. The poles, where the derivative vanishes, are a separate case. */
#include "apps/tomography/draw/tomo_projection.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

double projection_relative(double longitude, double centre)
{
  double l = fmod(longitude - centre + 180.0, 360.0);
  return (l < 0.0 ? l + 360.0 : l) - 180.0;
}

void projection_forward(double latitude, double relative_longitude, double *x, double *y)
{
  const double target = pi * sin(latitude * pi / 180.0);
  double t = latitude * pi / 180.0;
  if (fabs(latitude) > 89.9) {
    t = latitude > 0.0 ? 0.5 * pi : -0.5 * pi;
  } else {
    for (int i = 0; i < 30; i++) {
      double step = (2.0 * t + sin(2.0 * t) - target) / (2.0 + 2.0 * cos(2.0 * t));
      t = fmin(fmax(t - step, -0.5 * pi + 1e-9), 0.5 * pi - 1e-9);
      if (fabs(step) < 1e-10) break;
    }
  }
  *x = relative_longitude / 90.0 * cos(t);
  *y = sin(t);
}

bool projection_inverse(double x, double y, double centre, double *latitude, double *longitude)
{
  if (fabs(y) >= 1.0) return false;
  const double t = asin(y), relative = 90.0 * x / cos(t);
  if (fabs(relative) > 180.0) return false;
  *latitude = asin(fmin(fmax((2.0 * t + sin(2.0 * t)) / pi, -1.0), 1.0)) * 180.0 / pi;
  *longitude = relative + centre;
  return true;
}
