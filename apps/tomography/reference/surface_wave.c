/* Kernels of phase and group velocity at a table's depths (contract: mode.h). */
#include "apps/tomography/reference/mode.h"

#include <math.h>
#include <stdlib.h>

/* The distance between a table's depths is first_interval km at the surface and grows by `growth`
 * km per km of depth. */
static const double first_interval = 5.0, growth = 1.0 / 15.0;

static bool differ(double above, double below)
{
  return fabs(above - below) > 1e-3 * fmax(above, below);
}

/* True if kernels jump at the bottom of a shell. They do so if a modulus of shear (L or N) jumps
 * there, because the traction is continuous. The moduli at a period of 80 s also jump if only Q
 * does. */
static bool kernels_jump(const earth_model *model, int shell)
{
  const double r = model->shell[shell].bottom, omega = 2.0 * M_PI / 80.0;
  earth_point above, below;
  earth_evaluate(model, shell, r, omega, 0.0, &above);
  earth_evaluate(model, shell - 1, r, omega, 0.0, &below);
  return differ(above.moduli.l, below.moduli.l) || differ(above.moduli.n, below.moduli.n);
}

static int intervals(double top, double bottom)
{
  const double count =
    log((first_interval + growth * bottom) / (first_interval + growth * top)) / growth;
  return (int)ceil(fmax(count, 1.0) - 1e-9);
}

/* Sets depth[] to the table's depths in top < z <= bottom, and returns their number. depth = NULL
 * only returns the number. */
static int fill_depths(double top, double bottom, double *depth)
{
  const int count = intervals(top, bottom);
  const double from = first_interval + growth * top, to = first_interval + growth * bottom;
  for (int i = 1; depth && i <= count; i++)
    depth[i - 1] =
      i == count ? bottom : (from * pow(to / from, (double)i / count) - first_interval) / growth;
  return count;
}

static int list_depths(const earth_model *model, double *depth)
{
  int n = 0;
  double top = 0.0;
  bool solid = false;
  if (depth) depth[n] = 0.0;
  n++;
  for (int i = model->n_shells - 1; i >= 0; i--) {
    solid = solid || !earth_is_fluid(&model->shell[i]);
    const bool last = i == 0 || (solid && earth_is_fluid(&model->shell[i - 1]));
    if (!last && !kernels_jump(model, i)) continue;
    const double bottom = model->radius - model->shell[i].bottom;
    n += fill_depths(top, bottom, depth ? depth + n : NULL);
    if (last) return n;
    if (depth) depth[n] = bottom;
    n++;
    top = bottom;
  }
  return n;
}

osla_err surface_depths(const earth_model *model, int *n, double **depth)
{
  *n = list_depths(model, NULL);
  *depth = malloc((size_t)*n * sizeof **depth);
  OSLA_CHECK(*depth, OSLA_ERR_MEM, "no memory for %d depths", *n);
  (void)list_depths(model, *depth);
  for (int i = 0; i < *n; i++) /* rounds the depth to whole metres, as the table prints it */
    (*depth)[i] = round(1e3 * (*depth)[i]) / 1e3;
  return OSLA_OK;
}

/* Adds the integrals of the kernel times each of an interval's two hat functions to right[0] and
 * right[1]. */
static void integrate(const radial_mesh *mesh, const mode *m, double top, double bottom,
                      double right[2])
{
  double xi[RADIAL_POINTS], weight[RADIAL_POINTS];
  const double radius = mesh->model->radius;
  radial_gauss(RADIAL_POINTS, xi, weight);
  for (int e = 0; e < mesh->n_elements; e++) {
    const double low = fmax(mesh->element[e].bottom, radius - bottom);
    const double high = fmin(mesh->element[e].top, radius - top);
    for (int i = 0; low < high && i < RADIAL_POINTS; i++) {
      const double half = 0.5 * (high - low), r = low + half * (1.0 + xi[i]);
      const double value = weight[i] * half * mode_kernel(mesh, m, e, r);
      const double below = (radius - r - top) / (bottom - top);
      right[0] += value * (1.0 - below);
      right[1] += value * below;
    }
  }
}

/* Computes values of a mode's kernel (dln c / dln Vs per km) at n depths. Between two successive
 * jumps they are the least-squares fit, which conserves the kernel's integral and first moment. */
static osla_err surface_kernel(const radial_mesh *mesh, const mode *m, int n, const double *depth,
                               double *kernel)
{
  double *diagonal = calloc(2 * (size_t)n, sizeof *diagonal), *beside = diagonal + n;
  OSLA_CHECK(diagonal, OSLA_ERR_MEM, "no memory for %d depths", n);
  for (int i = 0; i < n; i++)
    kernel[i] = 0.0;
  for (int i = 0; i + 1 < n; i++) {
    const double thick = depth[i + 1] - depth[i];
    if (thick <= 0.0) continue;
    integrate(mesh, m, depth[i], depth[i + 1], kernel + i);
    diagonal[i] += thick / 3.0;
    diagonal[i + 1] += thick / 3.0;
    beside[i] = thick / 6.0;
  }
  for (int i = 0; i + 1 < n; i++) {
    const double factor = beside[i] / diagonal[i];
    diagonal[i + 1] -= factor * beside[i];
    kernel[i + 1] -= factor * kernel[i];
  }
  kernel[n - 1] /= diagonal[n - 1];
  for (int i = n - 2; i >= 0; i--)
    kernel[i] = (kernel[i] - beside[i] * kernel[i + 1]) / diagonal[i];
  free(diagonal);
  return OSLA_OK;
}

/* The kernel of the group velocity at fixed period, K_U = K_c + (U / c) dK_c / dln omega, by a
 * central difference. Source: W. L. Rodi et al., Bull. Seism. Soc. Am. 65 (1975). */
static osla_err differentiate(radial_system *system, mode *m, int n, const double *depth,
                              double *room, surface_row *row)
{
  static const double step = 2e-3;
  const double omega = m->omega;
  for (int side = 0; side < 2; side++) {
    OSLA_CALL(mode_follow(system, omega * (side == 0 ? 1.0 + step : 1.0 - step), m));
    OSLA_CALL(surface_kernel(system->mesh, m, n, depth, room + side * n));
  }
  for (int i = 0; i < n; i++)
    row->by_u[i] = row->by_c[i] + row->u / row->c * (room[i] - room[n + i]) / (2.0 * step);
  return OSLA_OK;
}

osla_err surface_row_make(radial_system *system, double period, int branch, double fastest, int n,
                          const double *depth, surface_row *row, bool *found)
{
  mode m;
  double *room = NULL;
  OSLA_CALL(mode_find(system, 2.0 * M_PI / period, branch, fastest, &m, found));
  if (!*found) return OSLA_OK;
  row->period = period;
  row->c = m.c;
  row->u = m.u;
  osla_err err = surface_kernel(system->mesh, &m, n, depth, row->by_c);
  if (err == OSLA_OK) {
    room = malloc(2 * (size_t)n * sizeof *room);
    if (!room) err = osla_error_set(OSLA_ERR_MEM, "no memory for %d depths", n);
  }
  if (err == OSLA_OK) err = differentiate(system, &m, n, depth, room, row);
  free(room);
  mode_destroy(&m);
  return err;
}
