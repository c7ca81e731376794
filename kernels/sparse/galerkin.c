/* Products C = P^T A P of sparse matrices. The product A P has the rows of A. Each rank multiplies
 * the transpose of its rows of P by its rows of A P. The columns of P on this rank give rows of C
 * on this rank; the ghost columns of P give contributions to rows of C that other ranks own. The
 * owners of these rows copy the contributions and add them in the order of ranks. While the copies
 * are in flight, the owners compute the rows of C that receive no contribution (Zhang et al., The
 * PetscSF Scalable Communication Layer, IEEE TPDS 2022, section 6.4). */
#include "kernels/sparse/product.h"
#include "src/transport/live_objects.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Transpose of a part of P: of its entries in this rank's columns, or of its entries in ghost
 * columns. */
typedef struct transposed_part {
  csr_part rows;
  int64_t *from; /* [entries of `rows`] index, in the part of P, of each entry of `rows` */
} transposed_part;

typedef struct galerkin_plan {
  transposed_part own, ghost; /* transposes of P's own columns and of its ghost columns */
  /* contributions of this rank to rows of C that other ranks own: row i of the product is a
   * contribution to the row of C whose number is the global column of ghost i of P */
  local_product given;
  /* copies of the contributions of other ranks to this rank's rows of C, ordered by row, then by
   * rank */
  row_copies received;
  /* matrix that sums contributions: for each row of C that receives contributions, the indices
   * of these contributions in `received` as columns; all values are 1 */
  csr_part received_of;
  int32_t *received_row; /* [received_of.n] local index in C of each row of received_of */
  local_product coarse;  /* rows of C of this rank */
} galerkin_plan;

/* ---- transposes of the parts of P ---- */

static void free_transposed(transposed_part *t)
{
  osli_csr_part_free(&t->rows);
  free(t->from);
}

/* Transposes the pattern of a part of P that has n columns. `row` has the local index in P of
 * each row of the part; if NULL, the part has all rows. */
static osla_err transpose_part(const csr_part *p, const int32_t *row, int64_t n, transposed_part *t)
{
  const int64_t entries = p->first[p->n];
  csr_part *rows = &t->rows;
  rows->n = n;
  rows->first = calloc((size_t)n + 2, sizeof *rows->first);
  rows->column = malloc((size_t)(entries + 1) * sizeof *rows->column);
  rows->value = malloc((size_t)(entries + 1) * sizeof *rows->value);
  t->from = malloc((size_t)(entries + 1) * sizeof *t->from);
  OSLA_CHECK(rows->first && rows->column && rows->value && t->from, OSLA_ERR_MEM,
             "no memory for the transpose of %" PRId64 " entries", entries);
  /* next[j] is the index at which the next entry of row j is stored. When all entries are stored,
   * it is the end of the row: rows->first[j + 1]. */
  int64_t *next = rows->first + 1;
  for (int64_t e = 0; e < entries; e++)
    next[p->column[e] + 1]++;
  for (int64_t j = 0; j < n; j++)
    next[j + 1] += next[j];
  for (int64_t i = 0; i < p->n; i++)
    for (int64_t e = p->first[i]; e < p->first[i + 1]; e++) {
      const int64_t at = next[p->column[e]]++;
      rows->column[at] = row ? row[i] : (int32_t)i;
      t->from[at] = e;
    }
  return OSLA_OK;
}

static void transpose_values(const csr_part *p, transposed_part *t)
{
  for (int64_t e = 0; e < p->first[p->n]; e++)
    t->rows.value[e] = p->value[t->from[e]];
}

/* ---- contributions ---- */

/* Computes g->given, the contributions of this rank to rows of C that other ranks own. */
static osla_err compute_given(const osla_csr *p, csr_plan *plan)
{
  galerkin_plan *g = plan->galerkin;
  const local_product *ap = &plan->product;
  OSLA_CALL(transpose_part(&p->own, NULL, p->columns, &g->own));
  OSLA_CALL(transpose_part(&p->other, p->other_row, p->n_ghosts, &g->ghost));
  transpose_values(&p->own, &g->own);
  transpose_values(&p->other, &g->ghost);
  g->given.left = g->ghost.rows;
  OSLA_CALL(osli_local_set_right(&g->given, p->column_start[osla_transport_rank(p->t)], p->columns,
                                 &ap->own, &ap->other, ap->other_row, ap->n_others,
                                 ap->other_column, NULL, NULL));
  OSLA_CALL(osli_local_symbolic(&g->given));
  osli_local_numeric(&g->given, false);
  return OSLA_OK;
}

/* For the contributions `given` of this rank, lists in *first the offset of each row's entries,
 * and in *column the global columns of the entries. */
