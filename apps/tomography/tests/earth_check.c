/* Exact modes of simple Earth models (earth_check.h). */
#include "apps/tomography/tests/earth_check.h"

#include <math.h>
#include <stdlib.h>

#include "tests/osla_test.h"

/* Spherical Bessel functions j_l and j_(l+1) by downward recursion (J. C. P. Miller). */
static void bessel(int l, double x, double *j, double *next)
{
  double above = 0.0, here = 1e-200, at_l = 0.0, at_next = 0.0;
  const int start = (int)(fmax(l + 1, x) * 1.2) + 40;
  for (int n = start; n > 0; n--) {
    const double below = (2 * n + 1) / x * here - above;
    if (n - 1 == l + 1) at_next = below;
    if (n - 1 == l) at_l = below;
    above = here;
    here = below;
    if (fabs(here) > 1e150) {
      above *= 1e-150;
      here *= 1e-150;
      at_l *= 1e-150;
      at_next *= 1e-150;
    }
  }
  const double scale =
    fabs(here) > fabs(above) ? sin(x) / x / here : (sin(x) / (x * x) - cos(x) / x) / above;
  *j = at_l * scale;
  *next = at_next * scale;
}

double check_toroidal(const homogeneous *s, double omega)
{
  const double x = omega * s->radius / s->vs;
  double j, next;
  bessel(s->l, x, &j, &next);
  return (s->l - 1) * j - x * next;
}

/* Displacements U r^ + V grad_1 and their tractions / mu of a compressional wave (grad j_l(h r) Y)
 * and of a shear wave (curl curl r j_l(k r) Y), at r = 1 in units of the radius. */
double check_spheroidal(const homogeneous *s, double omega)
{
  const double h = omega * s->radius / s->vp, k = omega * s->radius / s->vs;
  const double ll = s->l * (s->l + 1.0), ratio = s->vp * s->vp / (s->vs * s->vs);
  double j, next;
  bessel(s->l, h, &j, &next);
  double d = s->l * j - h * next;         /* derivative r dj/dr */
  double dd = (ll - h * h) * j - 2.0 * d; /* derivative r^2 d^2j/dr^2 */
  const double p_normal = -(ratio - 2.0) * h * h * j + 2.0 * dd, p_shear = 2.0 * (d - j);
  bessel(s->l, k, &j, &next);
  d = s->l * j - k * next;
  dd = (ll - k * k) * j - 2.0 * d;
  const double s_normal = 2.0 * ll * (d - j), s_shear = dd + (ll - 2.0) * j;
  return p_normal * s_shear - s_normal * p_shear;
}

int check_roots_below(double (*function)(const homogeneous *, double), const homogeneous *sphere,
                      double omega)
{
  enum { STEPS = 4000 };
  int count = 0;
  const double low = 0.2 * sphere->vs / sphere->radius;
  double before = function(sphere, low);
  for (int i = 1; i <= STEPS; i++) {
    const double here = function(sphere, low + (omega - low) * i / STEPS);
    count += (here > 0.0) != (before > 0.0);
    before = here;
  }
  return count;
}

earth_model *check_model(int n, const double *top, const double *rho, const double *vp,
                         const double *vs)
{
  earth_model *model = calloc(1, sizeof *model);
  if (model) model->shell = calloc((size_t)n, sizeof *model->shell);
  if (!OSLA_ASSERT_MSG(model && model->shell, "no memory")) exit(1);
  model->n_shells = n;
  model->reference_period = 1.0;
  for (int i = 0; i < n; i++)
    model->shell[i] = (earth_shell){.bottom = i > 0 ? top[i - 1] : 0.0,
                                    .top = top[i],
                                    .rho = {rho[i]},
                                    .vpv = {vp[i]},
                                    .vph = {vp[i]},
                                    .vsv = {vs[i]},
                                    .vsh = {vs[i]},
                                    .eta = {1.0}};
  OSLA_ASSERT_OK(earth_set_masses(model));
  return model;
}

radial_system *check_system(const earth_model *model, radial_kind kind,
                            const radial_options *options)
{
  radial_mesh *mesh;
  radial_system *system;
  if (!OSLA_ASSERT_OK(radial_mesh_create(model, kind, options, &mesh))) return NULL;
  if (!OSLA_ASSERT_OK(radial_system_create(mesh, &system))) radial_mesh_destroy(&mesh);
  return system;
}

void check_system_end(radial_system **system)
{
  if (!*system) return;
  radial_mesh *mesh = (radial_mesh *)(*system)->mesh;
  radial_system_destroy(system);
  radial_mesh_destroy(&mesh);
}
