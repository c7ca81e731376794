/* Tests of sphere, lateral mesh, radial splines, depth kernels. No communication. */
#include "tests/osla_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apps/tomography/draw/tomo_frame.h"
#include "apps/tomography/earth/tomo_kernel.h"
#include "apps/tomography/earth/tomo_mesh.h"
#include "apps/tomography/earth/tomo_radial.h"
#include "apps/tomography/earth/tomo_sphere.h"
#include "osla_random.h"

static const double pi = 3.14159265358979323846;

static void random_point(uint64_t i, double v[3])
{
  double z = 2.0 * osla_random_uniform(7, i, 0), a = 2.0 * pi * osla_random_uniform(7, i, 1);
  double ring = sqrt(1.0 - z * z);
  v[0] = ring * cos(a);
  v[1] = ring * sin(a);
  v[2] = z;
}

static double geocentric_latitude(double degrees)
{
  double v[3];
  tomo_unit_vector(degrees, 0.0, v);
  return asin(v[2]) * 180.0 / pi;
}

static void test_latitudes(void)
{
  OSLA_ASSERT_CLOSE(geocentric_latitude(45.0), 44.80757, 1e-4);
  OSLA_ASSERT_CLOSE(geocentric_latitude(0.0), 0.0, 0.0);
  OSLA_ASSERT_CLOSE(geocentric_latitude(90.0), 90.0, 0.0);
  OSLA_ASSERT_CLOSE(geocentric_latitude(-90.0), -90.0, 0.0);
  for (int i = -89; i <= 89; i += 7) {
    double v[3], latitude, longitude;
    tomo_unit_vector(i, 2.0 * i, v);
    tomo_lat_lon(v, &latitude, &longitude);
    OSLA_ASSERT_CLOSE(latitude, i, 1e-10);
    OSLA_ASSERT_CLOSE(longitude, 2.0 * i, 1e-10);
  }
}

static void test_arcs(void)
{
  const double a[3] = {1.0, 0.0, 0.0}, b[3] = {0.0, 1.0, 0.0}, c[3] = {-1.0, 0.0, 0.0};
  double v[3];
  tomo_arc arc;
  CU_ASSERT(tomo_arc_make(a, b, TOMO_ARC_MINOR, &arc) == TOMO_ARC_OK);
  OSLA_ASSERT_CLOSE(arc.angle, 0.5 * pi, 1e-15);
  tomo_arc_point(&arc, arc.angle, v);
  OSLA_ASSERT_CLOSE(tomo_distance(v, b), 0.0, 1e-12);
  CU_ASSERT(tomo_arc_make(a, b, TOMO_ARC_MAJOR, &arc) == TOMO_ARC_OK);
  OSLA_ASSERT_CLOSE(arc.angle, 1.5 * pi, 1e-15);
  tomo_arc_point(&arc, arc.angle, v);
  OSLA_ASSERT_CLOSE(tomo_distance(v, b), 0.0, 1e-12);
  tomo_arc_point(&arc, 0.5 * pi, v);
  OSLA_ASSERT_CLOSE(v[1], -1.0, 1e-12);
  CU_ASSERT(tomo_arc_make(a, a, TOMO_ARC_MINOR, &arc) == TOMO_ARC_COINCIDENT);
  CU_ASSERT(tomo_arc_make(a, c, TOMO_ARC_MAJOR, &arc) == TOMO_ARC_ANTIPODAL);
  tomo_unit_vector(-33.0, 151.0, v);
  OSLA_ASSERT_CLOSE(tomo_distance(v, v), 0.0, 1e-15);
}

static void test_projection(void)
{
  static const double centres[] = {150.0, 0.0, -75.5, 180.0};
  double x, y, latitude, longitude;
  for (int c = 0; c < (int)(sizeof centres / sizeof *centres); c++)
    for (int i = -88; i <= 88; i += 8)
      for (int j = -179; j < 180; j += 13) {
        const double relative = projection_relative(j, centres[c]);
        projection_forward(i, relative, &x, &y);
        const tomo_frame world = tomo_frame_world(centres[c]);
        CU_ASSERT(tomo_frame_inverse(&world, x, y, &latitude, &longitude));
        OSLA_ASSERT_CLOSE(latitude, i, 1e-6);
        OSLA_ASSERT_CLOSE(projection_relative(longitude, centres[c]), relative, 1e-6);
      }
  projection_forward(90.0, 77.0, &x, &y);
  OSLA_ASSERT_CLOSE(x, 0.0, 1e-12);
  OSLA_ASSERT_CLOSE(y, 1.0, 1e-12);
  const tomo_frame world = tomo_frame_world(150.0);
  CU_ASSERT(!tomo_frame_inverse(&world, 1.9, 0.9, &latitude, &longitude));
  CU_ASSERT(!tomo_frame_inverse(&world, 0.0, 1.0, &latitude, &longitude));
  OSLA_ASSERT_CLOSE(projection_relative(330.0, 150.0), -180.0, 0.0);
}

