/* Tests of true models, field, prior and comparison. No communication. */
#include "tests/osla_test.h"

#include <math.h>
#include <stdlib.h>

#include "apps/tomography/earth/tomo_model.h"
#include "apps/tomography/earth/tomo_sphere.h"
#include "apps/tomography/tests/invert_reference.h"
#include "osla_random.h"

enum { N_RADIAL = 4 };

static bool set_up(tomo_mesh **mesh, tomo_radial **radial, double **m)
{
  *mesh = NULL;
  *radial = NULL;
  *m = NULL;
  if (!OSLA_ASSERT_OK(tomo_mesh_create(7, mesh)) ||
      !OSLA_ASSERT_OK(tomo_radial_create(N_RADIAL, 800.0, 0.2, radial)))
    return false;
  *m = calloc((size_t)tomo_mesh_knots(*mesh) * N_RADIAL, sizeof **m);
  return *m != NULL;
}

static void tear_down(tomo_mesh **mesh, tomo_radial **radial, double **m)
{
  tomo_mesh_destroy(mesh);
  tomo_radial_destroy(radial);
  free(*m);
}

static void test_field(void)
{
  tomo_mesh *mesh;
  tomo_radial *radial;
  double *m;
  if (!set_up(&mesh, &radial, &m)) return;
  for (int64_t i = 0; i < tomo_mesh_knots(mesh) * N_RADIAL; i++)
    m[i] = 3.5 + 0.01 * tomo_radial_greville(radial, (int)(i % N_RADIAL));
  OSLA_ASSERT_CLOSE(reference_field(mesh, radial, m, 12.0, 34.0, 0.0), 3.5, 1e-12);
  OSLA_ASSERT_CLOSE(reference_field(mesh, radial, m, -90.0, 0.0, 300.0), 6.5, 1e-12);
  OSLA_ASSERT_CLOSE(reference_field(mesh, radial, m, 60.0, 180.0, 800.0), 11.5, 1e-12);
  tear_down(&mesh, &radial, &m);
}

static void test_true_models(void)
{
  tomo_mesh *mesh;
  tomo_radial *radial;
  double *m, low = 0.0, high = 0.0, square = 0.0;
  if (!set_up(&mesh, &radial, &m)) return;
  const int64_t unknowns = tomo_mesh_knots(mesh) * N_RADIAL;
  tomo_model_options options = tomo_model_defaults();
  options.cell_degrees = 30.0;
  options.cell_depth_km = 0.0;
  OSLA_ASSERT_OK(tomo_model_set_true(&options, mesh, radial, m));
  for (int64_t i = 0; i < unknowns; i++) {
    low = fmin(low, m[i]);
    high = fmax(high, m[i]);
  }
  CU_ASSERT(high > 0.8 * options.amplitude_percent && high <= options.amplitude_percent);
  CU_ASSERT(low < -0.8 * options.amplitude_percent && low >= -options.amplitude_percent);
  CU_ASSERT(reference_field(mesh, radial, m, 15.0, 15.0, 0.0) > 2.0);
  CU_ASSERT(reference_field(mesh, radial, m, 15.0, 45.0, 0.0) < -2.0);
  CU_ASSERT(reference_field(mesh, radial, m, -15.0, 15.0, 0.0) < -2.0);
  options.cell_depth_km = 400.0;
  OSLA_ASSERT_OK(tomo_model_set_true(&options, mesh, radial, m));
  CU_ASSERT(reference_field(mesh, radial, m, 15.0, 15.0, 800.0) > 2.0);
  CU_ASSERT(reference_field(mesh, radial, m, 15.0, 15.0, 350.0) < 0.0);
  options.kind = TOMO_MODEL_BLOBS;
  OSLA_ASSERT_OK(tomo_model_set_true(&options, mesh, radial, m));
  for (int64_t i = 0; i < unknowns; i++)
    square += m[i] * m[i];
  CU_ASSERT(sqrt(square / (double)unknowns) > 0.2 * options.amplitude_percent);
  options.cell_degrees = 0.0;
  OSLA_ASSERT_ERR(tomo_model_set_true(&options, mesh, radial, m), OSLA_ERR_ARG);
  options = tomo_model_defaults();
  options.cell_depth_km = -1.0;
  OSLA_ASSERT_ERR(tomo_model_set_true(&options, mesh, radial, m), OSLA_ERR_ARG);
  tear_down(&mesh, &radial, &m);
}

