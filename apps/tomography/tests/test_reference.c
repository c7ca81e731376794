/* Compares modes of a spherical Earth with exact solutions and with published modes. No
 * communication. */
#include "tests/osla_test.h"

#include <math.h>
#include <stdlib.h>

#include "apps/tomography/tests/earth_check.h"

static const double pi = 3.14159265358979323846;

/* Asserts that the exact function changes its sign at the frequency of the mode, and as many times
 * below as the mode's branch says. */
static void is_exact(radial_system *system, const homogeneous *sphere, int branch,
                     double (*function)(const homogeneous *, double))
{
  mode m;
  bool found;
  OSLA_ASSERT_OK(mode_at_order(system, sphere->l + 0.5, branch, 60.0, &m, &found));
  if (!OSLA_ASSERT_MSG(found, "l = %d, branch %d", sphere->l, branch)) return;
  const double below = function(sphere, m.omega * (1.0 - 1e-7));
  const double above = function(sphere, m.omega * (1.0 + 1e-7));
  OSLA_ASSERT_MSG(below * above < 0.0, "l = %d, branch %d: no mode at %.9g s", sphere->l, branch,
                  2.0 * pi / m.omega);
  const int roots = check_roots_below(function, sphere, m.omega * (1.0 - 1e-7));
  OSLA_ASSERT_MSG(roots == branch, "l = %d, branch %d: %d modes below", sphere->l, branch, roots);
  mode_destroy(&m);
}

static void test_homogeneous(void)
{
  static const int orders[] = {3, 4, 10, 31, 60};
  const double top = 6371.0, vp = 10.4, vs = 6.0;
  const radial_options options = {.size = 30.0, .without_gravity = true};
  earth_model *model = check_model(1, &top, &(double){4.0}, &vp, &vs);
  radial_system *toroidal = check_system(model, RADIAL_TOROIDAL, &options);
  radial_system *spheroidal = check_system(model, RADIAL_SPHEROIDAL, &options);
  for (int i = 0; toroidal && spheroidal && i < 5; i++)
    for (int branch = 0; branch < 4; branch++) {
      const homogeneous sphere = {top, vp, vs, orders[i]};
      is_exact(toroidal, &sphere, branch, check_toroidal);
      is_exact(spheroidal, &sphere, branch, check_spheroidal);
    }
  check_system_end(&toroidal);
  check_system_end(&spheroidal);
  earth_destroy(&model);
}

static double find_c(const earth_model *model, radial_kind kind, const radial_options *options,
                     double period, int branch, double *u)
{
  mode m = {.c = NAN};
  bool found = false;
  radial_system *system = check_system(model, kind, options);
  if (system && OSLA_ASSERT_OK(mode_find(system, 2.0 * pi / period, branch, 20.0, &m, &found)) &&
      OSLA_ASSERT_MSG(found, "branch %d at %g s", branch, period))
    mode_destroy(&m);
  if (u) *u = m.u;
  check_system_end(&system);
  return m.c;
}

/* Modes of a sphere so large that it is locally flat are compared with the exact ones of a layer
 * over a half-space (Love) and of a half-space (Rayleigh). */
static void test_flat(void)
{
  const radial_options options = {.size = 10.0, .without_gravity = true};
  const double radius = 1e7, thick = 35.0, b1 = 3.5, b2 = 4.6, rho1 = 2.8, rho2 = 3.4;
  const double top[2] = {radius - thick, radius}, rho[2] = {rho2, rho1}, vs[2] = {b2, b1},
               vp[2] = {8.0, 6.0};
  earth_model *model = check_model(2, top, rho, vp, vs);
  for (double period = 10.0; period < 70.0; period += 25.0) {
    const double c = find_c(model, RADIAL_TOROIDAL, &options, period, 0, NULL);
    const double s1 = sqrt(c * c / (b1 * b1) - 1.0), s2 = sqrt(1.0 - c * c / (b2 * b2));
    const double phase = 2.0 * pi / (period * c) * thick * s1;
    OSLA_ASSERT_CLOSE(phase, atan(rho2 * b2 * b2 * s2 / (rho1 * b1 * b1 * s1)), 5e-4);
  }
  earth_destroy(&model);
  /* The Rayleigh wave of a half-space with Vp^2 = 3 Vs^2 (Poisson solid) has c^2 / Vs^2 = 2 - 2 /
   * sqrt(3). */
  model = check_model(1, &radius, &(double){4.0}, &(double){4.0 * sqrt(3.0)}, &(double){4.0});
  OSLA_ASSERT_CLOSE(find_c(model, RADIAL_SPHEROIDAL, &options, 20.0, 0, NULL),
                    4.0 * sqrt(2.0 - 2.0 / sqrt(3.0)), 2e-4);
  earth_destroy(&model);
}

/* Compares modes with Table V of Dziewonski & Anderson (1981): periods of isotropic PREM, and group
 * velocities of anisotropic PREM, which neglect the change of the moduli with frequency. */
