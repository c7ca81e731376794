/* Splittings of a sparse matrix. The column indices of the stored rows are indices in a state (own
 * values, then ghosts), so that a sweep needs no star forest to fetch values. */
#include "kernels/common/lists.h"
#include "kernels/iterate/splitting.h"
#include "osla_sparse.h"
#include "src/blas/work.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static void residual(const osla_splitting *s, const double *x)
{
  const split_entries *r = &s->sparse;
  for (int64_t i = 0; i < s->n; i++) {
    double left = s->b[i];
    for (int64_t e = r->first[i]; e < r->first[i + 1]; e++)
      left -= r->value[e] * x[r->column[e]];
    s->residual[i] = left;
  }
  /* The entries, 12 bytes each, `first`, b, and the own values of x are read; the ghosts are read;
   * the residual is written. */
  work_charge_memory(12.0 * (double)r->first[s->n] + 40.0 * (double)s->n +
                     8.0 * (double)s->n_ghosts);
}

static void absolute(const osla_splitting *s, int64_t block, const double *x)
{
  const split_entries *r = &s->sparse;
  for (int64_t i = 0; i < s->n; i++) {
    const split_range left_out = splitting_block_of(s, block, i);
    double sum = 0.0;
    for (int64_t e = r->first[i]; e < r->first[i + 1]; e++)
      if (r->column[e] < left_out.from || r->column[e] >= left_out.to)
        sum += fabs(r->value[e] * x[r->column[e]]);
    s->step[i] = sum;
  }
}

static void copy_block(const osla_splitting *s, int64_t from, int64_t m, double *to)
{
  const split_entries *r = &s->sparse;
  for (int64_t i = 0; i < m; i++)
    for (int64_t e = r->first[from + i]; e < r->first[from + i + 1]; e++) {
      const int64_t column = r->column[e] - from;
      if (column >= 0 && column < m) to[i + column * m] += r->value[e];
    }
}

/* ---- create ---- */

/* Reads the rows of A. *column becomes the global column of each entry; *ghost becomes the distinct
 * columns of other ranks, in ascending order. */
static osla_err read_rows(const osla_csr *a, osla_splitting *s, int64_t **column, int64_t **ghost)
{
  split_entries *r = &s->sparse;
  const int64_t n = osla_csr_rows(a), entries = osla_csr_entries(a), mine = s->first_row;
  s->n = n;
  r->first = calloc((size_t)n + 1, sizeof *r->first);
  r->column = calloc((size_t)entries + 1, sizeof *r->column);
  r->value = calloc((size_t)entries + 1, sizeof *r->value);
  *column = calloc((size_t)entries + 1, sizeof **column);
  *ghost = calloc((size_t)entries + 1, sizeof **ghost);
  OSLA_CHECK(r->first && r->column && r->value && *column && *ghost, OSLA_ERR_MEM,
             "no memory for %" PRId64 " entries of a splitting", entries);
  for (int64_t i = 0; i < n; i++) {
    const int64_t length = osla_csr_row(a, i, *column + r->first[i], r->value + r->first[i]);
    r->first[i + 1] = r->first[i] + length;
    if (length > s->row_terms) s->row_terms = (int)length;
  }
  int64_t others = 0;
  for (int64_t e = 0; e < r->first[n]; e++)
    if ((*column)[e] < mine || (*column)[e] >= mine + n) (*ghost)[others++] = (*column)[e];
  s->n_ghosts = osli_sort_distinct(*ghost, others);
  OSLA_CHECK(n + s->n_ghosts < INT32_MAX, OSLA_ERR_RANGE,
             "splitting: %" PRId64 " rows and %" PRId64 " values of others: 2^31 or more", n,
             s->n_ghosts);
  for (int64_t e = 0; e < r->first[n]; e++) {
    const int64_t c = (*column)[e];
    const bool own = c >= mine && c < mine + n;
    r->column[e] = (int32_t)(own ? c - mine : n + osli_sorted_index(*ghost, s->n_ghosts, c));
  }
  return OSLA_OK;
}

static osla_err check(const osla_csr *a)
{
  const int size = osla_transport_size(osla_csr_transport(a));
  const int64_t *rows = osla_csr_row_start(a), *columns = osla_csr_column_start(a);
  for (int p = 0; p <= size; p++)
    OSLA_CHECK(rows[p] == columns[p], OSLA_ERR_ARG,
               "splitting: rank %d has rows from %" PRId64 " on, but columns from %" PRId64, p,
               rows[p], columns[p]);
  return OSLA_OK;
}

/* Stores the rows of A, and makes the group of this rank. Local. */
static osla_err store(const osla_csr *a, const osla_splitting_options *o, osla_splitting *s,
                      int64_t **ghost)
{
  int64_t *column = NULL;
  const osla_err err = read_rows(a, s, &column, ghost);
  free(column);
  OSLA_CALL(err);
  return osli_splitting_group_create(s, o->group, *ghost, osla_csr_column_start(a));
}

/* Fills the splitting, which osli_splitting_open has allocated: rows, group, blocks and halos. The
 * caller frees *ghost, also after an error. Collective. */
static osla_err prepare(const osla_csr *a, const osla_splitting_options *o, osla_splitting *s,
                        int64_t **ghost)
{
  OSLA_CALL(osla_agree(s->t, store(a, o, s, ghost)));
  OSLA_CALL(osla_agree(s->t, osli_splitting_factor_blocks(s, o, *ghost)));
  OSLA_CALL(osla_allreduce(s->t, &s->row_terms, 1, MPI_INT, MPI_MAX));
  OSLA_CALL(osli_splitting_find_halos(s, *ghost, osla_csr_column_start(a)));
  return s->group ? osli_splitting_inner_check(s, *ghost) : OSLA_OK;
}

osla_err osla_splitting_create(osla_csr *a, const double *b, const osla_splitting_options *options,
                               osla_splitting **out)
{
  static const split_kind kind = {residual, absolute, copy_block};
  osla_transport *t = osla_csr_transport(a);
  const osla_splitting_options o = options ? *options : (osla_splitting_options){0};
  int64_t *ghost = NULL;
  *out = NULL;
  OSLA_CALL(osli_splitting_open(t, check(a), &kind, OSLA_GENERAL, b, &o, out));
  osla_splitting *s = *out;
  s->first_row = osla_csr_column_start(a)[osla_transport_rank(t)];
  const osla_err err = prepare(a, &o, s, &ghost);
  free(ghost);
  if (err != OSLA_OK) osla_splitting_destroy(out);
  return err;
}
