/* Rows of paths in factored form, and products with them (invert_rays.h). Memory: 12 bytes for each
 * knot of each path, k + N_r numbers for each path, N_r for each knot that one of them touches. */
#include "invert_rays.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "osla_blas.h"

/* A path of mine. */
typedef struct ray {
  int64_t count;  /* of its knots; 0: it has none */
  double *length; /* A[l]; one allocation with the knots behind them */
  int32_t *knot;  /* first of the mesh, then places among the touched ones */
} ray;

struct invert_rays {
  const invert_job *job;
  int64_t k, radial;
  const double *response; /* W, k x radial */
  int64_t n;              /* my paths */
  ray *path;              /* [n] in the order of the list */
  double *d;              /* [k * n] */
  int64_t *start;         /* [size + 1] of the ranks' knots */
  int64_t touched;        /* knots */
  osla_forest *forest;
  double *ghost;   /* [radial * touched] their coefficients, read in place by neighbours */
  double *average; /* [radial * n] of the paths */
  osla_csr *prior;
};

/* ---- tracing ---- */

static osla_err keep_path(invert_worker *w)
{
  invert_rays *rays = w->job->rays;
  const int64_t place = w->index / osla_transport_size(w->job->t);
  const int32_t *knot;
  const double *length;
  ray *r = &rays->path[place];
  invert_add_path(w);
  r->count = tomo_path_knots(w->path, &knot, &length);
  const size_t count = (size_t)r->count;
  r->length = malloc(count * (sizeof *length + sizeof *knot) + 1);
  OSLA_CHECK(r->length, OSLA_ERR_MEM, "%zu knots of a path", count);
  r->knot = (int32_t *)(r->length + count);
  memcpy(r->length, length, count * sizeof *length);
  memcpy(r->knot, knot, count * sizeof *knot);
  memcpy(rays->d + place * rays->k, w->d, (size_t)rays->k * sizeof *w->d);
  return OSLA_OK;
}

static osla_err trace_paths(invert_job *job)
{
  const invert_pass pass = {.what = "tracing",
                            .work = keep_path,
                            .n_sums = {[SUM_MISFIT] = 1, [SUM_KNOTS] = job->knots},
                            .dealt = true};
  invert_worker total;
  double busy;
  osla_err err = invert_for_all_paths(job, &pass, &total, &busy);
  if (err == OSLA_OK) err = invert_share_totals(job, &total);
  invert_free_sums(&total);
  return err;
}

/* ---- the knots of others ---- */

/* Numbers the touched knots, ascending; *touched is the caller's to free. */
static osla_err number_knots(invert_rays *rays, int64_t **touched)
{
  const int64_t knots = rays->job->knots;
  int64_t *list = malloc((size_t)(knots + 1) * sizeof *list);
  int32_t *number = calloc((size_t)knots, sizeof *number);
  *touched = list;
  if (!list || !number) {
    free(number);
    return osla_error_set(OSLA_ERR_MEM, "lists of %" PRId64 " knots", knots);
  }
  for (int64_t p = 0; p < rays->n; p++)
    for (int64_t j = 0; j < rays->path[p].count; j++)
      number[rays->path[p].knot[j]] = 1;
  for (int64_t l = 0; l < knots; l++) {
    if (!number[l]) continue;
    number[l] = (int32_t)rays->touched;
    list[rays->touched++] = l;
  }
  for (int64_t p = 0; p < rays->n; p++)
    for (int64_t j = 0; j < rays->path[p].count; j++)
      rays->path[p].knot[j] = number[rays->path[p].knot[j]];
  free(number);
  return OSLA_OK;
}

static osla_err join_knots(invert_rays *rays)
{
  const invert_job *job = rays->job;
  int64_t *touched;
  void *memory;
  osla_err err = osla_agree(job->t, number_knots(rays, &touched));
  if (err == OSLA_OK)
    err =
      osla_forest_create_global(job->t, rays->start, rays->touched, NULL, touched, &rays->forest);
  free(touched);
  OSLA_CALL(err);
  const size_t ghosts = (size_t)(rays->touched * rays->radial);
  OSLA_CALL(osla_vertices_create(job->t, ghosts * sizeof *rays->ghost, &memory));
  rays->ghost = memory;
  rays->average = calloc((size_t)(rays->n * rays->radial) + 1, sizeof *rays->average);
  return osla_agree(
    job->t, rays->average ? OSLA_OK
                          : osla_error_set(OSLA_ERR_MEM, "averages of %" PRId64 " paths", rays->n));
}

/* ---- the prior ---- */

typedef struct prior_rows {
  int64_t rows, entries; /* so far */
  int64_t *first, *column;
  double *value;
} prior_rows;