/* Returns the sum over all knots of |G m|^2, where G is the knot's panel of the prior. */
static double panel_norm(const tomo_prior_options *options, const tomo_mesh *mesh, int n_radial,
                         const double *m)
{
  const size_t most = (size_t)tomo_prior_columns_max(n_radial);
  double *g = malloc((size_t)tomo_prior_rows_max(n_radial) * most * sizeof *g), sum = 0.0;
  int64_t *ix = malloc(most * sizeof *ix);
  for (int64_t l = 0; l < tomo_mesh_knots(mesh); l++) {
    int rows, columns;
    tomo_prior_panel(options, mesh, n_radial, l, &rows, &columns, ix, g);
    CU_ASSERT(rows <= tomo_prior_rows_max(n_radial) && columns <= (int)most);
    for (int i = 0; i < rows; i++) {
      double product = 0.0;
      for (int j = 0; j < columns; j++)
        product += g[i + j * rows] * m[ix[j]];
      sum += product * product;
    }
    for (int j = 1; j < columns; j++)
      CU_ASSERT(ix[j] > ix[j - 1]);
  }
  free(g);
  free(ix);
  return sum;
}

/* The largest diagonal element of C_m^-1, found as the norm of a unit vector, does not exceed
 * tomo_prior_bound, and the bound exceeds it by a factor of at most 3.1. */
static void check_most(const tomo_prior_options *options, const tomo_mesh *mesh, int n_radial)
{
  const int64_t n = tomo_mesh_knots(mesh) * n_radial;
  double *unit = calloc((size_t)n, sizeof *unit), largest = 0.0;
  for (int64_t i = 0; i < n; i++) {
    unit[i] = 1.0;
    largest = fmax(largest, tomo_prior_norm(options, mesh, n_radial, unit));
    unit[i] = 0.0;
  }
  double most = tomo_prior_bound(options, tomo_mesh_knots(mesh), n_radial);
  OSLA_ASSERT_MSG(largest <= most * (1.0 + 1e-12) && 3.1 * largest >= most, "%g of %g", largest,
                  most);
  free(unit);
}

/* tomo_prior_multiply agrees with the norm m^T C_m^-1 m, and is symmetric: x^T (C_m^-1 m) = m^T
 * (C_m^-1 x). */
static void check_product(const tomo_prior_options *options, const tomo_mesh *mesh, int n_radial,
                          const double *m)
{
  const int64_t n = tomo_mesh_knots(mesh) * n_radial;
  double *x = calloc((size_t)n, sizeof *x), *px = calloc((size_t)n, sizeof *px);
  double *pm = calloc((size_t)n, sizeof *pm), mpm = 0.0, xpm = 0.0, mpx = 0.0;
  const double norm = tomo_prior_norm(options, mesh, n_radial, m);
  for (int64_t i = 0; i < n; i++)
    x[i] = osla_random_uniform(3, (uint64_t)i, 1);
  tomo_prior_multiply(options, mesh, n_radial, x, px);
  tomo_prior_multiply(options, mesh, n_radial, m, pm);
  for (int64_t i = 0; i < n; i++) {
    mpm += m[i] * pm[i];
    xpm += x[i] * pm[i];
    mpx += m[i] * px[i];
  }
  OSLA_ASSERT_CLOSE(mpm, norm, 1e-12 * norm);
  OSLA_ASSERT_CLOSE(xpm, mpx, 1e-12 * norm);
  free(x);
  free(px);
  free(pm);
}

