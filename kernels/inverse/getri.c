/* Inverse from the factors of LU, in place, in one sweep driven by notify, followed by interchanges
 * of columns.
 *
 * P A = L U, X = L^-1, Y = U^-1, and A^-1 = Y X P. Y X is formed together with X and Y. Before step
 * k, A(i,j) contains these sums over l < k: Y(i,l) X(l,j) for i, j < k; -L(i,l) X(l,j) for i >= k >
 * j; -Y(i,l) U(l,j) for i < k <= j. For i, j >= k it contains L and U. Step k:
 *   X(k,j) := L(k,k)^-1 A(k,j), j < k             process row of k, which publishes the row
 *   Y(i,k) := A(i,k) U(k,k)^-1, i < k             process column of k, which publishes the column
 *   A(i,j) += Y(i,k) X(k,j),    i, j < k
 *   A(i,j) -= L(i,k) X(k,j),    i > k > j;        A(i,j) -= Y(i,k) U(k,j), i < k < j
 *   A(i,k) := -L(i,k) L(k,k)^-1, i > k;           A(i,k) := Y(i,k) L(k,k)^-1, i < k
 *   A(k,j) := -U(k,k)^-1 U(k,j), j > k;           A(k,j) := U(k,k)^-1 X(k,j), j < k
 *   A(k,k) := U(k,k)^-1 L(k,k)^-1
 * This takes 4/3 n^3 operations, as xGETRI does, nearly all of them in products of a rank's rows
 * with its columns. (With two sweeps, the first for Y and the second for Y X, the algorithm would
 * pass over A twice, and publish panels in each sweep.) With look-ahead block row and block column
 * k + 1 are updated, solved and published before the rest of the update.
 *
 * The owner of the diagonal block solves first. Its panels contain the diagonal block, with which
 * the other ranks of its process row and column solve before they publish their panels.
 *
 * At the end the columns of Y X are interchanged as the rows of A were, in reverse order.
 *
 * Memory per rank: a block; panels (getri_memory.c); buffers of interchange.c. Messages per step:
 * those of two panels (panels.h). Sources: see osla_inverse.h. */
#include "kernels/inverse/getri.h"
#include "kernels/common/local_view.h"
#include "kernels/common/panels.h"
#include "kernels/common/pipeline.h"
#include "kernels/inverse/first_zero.h"
#include "osla_blas.h"
#include "osla_trace.h"
#include "src/base/reserved.h"
#include "src/blas/move.h"
#include "src/blas/work.h"
#include "src/matrix/memory_kind.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- blocks ---- */

/* C := C + sign A B, where C is m x n and A has `depth` columns. The product is cut into tiles if
 * this rank forwards panels. */
static osla_err multiply(const getri *f, double sign, int64_t m, int64_t n, int64_t depth,
                         operand a, operand b, operand c)
{
  const local_view *v = &f->v;
  if (m <= 0 || n <= 0) return OSLA_OK;
  osla_tile tile = osli_tile_choose(f->panels, m, n);
  for (int64_t j = 0; j < n; j += tile.cols)
    for (int64_t i = 0; i < m; i += tile.rows) {
      int64_t rows = m - i < tile.rows ? m - i : tile.rows;
      int64_t cols = n - j < tile.cols ? n - j : tile.cols;
      operand left = from_row(f, a, i), right = from_col(f, b, j);
      operand to = from_row(f, from_col(f, c, j), i);
      double since = osla_trace_now(v->t);
      OSLA_CALL(osla_blas_gemm(v->dtype, OSLA_NOTRANS, OSLA_NOTRANS, rows, cols, depth, sign,
                               left.at, left.ld, right.at, right.ld, 1.0, to.at, to.ld));
      osla_trace_add(v->t, OSLA_TRACE_GEMM, since,
                     2.0 * (double)rows * (double)cols * (double)depth);
      if (rows < m || cols < n) osla_progress(v->t);
    }
  return OSLA_OK;
}

/* B := T^-1 B (LEFT) or B := B T^-1 (RIGHT) for an m x n block B, where T is L(k,k) with LOWER and
 * U(k,k) with UPPER. */
static osla_err solve(const getri *f, osla_side side, osla_uplo uplo, int64_t m, int64_t n,
                      operand diagonal, operand b)
{
  const local_view *v = &f->v;
  if (m <= 0 || n <= 0) return OSLA_OK;
  double since = osla_trace_now(v->t);
  OSLA_CALL(osla_blas_trsm(v->dtype, side, uplo, OSLA_NOTRANS,
                           uplo == OSLA_LOWER ? OSLA_UNIT : OSLA_NONUNIT, m, n, diagonal.at,
                           diagonal.ld, b.at, b.ld));
  osla_trace_add(v->t, OSLA_TRACE_TRSM, since,
                 (double)m * (double)n * (double)(side == OSLA_LEFT ? m : n));
  return OSLA_OK;
}

