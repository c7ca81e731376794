/* Converts between geographic positions and map coordinates, and chooses the region of a map. The
 * map of the world uses Mollweide's projection, the map of a region uses Lambert's azimuthal
 * projection. See tomo_frame.h. */
#include "apps/tomography/draw/tomo_frame.h"

#include <math.h>

#include "apps/tomography/earth/tomo_sphere.h"

static const double degree = M_PI / 180.0;

/* Mollweide's projection. The equation for t is solved by Newton's method with Snyder's start
 * value. The poles, where the derivative vanishes, are a separate case. */
double projection_relative(double longitude, double centre)
{
  double l = fmod(longitude - centre + 180.0, 360.0);
  return (l < 0.0 ? l + 360.0 : l) - 180.0;
}

void projection_forward(double latitude, double relative_longitude, double *x, double *y)
{
  const double target = M_PI * sin(latitude * M_PI / 180.0);
  double t = latitude * M_PI / 180.0;
  if (fabs(latitude) > 89.9) {
    t = latitude > 0.0 ? 0.5 * M_PI : -0.5 * M_PI;
  } else {
    for (int i = 0; i < 30; i++) {
      double step = (2.0 * t + sin(2.0 * t) - target) / (2.0 + 2.0 * cos(2.0 * t));
      t = fmin(fmax(t - step, -0.5 * M_PI + 1e-9), 0.5 * M_PI - 1e-9);
      if (fabs(step) < 1e-10) break;
    }
  }
  *x = relative_longitude / 90.0 * cos(t);
  *y = sin(t);
}

/* Converts map coordinates to geographic latitude and longitude (degrees). Returns false if (x, y)
 * is outside of the ellipse. */
static bool projection_inverse(double x, double y, double centre, double *latitude,
                               double *longitude)
{
  if (fabs(y) >= 1.0) return false;
  const double t = asin(y), relative = 90.0 * x / cos(t);
  if (fabs(relative) > 180.0) return false;
  *latitude = asin(fmin(fmax((2.0 * t + sin(2.0 * t)) / M_PI, -1.0), 1.0)) * 180.0 / M_PI;
  *longitude = relative + centre;
  return true;
}

tomo_frame tomo_frame_world(double longitude)
{
  return (tomo_frame){.longitude = longitude, .half_width = 2.0, .half_height = 1.0};
}

bool tomo_frame_forward(const tomo_frame *f, double latitude, double longitude, double *x,
                        double *y)
{
  const double relative = projection_relative(longitude, f->longitude);
  if (!f->regional) {
    projection_forward(latitude, relative, x, y);
    return true;
  }
  const double p = latitude * degree, p0 = f->latitude * degree, l = relative * degree;
  const double cosine = sin(p0) * sin(p) + cos(p0) * cos(p) * cos(l);
  const double k = sqrt(2.0 / (1.0 + fmax(cosine, 0.0)));
  *x = k * cos(p) * sin(l);
  *y = k * (cos(p0) * sin(p) - sin(p0) * cos(p) * cos(l));
  return cosine >= 0.5;
}

bool tomo_frame_inverse(const tomo_frame *f, double x, double y, double *latitude,
                        double *longitude)
{
  if (!f->regional) return projection_inverse(x, y, f->longitude, latitude, longitude);
  const double r = hypot(x, y), p0 = f->latitude * degree;
  if (r >= 1.0) return false; /* the point is 60 degrees or more from the middle of the region */
  const double c = 2.0 * asin(0.5 * r), part = r > 0.0 ? sin(c) / r : 1.0;
  const double east = x * part, out = cos(p0) * cos(c) - y * part * sin(p0);
  *latitude = atan2(cos(c) * sin(p0) + y * part * cos(p0), hypot(east, out)) / degree;
  *longitude = f->longitude + atan2(east, out) / degree;
  return true;
}

double tomo_frame_step(const tomo_frame *f)
{
  static const double steps[] = {0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0};
  const double across = 2.0 * fmin(f->half_width, f->half_height) / degree;
  int i = 0;
  if (!f->regional) return 30.0;
  while (i < 6 && across / steps[i] > 6.0)
    i++;
  return steps[i];
}

/* Sets the middle of the frame to the mean of n points, in geographic degrees. Returns false if a
 * point is too far from the mean. */
static bool find_middle(int64_t n, const double (*place)[3], tomo_frame *frame)
{
  double sum[3] = {0.0, 0.0, 0.0}, size = 0.0;
  for (int64_t i = 0; i < n; i++)
    for (int k = 0; k < 3; k++)
      sum[k] += place[i][k];
  for (int k = 0; k < 3; k++)
    size += sum[k] * sum[k];
  size = sqrt(size);
  if (!(size > 0.5 * (double)n)) return false;
  for (int k = 0; k < 3; k++)
    sum[k] /= size;
  for (int64_t i = 0; i < n; i++)
    if (tomo_distance(sum, place[i]) > TOMO_FRAME_REGION * degree) return false;
  tomo_lat_lon(sum, &frame->latitude, &frame->longitude);
  return true;
}

static void find_box(int64_t n, const double (*place)[3], const tomo_frame *frame, double low[2],
                     double high[2])
{
  for (int64_t i = 0; i < n; i++) {
    double latitude, longitude, at[2];
    tomo_lat_lon(place[i], &latitude, &longitude);
    (void)tomo_frame_forward(frame, latitude, longitude, &at[0], &at[1]);
    for (int k = 0; k < 2; k++) {
      low[k] = i ? fmin(low[k], at[k]) : at[k];
      high[k] = i ? fmax(high[k], at[k]) : at[k];
    }
  }
}

bool tomo_frame_region(int64_t n, const double (*place)[3], tomo_frame *frame)
{
  const double margin = 1.08, least = 1.5 * degree;
  double low[2], high[2];
  *frame = (tomo_frame){.regional = true};
  if (n == 0 || !find_middle(n, place, frame)) return false;
  find_box(n, place, frame, low, high);
  const tomo_frame first = *frame;
  if (!tomo_frame_inverse(&first, 0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]),
                          &frame->latitude, &frame->longitude))
    return false;
  find_box(n, place, frame, low, high);
  const double width = fmax(fabs(low[0]), fabs(high[0])) * margin;
  const double height = fmax(fabs(low[1]), fabs(high[1])) * margin;
  frame->half_width = fmax(fmax(width, 0.9 * height), least);
  frame->half_height = fmax(height, 0.45 * frame->half_width);
  return true;
}
