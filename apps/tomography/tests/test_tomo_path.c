/* Tests of traced arcs, panels, data and misfit of one path. No communication. */
#include "tests/osla_test.h"

#include <math.h>
#include <stdlib.h>

#include "apps/tomography/earth/tomo_path.h"
#include "apps/tomography/earth/tomo_radial.h"
#include "osla_random.h"

enum { N_RADIAL = 3 };

typedef struct setting {
  tomo_mesh *mesh;
  tomo_radial *radial;
  tomo_kernel *kernel;
  tomo_data data; /* a set that contains all measures */
  tomo_path *path;
} setting;

static bool set_up(setting *s, int frequency)
{
  tomo_measure *measure;
  tomo_set set;
  int count;
  *s = (setting){0};
  bool made = OSLA_ASSERT_OK(tomo_mesh_create(frequency, &s->mesh)) &&
              OSLA_ASSERT_OK(tomo_radial_create(N_RADIAL, 1000.0, 0.3, &s->radial)) &&
              OSLA_ASSERT_OK(tomo_kernel_list_measures(NULL, &measure, &count)) &&
              OSLA_ASSERT_OK(tomo_data_create_common(measure, count, 0.05, &s->data)) &&
              OSLA_ASSERT_OK(tomo_kernel_create(NULL, measure, count, s->radial, &s->kernel)) &&
              OSLA_ASSERT_OK(tomo_path_create(s->mesh, s->kernel, count, &s->path));
  if (!made) return false;
  set = tomo_data_set(&s->data, 0);
  tomo_path_set_data(s->path, &set, NULL);
  return true;
}

static void tear_down(setting *s)
{
  tomo_path_destroy(&s->path);
  tomo_kernel_destroy(&s->kernel);
  tomo_data_free(&s->data);
  tomo_radial_destroy(&s->radial);
  tomo_mesh_destroy(&s->mesh);
}

static void random_arc(uint64_t i, tomo_arc_kind kind, tomo_arc *arc)
{
  double a[3], b[3];
  tomo_unit_vector(170.0 * osla_random_uniform(3, i, 0), 360.0 * osla_random_uniform(3, i, 1), a);
  tomo_unit_vector(170.0 * osla_random_uniform(3, i, 2), 360.0 * osla_random_uniform(3, i, 3), b);
  CU_ASSERT(tomo_arc_make(a, b, kind, arc) == TOMO_ARC_OK);
}

static void check_trace(const setting *s, const tomo_arc *arc)
{
  const int32_t *knot;
  const double *length;
  const int64_t n = tomo_path_trace(s->path, arc),
                touched = tomo_path_knots(s->path, &knot, &length);
  const int64_t *ix = tomo_path_indices(s->path);
  double sum = 0.0;
  CU_ASSERT(n == touched * N_RADIAL);
  CU_ASSERT(n <= tomo_path_columns_max(s->path));
  for (int64_t j = 0; j < touched; j++) {
    CU_ASSERT(length[j] > 0.0);
    sum += length[j];
  }
  for (int64_t i = 0; i < n; i++) {
    CU_ASSERT(i == 0 || ix[i] > ix[i - 1]);
    CU_ASSERT(ix[i] == knot[i / N_RADIAL] * N_RADIAL + i % N_RADIAL);
  }
  OSLA_ASSERT_CLOSE(sum, arc->angle * TOMO_EARTH_RADIUS_KM, 1e-9 * sum);
}

static void test_trace(void)
{
  const int frequencies[] = {1, 2, 3, 5, 10, 20};
  for (size_t f = 0; f < sizeof frequencies / sizeof *frequencies; f++) {
    setting s;
    if (!set_up(&s, frequencies[f])) return;
    for (uint64_t i = 0; i < 40; i++) {
      tomo_arc arc;
      random_arc(i, i % 2 ? TOMO_ARC_MAJOR : TOMO_ARC_MINOR, &arc);
      check_trace(&s, &arc);
    }
    for (int i = 0; i < 20; i++) { /* nearly a full circle touches the most knots */
      tomo_arc circle = {{1.0, 0.0, 0.0}, {0.0, cos(0.1 * i), sin(0.1 * i)}, 6.28};
      check_trace(&s, &circle);
    }
    tear_down(&s);
  }
}

/* Adds A_l of the latest traced arc to sum[l] for each touched knot l. */
static void add_lengths(const tomo_path *path, double *sum)
{
  const int32_t *knot;
  const double *length;
  const int64_t knots = tomo_path_knots(path, &knot, &length);
  for (int64_t j = 0; j < knots; j++)
    sum[knot[j]] += length[j];
}

/* The minor and the major arc between two points make up a full circle, so the sum of their A_l
 * equals the A_l of the circle.
 */