/* Asserts that the map projection conserves the area of a small rectangle at the given latitude and
 * longitude. */
static void check_area(const tomo_frame *f, double latitude, double longitude)
{
  const double step = 0.01, degree = acos(-1.0) / 180.0;
  double x[3], y[3];
  CU_ASSERT(tomo_frame_forward(f, latitude, longitude, &x[0], &y[0]));
  CU_ASSERT(tomo_frame_forward(f, latitude, longitude + step, &x[1], &y[1]));
  CU_ASSERT(tomo_frame_forward(f, latitude + step, longitude, &x[2], &y[2]));
  const double area = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]);
  OSLA_ASSERT_CLOSE(area / (step * step * degree * degree * cos(latitude * degree)), 1.0, 5e-3);
}

/* Asserts that the regional map made for 25 points, `step` degrees apart in latitude, contains all
 * of them. */
static void check_region(double latitude, double longitude, double step)
{
  enum { PLACES = 25 };
  double place[PLACES][3], given[PLACES][2], x, y, back[2];
  tomo_frame f;
  /* with step = 2 the points cover 16 degrees of longitude and 8 of latitude */
  for (int i = 0; i < PLACES; i++) {
    given[i][0] = fmin(latitude + step * (i / 5 - 2), 90.0);
    given[i][1] = longitude + 2.0 * step * (i % 5 - 2);
    tomo_unit_vector(given[i][0], given[i][1], place[i]);
  }
  if (!OSLA_ASSERT_MSG(tomo_frame_region(PLACES, (const double(*)[3])place, &f),
                       "no region about "
                       "%g %g",
                       latitude, longitude))
    return;
  for (int i = 0; i < PLACES; i++) {
    const double *at = given[i];
    CU_ASSERT(tomo_frame_forward(&f, at[0], at[1], &x, &y));
    CU_ASSERT(fabs(x) < f.half_width && fabs(y) < f.half_height);
    CU_ASSERT(tomo_frame_inverse(&f, x, y, &back[0], &back[1]));
    OSLA_ASSERT_CLOSE(back[0], at[0], 1e-9);
    if (at[0] < 89.9) OSLA_ASSERT_CLOSE(remainder(back[1] - at[1], 360.0), 0.0, 1e-9);
    if (at[0] < 85.0) check_area(&f, at[0], at[1]);
  }
  CU_ASSERT(f.regional && f.half_height >= 0.44 * f.half_width && f.half_width < 0.3);
  CU_ASSERT(tomo_frame_step(&f) >= 0.5 * step && tomo_frame_step(&f) <= 2.5 * step);
  CU_ASSERT(!tomo_frame_forward(&f, -latitude, longitude + 180.0, &x, &y));
}

static void test_frame(void)
{
  check_region(40.0, 10.0, 2.0);
  check_region(-17.0, 179.0, 2.0); /* a region across the date line */
  check_region(86.0, 30.0, 2.0);   /* a region with a pole inside */
  check_region(45.0, 10.0, 0.5);
  double place[2][3] = {{1.0, 0.0, 0.0}, {-1.0, 0.0, 0.0}};
  tomo_frame f;
  CU_ASSERT(!tomo_frame_region(2, (const double(*)[3])place, &f));
  CU_ASSERT(!tomo_frame_region(0, NULL, &f));
  /* the two points are 69 degrees apart, hence 34.5 degrees from the centre of a region */
  tomo_unit_vector(0.0, 69.0, place[1]);
  CU_ASSERT(tomo_frame_region(2, (const double(*)[3])place, &f));
  OSLA_ASSERT_CLOSE(f.longitude, 34.5, 1e-9);
  tomo_unit_vector(0.0, 71.0, place[1]);
  CU_ASSERT(!tomo_frame_region(2, (const double(*)[3])place, &f));
  CU_ASSERT(tomo_frame_region(1, (const double(*)[3])place, &f) && f.half_width > 0.02);
}

