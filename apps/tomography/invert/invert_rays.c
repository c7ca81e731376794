/* Rows of paths in factored form, and products with them (invert_rays.h). Memory: 12 bytes for each
 * knot of each path, N_r numbers for each path, and N_r numbers for each knot that paths of this
 * rank touch. R is stored once for each set of measurements on this rank, and once for each path
 * whose data have weights. */
#include "apps/tomography/invert/invert_rays.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sets *r to R of the path's set of measurements. R is computed when the first path uses the set.
 */
static osla_err factor_of_set(invert_rays *rays, const invert_path_qr *split, const double **r)
{
  const size_t bytes = (size_t)(split->rows * split->radial) * sizeof **r;
  double **known = &rays->set_r[split->set];
#ifdef _OPENMP
#pragma omp critical(invert_set)
#endif
  {
    if (!*known) {
      *known = malloc(bytes);
      if (*known) memcpy(*known, split->r, bytes);
    }
    *r = *known;
  }
  OSLA_CHECK(*r, OSLA_ERR_MEM, "no memory for rows of a path, %zu bytes", bytes);
  return OSLA_OK;
}

static osla_err store_path(invert_worker *w)
{
  invert_rays *rays = w->job->rays;
  const int64_t place = w->index / osla_transport_size(w->job->t), k = tomo_path_count(w->path);
  const int32_t *knot;
  const double *length;
  invert_ray *mine = &rays->path[place];
  invert_add_path(w);
  if (!w->split)
    OSLA_CALL(
      invert_path_qr_create(tomo_data_max_count(&w->job->data), (int)rays->radial, &w->split));
  invert_path_qr_factor(w->split, w->path, w->set.number, w->factor != NULL);
  mine->count = tomo_path_knots(w->path, &knot, &length);
  const size_t count = (size_t)mine->count;
  const size_t own = w->factor ? (size_t)(mine->rows * rays->radial) : 0;
  mine->length = malloc((count + own) * sizeof *length + count * sizeof *knot + 1);
  OSLA_CHECK(mine->length, OSLA_ERR_MEM, "no memory for %zu knots of a path", count);
  mine->knot = (int32_t *)(mine->length + count + own);
  memcpy(mine->length, length, count * sizeof *length);
  memcpy(mine->knot, knot, count * sizeof *knot);
  memcpy(mine->length + count, w->split->r, own * sizeof *length);
  mine->r = mine->length + count;
  if (own == 0) OSLA_CALL(factor_of_set(rays, w->split, &mine->r));
  for (int64_t i = 0; i < mine->rows; i++)
    rays->d[mine->first + i] = osla_dot_local(k, w->split->q + i * k, w->d);
  return OSLA_OK;
}

static osla_err trace_paths(invert_job *job)
{
  const invert_pass pass = {.what = "tracing",
                            .work = store_path,
                            .n_sums = {[SUM_MISFIT] = 1, [SUM_KNOTS] = job->knots},
                            .fixed = true};
  invert_worker total;
  double busy;
  osla_err err = invert_for_all_paths(job, &pass, &total, &busy);
  if (err == OSLA_OK) err = invert_store_totals(job, &total);
  invert_free_sums(&total);
  return err;
}

/* Numbers the touched knots in ascending order. Sets *touched to their list, which the caller
 * frees. */