static void test_full_circle(void)
{
  setting s;
  if (!set_up(&s, 8)) return;
  const int64_t knots = tomo_mesh_knots(s.mesh);
  double *both = calloc((size_t)knots, sizeof *both), *once = calloc((size_t)knots, sizeof *once);
  tomo_arc minor, major, circle;
  random_arc(11, TOMO_ARC_MINOR, &minor);
  random_arc(11, TOMO_ARC_MAJOR, &major);
  circle = minor;
  circle.angle = minor.angle + major.angle;
  tomo_path_trace(s.path, &minor);
  add_lengths(s.path, both);
  tomo_path_trace(s.path, &major);
  add_lengths(s.path, both);
  tomo_path_trace(s.path, &circle);
  add_lengths(s.path, once);
  const double spacing_km = tomo_mesh_spacing(s.mesh) * TOMO_EARTH_RADIUS_KM;
  double sum = 0.0;
  for (int64_t l = 0; l < knots; l++) {
    /* the two sums differ by a quadrature error */
    OSLA_ASSERT_CLOSE(both[l], once[l], 5e-3 * spacing_km);
    sum += both[l];
  }
  OSLA_ASSERT_CLOSE(sum, 2.0 * acos(-1.0) * TOMO_EARTH_RADIUS_KM, 1e-6);
  free(both);
  free(once);
  tear_down(&s);
}

/* A velocity perturbation of p percent everywhere delays measure i of a path of length L by -L /
 * c_i * p / 100 * (integral of K_i). */
static void test_constant_model(void)
{
  setting s;
  if (!set_up(&s, 6)) return;
  const int64_t unknowns = tomo_mesh_knots(s.mesh) * N_RADIAL;
  const int k = s.kernel->count;
  double *m = malloc((size_t)unknowns * sizeof *m), *d = malloc((size_t)k * sizeof *d);
  double *noisy = malloc((size_t)k * sizeof *noisy), noise_square = 0.0;
  tomo_arc arc;
  random_arc(5, TOMO_ARC_MINOR, &arc);
  tomo_path_trace(s.path, &arc);
  for (int64_t i = 0; i < unknowns; i++)
    m[i] = 2.0;
  tomo_path_data(s.path, m, 0.0, 0, 0, d);
  for (int i = 0; i < k; i++) {
    double seen = 0.0;
    for (int r = 0; r < N_RADIAL; r++)
      seen += s.kernel->response[i + r * k];
    const double delay = arc.angle * TOMO_EARTH_RADIUS_KM * 2.0 * seen;
    OSLA_ASSERT_CLOSE(d[i] * s.data.set_sigma[i], delay, 1e-9 * fabs(delay));
  }
  OSLA_ASSERT_CLOSE(tomo_path_misfit(s.path, m, d), 0.0, 1e-18);
  tomo_path_data(s.path, m, 1.0, 42, tomo_path_id(3, 4, 10, TOMO_ARC_MAJOR), noisy);
  for (int i = 0; i < k; i++) {
    OSLA_ASSERT_CLOSE(noisy[i] - d[i], osla_random_normal(42, 69, (uint64_t)i), 1e-9);
    noise_square += (noisy[i] - d[i]) * (noisy[i] - d[i]);
  }
  OSLA_ASSERT_CLOSE(tomo_path_misfit(s.path, m, noisy), noise_square, 1e-9 * noise_square);
  free(m);
  free(d);
  free(noisy);
  tear_down(&s);
}

static void test_panel(void)
{
  setting s;
  if (!set_up(&s, 6)) return;
  const int64_t unknowns = tomo_mesh_knots(s.mesh) * N_RADIAL;
  const int k = s.kernel->count;
  const int64_t ld = k + 3, most = tomo_path_columns_max(s.path);
  double *g = malloc((size_t)(ld * most) * sizeof *g), *m = malloc((size_t)unknowns * sizeof *m);
  float *narrow = malloc((size_t)(ld * most) * sizeof *narrow);
  double *d = malloc((size_t)k * sizeof *d), square = 0.0;
  tomo_arc arc;
  random_arc(9, TOMO_ARC_MAJOR, &arc);
  const int64_t n = tomo_path_trace(s.path, &arc), *ix = tomo_path_indices(s.path);
  for (int64_t i = 0; i < unknowns; i++)
    m[i] = osla_random_uniform(1, (uint64_t)i, 0);
  OSLA_ASSERT_OK(tomo_path_panel(s.path, OSLA_DOUBLE, g, ld));
  OSLA_ASSERT_OK(tomo_path_panel(s.path, OSLA_FLOAT, narrow, ld));
  tomo_path_data(s.path, m, 0.0, 0, 0, d);
  for (int i = 0; i < k; i++) {
    double product = 0.0;
    for (int64_t j = 0; j < n; j++) {
      product += g[i + j * ld] * m[ix[j]];
      OSLA_ASSERT_CLOSE(narrow[i + j * ld], g[i + j * ld], 6e-8 * fabs(g[i + j * ld]));
    }
    OSLA_ASSERT_CLOSE(product, d[i], 1e-10);
    square += d[i] * d[i];
  }
  OSLA_ASSERT_CLOSE(tomo_path_misfit(s.path, NULL, d), square, 1e-12 * square);
  OSLA_ASSERT_ERR(tomo_path_panel(s.path, OSLA_DOUBLE, g, k - 1), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(tomo_path_panel(s.path, OSLA_COMPLEX_FLOAT, g, ld), OSLA_ERR_ARG);
  free(g);
  free(narrow);
  free(m);
  free(d);
  tear_down(&s);
}

static const osla_test_case cases[] = {{"trace", test_trace},
                                       {"full_circle", test_full_circle},
                                       {"constant_model", test_constant_model},
                                       {"panel", test_panel},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_tomo_path, cases);
