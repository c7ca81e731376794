/* The serial inversion, with which tests compare the parallel inversion (contract:
 * invert_reference.h). */
#include "config.h"

#include "apps/tomography/tests/invert_reference.h"

#include OSLA_CBLAS_H
#include <stdlib.h>
#include <string.h>

#include "tests/osla_test.h"

extern void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info,
                    size_t length);
extern void dpotri_(const char *uplo, const int *n, double *a, const int *lda, int *info,
                    size_t length);
extern void dpotrs_(const char *uplo, const int *n, const int *nrhs, const double *a,
                    const int *lda, double *b, const int *ldb, int *info, size_t length);

static double *zeros(int64_t count)
{
  return calloc((size_t)count + 1, sizeof(double));
}

/* Adds g^T g to the rows and columns ix of the matrix, in its upper triangle; the indices ix
 * ascend. */
static void add_product(double *matrix, int64_t n, const double *g, int64_t rows, int64_t columns,
                        const int64_t *ix)
{
  double *product = zeros(columns * columns);
  cblas_dsyrk(CblasColMajor, CblasUpper, CblasTrans, (int)columns, (int)rows, 1.0, g, (int)rows,
              0.0, product, (int)columns);
  for (int64_t j = 0; j < columns; j++)
    for (int64_t i = 0; i <= j; i++)
      matrix[ix[i] + ix[j] * n] += product[i + j * columns];
  free(product);
}

/* The arc of a path, from the definition of its id: (source * n_stations + station) * 2 + major.
 * The sources are the events, then the stations. */
static tomo_arc arc_of(const invert_job *job, int64_t id)
{
  const int64_t from = id / 2 / job->n_stations;
  const tomo_site *event =
    from < job->n_events ? &job->events[from] : &job->stations[from - job->n_events];
  const tomo_site *station = &job->stations[id / 2 % job->n_stations];
  double source[3], receiver[3];
  tomo_arc arc;
  tomo_unit_vector(event->latitude, event->longitude, source);
  tomo_unit_vector(station->latitude, station->longitude, receiver);
  tomo_arc_state state =
    tomo_arc_make(source, receiver, id % 2 ? TOMO_ARC_MAJOR : TOMO_ARC_MINOR, &arc);
  OSLA_ASSERT_MSG(state == TOMO_ARC_OK, "path %lld has no arc", (long long)id);
  return arc;
}

/* Computes the whitened data of a path: the table's data times factor / sigma, or, without a table,
 * data predicted from the true model. */
static void find_data(const invert_job *job, tomo_path *path, int64_t at, double *d)
{
  const tomo_set set = tomo_data_set(&job->data, at);
  const int64_t first = tomo_data_first(&job->data, at);
  tomo_path_set_data(path, &set, job->weight ? job->weight + first : NULL);
  if (job->m_true) {
    tomo_path_data(path, job->m_true, job->options->noise, job->options->model.seed,
                   job->path_ids[at], d);
    return;
  }
  for (int i = 0; i < set.count; i++)
    d[i] = job->data.delay[first + i] / set.sigma[i] * (job->weight ? job->weight[first + i] : 1.0);
}

static void add_path(const invert_job *job, tomo_path *path, int64_t at, double *g, double *d,
                     invert_reference *r)
{
  const int64_t k = tomo_data_set(&job->data, at).count;
  tomo_arc arc = arc_of(job, job->path_ids[at]);
  int64_t columns = tomo_path_trace(path, &arc);
  const int64_t *ix = tomo_path_indices(path);
  find_data(job, path, at, d);
  OSLA_ASSERT_OK(tomo_path_panel(path, OSLA_DOUBLE, g, k));
  add_product(r->hessian, r->n, g, k, columns, ix);
  for (int64_t j = 0; j < columns; j++)
    r->gradient[ix[j]] += cblas_ddot((int)k, g + j * k, 1, d, 1);
  r->misfit_before += cblas_ddot((int)k, d, 1, d, 1);
  const int32_t *knot;
  const double *length;
  const int64_t knots = tomo_path_knots(path, &knot, &length);
  for (int64_t j = 0; j < knots; j++)
    r->density[knot[j]] += length[j];
}

static void add_prior(const invert_job *job, invert_reference *r)
{
  const int n_radial = job->options->n_radial, most = tomo_prior_columns_max(n_radial);
  double *g = zeros((int64_t)tomo_prior_rows_max(n_radial) * most);
  int64_t *ix = calloc((size_t)most, sizeof *ix);
  for (int64_t knot = 0; knot < job->knots; knot++) {
    int rows, columns;
    tomo_prior_panel(&job->prior, job->mesh, n_radial, knot, &rows, &columns, ix, g);
    if (rows > 0) add_product(r->prior, r->n, g, rows, columns, ix);
  }
  for (int64_t i = 0; i < r->n * r->n; i++)
    r->hessian[i] += r->prior[i];
  free(g);
  free(ix);
}

