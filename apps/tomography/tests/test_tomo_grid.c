/* Tests of fields on slices, of the netCDF grid together with HDF5 in one process, and of the mesh
 * of prisms. No communication; every rank has its own files. */
#include "config.h"

#include "tests/osla_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/tomography/earth/tomo_model.h"
#include "apps/tomography/earth/tomo_prisms.h"
#include "apps/tomography/earth/tomo_sphere.h"
#include "apps/tomography/readers/tomo_grid_file.h"
#include "apps/tomography/readers/tomo_store.h"
#include "apps/tomography/tests/invert_reference.h"

#ifdef HAVE_NETCDF
#include <netcdf.h>
#endif

enum { FREQUENCY = 4, RADIAL = 3 };

typedef struct model {
  tomo_mesh *mesh;
  tomo_radial *radial;
  double *m,  /* [knots * RADIAL] coefficients of a model */
    *density; /* [knots] ray density */
} model;

static bool make(model *k)
{
  *k = (model){NULL, NULL, NULL, NULL};
  if (!OSLA_ASSERT_OK(tomo_mesh_create(FREQUENCY, &k->mesh))) return false;
  if (!OSLA_ASSERT_OK(tomo_radial_create(RADIAL, 700.0, 0.3, &k->radial))) return false;
  const int64_t knots = tomo_mesh_knots(k->mesh);
  k->m = malloc((size_t)(knots * RADIAL) * sizeof *k->m);
  k->density = malloc((size_t)knots * sizeof *k->density);
  if (!k->m || !k->density) return false;
  for (int64_t l = 0; l < knots; l++)
    k->density[l] = 1000.0;
  return OSLA_ASSERT_OK(tomo_model_set_true(NULL, k->mesh, k->radial, k->m));
}

static void drop(model *k)
{
  tomo_mesh_destroy(&k->mesh);
  tomo_radial_destroy(&k->radial);
  free(k->m);
  free(k->density);
}

/* Values of tomo_slices_at equal those of the field at single points. */
static void test_slices(void)
{
  static const double depth[4] = {0.0, 33.3, 250.0, 700.0};
  model k;
  tomo_slices *slices = NULL;
  if (!make(&k)) return;
  OSLA_ASSERT_OK(tomo_slices_create(k.mesh, k.radial, 4, depth, &slices));
  const tomo_field fields[2] = {{k.m, false}, {k.density, true}};
  for (int i = 0; i < 200; i++) {
    const double latitude = -90.0 + 180.0 * i / 199, longitude = 17.0 * i;
    double v[3], deep[8], flat[1], *to[2] = {deep, flat};
    tomo_unit_vector(latitude, longitude, v);
    tomo_slices_at(slices, v, 2, fields, to, 2);
    for (int d = 0; d < 4; d++)
      OSLA_ASSERT_CLOSE(
        deep[2 * d], reference_field(k.mesh, k.radial, k.m, latitude, longitude, depth[d]), 1e-12);
    OSLA_ASSERT_CLOSE(flat[0], 1000.0, 1e-9);
  }
  tomo_slices_destroy(&slices);
  OSLA_ASSERT_OK(tomo_slices_create(k.mesh, k.radial, 0, NULL, &slices));
  CU_ASSERT(slices->n == RADIAL);
  for (int r = 0; r < RADIAL; r++)
    CU_ASSERT(slices->depth_km[r] == tomo_radial_greville(k.radial, r));
  tomo_slices_destroy(&slices);
  drop(&k);
}

static double triple(const double *a, const double *b, const double *c)
{
  return a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
         a[2] * (b[0] * c[1] - b[1] * c[0]);
}

/* Solid angle of a triangle on the unit sphere, positive if anticlockwise from outside (van
 * Oosterom and Strackee 1983, IEEE Trans. Biomed. Eng. 30, 125-126). */
static double solid_angle(const double *a, const double *b, const double *c)
{
  const double ab = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const double bc = b[0] * c[0] + b[1] * c[1] + b[2] * c[2];
  const double ca = c[0] * a[0] + c[1] * a[1] + c[2] * a[2];
  return 2.0 * atan2(triple(a, b, c), 1.0 + ab + bc + ca);
}