static osla_err number_knots(invert_rays *rays, int64_t **touched)
{
  const int64_t knots = rays->job->knots;
  int64_t *list = malloc((size_t)(knots + 1) * sizeof *list);
  int32_t *number = calloc((size_t)knots, sizeof *number);
  *touched = list;
  if (!list || !number) {
    free(number);
    return osla_error_set(OSLA_ERR_MEM, "no memory for lists of %" PRId64 " knots", knots);
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

static osla_err connect_knots(invert_rays *rays)
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
  return OSLA_OK;
}

typedef struct prior_rows {
  int64_t rows, entries; /* numbers of rows and nonzeros appended so far */
  int64_t *first, *column;
  double *value;
} prior_rows;

/* Appends the rows of the prior for one knot, without zeros. */
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

/* Makes the rows of the prior for this rank's knots. *per_knot is the number of rows of each knot.
 */
static osla_err list_prior(const invert_rays *rays, prior_rows *p, int64_t *per_knot)
{
  const invert_options *o = rays->job->options;
  const int rank = osla_transport_rank(rays->job->t), radial = o->n_radial;
  const int most_rows = tomo_prior_rows_max(radial), most_columns = tomo_prior_columns_max(radial);
  const size_t knots = (size_t)(rays->start[rank + 1] - rays->start[rank]);
  const size_t rows = knots * (size_t)most_rows;
  /* upper bounds of the number of nonzeros in a row: 1 for damping; for lateral smoothing the
   * number of neighbours plus 1; 3 for radial smoothing */
  const size_t entries = knots * (size_t)radial * (1 + TOMO_MESH_NEIGHBOURS + 1 + 3);
  double *g = malloc((size_t)most_rows * (size_t)most_columns * sizeof *g);
  int64_t *ix = malloc((size_t)most_columns * sizeof *ix);
  p->first = calloc(rows + 1, sizeof *p->first);
  p->column = malloc((entries + 1) * sizeof *p->column);
  p->value = malloc((entries + 1) * sizeof *p->value);
  const bool made = g && ix && p->first && p->column && p->value;
  for (int64_t l = rays->start[rank]; made && l < rays->start[rank + 1]; l++) {
    int n, columns;
    tomo_prior_panel(&rays->job->prior, rays->job->mesh, radial, l, &n, &columns, ix, g);
    add_panel(p, n, columns, ix, g);
    *per_knot = n;
  }
  free(g);
  free(ix);
  return made ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "no memory for rows of the prior");
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
  if (!rows || !columns) err = osla_error_set(OSLA_ERR_MEM, "no memory for blocks of the prior");
  err = osla_agree(t, err);
  /* the maximum of all ranks, because a rank without knots has per_knot = 0 */
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

static osla_err allocate(invert_job *job)
{
  const int size = osla_transport_size(job->t), rank = osla_transport_rank(job->t);
  invert_rays *rays = calloc(1, sizeof *rays);
  OSLA_CHECK(rays, OSLA_ERR_MEM, "no memory for rows of paths");
  job->rays = rays;
  rays->job = job;
  rays->radial = job->options->n_radial;
  rays->n = job->n_paths / size + (rank < job->n_paths % size);
  rays->path = calloc((size_t)rays->n + 1, sizeof *rays->path);
  rays->start = calloc((size_t)size + 1, sizeof *rays->start);
  rays->set_r = calloc((size_t)job->data.n_sets, sizeof *rays->set_r);
  OSLA_CHECK(rays->path && rays->start && rays->set_r, OSLA_ERR_MEM,
             "no memory for %" PRId64 " paths", rays->n);
  for (int64_t p = 0; p < rays->n; p++) {
    const int k = tomo_data_set(&job->data, p * size + rank).count;
    rays->path[p].first = rays->rows;
    rays->path[p].rows = k < rays->radial ? k : (int32_t)rays->radial;
    rays->rows += rays->path[p].rows;
  }
  rays->d = calloc((size_t)rays->rows + 1, sizeof *rays->d);
  OSLA_CHECK(rays->d, OSLA_ERR_MEM, "no memory for %" PRId64 " rows of paths", rays->rows);
  osla_even_blocks(job->knots, size, rays->start);
  rays->first = rays->start[rank] * rays->radial;
  return OSLA_OK;
}

osla_err invert_rays_create(invert_job *job)
{
  OSLA_CALL(osla_agree(job->t, allocate(job)));
  OSLA_CALL(trace_paths(job));
  OSLA_CALL(connect_knots(job->rays));
  return make_prior(job->rays);
}

osla_err invert_rays_replace_prior(invert_rays *rays)
{
  (void)osla_csr_destroy(&rays->prior);
  return make_prior(rays);
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
  for (int64_t i = 0; r->set_r && i < r->job->data.n_sets; i++)
    free(r->set_r[i]);
  free(r->set_r);
  free(r);
  *rays = NULL;
}

/* Number of coefficients of a knot that one pass over the path's knots processes. The constant
 * length lets the compiler vectorise the inner loop. */
enum { TOGETHER = 4 };

/* average[r] := sum over the path's knots l of A[l] x[l, r]. */
static void average_path(const invert_ray *path, int64_t radial, const double *restrict ghost,
                         double *restrict average)
{
  int64_t from = 0;
  for (; from + TOGETHER <= radial; from += TOGETHER) {
    double sum[TOGETHER] = {0.0};
    for (int64_t j = 0; j < path->count; j++) {
      const double *x = ghost + path->knot[j] * radial + from;
      for (int r = 0; r < TOGETHER; r++)
        sum[r] += path->length[j] * x[r];
    }
    for (int r = 0; r < TOGETHER; r++)
      average[from + r] = sum[r];
  }
  for (; from < radial; from++) {
    double sum = 0.0;
    for (int64_t j = 0; j < path->count; j++)
      sum += path->length[j] * ghost[path->knot[j] * radial + from];
    average[from] = sum;
  }
}

/* Computes the transposed product x[l, r] += A[l] average[r] for the path's knots l. If `squared`,
 * A[l]^2 replaces A[l]. */
static void spread_path(const invert_ray *path, int64_t radial, bool squared,
                        const double *restrict average, double *restrict ghost)
{
  for (int64_t j = 0; j < path->count; j++) {
    const double length = squared ? path->length[j] * path->length[j] : path->length[j];
    double *x = ghost + path->knot[j] * radial;
    int64_t from = 0;
    for (; from + TOGETHER <= radial; from += TOGETHER)
      for (int r = 0; r < TOGETHER; r++)
        x[from + r] += length * average[from + r];
    for (; from < radial; from++)
      x[from] += length * average[from];
  }
}

/* u := A x + beta u with A = [G; L]: for each path R times the averages of x along the path, then
 * the product with the rows L of the prior. */
static osla_err multiply(invert_rays *rays, const double *x, double beta, double *u)
{
  const osla_unit unit = {OSLA_UNIT_DOUBLE, (int32_t)rays->radial, 0};
  const int64_t radial = rays->radial;
  osla_forest_run run;
  OSLA_CALL(osla_forest_bcast_begin(rays->forest, unit, x, rays->ghost, OSLA_REPLACE, &run));
  /* the product with the rows of the prior overlaps the transfer of ghost coefficients */
  OSLA_CALL(osla_spmv(OSLA_NOTRANS, rays->prior, x, beta, u + rays->rows));
  OSLA_CALL(osla_forest_end(&run));
  for (int64_t p = 0; p < rays->n; p++) {
    const invert_ray *mine = &rays->path[p];
    double average[TOMO_RADIAL_MAX], *rows = u + mine->first;
    average_path(mine, radial, rays->ghost, average);
    for (int64_t i = 0; i < mine->rows; i++) {
      double sum = beta == 0.0 ? 0.0 : beta * rows[i];
      for (int64_t r = i; r < radial; r++)
        sum += mine->r[i * radial + r] * average[r];
      rows[i] = sum;
    }
  }
  return OSLA_OK;
}

static osla_err reduce(invert_rays *rays, double *y)
{
  const osla_unit unit = {OSLA_UNIT_DOUBLE, (int32_t)rays->radial, 0};
  return osla_forest_reduce(rays->forest, unit, rays->ghost, y, OSLA_SUM);
}

static void clear_ghosts(invert_rays *rays)
{
  memset(rays->ghost, 0, (size_t)(rays->touched * rays->radial) * sizeof *rays->ghost);
}

/* y := G^T u1 + L^T u2 + beta y, where u1 are the elements of u for the rows of G, and u2 the
 * elements after them. */
static osla_err multiply_transposed(invert_rays *rays, const double *u, double beta, double *y)
{
  const int64_t radial = rays->radial;
  OSLA_CALL(osla_spmv(OSLA_TRANS, rays->prior, u + rays->rows, beta, y));
  clear_ghosts(rays);
  for (int64_t p = 0; p < rays->n; p++) {
    const invert_ray *mine = &rays->path[p];
    double average[TOMO_RADIAL_MAX] = {0.0};
    for (int64_t i = 0; i < mine->rows; i++)
      for (int64_t r = i; r < radial; r++)
        average[r] += mine->r[i * radial + r] * u[mine->first + i];
    spread_path(mine, radial, false, average, rays->ghost);
  }
  return reduce(rays, y);
}

static osla_err apply(void *arg, osla_trans op, const double *x, double beta, double *y)
{
  return op == OSLA_NOTRANS ? multiply(arg, x, beta, y) : multiply_transposed(arg, x, beta, y);
}

osla_operator invert_rays_operator(invert_rays *rays)
{
  return (osla_operator){.transport = rays->job->t,
                         .rows = rays->rows + osla_csr_rows(rays->prior),
                         .columns = osla_csr_columns(rays->prior),
                         .multiply = apply,
                         .arg = rays};
}

osla_err invert_rays_diagonal(invert_rays *rays, double *d)
{
  const int64_t radial = rays->radial;
  OSLA_CALL(osla_csr_column_squares(rays->prior, d));
  clear_ghosts(rays);
  for (int64_t p = 0; p < rays->n; p++) {
    const invert_ray *mine = &rays->path[p];
    double square[TOMO_RADIAL_MAX] = {0.0};
    for (int64_t i = 0; i < mine->rows; i++)
      for (int64_t r = i; r < radial; r++)
        square[r] += mine->r[i * radial + r] * mine->r[i * radial + r];
    spread_path(mine, radial, true, square, rays->ghost);
  }
  return reduce(rays, d);
}

uint64_t invert_rays_bytes(const invert_rays *rays)
{
  const tomo_data *data = &rays->job->data;
  const uint64_t row = (uint64_t)rays->radial * sizeof(double);
  uint64_t bytes = 0;
  for (int64_t i = 0; i < data->n_sets; i++) {
    const int64_t k = data->set_first[i + 1] - data->set_first[i];
    if (rays->set_r[i]) bytes += (uint64_t)(k < rays->radial ? k : rays->radial) * row;
  }
  for (int64_t p = 0; p < rays->n; p++) {
    const invert_ray *mine = &rays->path[p];
    bytes += (uint64_t)mine->count * (sizeof(double) + sizeof(int32_t)) + sizeof *mine;
    if (mine->r == mine->length + mine->count) bytes += (uint64_t)mine->rows * row;
  }
  return bytes;
}