bool reference_assemble(const invert_job *job, invert_reference *r)
{
  tomo_path *path = NULL;
  *r = (invert_reference){.n = job->n,
                          .hessian = zeros(job->n * job->n),
                          .prior = zeros(job->n * job->n),
                          .gradient = zeros(job->n),
                          .density = zeros(job->knots),
                          .model = zeros(job->n),
                          .resolution = zeros(job->n)};
  if (!OSLA_ASSERT_OK(
        tomo_path_create(job->mesh, job->kernel, tomo_data_max_count(&job->data), &path)))
    return false;
  const int64_t k = tomo_data_max_count(&job->data);
  double *g = zeros(k * tomo_path_columns_max(path)), *d = zeros(k);
  for (int64_t i = 0; i < job->n_paths; i++)
    add_path(job, path, i, g, d, r);
  add_prior(job, r);
  free(g);
  free(d);
  tomo_path_destroy(&path);
  return true;
}

static void measure_misfit(const invert_job *job, invert_reference *r)
{
  const int64_t k = tomo_data_max_count(&job->data);
  tomo_path *path = NULL;
  if (!OSLA_ASSERT_OK(
        tomo_path_create(job->mesh, job->kernel, tomo_data_max_count(&job->data), &path)))
    return;
  double *d = zeros(k), *prediction = zeros(k);
  for (int64_t i = 0; i < job->n_paths; i++) {
    tomo_arc arc = arc_of(job, job->path_ids[i]);
    (void)tomo_path_trace(path, &arc);
    find_data(job, path, i, d);
    tomo_path_data(path, r->model, 0.0, 0, 0, prediction);
    for (int64_t j = 0; j < tomo_path_count(path); j++)
      r->misfit_after += (d[j] - prediction[j]) * (d[j] - prediction[j]);
  }
  free(d);
  free(prediction);
  tomo_path_destroy(&path);
}

/* Computes the diagonal of the resolution matrix I - (H + P)^-1 P from the Cholesky factor of H +
 * P. */
static void resolve(invert_reference *r, const double *factor)
{
  const int n = (int)r->n;
  int info = -1;
  double *x = zeros(r->n * r->n);
  for (int64_t j = 0; j < r->n; j++)
    for (int64_t i = 0; i < r->n; i++)
      x[i + j * r->n] = i <= j ? r->prior[i + j * r->n] : r->prior[j + i * r->n];
  dpotrs_("U", &n, &n, factor, &n, x, &n, &info, 1);
  CU_ASSERT(info == 0);
  for (int64_t j = 0; j < r->n; j++)
    r->resolution[j] = 1.0 - x[j + j * r->n];
  free(x);
}

bool reference_solve(const invert_job *job, invert_reference *r)
{
  const int n = (int)r->n, one = 1;
  int info = -1;
  double *factor = zeros(r->n * r->n);
  memcpy(factor, r->hessian, (size_t)(r->n * r->n) * sizeof *factor);
  memcpy(r->model, r->gradient, (size_t)r->n * sizeof *r->model);
  dpotrf_("U", &n, factor, &n, &info, 1);
  CU_ASSERT(info == 0);
  bool solved = info == 0;
  if (solved) dpotrs_("U", &n, &one, factor, &n, r->model, &n, &info, 1);
  if (solved) resolve(r, factor);
  free(factor);
  if (solved) measure_misfit(job, r);
  return solved;
}

void reference_invert(const invert_reference *r, double *inverse)
{
  const int n = (int)r->n;
  int info = -1;
  memcpy(inverse, r->hessian, (size_t)(r->n * r->n) * sizeof *inverse);
  dpotrf_("U", &n, inverse, &n, &info, 1);
  CU_ASSERT(info == 0);
  dpotri_("U", &n, inverse, &n, &info, 1);
  CU_ASSERT(info == 0);
  for (int64_t j = 0; j < r->n; j++)
    for (int64_t i = j + 1; i < r->n; i++)
      inverse[i + j * r->n] = inverse[j + i * r->n];
}

void reference_free(invert_reference *r)
{
  free(r->hessian);
  free(r->prior);
  free(r->gradient);
  free(r->density);
  free(r->model);
  free(r->resolution);
}

double reference_field(const tomo_mesh *mesh, const tomo_radial *radial, const double *m,
                       double latitude, double longitude, double depth_km)
{
  int32_t knot[TOMO_MESH_SUPPORT];
  double weight[TOMO_MESH_SUPPORT], basis[TOMO_RADIAL_MAX], v[3], sum = 0.0;
  const int n_radial = tomo_radial_count(radial);
  tomo_unit_vector(latitude, longitude, v);
  tomo_radial_basis(radial, depth_km, basis);
  const int count = tomo_mesh_basis(mesh, v, knot, weight);
  for (int i = 0; i < count; i++) {
    double column = 0.0;
    for (int r = 0; r < n_radial; r++)
      column += basis[r] * m[(int64_t)knot[i] * n_radial + r];
    sum += weight[i] * column;
  }
  return sum;
}