static osla_err list_given(const osla_csr *p, const local_product *given, int64_t **first,
                           int64_t **column)
{
  const int64_t low = p->column_start[osla_transport_rank(p->t)], rows = given->own.n;
  const int64_t entries = given->own.first[rows] + given->other.first[given->other.n];
  int64_t n = 0;
  *first = calloc((size_t)rows + 1, sizeof **first);
  *column = malloc((size_t)(entries + 1) * sizeof **column);
  OSLA_CHECK(*first && *column, OSLA_ERR_MEM, "no memory for %" PRId64 " entries of P^T A P",
             entries);
  for (int64_t i = 0, other = 0; i < rows; i++) {
    for (int64_t e = given->own.first[i]; e < given->own.first[i + 1]; e++)
      (*column)[n++] = low + given->own.column[e];
    if (other < given->other.n && given->other_row[other] == i) {
      for (int64_t e = given->other.first[other]; e < given->other.first[other + 1]; e++)
        (*column)[n++] = given->other_column[given->other.column[e]];
      other++;
    }
    (*first)[i + 1] = n;
  }
  return OSLA_OK;
}

static void list_given_values(galerkin_plan *g)
{
  const local_product *given = &g->given;
  double *to = g->received.listed;
  for (int64_t i = 0, other = 0; i < given->own.n; i++) {
    for (int64_t e = given->own.first[i]; e < given->own.first[i + 1]; e++)
      *to++ = given->own.value[e];
    if (other == given->other.n || given->other_row[other] != i) continue;
    for (int64_t e = given->other.first[other]; e < given->other.first[other + 1]; e++)
      *to++ = given->other.value[e];
    other++;
  }
}

/* Copies the contributions to this rank's rows of C from the ranks that computed them, without
 * values. The contributions to a row are copied in the order of ranks. Collective. */
static osla_err receive_rows(const osla_csr *p, galerkin_plan *g, int64_t **received_column)
{
  osla_forest *each = NULL, *back = NULL;
  int64_t *first = NULL, *column = NULL;
  osla_err err = osla_agree(p->t, list_given(p, &g->given, &first, &column));
  if (err == OSLA_OK) err = osla_forest_split(p->forest, &each);
  if (err == OSLA_OK) err = osla_forest_inverse(each, &back);
  if (err == OSLA_OK)
    err = osli_row_copies_create(back, first, column, received_column, &g->received);
  osla_err destroyed = osla_forest_destroy(&back);
  if (err == OSLA_OK) err = destroyed;
  destroyed = osla_forest_destroy(&each);
  if (err == OSLA_OK) err = destroyed;
  free(first);
  free(column);
  return err;
}

/* ---- rows of C ---- */

/* Sets g->received_of and g->received_row: lists, for each row of C that receives contributions,
 * their indices. These are consecutive, because the received contributions are ordered by row. */
static osla_err list_received(const osla_csr *p, galerkin_plan *g)
{
  csr_part *of = &g->received_of;
  const int64_t n = g->received.n;
  OSLA_CHECK(n < INT32_MAX, OSLA_ERR_RANGE,
             "osla_csr_galerkin: %" PRId64 " rows of contributions on a rank: 2^31 or more", n);
  int64_t *degree = malloc((size_t)(p->columns + 1) * sizeof *degree), next = 0;
  of->first = calloc((size_t)n + 1, sizeof *of->first);
  of->column = malloc((size_t)(n + 1) * sizeof *of->column);
  of->value = malloc((size_t)(n + 1) * sizeof *of->value);
  g->received_row = malloc((size_t)(n + 1) * sizeof *g->received_row);
  if (!degree || !of->first || !of->column || !of->value || !g->received_row) {
    free(degree);
    return osla_error_set(OSLA_ERR_MEM, "no memory for %" PRId64 " rows of P^T A P", n);
  }
  osla_forest_degrees(p->forest, degree);
  for (int64_t i = 0; i < p->columns; i++) {
    if (degree[i] == 0) continue;
    next += degree[i];
    g->received_row[of->n++] = (int32_t)i;
    of->first[of->n] = next;
  }
  free(degree);
  for (int64_t i = 0; i < n; i++) {
    of->column[i] = (int32_t)i;
    of->value[i] = 1.0;
  }
  return OSLA_OK;
}

static osla_err make_pattern_of_coarse(const osla_csr *p, csr_plan *plan,
                                       const int64_t *received_column)
{
  galerkin_plan *g = plan->galerkin;
  const local_product *ap = &plan->product;
  local_product *c = &g->coarse;
  OSLA_CALL(list_received(p, g));
  c->left = g->own.rows;
  c->left_far = g->received_of;
  c->left_far_row = g->received_row;
  OSLA_CALL(osli_local_set_right(c, p->column_start[osla_transport_rank(p->t)], p->columns,
                                 &ap->own, &ap->other, ap->other_row, ap->n_others,
                                 ap->other_column, &g->received, received_column));
  return osli_local_symbolic(c);
}