/* The mesh's triangles cover the sphere exactly once, and the edges of triangles join neighbouring
 * knots. */
static void test_triangles(void)
{
  for (int f = 1; f <= 7; f++) {
    tomo_mesh *mesh = NULL;
    const int64_t n = tomo_mesh_count_triangles(tomo_mesh_knots_of(f));
    int32_t(*t)[3] = malloc((size_t)n * sizeof *t);
    if (!t || !OSLA_ASSERT_OK(tomo_mesh_create(f, &mesh))) return;
    CU_ASSERT(n == 20 * f * f);
    tomo_mesh_triangles(mesh, t);
    double area = 0.0, least = 1.0;
    int strangers = 0;
    for (int64_t i = 0; i < n; i++) {
      const double angle = solid_angle(tomo_mesh_knot(mesh, t[i][0]), tomo_mesh_knot(mesh, t[i][1]),
                                       tomo_mesh_knot(mesh, t[i][2]));
      area += angle;
      least = fmin(least, angle);
      for (int c = 0; c < 3; c++) {
        const int32_t *near;
        const int count = tomo_mesh_neighbours(mesh, t[i][c], &near);
        int j = 0;
        while (j < count && near[j] != t[i][(c + 1) % 3])
          j++;
        strangers += j == count;
      }
    }
    OSLA_ASSERT_CLOSE(area, 4.0 * acos(-1.0), 1e-10);
    CU_ASSERT(least > 0.0 && strangers == 0);
    tomo_mesh_destroy(&mesh);
    free(t);
  }
}

/* Each prism extends downward from its first triangle, and the values at its points are those of
 * the field. */
static void test_prisms(void)
{
  static const double depth[3] = {10.0, 100.0, 400.0};
  model k;
  tomo_slices *slices = NULL;
  tomo_prisms *p = NULL;
  if (!make(&k)) return;
  const tomo_variable field[2] = {
    {.name = "dlnvs", .units = "percent", .field = {k.m, false}},
    {.name = "ray_density", .units = "km", .field = {k.density, true}}};
  OSLA_ASSERT_OK(tomo_slices_create(k.mesh, k.radial, 3, depth, &slices));
  if (OSLA_ASSERT_OK(tomo_prisms_create(slices, 2, field, &p))) {
    const int64_t knots = tomo_mesh_knots(k.mesh);
    CU_ASSERT(p->points == 3 * knots && p->cells == 2 * 20 * FREQUENCY * FREQUENCY);
    CU_ASSERT(p->corners == 6);
    for (int64_t i = 0; i < p->cells; i++) {
      const int32_t *cell = p->cell + 6 * i;
      const double *a = p->xyz + 3 * cell[0];
      CU_ASSERT(triple(a, p->xyz + 3 * cell[1], p->xyz + 3 * cell[2]) > 0.0);
      for (int c = 0; c < 3; c++)
        CU_ASSERT(cell[3 + c] == cell[c] + knots);
    }
    for (int64_t i = 0; i < p->points; i++) {
      const double *x = p->xyz + 3 * i, v[3] = {x[0], x[1], x[2]};
      double latitude, longitude;
      const double r = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
      OSLA_ASSERT_CLOSE(r, TOMO_EARTH_RADIUS_KM - depth[i / knots], 1e-8);
      const double unit[3] = {v[0] / r, v[1] / r, v[2] / r};
      tomo_lat_lon(unit, &latitude, &longitude);
      OSLA_ASSERT_CLOSE(
        p->value[0][i],
        reference_field(k.mesh, k.radial, k.m, latitude, longitude, depth[i / knots]), 1e-6);
      OSLA_ASSERT_CLOSE(p->value[1][i], 1000.0, 1e-9);
    }
    tomo_prisms_destroy(&p);
  }
  tomo_slices_destroy(&slices);
  OSLA_ASSERT_OK(tomo_slices_create(k.mesh, k.radial, 1, depth, &slices));
  OSLA_ASSERT_OK(tomo_prisms_create(slices, 1, field, &p));
  if (p) CU_ASSERT(p->corners == 3 && p->cells == 20 * FREQUENCY * FREQUENCY);
  tomo_prisms_destroy(&p);
  tomo_slices_destroy(&slices);
  drop(&k);
}

