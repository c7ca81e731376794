/* Inverse from a Cholesky factor, in place, in one sweep driven by notify.
 *
 * X = L^-1 and A^-1 = X^H X are formed together. Before step k, A(i,j) contains these sums over l <
 * k: X(l,i)^H X(l,j) for i < k; -L(i,l) X(l,j) for i >= k > j. For j >= k it contains L(i,j). Step
 * k:
 *   X(k,j) := L(k,k)^-1 A(k,j), j < k             process row of k, which publishes the row
 *   A(i,j) -= L(i,k) X(k,j),    i > k > j
 *   A(i,k) := -L(i,k) L(k,k)^-1, i > k            process column of k
 *   A(i,j) += X(k,i)^H X(k,j),  k > i >= j        one triangle
 *   A(k,j) := L(k,k)^-H X(k,j); A(k,k) := (L(k,k) L(k,k)^H)^-1
 * A step has the operations and messages of a step of Cholesky, and its products are as large in
 * every step. (With two sweeps, the first for X := L^-1 and the second for X^H X, the algorithm
 * would pass over A twice, and publish panels in each sweep.) With look-ahead block row k + 1 is
 * updated, solved and published before the rest of the update.
 *
 * Upper triangle (A = U^H U): rows and columns are exchanged, as in Cholesky (chol_shape.h).
 *
 * A rank needs three kinds of blocks. It gets L(i,k) for its block rows from a rank of its process
 * row, and X(k,j) for its block columns from a rank of its process column. It gets X(k,i) for its
 * block rows in a second hop, from ranks that have received these blocks (potri_panels.c).
 * Published data are overwritten in the same step, so they are all packed first, also for ranks of
 * the same node.
 *
 * Memory per rank: X(k,i), a block, and panels (potri_memory.c). Messages per step: those of three
 * panels (panels.h). Sources: see osla_inverse.h. */
#include "kernels/inverse/potri.h"
#include "kernels/common/panels.h"
#include "kernels/common/pipeline.h"
#include "kernels/inverse/first_zero.h"
#include "osla_inverse.h"
#include "src/matrix/memory_kind.h"

#include <inttypes.h>

/* ---- a step ---- */

static bool owns(const void *kernel, int64_t k)
{
  const chol *c = &((const potri *)kernel)->c;
  return c->prow == k % c->n_prows;
}

/* Computes X(k,j) in this rank's columns. L(k,k) is in place, or at the beginning of its owner's
 * panel. */
static osla_err factor(void *kernel, int64_t k)
{
  potri *f = kernel;
  chol *c = &f->c;
  chol_step s = chol_step_make(c, k);
  if (s.col_on > 0) OSLA_CALL(osli_potri_solve_row(c, &s, osli_potri_wait_l(f, &s)));
  atomic_store(&c->factored, k + 1);
  return OSLA_OK;
}

/* Tile of a product: the whole product, or a smaller tile if this rank may have to forward
 * panels. */
static osla_tile tile_of(const chol *c, int64_t rows, int64_t cols)
{
  if (c->n_prows > 1 || osla_transport_n_nodes(c->v.t) > 1)
    return osli_tile_choose(c->panels, rows, cols);
  return (osla_tile){rows, cols};
}

typedef osla_err product(const chol *c, int64_t m, int64_t n, int64_t depth, operand left,
                         operand x, operand to);

/* Updates C := C - left * x (subtract) or C := C + left^H * x (add) for the local rows [row, end)
 * and the local columns [col, to), which have one leading dimension. */
static osla_err multiply(const chol *c, const chol_step *s, product *run, operand left, x_row x,
                         int64_t row, int64_t end, int64_t col, int64_t to)
{
  osla_tile tile = tile_of(c, end - row, to - col);
  /* for osli_potri_add, the rows of C are the columns of `left` */
  bool transposed = run == osli_potri_add;
  for (int64_t j = col; j < to; j += tile.cols)
    for (int64_t i = row; i < end; i += tile.rows) {
      int64_t m = end - i < tile.rows ? end - i : tile.rows;
      int64_t n = to - j < tile.cols ? to - j : tile.cols;
      operand rows = transposed ? advance_cols(c, left, i - row) : advance_rows(c, left, i - row);
      OSLA_CALL(run(c, m, n, s->size, rows, x_at(c, x, j), element(c, i, j)));
      if (tile.rows < end - row || tile.cols < to - col) osla_progress(c->v.t);
    }
  return OSLA_OK;
}

/* Applies step k of the inversion to this rank's local rows [row, end), which lie below block
 * row k: first to the columns before block column k, then to block column k. */
static osla_err update_behind(potri *f, const chol_step *s, int64_t row, int64_t end)
{
  chol *c = &f->c;
  bool column = c->pcol == s->pcol;
  if (row >= end || s->col_after == 0) return OSLA_OK;
  operand l = advance_rows(c, osli_potri_wait_l(f, s), row - s->row_on);
  x_row x = osli_potri_wait_x(f, s);
  for (int64_t col = 0, n; col < s->col_on; col += n) {
    n = columns_from(c, col, s->col_on);
    OSLA_CALL(multiply(c, s, osli_potri_subtract, l, x, row, end, col, col + n));
  }
  if (!column) return OSLA_OK;
  osli_potri_wait_packed(f, PANEL_L, s->k);
  return osli_potri_solve_column(f, end - row, s->size, x_at(c, x, s->col_on), l);
}