static void check_neighbours(const tomo_mesh *mesh, int64_t *pentagons)
{
  const double spacing = tomo_mesh_spacing(mesh);
  *pentagons = 0;
  for (int64_t l = 0; l < tomo_mesh_knots(mesh); l++) {
    const int32_t *neighbour, *back;
    const int n = tomo_mesh_neighbours(mesh, l, &neighbour);
    CU_ASSERT(n == 5 || n == 6);
    *pentagons += n == 5;
    for (int i = 0; i < n; i++) {
      CU_ASSERT(neighbour[i] != l && (i == 0 || neighbour[i] > neighbour[i - 1]));
      double d = tomo_distance(tomo_mesh_knot(mesh, l), tomo_mesh_knot(mesh, neighbour[i]));
      CU_ASSERT(d > 0.75 * spacing && d < 1.25 * spacing);
      int found = 0;
      const int m = tomo_mesh_neighbours(mesh, neighbour[i], &back);
      for (int j = 0; j < m; j++)
        found += back[j] == l;
      CU_ASSERT(found == 1);
    }
  }
}

static void test_mesh(void)
{
  for (int f = 1; f <= 14; f += f < 4 ? 1 : 5) {
    tomo_mesh *mesh = NULL;
    int64_t pentagons = 0;
    if (!OSLA_ASSERT_OK(tomo_mesh_create(f, &mesh))) return;
    CU_ASSERT(tomo_mesh_knots(mesh) == 10 * f * f + 2);
    CU_ASSERT(tomo_mesh_knots_of(f) == tomo_mesh_knots(mesh));
    check_neighbours(mesh, &pentagons);
    CU_ASSERT(pentagons == 12);
    OSLA_ASSERT_CLOSE(tomo_mesh_spacing(mesh) * f, 1.15, 0.08);
    tomo_mesh_destroy(&mesh);
    CU_ASSERT(mesh == NULL);
    tomo_mesh_destroy(&mesh);
  }
  tomo_mesh *mesh = NULL;
  OSLA_ASSERT_ERR(tomo_mesh_create(0, &mesh), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(tomo_mesh_create(TOMO_MESH_FREQUENCY_MAX + 1, &mesh), OSLA_ERR_ARG);
}

/* Returns the number of knots closer to a point than twice the mean spacing, found by a search over
 * all knots. */
static int count_within(const tomo_mesh *mesh, const double v[3])
{
  int count = 0;
  for (int64_t l = 0; l < tomo_mesh_knots(mesh); l++)
    count += tomo_distance(v, tomo_mesh_knot(mesh, l)) < 2.0 * tomo_mesh_spacing(mesh);
  return count;
}

static void check_basis(const tomo_mesh *mesh, const double v[3])
{
  int32_t knot[TOMO_MESH_SUPPORT];
  double weight[TOMO_MESH_SUPPORT], sum = 0.0;
  const int n = tomo_mesh_basis(mesh, v, knot, weight);
  for (int i = 0; i < n; i++) {
    CU_ASSERT(weight[i] > 0.0);
    CU_ASSERT(tomo_distance(v, tomo_mesh_knot(mesh, knot[i])) < 2.0 * tomo_mesh_spacing(mesh));
    for (int j = 0; j < i; j++)
      CU_ASSERT(knot[i] != knot[j]);
    sum += weight[i];
  }
  CU_ASSERT(n == count_within(mesh, v));
  CU_ASSERT(n < TOMO_MESH_SUPPORT);
  OSLA_ASSERT_CLOSE(sum, 1.0, 1e-14);
}

static void test_mesh_basis(void)
{
  const double special[][3] = {{0, 0, 1}, {0, 0, -1}, {-1, 0, 0}, {1, 0, 0}, {0, -1, 0}};
  const int frequencies[] = {1, 2, 3, 7, 12};
  for (size_t i = 0; i < sizeof frequencies / sizeof *frequencies; i++) {
    tomo_mesh *mesh = NULL;
    if (!OSLA_ASSERT_OK(tomo_mesh_create(frequencies[i], &mesh))) return;
    for (uint64_t p = 0; p < 200; p++) {
      double v[3];
      random_point(p, v);
      check_basis(mesh, v);
    }
    for (int p = 0; p < 5; p++)
      check_basis(mesh, special[p]);
    check_basis(mesh, tomo_mesh_knot(mesh, tomo_mesh_knots(mesh) / 2));
    tomo_mesh_destroy(&mesh);
  }
}

static void test_radial(void)
{
  for (int n = 1; n <= 9; n++) {
    tomo_radial *radial = NULL;
    double value[TOMO_RADIAL_MAX], previous = -1.0;
    if (!OSLA_ASSERT_OK(tomo_radial_create(n, 700.0, 0.5, &radial))) return;
    for (double z = 0.0; z <= 700.0; z += 17.5) {
      double sum = 0.0, line = 0.0;
      tomo_radial_basis(radial, z, value);
      for (int r = 0; r < n; r++) {
        CU_ASSERT(value[r] >= 0.0);
        sum += value[r];
        line += value[r] * tomo_radial_greville(radial, r);
      }
      OSLA_ASSERT_CLOSE(sum, 1.0, 1e-13);
      /* splines with the Greville depths as coefficients are a straight line */
      if (n > 1) OSLA_ASSERT_CLOSE(line, z, 1e-10);
    }
    for (int r = 0; r < n; r++) {
      CU_ASSERT(tomo_radial_greville(radial, r) > previous);
      previous = tomo_radial_greville(radial, r);
    }
    tomo_radial_destroy(&radial);
  }
  tomo_radial *radial = NULL;
  OSLA_ASSERT_ERR(tomo_radial_create(0, 700.0, 0.0, &radial), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(tomo_radial_create(3, -1.0, 0.0, &radial), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(tomo_radial_create(3, 700.0, 1.0, &radial), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(tomo_radial_create(3, NAN, 0.0, &radial), OSLA_ERR_ARG);
}

static void test_kernels(void)
{
  tomo_radial *radial = NULL;
  tomo_kernel *kernel = NULL;
  tomo_measure *measure = NULL;
  int k;
  if (!OSLA_ASSERT_OK(tomo_radial_create(6, 6371.0, 0.8, &radial))) return;
  if (!OSLA_ASSERT_OK(tomo_kernel_list_measures(NULL, &measure, &k))) return;
  if (!OSLA_ASSERT_OK(tomo_kernel_create(NULL, measure, k, radial, &kernel))) return;
  CU_ASSERT(k >= 100 && kernel->count == k);
  for (int i = 0; i < k; i++) {
    const tomo_measure *m = &measure[i];
    const double velocity = tomo_measure_velocity(NULL, m);
    const double peak = velocity * m->period_s / 3.0 * (1.0 + 0.5 * m->branch);
    const double top = tomo_measure_kernel(NULL, m, peak);
    CU_ASSERT(i == 0 || tomo_measure_compare(m - 1, m) < 0);
    CU_ASSERT(top > tomo_measure_kernel(NULL, m, 0.95 * peak));
    CU_ASSERT(top > tomo_measure_kernel(NULL, m, 1.05 * peak));
    double sum = 0.0, integral = 0.0;
    for (int r = 0; r < 6; r++)
      sum += kernel->response[i + r * k] * velocity * -100.0;
    for (double z = 0.25; z < 6371.0; z += 0.5)
      integral += 0.5 * tomo_measure_kernel(NULL, m, z);
    OSLA_ASSERT_CLOSE(sum, integral, 1e-4);
    if (peak < 400.0) OSLA_ASSERT_CLOSE(sum, 1.0, 1e-4);
  }
  tomo_kernel_destroy(&kernel);
  tomo_kernel_options bad = tomo_kernel_defaults();
  free(measure);
  bad.period_max_s = 30.0;
  OSLA_ASSERT_ERR(tomo_kernel_list_measures(&bad, &measure, &k), OSLA_ERR_ARG);
  bad = tomo_kernel_defaults();
  bad.sigma_fraction = NAN;
  OSLA_ASSERT_ERR(tomo_kernel_list_measures(&bad, &measure, &k), OSLA_ERR_ARG);
  const tomo_measure unknown[] = {{TOMO_LOVE, TOMO_PHASE, 0, 50.0},
                                  {TOMO_RAYLEIGH, TOMO_GROUP, 0, 50.0}};
  OSLA_ASSERT_ERR(tomo_kernel_create(NULL, unknown, 1, radial, &kernel), OSLA_ERR_ARG);
  CU_ASSERT(strstr(osla_error_text(), "love phase, branch 0, 50 s") != NULL);
  OSLA_ASSERT_ERR(tomo_kernel_create(NULL, unknown + 1, 1, radial, &kernel), OSLA_ERR_ARG);
  tomo_radial_destroy(&radial);
}

static const osla_test_case cases[] = {
  {"latitudes", test_latitudes}, {"arcs", test_arcs},       {"projection", test_projection},
  {"frame", test_frame},         {"mesh", test_mesh},       {"mesh_basis", test_mesh_basis},
  {"radial", test_radial},       {"kernels", test_kernels}, {NULL, NULL}};
OSLA_TEST_SUITE(test_tomo_sphere, cases);