static void test_steps(void)
{
  static const double good[] = {30.0, 7.5, 2.0, 1.0, 0.3, 0.1, 180.0 / 7.0};
  static const double bad[] = {0.0, -1.0, 0.05, 31.0, 7.0, 0.7, NAN, INFINITY};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++)
    OSLA_ASSERT_OK(tomo_grid_check("--step", good[i]));
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    OSLA_ASSERT_ERR(tomo_grid_check("--step", bad[i]), OSLA_ERR_ARG);
  CU_ASSERT(tomo_grid_bytes(30.0, 4, 3, 1) == 4U * 7 * 13 * (4 * 2 + 1));
}

#ifdef HAVE_NETCDF

static char *text_of(int file, int variable, const char *name)
{
  static char text[512];
  size_t length = 0;
  text[0] = '\0';
  if (nc_inq_attlen(file, variable, name, &length) == NC_NOERR && length < sizeof text &&
      nc_get_att_text(file, variable, name, text) == NC_NOERR)
    text[length] = '\0';
  return text;
}

static void check_axis(int file, const char *name, const char *units, const char *letter,
                       size_t length, double first, double last)
{
  int variable = -1, dimension = -1;
  size_t n = 0;
  double x[64] = {0.0};
  CU_ASSERT(nc_inq_varid(file, name, &variable) == NC_NOERR);
  CU_ASSERT(nc_inq_dimid(file, name, &dimension) == NC_NOERR);
  CU_ASSERT(nc_inq_dimlen(file, dimension, &n) == NC_NOERR && n == length && n <= 64);
  CU_ASSERT(nc_get_var_double(file, variable, x) == NC_NOERR);
  CU_ASSERT(x[0] == first && x[length - 1] == last);
  CU_ASSERT(strcmp(text_of(file, variable, "standard_name"), name) == 0);
  CU_ASSERT(strcmp(text_of(file, variable, "units"), units) == 0);
  CU_ASSERT(strcmp(text_of(file, variable, "axis"), letter) == 0);
  if (letter[0] == 'Z') CU_ASSERT(strcmp(text_of(file, variable, "positive"), "down") == 0);
}

/* Asserts that every value in the file is that of the field at the grid point. */
static void check_values(int file, const model *k, const double *depth)
{
  enum { DEPTHS = 2, DOWN = 13, ACROSS = 25 };
  static float value[DEPTHS][DOWN][ACROSS];
  float range[2] = {0.0F, 0.0F}, low = INFINITY, high = -INFINITY;
  int variable = -1, dimensions[4], n = 0;
  CU_ASSERT(nc_inq_varid(file, "dlnvs", &variable) == NC_NOERR);
  CU_ASSERT(nc_inq_var(file, variable, NULL, NULL, &n, dimensions, NULL) == NC_NOERR && n == 3);
  CU_ASSERT(strcmp(text_of(file, variable, "units"), "percent") == 0);
  CU_ASSERT(strcmp(text_of(file, variable, "grid_mapping"), "crs") == 0);
  CU_ASSERT(nc_get_var_float(file, variable, &value[0][0][0]) == NC_NOERR);
  for (int d = 0; d < DEPTHS; d++)
    for (int j = 0; j < DOWN; j++)
      for (int i = 0; i < ACROSS; i++) {
        OSLA_ASSERT_CLOSE(
          value[d][j][i],
          reference_field(k->mesh, k->radial, k->m, 15.0 * j - 90.0, 15.0 * i - 180.0, depth[d]),
          1e-5);
        CU_ASSERT(i > 0 || value[d][j][0] == value[d][j][ACROSS - 1]);
        low = fminf(low, value[d][j][i]);
        high = fmaxf(high, value[d][j][i]);
      }
  CU_ASSERT(nc_get_att_float(file, variable, "actual_range", range) == NC_NOERR);
  CU_ASSERT(range[0] == low && range[1] == high);
}

