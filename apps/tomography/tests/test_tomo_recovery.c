/* The whole inversion, dense and serial, on the shipped sample: G^T G by panels and dsyrk, prior,
 * LAPACK's dposv. The checkerboard must be recovered where rays are dense, the data must be fitted
 * to their noise, and the picture must be made if gnuplot is installed. No communication.
 *
 * Size: mesh frequency 5 (252 knots) x 3 radial functions, 1600 paths x 100 data. */
#include "config.h"

#include "tests/osla_test.h"

#include OSLA_CBLAS_H
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/tomography/draw/tomo_map.h"
#include "apps/tomography/earth/tomo_model.h"
#include "apps/tomography/earth/tomo_path.h"
#include "apps/tomography/readers/tomo_io.h"

extern void dposv_(const char *uplo, const int *n, const int *nrhs, double *a, const int *lda,
                   double *b, const int *ldb, int *info, size_t length);

enum { FREQUENCY = 5, N_RADIAL = 3, CELL_DEGREES = 40 };

typedef struct inversion {
  tomo_site *stations, *events;
  int64_t n_stations, n_events, knots, unknowns;
  int k;
  tomo_mesh *mesh;
  tomo_radial *radial;
  tomo_kernel *kernel;
  tomo_data data; /* one set of all measures */
  tomo_path *path;
  double *hessian, *gradient, *m_true, *m, *density; /* hessian: upper triangle, column-major */
  double *g, *product, *d;
} inversion;

static bool read_sample(inversion *job)
{
  const char *source = getenv("SRCDIR");
  char name[512];
  snprintf(name, sizeof name, "%s/data/sample_stations.csv", source ? source : ".");
  if (!OSLA_ASSERT_OK(tomo_read_stations(name, &job->stations, &job->n_stations))) return false;
  snprintf(name, sizeof name, "%s/data/sample_events.csv", source ? source : ".");
  return OSLA_ASSERT_OK(tomo_read_events(name, &job->events, &job->n_events));
}

static double *zeros(int64_t count)
{
  return calloc((size_t)count, sizeof(double));
}

static bool set_up(inversion *job)
{
  tomo_model_options truth = tomo_model_defaults();
  tomo_measure *measure;
  int count;
  truth.cell_degrees = CELL_DEGREES;
  *job = (inversion){0};
  if (!read_sample(job) || !OSLA_ASSERT_OK(tomo_mesh_create(FREQUENCY, &job->mesh)) ||
      !OSLA_ASSERT_OK(tomo_radial_create(N_RADIAL, 1000.0, 0.3, &job->radial)) ||
      !OSLA_ASSERT_OK(tomo_kernel_list(NULL, &measure, &count)) ||
      !OSLA_ASSERT_OK(tomo_data_common(measure, count, 0.05, &job->data)) ||
      !OSLA_ASSERT_OK(tomo_kernel_create(NULL, measure, count, job->radial, &job->kernel)) ||
      !OSLA_ASSERT_OK(tomo_path_create(job->mesh, job->kernel, count, &job->path)))
    return false;
  const tomo_set set = tomo_data_set(&job->data, 0);
  tomo_path_weigh(job->path, &set, NULL);
  job->knots = tomo_mesh_knots(job->mesh);
  job->unknowns = job->knots * N_RADIAL;
  job->k = tomo_kernel_count(job->kernel);
  const int64_t most = tomo_path_columns_max(job->path);
  job->hessian = zeros(job->unknowns * job->unknowns);
  job->gradient = zeros(job->unknowns);
  job->m_true = zeros(job->unknowns);
  job->m = zeros(job->unknowns);
  job->density = zeros(job->knots);
  job->g = zeros(job->k * most);
  job->product = zeros(most * most);
  job->d = zeros(job->k);
  return OSLA_ASSERT_OK(tomo_model_true(&truth, job->mesh, job->radial, job->m_true));
}

static void tear_down(inversion *job)
{
  tomo_path_destroy(&job->path);
  tomo_kernel_destroy(&job->kernel);
  tomo_data_free(&job->data);
  tomo_radial_destroy(&job->radial);
  tomo_mesh_destroy(&job->mesh);
  free(job->stations);
  free(job->events);
  free(job->hessian);
  free(job->gradient);
  free(job->m_true);
  free(job->m);
  free(job->density);
  free(job->g);
  free(job->product);
  free(job->d);
}

/* hessian[ix, ix] += g^T g, upper triangle. */
static void update(inversion *job, const double *g, int rows, int64_t n, const int64_t *ix)
{
  if (rows == 0) return;
  cblas_dsyrk(CblasColMajor, CblasUpper, CblasTrans, (int)n, rows, 1.0, g, rows, 0.0, job->product,
              (int)n);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i <= j; i++)
      job->hessian[ix[i] + ix[j] * job->unknowns] += job->product[i + j * n];
}

/* Traces path (event, station) and makes its data; false for a degenerate path. */
static bool prepare(inversion *job, int64_t event, int64_t station)
{
  double source[3], receiver[3];
  tomo_arc arc;
  tomo_unit_vector(job->events[event].latitude, job->events[event].longitude, source);
  tomo_unit_vector(job->stations[station].latitude, job->stations[station].longitude, receiver);
  if (tomo_arc_make(source, receiver, TOMO_ARC_MINOR, &arc) != TOMO_ARC_OK) return false;
  tomo_path_trace(job->path, &arc);
  tomo_path_data(job->path, job->m_true, 1.0, 1,
                 tomo_path_id(event, station, job->n_stations, TOMO_ARC_MINOR), job->d);
  return true;
}

