/* Products C = A B and transposes of sparse matrices. Each rank copies the rows of B that its
 * rows of A need from their owners once. While the values of the copies are in flight, it
 * computes the rows of C that need no copies. C gets a plan, with which later calls compute only
 * the values of C. */
#include "kernels/sparse/entries.h"
#include "kernels/sparse/product.h"
#include "src/transport/live_objects.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- copies of rows of B ---- */

/* Rows of B on this rank that other ranks need, with the global columns of their entries. */
typedef struct listed_rows {
  int64_t *first; /* [rows of B + 1] offsets in `column`; a row that no rank needs has no entries */
  int64_t *column;
} listed_rows;

static int64_t length_of_row(const csr_part *p, int64_t row)
{
  return row < 0 ? 0 : p->first[row + 1] - p->first[row];
}

/* Lists the rows of B that other ranks need. Row i of B is needed if column i of A is a ghost on
 * another rank, so that root i of A's forest has leaves. */
static osla_err list_rows(const osla_csr *a, const osla_csr *b, csr_plan *plan, listed_rows *l)
{
  plan->listed_row = malloc((size_t)(b->rows + 1) * sizeof *plan->listed_row);
  l->first = calloc((size_t)b->rows + 1, sizeof *l->first);
  OSLA_CHECK(plan->listed_row && l->first, OSLA_ERR_MEM, "no memory for %" PRId64 " rows", b->rows);
  osla_forest_degrees(a->forest, l->first + 1);
  for (int64_t i = 0, other = 0; i < b->rows; i++) {
    const bool has_other = other < b->other.n && b->other_row[other] == i;
    int64_t n = 0;
    if (l->first[i + 1] > 0) {
      plan->listed_row[plan->n_listed_rows++] = (int32_t)i;
      n = length_of_row(&b->own, i) + length_of_row(&b->other, has_other ? other : -1);
    }
    l->first[i + 1] = l->first[i] + n;
    other += has_other;
  }
  return OSLA_OK;
}

static osla_err list_columns(const osla_csr *b, const csr_plan *plan, listed_rows *l)
{
  const int64_t low = b->column_start[osla_transport_rank(b->t)], all = l->first[b->rows];
  int64_t n = 0, other = 0;
  l->column = malloc((size_t)(all + 1) * sizeof *l->column);
  OSLA_CHECK(l->column, OSLA_ERR_MEM, "no memory for %" PRId64 " entries of rows", all);
  for (int64_t k = 0; k < plan->n_listed_rows; k++) {
    const int64_t i = plan->listed_row[k];
    for (int64_t e = b->own.first[i]; e < b->own.first[i + 1]; e++)
      l->column[n++] = low + b->own.column[e];
    while (other < b->other.n && b->other_row[other] < i)
      other++;
    if (other == b->other.n || b->other_row[other] != i) continue;
    for (int64_t e = b->other.first[other]; e < b->other.first[other + 1]; e++)
      l->column[n++] = b->ghost_column[b->other.column[e]];
  }
  return OSLA_OK;
}

/* Copies n values of a part, beginning with entry `from`, to the address *to, and advances *to
 * by n values. */
static void copy_values(const csr_part *p, int64_t from, int64_t n, double **to)
{
  if (n > 0) memcpy(*to, p->value + from, (size_t)n * sizeof **to);
  *to += n;
}

static void list_values(const osla_csr *b, csr_plan *plan)
{
  double *to = plan->far.listed;
  int64_t other = 0;
  for (int64_t k = 0; k < plan->n_listed_rows; k++) {
    const int64_t i = plan->listed_row[k];
    copy_values(&b->own, b->own.first[i], length_of_row(&b->own, i), &to);
    while (other < b->other.n && b->other_row[other] < i)
      other++;
    if (other < b->other.n && b->other_row[other] == i)
      copy_values(&b->other, b->other.first[other], length_of_row(&b->other, other), &to);
  }
}

/* Copies the rows of B that this rank needs from their owners, without values. Sets *far_column
 * to the global columns of the copied entries. Collective. */
static osla_err copy_rows(const osla_csr *a, const osla_csr *b, csr_plan *plan,
                          int64_t **far_column)
{
  listed_rows l = {0};
  osla_err err = list_rows(a, b, plan, &l);
  if (err == OSLA_OK) err = list_columns(b, plan, &l);
  err = osla_agree(a->t, err);
  if (err == OSLA_OK)
    err = osli_row_copies_create(a->forest, l.first, l.column, far_column, &plan->far);
  free(l.first);
  free(l.column);
  return err;
}

/* ---- plans ---- */

static osla_err make_pattern_of_product(const osla_csr *a, const osla_csr *b,
                                        const int64_t *far_column, csr_plan *plan)
{
  local_product *c = &plan->product;
  c->left = a->own;
  c->left_far = a->other;
  c->left_far_row = a->other_row;
  OSLA_CALL(osli_local_set_right(c, b->column_start[osla_transport_rank(b->t)], b->columns, &b->own,
                                 &b->other, b->other_row, b->n_ghosts, b->ghost_column, &plan->far,
                                 far_column));
  return osli_local_symbolic(c);
}