/* Updates A(i,j) += X(k,i)^H X(k,j) for i >= j, where j runs over the local columns [from, to)
 * and i over the local rows before `end`. The columns have one leading dimension. The rows below
 * the diagonal element of the last of these columns are one product; the other rows are halved
 * recursively down to blocks. */
static osla_err update_triangle(const chol *c, const chol_step *s, operand x_rows, x_row x,
                                int64_t from, int64_t to, int64_t end)
{
  const int64_t nb = c->v.nb;
  if (from >= to) return OSLA_OK;
  int64_t start = osla_index_global(from, nb, c->pcol, c->n_pcols);
  int64_t behind = rows_before(c, osla_index_global(to - 1, nb, c->pcol, c->n_pcols) + 1);
  if (behind < end)
    OSLA_CALL(
      multiply(c, s, osli_potri_add, advance_cols(c, x_rows, behind), x, behind, end, from, to));
  if (to - from > nb) {
    int64_t half = from + ((to - from) / nb + 1) / 2 * nb;
    OSLA_CALL(update_triangle(c, s, x_rows, x, from, half, behind));
    return update_triangle(c, s, x_rows, x, half, to, behind);
  }
  int64_t on = rows_before(c, start);
  if (on >= behind) return OSLA_OK; /* this rank does not own the diagonal block */
  return osli_potri_add_diagonal(c, to - from, s->size, x_at(c, x, from), element(c, on, from));
}

/* Overwrites block row k with a part of the inverse. Other ranks must not need the old block row
 * any more. */
static osla_err finish_row(potri *f, const chol_step *s)
{
  chol *c = &f->c;
  osli_potri_wait_packed(f, PANEL_X, s->k);
  osli_potri_wait_packed(f, PANEL_X_ROWS, s->k);
  operand l = osli_potri_wait_l(f, s);
  OSLA_CALL(osli_potri_finish_row(c, s, l));
  if (c->pcol != s->pcol) return OSLA_OK;
  osli_potri_wait_packed(f, PANEL_L, s->k);
  return osli_potri_finish_diagonal(c, s->size, l);
}

/* Applies step k of the inversion to the elements that this rank owns in block rows from .. to -
 * 1, where from > k. If `to` is INT64_MAX, there is no upper end, and the step is also applied
 * to all block rows up to k. */
static osla_err apply(void *kernel, int64_t k, int64_t from, int64_t to)
{
  potri *f = kernel;
  chol *c = &f->c;
  chol_step s = chol_step_make(c, k);
  int64_t row = from < c->steps ? rows_before(c, from * c->v.nb) : c->n_rows;
  int64_t end = to < c->steps ? rows_before(c, to * c->v.nb) : c->n_rows;
  OSLA_CALL(update_behind(f, &s, row, end));
  if (to < INT64_MAX) return OSLA_OK;
  if (s.col_on > 0 && s.row_on > 0) {
    x_row x = osli_potri_wait_x(f, &s);
    operand x_rows = osli_potri_wait_x_rows(f, &s, x);
    for (int64_t col = 0, n; col < s.col_on; col += n) {
      n = columns_from(c, col, s.col_on);
      OSLA_CALL(update_triangle(c, &s, x_rows, x, col, col + n, s.row_on));
    }
  }
  return c->prow == s.prow ? finish_row(f, &s) : OSLA_OK;
}

static osla_err run(potri *f)
{
  chol *c = &f->c;
  osla_pipeline p = {.name = "osla_potri",
                     .steps = c->steps,
                     .look_ahead = c->look_ahead,
                     .panels = c->panels,
                     .kernel = f,
                     .owns = owns,
                     .apply = apply,
                     .factor = factor};
  if (c->v.prow < 0) return OSLA_OK;
  /* sends the first block columns, which are complete from the beginning */
  osli_panels_progress(c->panels);
  return osli_pipeline_run(&p);
}

/* ---- the call ---- */

osla_err osla_potri(osla_uplo uplo, osla_matrix *a, const osla_chol_options *options, int64_t *info)
{
  potri f = {0};
  *info = 0;
  OSLA_NEEDS_HOST("osla_potri", a);
  osla_err err = osli_chol_init(&f.c, "inverse", a, uplo, options);
  osla_transport *t = osla_grid_transport(osla_matrix_grid(a));
  /* This call is also a barrier: after it A is complete on all ranks. */
  OSLA_CALL(osli_chol_agree(a, err, "osla_potri", uplo, options));
  OSLA_CALL(osli_first_zero(&f.c.v, info));
  if (*info > 0) return OSLA_OK;
  OSLA_TRY(osli_potri_allocate(&f));
  err = run(&f);
  if (err != OSLA_OK) osla_transport_abort(t, err); /* some ranks wait for panels of this rank */
  OSLA_TRY(osla_barrier(t));
cleanup:
  osli_potri_free(&f);
  return err;
}