static int64_t assemble(inversion *job)
{
  int64_t paths = 0;
  for (int64_t e = 0; e < job->n_events; e++)
    for (int64_t s = 0; s < job->n_stations; s++) {
      if (!prepare(job, e, s)) continue;
      const int32_t *knot;
      const double *length;
      const int64_t knots = tomo_path_knots(job->path, &knot, &length), n = knots * N_RADIAL;
      const int64_t *ix = tomo_path_indices(job->path);
      OSLA_ASSERT_OK(tomo_path_panel(job->path, OSLA_DOUBLE, job->g, job->k));
      update(job, job->g, job->k, n, ix);
      for (int64_t j = 0; j < n; j++)
        job->gradient[ix[j]] += cblas_ddot(job->k, job->g + j * job->k, 1, job->d, 1);
      for (int64_t j = 0; j < knots; j++)
        job->density[knot[j]] += length[j];
      paths++;
    }
  return paths;
}

static void add_prior(inversion *job)
{
  const tomo_prior_options options = tomo_prior_defaults();
  const int most = tomo_prior_columns_max(N_RADIAL);
  double *g = zeros(tomo_prior_rows_max(N_RADIAL) * most);
  int64_t *ix = malloc((size_t)most * sizeof *ix);
  for (int64_t l = 0; l < job->knots; l++) {
    int rows, columns;
    tomo_prior_panel(&options, job->mesh, N_RADIAL, l, &rows, &columns, ix, g);
    update(job, g, rows, columns, ix);
  }
  free(g);
  free(ix);
}

static double misfit(inversion *job, const double *m)
{
  double sum = 0.0;
  for (int64_t e = 0; e < job->n_events; e++)
    for (int64_t s = 0; s < job->n_stations; s++)
      if (prepare(job, e, s)) sum += tomo_path_misfit(job->path, m, job->d);
  return sum;
}

static void draw(const inversion *job)
{
  char name[] = "/tmp/osla-test-map-XXXXXX";
  const int fd = mkstemp(name);
  const char *source = getenv("SRCDIR");
  char data[512], magic[4] = "";
  snprintf(data, sizeof data, "%s/data", source ? source : ".");
  tomo_map map = {.mesh = job->mesh,
                  .radial = job->radial,
                  .m_true = job->m_true,
                  .m_recovered = job->m,
                  .density = job->density,
                  .depth_km = 100.0,
                  .frame = tomo_frame_world(TOMO_MAP_CENTRE),
                  .stations = job->stations,
                  .n_stations = job->n_stations,
                  .events = job->events,
                  .n_events = job->n_events,
                  .title = "a 'title' with \"quotes\" and \\ and $HOME",
                  .data_directory = data};
  CU_ASSERT(fd >= 0);
  const osla_err err = tomo_map_write(&map, name);
  if (err != OSLA_ERR_UNSUPPORTED) {
    OSLA_ASSERT_OK(err);
    FILE *file = fopen(name, "rb");
    CU_ASSERT(file && fread(magic, 1, 4, file) == 4 && memcmp(magic, "\x89PNG", 4) == 0);
    if (file) fclose(file);
  }
  map.m_true = NULL;
  map.data_directory = NULL;
  if (err == OSLA_OK) OSLA_ASSERT_OK(tomo_map_write(&map, name));
  OSLA_ASSERT_ERR(tomo_map_write(&map, "/tmp/osla-absent/map.png"), OSLA_ERR_IO);
  if (fd >= 0) close(fd);
  unlink(name);
}

static void test_recovery(void)
{
  inversion job;
  int one = 1, info = -1, n;
  if (!set_up(&job)) return;
  n = (int)job.unknowns;
  const int64_t paths = assemble(&job);
  const double data = (double)(paths * job.k);
  CU_ASSERT(paths == job.n_events * job.n_stations);
  add_prior(&job);
  memcpy(job.m, job.gradient, (size_t)n * sizeof *job.m);
  dposv_("U", &n, &one, job.hessian, &n, job.m, &n, &info, 1);
  CU_ASSERT(info == 0);
  /* the data are fitted to the noise, not beyond */
  OSLA_ASSERT_CLOSE(misfit(&job, job.m) / data, 1.0, 0.02);
  CU_ASSERT(misfit(&job, NULL) / data > 2.0);
  const double median = tomo_density_quantile(job.density, job.knots, 0.5);
  const tomo_recovery dense =
    tomo_model_compare(job.m_true, job.m, job.density, job.knots, N_RADIAL, median, 0);
  OSLA_ASSERT_MSG(dense.correlation > 0.9, "correlation %g", dense.correlation);
  OSLA_ASSERT_MSG(dense.amplitude > 0.8 && dense.amplitude < 1.2, "amplitude %g", dense.amplitude);
  draw(&job);
  tear_down(&job);
}

static const osla_test_case cases[] = {{"recovery", test_recovery}, {NULL, NULL}};
OSLA_TEST_SUITE(test_tomo_recovery, cases);