/* Writes files alternately with the parallel HDF5 of this MPI and with libnetcdf, which uses serial
 * HDF5, in one process. */
static void write_both(const model *k, tomo_grid_file *grid, const char *nc, const char *h5)
{
  const int64_t dims[1] = {4};
  double *back = NULL;
  int64_t count = 0;
  for (int turn = 0; turn < 2; turn++) {
    tomo_store *store = NULL;
    OSLA_ASSERT_OK(tomo_store_create(&store));
    OSLA_ASSERT_OK(tomo_store_add_array(store, "model", "percent", 1, dims, k->m));
    OSLA_ASSERT_OK(tomo_store_write(store, h5));
    tomo_store_destroy(&store);
    OSLA_ASSERT_OK(tomo_grid_write(grid, nc));
    OSLA_ASSERT_OK(tomo_store_read_array(h5, "model", &back, &count));
    CU_ASSERT(count == 4 && back && memcmp(back, k->m, sizeof(double[4])) == 0);
    free(back);
  }
}

static void test_netcdf(void)
{
  static const double depth[2] = {50.0, 300.0};
  char directory[] = "/tmp/osla-test-XXXXXX", nc[64], h5[64];
  model k;
  tomo_slices *slices = NULL;
  int file = -1;
  if (!make(&k) || !mkdtemp(directory)) return;
  snprintf(nc, sizeof nc, "%s/m.nc", directory);
  snprintf(h5, sizeof h5, "%s/m%s", directory, tomo_store_suffix());
  OSLA_ASSERT_OK(tomo_slices_create(k.mesh, k.radial, 2, depth, &slices));
  const tomo_variable variable[2] = {{"dlnvs", "a", "percent", NULL, "ray_density", {k.m, false}},
                                     {"ray_density", "b", "km", "said", NULL, {k.density, true}}};
  tomo_grid_file grid = {.slices = slices,
                         .step_degrees = 15.0,
                         .n_variables = 2,
                         .variable = variable,
                         .title = "t\xff\n",
                         .source = "s",
                         .history = "h",
                         .references = "r"};
  write_both(&k, &grid, nc, h5);
  CU_ASSERT(nc_open(nc, NC_NOWRITE, &file) == NC_NOERR);
  CU_ASSERT(strcmp(text_of(file, NC_GLOBAL, "Conventions"), "CF-1.8") == 0);
  CU_ASSERT(strcmp(text_of(file, NC_GLOBAL, "title"), "t??") == 0);
  CU_ASSERT(strcmp(text_of(file, NC_GLOBAL, "history"), "h") == 0);
  check_axis(file, "longitude", "degrees_east", "X", 25, -180.0, 180.0);
  check_axis(file, "latitude", "degrees_north", "Y", 13, -90.0, 90.0);
  check_axis(file, "depth", "km", "Z", 2, 50.0, 300.0);
  check_values(file, &k, depth);
  CU_ASSERT(nc_close(file) == NC_NOERR);

  snprintf(nc, sizeof nc, "%s/none/m.nc", directory);
  OSLA_ASSERT_ERR(tomo_grid_write(&grid, nc), OSLA_ERR_IO);
  snprintf(nc, sizeof nc, "%s/m.nc", directory);
  CU_ASSERT(unlink(nc) == 0 && unlink(h5) == 0 && rmdir(directory) == 0);
  tomo_slices_destroy(&slices);
  drop(&k);
}

#else

static void test_netcdf(void)
{
  const tomo_grid_file grid = {.slices = NULL};
  CU_ASSERT(!tomo_grid_can_write());
  OSLA_ASSERT_ERR(tomo_grid_write(&grid, "m.nc"), OSLA_ERR_UNSUPPORTED);
}

#endif

static const osla_test_case cases[] = {{"slices", test_slices}, {"triangles", test_triangles},
                                       {"prisms", test_prisms}, {"steps", test_steps},
                                       {"netcdf", test_netcdf}, {NULL, NULL}};
OSLA_TEST_SUITE(test_tomo_grid, cases);