static void test_prem(void)
{
  static const struct {
    int l;
    double period, u;
  } published[] = {{3, 2134.44, 0},     {4, 1545.73, 0},     {5, 1190.19, 0},
                   {7, 812.16, 0},      {9, 634.01, 0},      {11, 537.35, 5.254},
                   {14, 448.53, 4.665}, {17, 389.87, 4.298}, {20, 347.67, 4.011},
                   {23, 315.51, 3.808}, {26, 289.80, 3.681}, {28, 275.19, 3.629},
                   {30, 262.11, 3.597}};
  const radial_options options = {.size = 20.0};
  earth_model *isotropic, *anisotropic;
  OSLA_ASSERT_OK(earth_prem(true, true, &isotropic));
  OSLA_ASSERT_OK(earth_prem(true, false, &anisotropic));
  radial_system *first = check_system(isotropic, RADIAL_SPHEROIDAL, &options);
  radial_system *second = check_system(anisotropic, RADIAL_SPHEROIDAL, &options);
  for (size_t i = 0; first && second && i < sizeof published / sizeof *published; i++) {
    mode m;
    bool found;
    OSLA_ASSERT_OK(mode_at_order(first, published[i].l + 0.5, 0, 30.0, &m, &found));
    if (!OSLA_ASSERT_MSG(found, "0S%d", published[i].l)) continue;
    OSLA_ASSERT_CLOSE(2.0 * pi / m.omega, published[i].period, 5e-5 * published[i].period);
    mode_destroy(&m);
    if (published[i].u == 0.0) continue;
    OSLA_ASSERT_OK(mode_at_order(second, published[i].l + 0.5, 0, 30.0, &m, &found));
    if (!OSLA_ASSERT_MSG(found, "0S%d", published[i].l)) continue;
    OSLA_ASSERT_CLOSE(m.u * (1.0 - m.q / pi), published[i].u, 6e-4 * published[i].u);
    mode_destroy(&m);
  }
  check_system_end(&first);
  check_system_end(&second);
  earth_destroy(&isotropic);
  earth_destroy(&anisotropic);
}

/* Velocities have converged: finer elements give equal ones, and group velocities equal the slopes
 * of the dispersion curve. */
static void test_converged(void)
{
  const radial_options options = {.size = 10.0}, finer = {.size = 4.0};
  earth_model *model;
  OSLA_ASSERT_OK(earth_prem(true, false, &model));
  for (int kind = 0; kind < 2; kind++)
    for (int branch = 0; branch < 4; branch += 3) {
      const double period = branch == 0 ? 25.0 : 40.0, step = 1e-3;
      double u, u_fine;
      const double c = find_c(model, (radial_kind)kind, &options, period, branch, &u);
      const double fine = find_c(model, (radial_kind)kind, &finer, period, branch, &u_fine);
      OSLA_ASSERT_CLOSE(c, fine, 1e-6 * fine);
      OSLA_ASSERT_CLOSE(u, u_fine, 1e-5 * u_fine);
      double k[2], omega[2];
      for (int side = 0; side < 2; side++) {
        const double here = period * (side == 0 ? 1.0 + step : 1.0 - step);
        omega[side] = 2.0 * pi / here;
        k[side] = omega[side] / find_c(model, (radial_kind)kind, &options, here, branch, NULL);
      }
      OSLA_ASSERT_CLOSE((omega[1] - omega[0]) / (k[1] - k[0]), u, 2e-5 * u);
    }
  earth_destroy(&model);
}

/* Number of branches with a phase velocity between MODE_SLOWEST and c, by Sylvester's law of
 * inertia. */
static int count_slower(radial_system *s, double c)
{
  const double radius = s->mesh->model->radius, lambda = s->omega * radius / c;
  radial_system_sum(s, lambda, s->omega);
  const int all = band_factor(&s->work);
  radial_system_sum(s, lambda, MODE_SLOWEST * lambda / radius);
  return all - band_factor(&s->work);
}

static void test_none(void)
{
  const radial_options options = {.size = 20.0}, small = {.size = 0.5}, none = {.size = NAN};
  earth_model *model;
  radial_mesh *mesh;
  mode m;
  bool found = true;
  OSLA_ASSERT_OK(earth_prem(true, false, &model));
  radial_system *system = check_system(model, RADIAL_TOROIDAL, &options);
  OSLA_ASSERT_OK(mode_find(system, 2.0 * pi / 200.0, 3, 8.0, &m, &found));
  CU_ASSERT(!found);
  CU_ASSERT(count_slower(system, 8.0) <= 3);
  OSLA_ASSERT_ERR(radial_mesh_create(model, RADIAL_SPHEROIDAL, &small, &mesh), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(radial_mesh_create(model, RADIAL_SPHEROIDAL, &none, &mesh), OSLA_ERR_ARG);
  check_system_end(&system);
  earth_destroy(&model);
  const double top = 6371.0;
  model = check_model(1, &top, &(double){1.0}, &(double){8.0}, &(double){0.0});
  OSLA_ASSERT_ERR(radial_mesh_create(model, RADIAL_TOROIDAL, &options, &mesh), OSLA_ERR_ARG);
  earth_destroy(&model);
}

static const osla_test_case cases[] = {
  {"homogeneous", test_homogeneous}, {"flat", test_flat}, {"prem", test_prem},
  {"converged", test_converged},     {"none", test_none}, {NULL, NULL}};
OSLA_TEST_SUITE(test_reference, cases);