static osla_err compute_coarse(const osla_csr *p, csr_plan *plan)
{
  galerkin_plan *g = plan->galerkin;
  int64_t *received_column = NULL;
  osla_forest_run run;
  osla_err err = osla_agree(p->t, compute_given(p, plan));
  if (err == OSLA_OK) err = receive_rows(p, g, &received_column);
  if (err == OSLA_OK) {
    list_given_values(g);
    err = osli_row_copies_begin(&g->received, &run);
  }
  if (err == OSLA_OK) {
    err = make_pattern_of_coarse(p, plan, received_column);
    if (err == OSLA_OK) osli_local_numeric(&g->coarse, false);
    osla_err ended = osli_row_copies_end(&g->received, &run);
    err = osla_agree(p->t, err == OSLA_OK ? ended : err);
  }
  free(received_column);
  if (err == OSLA_OK) osli_local_numeric(&g->coarse, true);
  return err == OSLA_OK ? osli_row_copies_writable(&g->received) : err;
}

static osla_err destroy_plan(osla_transport *t, csr_plan **plan)
{
  galerkin_plan *g = *plan ? (*plan)->galerkin : NULL;
  if (!g) return osli_product_plan_destroy(t, plan);
  OSLA_CALL(osli_row_copies_destroy(t, &g->received));
  free_transposed(&g->own);
  free_transposed(&g->ghost);
  osli_local_free(&g->given);
  osli_local_free(&g->coarse);
  osli_csr_part_free(&g->received_of);
  free(g->received_row);
  free(g);
  (*plan)->galerkin = NULL;
  return osli_product_plan_destroy(t, plan);
}

/* ---- P^T A P ---- */

static osla_err check_galerkin(const osla_csr *a, const osla_csr *p)
{
  OSLA_CALL(osli_check_factors("osla_csr_galerkin", "P", a, p));
  const int size = osla_transport_size(a->t);
  OSLA_CHECK(a->row_start[size] == p->row_start[size], OSLA_ERR_ARG,
             "osla_csr_galerkin: A has %" PRId64 " rows, P has %" PRId64 " rows",
             a->row_start[size], p->row_start[size]);
  for (int rank = 0; rank < size; rank++)
    OSLA_CHECK(a->row_start[rank] == p->row_start[rank], OSLA_ERR_ARG,
               "osla_csr_galerkin: rank %d has rows of A from %" PRId64
               " and rows of P from %" PRId64,
               rank, a->row_start[rank], p->row_start[rank]);
  return OSLA_OK;
}

osla_err osla_csr_galerkin(osla_csr *a, osla_csr *p, osla_csr **out)
{
  OSLA_MAKES("osla_csr_galerkin", "osla_csr_destroy");
  *out = NULL;
  OSLA_CALL(osla_agree(a->t, check_galerkin(a, p)));
  csr_plan *plan = calloc(1, sizeof *plan);
  if (plan) plan->galerkin = calloc(1, sizeof *plan->galerkin);
  osla_err err = plan && plan->galerkin
                   ? OSLA_OK
                   : osla_error_set(OSLA_ERR_MEM, "no memory for plan of a product");
  err = osla_agree(a->t, err);
  if (err == OSLA_OK) err = osli_plan_multiply(a, p, plan);
  if (err == OSLA_OK) err = compute_coarse(p, plan);
  if (err == OSLA_OK)
    err = osli_plan_to_csr(a->t, p->column_start, p->column_start, &plan->galerkin->coarse, plan,
                           destroy_plan, out);
  if (err != OSLA_OK) (void)destroy_plan(a->t, &plan);
  return err;
}

osla_err osla_csr_galerkin_numeric(osla_csr *a, osla_csr *p, osla_csr *c)
{
  osla_forest_run run;
  OSLA_CALL(osla_agree(
    a->t, osli_check_plan("osla_csr_galerkin_numeric", "osla_csr_galerkin", a, p, c, true)));
  galerkin_plan *g = c->plan->galerkin;
  OSLA_CALL(osli_plan_multiply_numeric(p, c->plan));
  transpose_values(&p->own, &g->own);
  transpose_values(&p->other, &g->ghost);
  osli_local_numeric(&g->given, false);
  list_given_values(g);
  OSLA_CALL(osli_row_copies_begin(&g->received, &run));
  osli_local_numeric(&g->coarse, false);
  OSLA_CALL(osli_row_copies_end(&g->received, &run));
  osli_local_numeric(&g->coarse, true);
  return osli_row_copies_writable(&g->received);
}