static void test_prior(void)
{
  static double damping_of[4096];
  const double lateral_of[N_RADIAL] = {0.5, 3.0, 0.0, 1.0};
  for (size_t i = 0; i < sizeof damping_of / sizeof *damping_of; i++)
    damping_of[i] = 0.6 + osla_random_uniform(9, i, 0);
  const tomo_prior_options cases[] = {
    {.damping = 0.3},
    {.lateral = 2.0},
    {.radial = 1.5},
    {.damping = 0.1, .lateral = 0.7, .radial = 0.4},
    {.damping = 0.0},
    {.damping = 0.1, .lateral = 0.7, .damping_of = damping_of, .lateral_of = lateral_of}};
  tomo_mesh *mesh;
  tomo_radial *radial;
  double *m;
  if (!set_up(&mesh, &radial, &m)) return;
  for (int64_t i = 0; i < tomo_mesh_knots(mesh) * N_RADIAL; i++)
    m[i] = osla_random_uniform(2, (uint64_t)i, 5);
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
    for (int n_radial = 1; n_radial <= N_RADIAL; n_radial++) {
      double norm = tomo_prior_norm(&cases[c], mesh, n_radial, m);
      OSLA_ASSERT_CLOSE(panel_norm(&cases[c], mesh, n_radial, m), norm, 1e-12 * norm);
      check_product(&cases[c], mesh, n_radial, m);
      if (n_radial == N_RADIAL) check_most(&cases[c], mesh, n_radial);
    }
  for (int64_t i = 0; i < tomo_mesh_knots(mesh) * N_RADIAL; i++)
    /* a smooth model without curvature: only damping contributes */
    m[i] = 1.0 + (double)(i % N_RADIAL);
  OSLA_ASSERT_CLOSE(tomo_prior_norm(&cases[1], mesh, N_RADIAL, m), 0.0, 1e-20);
  OSLA_ASSERT_CLOSE(tomo_prior_norm(&cases[2], mesh, N_RADIAL, m), 0.0, 1e-20);
  OSLA_ASSERT_CLOSE(panel_norm(&cases[1], mesh, N_RADIAL, m), 0.0, 1e-20);
  OSLA_ASSERT_CLOSE(tomo_prior_norm(&cases[0], mesh, N_RADIAL, m),
                    0.3 * 30.0 * (double)tomo_mesh_knots(mesh), 1e-8);
  tear_down(&mesh, &radial, &m);
}

static void test_compare(void)
{
  const double truth[6] = {1, -1, 2, -2, 9, 9}, half[6] = {0.5, -0.5, 1, -1, -9, 3};
  const double density[3] = {5, 6, 1};
  tomo_recovery r = tomo_model_compare(truth, half, density, 3, 2, 5.0, 0);
  CU_ASSERT(r.knots == 2);
  OSLA_ASSERT_CLOSE(r.correlation, 1.0, 1e-14);
  OSLA_ASSERT_CLOSE(r.amplitude, 0.5, 1e-14);
  OSLA_ASSERT_CLOSE(r.variance_reduction, 0.75, 1e-14);
  r = tomo_model_compare(truth, half, density, 3, 2, 5.0, 1);
  CU_ASSERT(r.knots == 1 && isnan(r.correlation));
  r = tomo_model_compare(truth, half, density, 3, 2, 100.0, 0);
  CU_ASSERT(r.knots == 0 && isnan(r.variance_reduction));
  OSLA_ASSERT_CLOSE(tomo_density_quantile(density, 3, 0.5), 5.0, 0.0);
  OSLA_ASSERT_CLOSE(tomo_density_quantile(density, 3, 1.0), 6.0, 0.0);
}

static const osla_test_case cases[] = {{"field", test_field},
                                       {"true_models", test_true_models},
                                       {"prior", test_prior},
                                       {"compare", test_compare},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_tomo_model, cases);
