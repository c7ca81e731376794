/* Products C = A B of sparse matrices. The rows of B that this rank's rows of A need are fetched
 * once; then each row of C is computed in one pass over these rows (Gustavson, Two fast algorithms
 * for sparse matrices, ACM TOMS 4 (1978), 250-269). */
#include "kernels/common/lists.h"
#include "kernels/sparse/csr.h"
#include "kernels/sparse/entries.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns ---- */

/* Columns of B that may occur on this rank. They are numbered: first the columns low .. low + n_own
 * - 1, then those in the list `other`. */
typedef struct column_set {
  /* other: columns outside of low .. low + n_own - 1, distinct and ascending */
  int64_t low, n_own, n, *other;
} column_set;

static int32_t set_index(const column_set *s, int64_t column)
{
  if (column >= s->low && column < s->low + s->n_own) return (int32_t)(column - s->low);
  return (int32_t)(s->n_own + osli_sorted_index(s->other, s->n - s->n_own, column));
}

static int64_t set_column(const column_set *s, int32_t index)
{
  return index < s->n_own ? s->low + index : s->other[index - s->n_own];
}

static osla_err make_set(const osla_csr *b, const fetched_rows *far, column_set *s)
{
  const int64_t low = b->column_start[osla_transport_rank(b->t)], high = low + b->columns;
  const int64_t n_far = far->first[far->n];
  int64_t n = 0;
  s->other = malloc((size_t)(b->n_ghosts + n_far + 1) * sizeof *s->other);
  OSLA_CHECK(s->other, OSLA_ERR_MEM, "no memory for %" PRId64 " columns of a product",
             b->n_ghosts + n_far);
  for (; n < b->n_ghosts; n++)
    s->other[n] = b->ghost_column[n];
  for (int64_t e = 0; e < n_far; e++)
    if (far->column[e] < low || far->column[e] >= high) s->other[n++] = far->column[e];
  s->low = low;
  s->n_own = b->columns;
  s->n = b->columns + osli_sort_distinct(s->other, n);
  OSLA_CHECK(s->n < INT32_MAX, OSLA_ERR_RANGE, "%" PRId64 " columns of a product: 2^31 or more",
             s->n);
  return OSLA_OK;
}

/* ---- rows of B ---- */

/* Rows of B: first the rows of this rank, then fetched rows. Column numbers are those of the
 * column_set. */
typedef struct row_table {
  /* parts of this rank's rows of B; here `other` has all rows, also rows without entries */
  csr_part own, other;
  csr_part far;
} row_table;

static osla_err make_part(csr_part *p, int64_t rows, int64_t entries)
{
  p->n = rows;
  p->first = calloc((size_t)rows + 1, sizeof *p->first);
  p->column = malloc((size_t)(entries + 1) * sizeof *p->column);
  OSLA_CHECK(p->first && p->column, OSLA_ERR_MEM, "no memory for %" PRId64 " rows of a product",
             rows);
  return OSLA_OK;
}

/* Makes the table of the rows of B. The values of the entries are not copied. */
static osla_err make_table(const osla_csr *b, const fetched_rows *far, const column_set *s,
                           row_table *t)
{
  t->own = b->own;
  OSLA_CALL(make_part(&t->other, b->rows, b->other.first[b->other.n]));
  OSLA_CALL(make_part(&t->far, far->n, far->first[far->n]));
  t->other.value = b->other.value;
  t->far.value = far->value;
  for (int64_t i = 0; i < b->other.n; i++)
    t->other.first[b->other_row[i] + 1] = b->other.first[i + 1] - b->other.first[i];
  for (int64_t i = 0; i < b->rows; i++)
    t->other.first[i + 1] += t->other.first[i];
  for (int64_t e = 0; e < b->other.first[b->other.n]; e++)
    t->other.column[e] = set_index(s, b->ghost_column[b->other.column[e]]);
  memcpy(t->far.first, far->first, (size_t)(far->n + 1) * sizeof *far->first);
  for (int64_t e = 0; e < far->first[far->n]; e++)
    t->far.column[e] = set_index(s, far->column[e]);
  return OSLA_OK;
}

static void free_table(row_table *t)
{
  free(t->other.first);
  free(t->other.column);
  free(t->far.first);
  free(t->far.column);
}

/* ---- rows of C ---- */

typedef struct product {
  const column_set *set;
  /* [set->n] position of each column in the entries of C; a position before the current row's start
   * means that the row does not have the column */
  int64_t *at;
  int64_t *first, *column;
  double *value;
  int64_t n, room;
} product;

static osla_err open_product(product *c, const column_set *s, int64_t rows)
{
  c->set = s;
  c->at = malloc((size_t)(s->n + 1) * sizeof *c->at);
  c->first = calloc((size_t)rows + 1, sizeof *c->first);
  OSLA_CHECK(c->at && c->first, OSLA_ERR_MEM, "no memory for %" PRId64 " rows of a product", rows);
  for (int64_t i = 0; i < s->n; i++)
    c->at[i] = -1;
  return OSLA_OK;
}

static osla_err make_room(product *c, int64_t more)
{
  if (c->n + more <= c->room) return OSLA_OK;
  const int64_t room = (c->n + more) / 2 * 3 + 1024;
  int64_t *column = realloc(c->column, (size_t)room * sizeof *column);
  if (column) c->column = column;
  double *value = realloc(c->value, (size_t)room * sizeof *value);
  if (value) c->value = value;
  OSLA_CHECK(column && value, OSLA_ERR_MEM, "no memory for %" PRId64 " entries of a product", room);
  c->room = room;
  return OSLA_OK;
}