static osla_err negate(const getri *f, int64_t m, int64_t n, operand b)
{
  for (int64_t j = 0; j < n && m > 0; j++)
    OSLA_CALL(osla_blas_scal(f->v.dtype, m, -1.0, from_col(f, b, j).at));
  return OSLA_OK;
}

/* Waits for the diagonal block, and returns its address: in place, or in the panel of its owner.
 * Called by ranks of the diagonal block's process row and column. */
static operand wait_diagonal(getri *f, const getri_step *s)
{
  if (f->v.prow == s->prow) return from_row(f, osli_getri_wait_left(f, s), s->row_on);
  return from_col(f, osli_getri_wait_top(f, s), s->col_on);
}

/* A(k,k) := U(k,k)^-1 L(k,k)^-1. */
static osla_err finish_diagonal(getri *f, const getri_step *s)
{
  const local_view *v = &f->v;
  operand block = mine_at(f, s->row_on, s->col_on), x = {f->inverse, s->size};
  if (!osli_work_modelled) {
    memset(x.at, 0, osli_getri_block_bytes(f));
    for (int64_t i = 0; i < s->size; i++) /* sets the real part of each diagonal element to 1 */
      if (v->dtype == OSLA_FLOAT || v->dtype == OSLA_COMPLEX_FLOAT)
        *(float *)(void *)from_row(f, from_col(f, x, i), i).at = 1;
      else
        *(double *)(void *)from_row(f, from_col(f, x, i), i).at = 1;
  }
  OSLA_CALL(solve(f, OSLA_RIGHT, OSLA_LOWER, s->size, s->size, block, x));
  OSLA_CALL(solve(f, OSLA_LEFT, OSLA_UPPER, s->size, s->size, block, x));
  osli_move_columns(v->element, s->size, s->size, x.at, x.ld, block.at, block.ld);
  return OSLA_OK;
}

/* ---- a step ---- */

static bool owns(const void *kernel, int64_t k)
{
  const local_view *v = &((const getri *)kernel)->v;
  return v->prow == k % v->p || v->pcol == k % v->q;
}

/* Computes X(k,j) for this rank's columns j < k, and Y(i,k) for this rank's rows i < k. */
static osla_err factor(void *kernel, int64_t k)
{
  getri *f = kernel;
  const local_view *v = &f->v;
  getri_step s = getri_make_step(v, k);
  if (v->prow == s.prow) {
    if (s.col_on > 0)
      OSLA_CALL(solve(f, OSLA_LEFT, OSLA_LOWER, s.size, s.col_on, wait_diagonal(f, &s),
                      mine_at(f, s.row_on, 0)));
    atomic_store(&f->solved[PANEL_TOP], k + 1);
  }
  if (v->pcol == s.pcol) {
    if (s.row_on > 0)
      OSLA_CALL(solve(f, OSLA_RIGHT, OSLA_UPPER, s.row_on, s.size, wait_diagonal(f, &s),
                      mine_at(f, 0, s.col_on)));
    atomic_store(&f->solved[PANEL_LEFT], k + 1);
  }
  return OSLA_OK;
}

/* Applies step k of the inversion to this rank's local rows [row, end), which lie below block
 * row k: first to the columns before block column k, then to block column k. */
static osla_err update_rows(getri *f, const getri_step *s, int64_t row, int64_t end)
{
  if (row >= end || s->col_behind == 0) return OSLA_OK;
  operand left = from_row(f, osli_getri_wait_left(f, s), row);
  if (s->col_on > 0)
    OSLA_CALL(multiply(f, -1, end - row, s->col_on, s->size, left, osli_getri_wait_top(f, s),
                       mine_at(f, row, 0)));
  if (f->v.pcol != s->pcol) return OSLA_OK;
  osli_getri_wait_packed(f, PANEL_LEFT, s);
  OSLA_CALL(negate(f, end - row, s->size, left));
  return solve(f, OSLA_RIGHT, OSLA_LOWER, end - row, s->size, wait_diagonal(f, s), left);
}

/* Applies step k of the inversion to this rank's local columns [col, end), which lie to the
 * right of block column k: first to the rows before block row k, then to block row k. */
static osla_err update_columns(getri *f, const getri_step *s, int64_t col, int64_t end)
{
  if (col >= end || s->row_behind == 0) return OSLA_OK;
  operand top = from_col(f, osli_getri_wait_top(f, s), col);
  if (s->row_on > 0)
    OSLA_CALL(multiply(f, -1, s->row_on, end - col, s->size, osli_getri_wait_left(f, s), top,
                       mine_at(f, 0, col)));
  if (f->v.prow != s->prow) return OSLA_OK;
  osli_getri_wait_packed(f, PANEL_TOP, s);
  OSLA_CALL(negate(f, s->size, end - col, top));
  return solve(f, OSLA_LEFT, OSLA_UPPER, s->size, end - col, wait_diagonal(f, s), top);
}

/* Overwrites block row and block column k with parts of Y X. Other ranks must not need the old
 * blocks any more. */
