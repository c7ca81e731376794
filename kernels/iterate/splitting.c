/* Block Jacobi on the rows of a sparse matrix. A sweep forms the residual of the own rows and
 * solves with the blocks; Jacobi's method divides. */
#include "splitting.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- sweeps ---- */

static double form_residual(const osla_splitting *s, const double *x)
{
  const split_rows *r = &s->rows;
  double sum = 0.0;
  for (int64_t i = 0; i < r->n; i++) {
    double left = s->b[i];
    for (int64_t e = r->first[i]; e < r->first[i + 1]; e++)
      left -= r->value[e] * x[r->column[e]];
    s->residual[i] = left;
    sum += left * left;
  }
  return sum;
}

static double sweep(void *arg, double omega, const double *x, double *y)
{
  const osla_splitting *s = arg;
  const double sum = form_residual(s, x);
  if (s->inverse)
    for (int64_t i = 0; i < s->rows.n; i++)
      s->step[i] = s->inverse[i] * s->residual[i];
  else
    (void)s->apply.apply(s->apply.arg, s->residual, s->step); /* cannot fail: sizes were checked */
  for (int64_t i = 0; i < s->rows.n; i++)
    y[i] = x[i] + omega * s->step[i];
  return sum;
}

static void pack(void *arg, int h, const double *x, double *message)
{
  const osla_splitting *s = arg;
  for (int64_t j = 0; j < s->halos[h].send; j++)
    message[j] = x[s->sent[h][j]];
}

static void unpack(void *arg, int h, const double *message, double *x)
{
  const osla_splitting *s = arg;
  memcpy(x + s->rows.n + s->received[h], message, (size_t)s->halos[h].recv * sizeof *x);
}

static double magnitude(void *arg, const double *x)
{
  const osla_splitting *s = arg;
  const split_rows *r = &s->rows;
  double sum = 0.0;
  for (int64_t i = 0; i < r->n; i++) {
    double size = fabs(s->b[i]);
    for (int64_t e = r->first[i]; e < r->first[i + 1]; e++)
      size += fabs(r->value[e] * x[r->column[e]]);
    sum += size * size;
  }
  return sum;
}

/* Of Jacobi's method: M has zeros on its diagonal. */
static double bound_sweep(void *arg, double *x, double *y)
{
  const osla_splitting *s = arg;
  const split_rows *r = &s->rows;
  double largest = 0.0;
  for (int64_t i = 0; i < r->n; i++) {
    double sum = 0.0;
    for (int64_t e = r->first[i]; e < r->first[i + 1]; e++)
      if (r->column[e] != i) sum += fabs(r->value[e]) * x[r->column[e]];
    y[i] = sum * fabs(s->inverse[i]);
    if (!(y[i] / x[i] <= largest)) largest = y[i] / x[i]; /* NaN stays */
  }
  return largest;
}

static double distance(void *arg, const double *x, const double *y, const double *v)
{
  const osla_splitting *s = arg;
  double largest = 0.0;
  for (int64_t i = 0; i < s->rows.n; i++)
    largest = fmax(largest, fabs(x[i] - y[i]) / v[i]);
  return largest;
}

osla_fixed_point osla_splitting_problem(osla_splitting *s)
{
  return (osla_fixed_point){.arg = s,
                            .length = s->rows.n + s->n_ghosts,
                            .n_halos = s->n_halos,
                            .halos = s->halos,
                            .sweep = sweep,
                            .pack = pack,
                            .unpack = unpack,
                            .magnitude = magnitude,
                            .row_terms = s->rows.longest,
                            .bound_sweep = s->inverse ? bound_sweep : NULL,
                            .distance = s->inverse ? distance : NULL};
}

/* ---- set-up ---- */

static int by_column(const void *left, const void *right)
{
  const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
  return (a > b) - (a < b);
}

/* The global columns of all entries, and those of others, each once, ascending. */
static osla_err read_rows(osla_splitting *s, int64_t **column, int64_t **ghost)
{
  split_rows *r = &s->rows;
  const int64_t n = osla_csr_rows(s->a), entries = osla_csr_entries(s->a);
  const int64_t mine = osla_csr_column_start(s->a)[osla_transport_rank(osla_csr_transport(s->a))];
  r->n = n;
  r->first = calloc((size_t)n + 1, sizeof *r->first);
  r->column = calloc((size_t)entries + 1, sizeof *r->column);
  r->value = calloc((size_t)entries + 1, sizeof *r->value);
  *column = calloc((size_t)entries + 1, sizeof **column);
  *ghost = calloc((size_t)entries + 1, sizeof **ghost);
  OSLA_CHECK(r->first && r->column && r->value && *column && *ghost, OSLA_ERR_MEM,
             "%" PRId64 " entries of a splitting", entries);
  for (int64_t i = 0; i < n; i++) {
    const int64_t length = osla_csr_row(s->a, i, *column + r->first[i], r->value + r->first[i]);
    r->first[i + 1] = r->first[i] + length;
    if (length > r->longest) r->longest = (int)length;
  }
  int64_t others = 0;
  for (int64_t e = 0; e < r->first[n]; e++)
    if ((*column)[e] < mine || (*column)[e] >= mine + n) (*ghost)[others++] = (*column)[e];
  qsort(*ghost, (size_t)others, sizeof **ghost, by_column);
  for (int64_t j = 0; j < others; j++)
    if (j == 0 || (*ghost)[j] != (*ghost)[j - 1]) (*ghost)[s->n_ghosts++] = (*ghost)[j];
  OSLA_CHECK(n + s->n_ghosts < INT32_MAX, OSLA_ERR_RANGE,
             "splitting: %" PRId64 " rows and %" PRId64 " values of others: 2^31 or more", n,
             s->n_ghosts);
  for (int64_t e = 0; e < r->first[n]; e++) {
    const int64_t c = (*column)[e];
    const bool own = c >= mine && c < mine + n;
    const int64_t *found =
      own ? NULL : bsearch(&c, *ghost, (size_t)s->n_ghosts, sizeof **ghost, by_column);
    r->column[e] = (int32_t)(own ? c - mine : n + (found - *ghost));
  }
  return OSLA_OK;
}