/* Adds `factor` times a row of B to the current row of C, which begins at position `start`. */
static osla_err add_row(product *c, int64_t start, double factor, const csr_part *rows, int64_t row)
{
  const int64_t end = rows->first[row + 1];
  OSLA_CALL(make_room(c, end - rows->first[row]));
  for (int64_t e = rows->first[row]; e < end; e++) {
    const int32_t index = rows->column[e];
    if (c->at[index] < start) {
      c->at[index] = c->n;
      c->column[c->n] = set_column(c->set, index);
      c->value[c->n++] = 0.0;
    }
    c->value[c->at[index]] += factor * rows->value[e];
  }
  return OSLA_OK;
}

/* For each row of A, adds first the rows of B that belong to this rank's columns of A, then those
 * that belong to ghosts, each group in ascending order. */
static osla_err multiply_rows(const osla_csr *a, const row_table *b, product *c)
{
  for (int64_t i = 0, other = 0; i < a->rows; i++) {
    const int64_t start = c->n;
    for (int64_t e = a->own.first[i]; e < a->own.first[i + 1]; e++) {
      OSLA_CALL(add_row(c, start, a->own.value[e], &b->own, a->own.column[e]));
      OSLA_CALL(add_row(c, start, a->own.value[e], &b->other, a->own.column[e]));
    }
    if (other < a->other.n && a->other_row[other] == i) {
      for (int64_t e = a->other.first[other]; e < a->other.first[other + 1]; e++)
        OSLA_CALL(add_row(c, start, a->other.value[e], &b->far, a->other.column[e]));
      other++;
    }
    c->first[i + 1] = c->n;
  }
  return OSLA_OK;
}

static osla_err check_blocks(const osla_csr *a, const osla_csr *b)
{
  const int size = osla_transport_size(a->t);
  OSLA_CHECK(a->t == b->t, OSLA_ERR_ARG, "product: the matrices have different transports");
  OSLA_CHECK(a->column_start[size] == b->row_start[size], OSLA_ERR_ARG,
             "product: A has %" PRId64 " columns, B has %" PRId64 " rows", a->column_start[size],
             b->row_start[size]);
  for (int p = 0; p < size; p++)
    OSLA_CHECK(a->column_start[p] == b->row_start[p], OSLA_ERR_ARG,
               "product: rank %d has columns of A from %" PRId64 " and rows of B from %" PRId64, p,
               a->column_start[p], b->row_start[p]);
  return OSLA_OK;
}

osla_err osla_csr_multiply(osla_csr *a, osla_csr *b, osla_csr **out)
{
  fetched_rows far = {0};
  column_set set = {0};
  row_table table = {0};
  product c = {0};
  *out = NULL;
  OSLA_CALL(osla_agree(a->t, check_blocks(a, b)));
  OSLA_CALL(osli_fetch_rows(b, a->n_ghosts, a->ghost_column, &far));
  osla_err err = make_set(b, &far, &set);
  if (err == OSLA_OK) err = make_table(b, &far, &set, &table);
  if (err == OSLA_OK) err = open_product(&c, &set, a->rows);
  if (err == OSLA_OK) err = multiply_rows(a, &table, &c);
  err = osla_agree(a->t, err);
  osli_fetched_rows_free(&far);
  free_table(&table);
  free(set.other);
  free(c.at);
  if (err == OSLA_OK)
    err = osla_csr_create(a->t, a->row_start, b->column_start, c.first, c.column, c.value, out);
  free(c.first);
  free(c.column);
  free(c.value);
  return err;
}

/* ---- transpose ---- */

static osla_err list_transposed(const osla_csr *a, csr_entries *e)
{
  const int rank = osla_transport_rank(a->t);
  const int64_t row = a->row_start[rank], column = a->column_start[rank];
  for (int64_t i = 0; i < a->rows; i++)
    for (int64_t k = a->own.first[i]; k < a->own.first[i + 1]; k++)
      OSLA_CALL(osli_entries_add(e, column + a->own.column[k], row + i, a->own.value[k]));
  for (int64_t i = 0; i < a->other.n; i++)
    for (int64_t k = a->other.first[i]; k < a->other.first[i + 1]; k++)
      OSLA_CALL(osli_entries_add(e, a->ghost_column[a->other.column[k]], row + a->other_row[i],
                                 a->other.value[k]));
  return OSLA_OK;
}

osla_err osla_csr_transpose(osla_csr *a, osla_csr **out)
{
  csr_entries e = {0};
  *out = NULL;
  osla_err err = osla_agree(a->t, list_transposed(a, &e));
  if (err == OSLA_OK) err = osli_entries_to_csr(a->t, a->column_start, a->row_start, &e, out);
  osli_entries_free(&e);
  return err;
}

osla_err osla_csr_galerkin(osla_csr *a, osla_csr *p, osla_csr **out)
{
  osla_csr *ap = NULL, *pt = NULL;
  *out = NULL;
  osla_err err = osla_csr_multiply(a, p, &ap);
  if (err == OSLA_OK) err = osla_csr_transpose(p, &pt);
  if (err == OSLA_OK) err = osla_csr_multiply(pt, ap, out);
  osla_err destroyed = osla_csr_destroy(&ap);
  if (err == OSLA_OK) err = destroyed;
  destroyed = osla_csr_destroy(&pt);
  return err == OSLA_OK ? destroyed : err;
}