static osla_err finish_step(getri *f, const getri_step *s)
{
  const local_view *v = &f->v;
  bool row = v->prow == s->prow, column = v->pcol == s->pcol;
  if (row) osli_getri_wait_packed(f, PANEL_TOP, s);
  if (column) osli_getri_wait_packed(f, PANEL_LEFT, s);
  if (row && s->col_on > 0)
    OSLA_CALL(solve(f, OSLA_LEFT, OSLA_UPPER, s->size, s->col_on, wait_diagonal(f, s),
                    mine_at(f, s->row_on, 0)));
  if (column && s->row_on > 0)
    OSLA_CALL(solve(f, OSLA_RIGHT, OSLA_LOWER, s->row_on, s->size, wait_diagonal(f, s),
                    mine_at(f, 0, s->col_on)));
  return row && column ? finish_diagonal(f, s) : OSLA_OK;
}

/* Applies step k of the inversion to the elements that this rank owns in block rows and block
 * columns from .. to - 1, where from > k. If `to` is INT64_MAX, there is no upper end, and the
 * step is also applied to all block rows and columns up to k. */
static osla_err apply(void *kernel, int64_t k, int64_t from, int64_t to)
{
  getri *f = kernel;
  const local_view *v = &f->v;
  getri_step s = getri_make_step(v, k);
  int64_t begin = from < f->steps ? from * v->nb : v->n, end = to < f->steps ? to * v->nb : v->n;
  OSLA_CALL(update_rows(f, &s, rows_below(v, begin), rows_below(v, end)));
  OSLA_CALL(update_columns(f, &s, cols_below(v, begin), cols_below(v, end)));
  if (to < INT64_MAX) return OSLA_OK;
  if (s.row_on > 0 && s.col_on > 0)
    OSLA_CALL(multiply(f, 1, s.row_on, s.col_on, s.size, osli_getri_wait_left(f, &s),
                       osli_getri_wait_top(f, &s), mine_at(f, 0, 0)));
  return finish_step(f, &s);
}

static osla_err run_steps(getri *f)
{
  osla_pipeline p = {.name = "osla_getri",
                     .steps = f->steps,
                     .look_ahead = f->look_ahead,
                     .panels = f->panels,
                     .kernel = f,
                     .owns = owns,
                     .apply = apply,
                     .factor = factor};
  return f->v.prow < 0 ? OSLA_OK : osli_pipeline_run(&p);
}

/* ---- the call ---- */

static osla_err check(getri *f, osla_matrix *a, const osla_lu_options *options)
{
  *f = (getri){.v = view_of(a)};
  const local_view *v = &f->v;
  OSLA_CALL(OSLA_RESERVED(osla_lu_options, options));
  f->forward = options ? options->forward : OSLA_FORWARD_CHOSEN;
  OSLA_CHECK(v->m == v->n, OSLA_ERR_ARG,
             "inverse: the matrix is %" PRId64 " x %" PRId64 ", not square", v->m, v->n);
  OSLA_CHECK(v->mb == v->nb, OSLA_ERR_ARG,
             "inverse: blocks must be square, not %" PRId64 " x %" PRId64, v->mb, v->nb);
  OSLA_CALL(osli_check_panel_options("inverse", options ? options->look_ahead : 0, f->forward,
                                     &f->look_ahead));
  trim_blocks(&f->v);
  f->steps = (v->n + v->nb - 1) / v->nb;
  return osli_view_check_blas(a);
}

static osla_err agree(const osla_matrix *a, const osla_lu_options *options, osla_err local)
{
  const osla_layout l = osla_matrix_layout(a);
  const osla_argument same[] = {{"m", l.m},
                                {"n", l.n},
                                {"nb", l.nb},
                                {"look_ahead", options ? options->look_ahead : 0},
                                {"forward", options ? (int)options->forward : OSLA_FORWARD_CHOSEN}};
  return osla_agree_same(osla_grid_transport(osla_matrix_grid(a)), local, "osla_getri", same,
                         (int)(sizeof same / sizeof *same));
}

osla_err osla_getri(osla_matrix *a, const int64_t *ipiv, const osla_lu_options *options,
                    int64_t *info)
{
  getri f;
  int64_t *pivots = NULL;
  osla_transport *t = osla_grid_transport(osla_matrix_grid(a));
  *info = 0;
  OSLA_NEEDS_HOST("osla_getri", a);
  OSLA_NEEDS_FULL("osla_getri", a);
  /* This call is also a barrier: after it A is complete on all ranks. */
  osla_err err = agree(a, options, check(&f, a, options));
  if (err != OSLA_OK) return err;
  OSLA_CALL(osli_pivots_gather(a, ipiv, &pivots));
  OSLA_TRY(osli_first_zero(&f.v, info));
  if (*info == 0) {
    OSLA_TRY(osli_getri_allocate(&f, pivots));
    err = run_steps(&f);
    if (err != OSLA_OK) osla_transport_abort(t, err); /* some ranks wait for panels of this rank */
    err = f.columns ? osli_interchange_run(f.columns) : osla_barrier(t);
  }
cleanup:
  osli_getri_free(&f);
  free(pivots);
  return err;
}