static osla_err invert_diagonal(osla_splitting *s)
{
  const int rank = osla_transport_rank(osla_csr_transport(s->a));
  s->inverse = calloc((size_t)s->rows.n + 1, sizeof *s->inverse);
  OSLA_CHECK(s->inverse, OSLA_ERR_MEM, "%" PRId64 " diagonal elements", s->rows.n);
  OSLA_CALL(osla_csr_diagonal(s->a, s->inverse));
  for (int64_t i = 0; i < s->rows.n; i++) {
    OSLA_CHECK(s->inverse[i] != 0.0 && isfinite(s->inverse[i]), OSLA_ERR_ARG,
               "splitting: the diagonal element of row %" PRId64 " is %g",
               osla_csr_row_start(s->a)[rank] + i, s->inverse[i]);
    s->inverse[i] = 1.0 / s->inverse[i];
  }
  return OSLA_OK;
}

static osla_err check(const osla_csr *a, int64_t block)
{
  const int size = osla_transport_size(osla_csr_transport(a));
  const int64_t *rows = osla_csr_row_start(a), *columns = osla_csr_column_start(a);
  OSLA_CHECK(block >= 1, OSLA_ERR_ARG, "splitting: blocks of %" PRId64 " rows", block);
  for (int p = 0; p <= size; p++)
    OSLA_CHECK(rows[p] == columns[p], OSLA_ERR_ARG,
               "splitting: rank %d has rows from %" PRId64 " on, but columns from %" PRId64, p,
               rows[p], columns[p]);
  return OSLA_OK;
}

static osla_err prepare(osla_splitting *s, int64_t block, int64_t **column, int64_t **ghost)
{
  OSLA_CALL(read_rows(s, column, ghost));
  s->residual = calloc((size_t)s->rows.n + 1, sizeof *s->residual);
  s->step = calloc((size_t)s->rows.n + 1, sizeof *s->step);
  OSLA_CHECK(s->residual && s->step, OSLA_ERR_MEM, "vectors of a splitting");
  return block == 1 ? invert_diagonal(s) : OSLA_OK;
}

osla_err osla_splitting_create(osla_csr *a, const double *b, int64_t block, osla_splitting **out)
{
  osla_transport *t = osla_csr_transport(a);
  int64_t *column = NULL, *ghost = NULL;
  *out = NULL;
  osla_splitting *s = calloc(1, sizeof *s);
  const osla_argument same[] = {{"block", block}};
  osla_err err = s ? check(a, block) : osla_error_set(OSLA_ERR_MEM, "splitting object");
  err = osla_agree_same(t, err, "osla_splitting_create", same, 1);
  if (err == OSLA_OK) {
    *s = (osla_splitting){.a = a, .b = b};
    err = osla_agree(t, prepare(s, block, &column, &ghost));
  }
  if (err == OSLA_OK) err = osla_allreduce(t, &s->rows.longest, 1, MPI_INT, MPI_MAX);
  if (err == OSLA_OK && block > 1) err = osla_jacobi_create(a, block, 0.0, &s->blocks);
  if (err == OSLA_OK && block > 1) s->apply = osla_jacobi_use(s->blocks);
  if (err == OSLA_OK) err = osla_splitting_find_halos(s, ghost);
  free(column);
  free(ghost);
  if (err != OSLA_OK) {
    osla_splitting_destroy(&s);
    return err;
  }
  *out = s;
  return OSLA_OK;
}

void osla_splitting_destroy(osla_splitting **splitting)
{
  osla_splitting *s = splitting ? *splitting : NULL;
  if (!s) return;
  free(s->rows.first);
  free(s->rows.column);
  free(s->rows.value);
  free(s->inverse);
  osla_jacobi_destroy(&s->blocks);
  free(s->residual);
  free(s->step);
  free(s->halos);
  free(s->sent);
  free(s->received);
  free(s->memory);
  free(s);
  *splitting = NULL;
}