osla_err osli_plan_multiply(osla_csr *a, osla_csr *b, csr_plan *plan)
{
  int64_t *far_column = NULL;
  osla_forest_run run;
  plan->a = a->pattern;
  plan->b = b->pattern;
  plan->a->users++;
  plan->b->users++;
  osla_err err = copy_rows(a, b, plan, &far_column);
  if (err == OSLA_OK) {
    list_values(b, plan);
    err = osli_row_copies_begin(&plan->far, &run);
  }
  if (err == OSLA_OK) {
    err = make_pattern_of_product(a, b, far_column, plan);
    if (err == OSLA_OK) osli_local_numeric(&plan->product, false);
    osla_err ended = osli_row_copies_end(&plan->far, &run);
    err = osla_agree(a->t, err == OSLA_OK ? ended : err);
  }
  free(far_column);
  if (err == OSLA_OK) osli_local_numeric(&plan->product, true);
  return err == OSLA_OK ? osli_row_copies_writable(&plan->far) : err;
}

osla_err osli_plan_multiply_numeric(const osla_csr *b, csr_plan *plan)
{
  osla_forest_run run;
  list_values(b, plan);
  OSLA_CALL(osli_row_copies_begin(&plan->far, &run));
  osli_local_numeric(&plan->product, false);
  OSLA_CALL(osli_row_copies_end(&plan->far, &run));
  osli_local_numeric(&plan->product, true);
  /* osli_row_copies_writable usually returns at once, because other ranks have read the values
   * during the product. */
  return osli_row_copies_writable(&plan->far);
}

osla_err osli_plan_to_csr(osla_transport *t, const int64_t *row_start, const int64_t *column_start,
                          local_product *c, csr_plan *plan, csr_plan_destroy *destroy,
                          osla_csr **out)
{
  c->is_moved = true;
  OSLA_CALL(osli_csr_from_parts(t, row_start, column_start, &c->own, &c->other, c->other_row,
                                c->n_others, c->other_column, out));
  (*out)->plan = plan;
  (*out)->plan_destroy = destroy;
  return OSLA_OK;
}

osla_err osli_product_plan_destroy(osla_transport *t, csr_plan **plan)
{
  csr_plan *p = *plan;
  if (!p) return OSLA_OK;
  OSLA_CALL(osli_row_copies_destroy(t, &p->far));
  osli_local_free(&p->product);
  osli_csr_pattern_release(p->a);
  osli_csr_pattern_release(p->b);
  free(p->listed_row);
  free(p);
  *plan = NULL;
  return OSLA_OK;
}

/* ---- A B ---- */

osla_err osli_check_factors(const char *call, const char *right, const osla_csr *a,
                            const osla_csr *b)
{
  const int size = osla_transport_size(a->t);
  OSLA_CHECK(a->t == b->t, OSLA_ERR_ARG, "%s: the matrices have different transports", call);
  OSLA_CHECK(a->column_start[size] == b->row_start[size], OSLA_ERR_ARG,
             "%s: A has %" PRId64 " columns, %s has %" PRId64 " rows", call, a->column_start[size],
             right, b->row_start[size]);
  for (int p = 0; p < size; p++)
    OSLA_CHECK(a->column_start[p] == b->row_start[p], OSLA_ERR_ARG,
               "%s: rank %d has columns of A from %" PRId64 " and rows of %s from %" PRId64, call,
               p, a->column_start[p], right, b->row_start[p]);
  return OSLA_OK;
}

osla_err osli_check_plan(const char *call, const char *maker, const osla_csr *a, const osla_csr *b,
                         const osla_csr *c, bool is_galerkin)
{
  const csr_plan *plan = c->plan;
  OSLA_CHECK(plan && plan->a == a->pattern && plan->b == b->pattern &&
               (plan->galerkin != NULL) == is_galerkin,
             OSLA_ERR_ARG, "%s: %s did not compute C from these two matrices: call it", call,
             maker);
  OSLA_CHECK(!c->device, OSLA_ERR_ARG,
             "%s: C has a copy on a device, which would keep the old values: destroy C and call %s",
             call, maker);
  return OSLA_OK;
}

osla_err osla_csr_multiply(osla_csr *a, osla_csr *b, osla_csr **out)
{
  OSLA_MAKES("osla_csr_multiply", "osla_csr_destroy");
  *out = NULL;
  OSLA_CALL(osla_agree(a->t, osli_check_factors("osla_csr_multiply", "B", a, b)));
  csr_plan *plan = calloc(1, sizeof *plan);
  osla_err err = plan ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "no memory for plan of a product");
  err = osla_agree(a->t, err);
  if (err == OSLA_OK) err = osli_plan_multiply(a, b, plan);
  if (err == OSLA_OK)
    err = osli_plan_to_csr(a->t, a->row_start, b->column_start, &plan->product, plan,
                           osli_product_plan_destroy, out);
  if (err != OSLA_OK) (void)osli_product_plan_destroy(a->t, &plan);
  return err;
}

osla_err osla_csr_multiply_numeric(osla_csr *a, osla_csr *b, osla_csr *c)
{
  OSLA_CALL(osla_agree(
    a->t, osli_check_plan("osla_csr_multiply_numeric", "osla_csr_multiply", a, b, c, false)));
  return osli_plan_multiply_numeric(b, c->plan);
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
  OSLA_MAKES("osla_csr_transpose", "osla_csr_destroy");
  csr_entries e = {0};
  *out = NULL;
  osla_err err = osla_agree(a->t, list_transposed(a, &e));
  if (err == OSLA_OK) err = osli_entries_to_csr(a->t, a->column_start, a->row_start, &e, out);
  osli_entries_free(&e);
  return err;
}