/* The panel of one knot, without its zeros. */
static void add_panel(prior_rows *p, int rows, int columns, const int64_t *ix, const double *g)
{
  for (int i = 0; i < rows; i++) {
    for (int j = 0; j < columns; j++) {
      if (fpclassify(g[i + j * rows]) == FP_ZERO) continue;
      p->column[p->entries] = ix[j];
      p->value[p->entries++] = g[i + j * rows];
    }
    p->first[++p->rows] = p->entries;
  }
}

/* Rows of this rank's knots; *per_knot is how many each has. */
static osla_err list_prior(const invert_rays *rays, prior_rows *p, int64_t *per_knot)
{
  const invert_options *o = rays->job->options;
  const int rank = osla_transport_rank(rays->job->t), radial = o->n_radial;
  const int most_rows = tomo_prior_rows_max(radial), most_columns = tomo_prior_columns_max(radial);
  const size_t knots = (size_t)(rays->start[rank + 1] - rays->start[rank]);
  const size_t rows = knots * (size_t)most_rows;
  /* damping: 1 a row, lateral: the neighbours and itself, radial: 3 */
  const size_t entries = knots * (size_t)radial * (1 + TOMO_MESH_NEIGHBOURS + 1 + 3);
  double *g = malloc((size_t)most_rows * (size_t)most_columns * sizeof *g);
  int64_t *ix = malloc((size_t)most_columns * sizeof *ix);
  p->first = calloc(rows + 1, sizeof *p->first);
  p->column = malloc((entries + 1) * sizeof *p->column);
  p->value = malloc((entries + 1) * sizeof *p->value);
  const bool made = g && ix && p->first && p->column && p->value;
  for (int64_t l = rays->start[rank]; made && l < rays->start[rank + 1]; l++) {
    int n, columns;
    tomo_prior_panel(&o->prior, rays->job->mesh, radial, l, &n, &columns, ix, g);
    add_panel(p, n, columns, ix, g);
    *per_knot = n;
  }
  free(g);
  free(ix);
  return made ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "rows of the prior");
}

static osla_err make_prior(invert_rays *rays)
{
  osla_transport *t = rays->job->t;
  const int size = osla_transport_size(t);
  prior_rows p = {0};
  int64_t per_knot = 0;
  int64_t *rows = malloc(((size_t)size + 1) * sizeof *rows);
  int64_t *columns = malloc(((size_t)size + 1) * sizeof *columns);
  osla_err err = list_prior(rays, &p, &per_knot);
  if (!rows || !columns) err = osla_error_set(OSLA_ERR_MEM, "blocks of the prior");
  err = osla_agree(t, err);
  /* a rank without knots has none to count in */
  if (err == OSLA_OK) err = osla_allreduce(t, &per_knot, 1, MPI_INT64_T, MPI_MAX);
  for (int q = 0; err == OSLA_OK && q <= size; q++) {
    rows[q] = rays->start[q] * per_knot;
    columns[q] = rays->start[q] * rays->radial;
  }
  if (err == OSLA_OK)
    err = osla_csr_create(t, rows, columns, p.first, p.column, p.value, &rays->prior);
  free(rows);
  free(columns);
  free(p.first);
  free(p.column);
  free(p.value);
  return err;
}

/* ---- both together ---- */

static osla_err allocate(invert_job *job)
{
  const int size = osla_transport_size(job->t), rank = osla_transport_rank(job->t);
  invert_rays *rays = calloc(1, sizeof *rays);
  OSLA_CHECK(rays, OSLA_ERR_MEM, "rows of paths");
  job->rays = rays;
  rays->job = job;
  rays->k = tomo_kernel_count(job->kernel);
  rays->radial = job->options->n_radial;
  rays->response = tomo_kernel_response(job->kernel);
  rays->n = job->n_paths / size + (rank < job->n_paths % size);
  rays->path = calloc((size_t)rays->n + 1, sizeof *rays->path);
  rays->d = calloc((size_t)(rays->n * rays->k) + 1, sizeof *rays->d);
  rays->start = calloc((size_t)size + 1, sizeof *rays->start);
  OSLA_CHECK(rays->path && rays->d && rays->start, OSLA_ERR_MEM,
             "%" PRId64 " paths of %" PRId64 " data", rays->n, rays->k);
  osla_even_blocks(job->knots, size, rays->start);
  return OSLA_OK;
}

osla_err invert_rays_create(invert_job *job)
{
  OSLA_CALL(osla_agree(job->t, allocate(job)));
  OSLA_CALL(trace_paths(job));
  OSLA_CALL(join_knots(job->rays));
  return make_prior(job->rays);
}

void invert_rays_destroy(invert_rays **rays)
{
  invert_rays *r = *rays;
  if (!r) return;
  void *ghost = r->ghost;
  (void)osla_csr_destroy(&r->prior);
  (void)osla_forest_destroy(&r->forest);
  if (ghost) (void)osla_vertices_free(r->job->t, &ghost);
  for (int64_t p = 0; r->path && p < r->n; p++)
    free(r->path[p].length);
  free(r->path);
  free(r->d);
  free(r->start);
  free(r->average);
  free(r);
  *rays = NULL;
}

