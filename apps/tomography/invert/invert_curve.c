/* Corner of the L-curve and cross-validation of a scan; see invert_scan.h. */
#include "apps/tomography/invert/invert_scan.h"

#include <math.h>

/* Curvature at point b of the path a, b, c: 4 area / (product of the sides) of the triangle;
 * positive if the path turns left. */
static double curvature(const double a[2], const double b[2], const double c[2])
{
  const double ab = hypot(b[0] - a[0], b[1] - a[1]), bc = hypot(c[0] - b[0], c[1] - b[1]);
  const double ca = hypot(a[0] - c[0], a[1] - c[1]), sides = ab * bc * ca;
  const double twice_area = (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0]);
  return sides > 0.0 ? 2.0 * twice_area / sides : 0.0;
}

typedef struct curve {
  int count;
  int index[INVERT_SCAN_MAX];
  double point[INVERT_SCAN_MAX][2];
} curve;

static void collect_points(int n, const double *misfit, const double *norm, curve *c)
{
  c->count = 0;
  for (int i = 0; i < n && i < INVERT_SCAN_MAX; i++) {
    if (!(misfit[i] > 0.0 && norm[i] > 0.0 && isfinite(misfit[i]) && isfinite(norm[i]))) continue;
    c->index[c->count] = i;
    c->point[c->count][0] = log10(misfit[i]);
    c->point[c->count++][1] = log10(norm[i]);
  }
}

/* Scales both coordinates of the points to 0..1. Returns false if all points have one value of a
 * coordinate. */
static bool scale_axes(curve *c)
{
  for (int axis = 0; axis < 2; axis++) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (int i = 0; i < c->count; i++) {
      low = fmin(low, c->point[i][axis]);
      high = fmax(high, c->point[i][axis]);
    }
    if (!(high > low)) return false;
    for (int i = 0; i < c->count; i++)
      c->point[i][axis] = (c->point[i][axis] - low) / (high - low);
  }
  return true;
}

/* Removes points that are too close: nearer to the preceding remaining point than half the distance
 * of evenly spaced points. */
static void drop_close_points(curve *c)
{
  const double least = 0.5 * sqrt(2.0) / (c->count - 1);
  int n_kept = 1;
  for (int i = 1; i < c->count; i++) {
    const double *last = c->point[n_kept - 1], *here = c->point[i];
    if (hypot(here[0] - last[0], here[1] - last[1]) < least) continue;
    c->point[n_kept][0] = here[0];
    c->point[n_kept][1] = here[1];
    c->index[n_kept++] = c->index[i];
  }
  c->count = n_kept;
}

int scan_corner(int n, const double *misfit, const double *norm)
{
  /* after the scaling, the line x + y = 1 is the diagonal between the ends of the curve */
  const double below = 0.05 * sqrt(2.0);
  double most = 0.0;
  int corner = -1;
  curve c;
  collect_points(n, misfit, norm, &c);
  if (c.count < 3 || !scale_axes(&c)) return -1;
  drop_close_points(&c);
  for (int i = 1; i + 1 < c.count; i++) {
    const double here = curvature(c.point[i - 1], c.point[i], c.point[i + 1]);
    if (!(here > most) || c.point[i][0] + c.point[i][1] > 1.0 - below) continue;
    most = here;
    corner = c.index[i];
  }
  return corner;
}

double scan_gcv(double data, double misfit, double freedom)
{
  const double left = data - freedom;
  return left > 0.0 ? data * misfit / (left * left) : NAN;
}

double scan_gcv_error(double data, double misfit, double freedom, double freedom_error)
{
  return scan_gcv(data, misfit, freedom) * 2.0 * freedom_error / (data - freedom);
}