/* ---- products ---- */

/* u (k x n) := W times the paths' averages of x + beta u. */
static osla_err multiply(invert_rays *rays, const double *x, double beta, double *u)
{
  const osla_unit unit = {OSLA_UNIT_DOUBLE, (int32_t)rays->radial, 0};
  const int64_t radial = rays->radial, k = rays->k;
  osla_forest_run run;
  OSLA_CALL(osla_forest_bcast_begin(rays->forest, unit, x, rays->ghost, OSLA_REPLACE, &run));
  OSLA_CALL(osla_spmv(rays->prior, OSLA_NOTRANS, x, beta, u + k * rays->n)); /* meanwhile */
  OSLA_CALL(osla_forest_end(&run));
  for (int64_t p = 0; p < rays->n; p++) {
    const ray *path = &rays->path[p];
    double average[TOMO_RADIAL_MAX] = {0.0};
    for (int64_t j = 0; j < path->count; j++)
      for (int64_t r = 0; r < radial; r++)
        average[r] += path->length[j] * rays->ghost[path->knot[j] * radial + r];
    memcpy(rays->average + p * radial, average, (size_t)radial * sizeof *average);
  }
  return osla_blas_gemm(OSLA_DOUBLE, OSLA_NOTRANS, OSLA_NOTRANS, k, rays->n, radial, 1.0,
                        rays->response, k, rays->average, radial, beta, u, k);
}

/* y += what the paths give to their knots: A[l] times average[r], squared or not. */
static osla_err reduce_paths(invert_rays *rays, bool squared, double *y)
{
  const osla_unit unit = {OSLA_UNIT_DOUBLE, (int32_t)rays->radial, 0};
  const int64_t radial = rays->radial;
  memset(rays->ghost, 0, (size_t)(rays->touched * radial) * sizeof *rays->ghost);
  for (int64_t p = 0; p < rays->n; p++) {
    const ray *path = &rays->path[p];
    const double *average = rays->average + p * radial;
    for (int64_t j = 0; j < path->count; j++) {
      const double length = squared ? path->length[j] * path->length[j] : path->length[j];
      for (int64_t r = 0; r < radial; r++)
        rays->ghost[path->knot[j] * radial + r] += length * average[r];
    }
  }
  return osla_forest_reduce(rays->forest, unit, rays->ghost, y, OSLA_SUM);
}

/* y := G^T u + L^T of what is behind it + beta y. */
static osla_err multiply_transposed(invert_rays *rays, const double *u, double beta, double *y)
{
  const int64_t radial = rays->radial, k = rays->k;
  OSLA_CALL(osla_spmv(rays->prior, OSLA_TRANS, u + k * rays->n, beta, y));
  OSLA_CALL(osla_blas_gemm(OSLA_DOUBLE, OSLA_TRANS, OSLA_NOTRANS, radial, rays->n, k, 1.0,
                           rays->response, k, u, k, 0.0, rays->average, radial));
  return reduce_paths(rays, false, y);
}

static osla_err apply(void *arg, osla_trans op, const double *x, double beta, double *y)
{
  return op == OSLA_NOTRANS ? multiply(arg, x, beta, y) : multiply_transposed(arg, x, beta, y);
}

osla_operator invert_rays_operator(invert_rays *rays)
{
  return (osla_operator){.transport = rays->job->t,
                         .rows = rays->k * rays->n + osla_csr_rows(rays->prior),
                         .columns = osla_csr_columns(rays->prior),
                         .multiply = apply,
                         .arg = rays};
}

osla_err invert_rays_diagonal(invert_rays *rays, double *d)
{
  OSLA_CALL(osla_csr_column_squares(rays->prior, d));
  for (int64_t r = 0; r < rays->radial; r++) {
    const double *w = rays->response + r * rays->k;
    const double square = osla_dot_local(rays->k, w, w);
    for (int64_t p = 0; p < rays->n; p++)
      rays->average[p * rays->radial + r] = square;
  }
  return reduce_paths(rays, true, d);
}

/* ---- queries ---- */

int64_t invert_rays_first(const invert_rays *rays)
{
  return rays->start[osla_transport_rank(rays->job->t)] * rays->radial;
}

int64_t invert_rays_data(const invert_rays *rays)
{
  return rays->k * rays->n;
}

const double *invert_rays_d(const invert_rays *rays)
{
  return rays->d;
}

uint64_t invert_rays_bytes(const invert_rays *rays)
{
  uint64_t bytes = (uint64_t)(rays->k * rays->radial) * sizeof(double);
  for (int64_t p = 0; p < rays->n; p++)
    bytes += (uint64_t)rays->path[p].count * (sizeof(double) + sizeof(int32_t)) + sizeof(ray);
  return bytes;
}
