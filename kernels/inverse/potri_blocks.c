/* Products and triangular solves with blocks of an inverse. For the upper triangle the matrix
 * contains the conjugate transpose of the blocks that potri.c names. */
#include "kernels/inverse/potri.h"
#include "osla_trace.h"

static osla_err solve(const chol *c, osla_side side, osla_trans trans, int64_t n_rows,
                      int64_t n_cols, operand diagonal, operand x)
{
  bool lower = c->uplo == OSLA_LOWER;
  osla_side stored = lower ? side : side == OSLA_LEFT ? OSLA_RIGHT : OSLA_LEFT;
  int64_t stored_rows = lower ? n_rows : n_cols, stored_cols = lower ? n_cols : n_rows;
  double since = osla_trace_now(c->v.t), order = (double)(side == OSLA_LEFT ? n_rows : n_cols);
  if (n_rows == 0 || n_cols == 0) return OSLA_OK;
  OSLA_CALL(osla_blas_trsm(c->v.dtype, stored, c->uplo, trans, OSLA_NONUNIT, stored_rows,
                           stored_cols, diagonal.at, diagonal.ld, x.at, x.ld));
  osla_trace_add(c->v.t, OSLA_TRACE_TRSM, since, order * (double)n_rows * (double)n_cols);
  return OSLA_OK;
}

static osla_err solve_block_row(const chol *c, const chol_step *s, osla_trans trans,
                                operand diagonal)
{
  for (int64_t col = 0, n; col < s->col_on; col += n) {
    n = columns_from(c, col, s->col_on);
    OSLA_CALL(solve(c, OSLA_LEFT, trans, s->size, n, diagonal, element(c, s->row_on, col)));
  }
  return OSLA_OK;
}

osla_err osli_potri_solve_row(const chol *c, const chol_step *s, operand diagonal)
{
  return solve_block_row(c, s, OSLA_NOTRANS, diagonal);
}

osla_err osli_potri_finish_row(const chol *c, const chol_step *s, operand diagonal)
{
  return solve_block_row(c, s, OSLA_CONJTRANS, diagonal);
}

osla_err osli_potri_solve_column(const potri *f, int64_t n, int64_t size, operand diagonal,
                                 operand l)
{
  const chol *c = &f->c;
  operand minus = packed_operand(c, f->negative, size, size);
  osli_chol_copy_block(c, size, size, diagonal, minus);
  for (int64_t i = 0; i < size;
       i++) { /* negates only the triangle, because the other elements are not read */
    int64_t from = c->uplo == OSLA_LOWER ? i : 0, to = c->uplo == OSLA_LOWER ? size : i + 1;
    OSLA_CALL(osla_blas_scal(c->v.dtype, to - from, -1.0,
                             minus.at + (size_t)(from + i * size) * c->v.element));
  }
  return solve(c, OSLA_RIGHT, OSLA_NOTRANS, n, size, minus, l);
}

osla_err osli_potri_finish_diagonal(const chol *c, int64_t size, operand diagonal)
{
  int64_t info;
  double since = osla_trace_now(c->v.t), order = (double)size;
  OSLA_CALL(osla_lapack_potri(c->v.dtype, c->uplo, size, diagonal.at, diagonal.ld, &info));
  osla_trace_add(c->v.t, OSLA_TRACE_PANEL, since, 2.0 * order * order * order / 3.0);
  /* the result `info` of LAPACK is 0, because osla_potri has found no zero on the diagonal */
  return OSLA_OK;
}

static void trace_product(const chol *c, double since, int64_t m, int64_t n, int64_t depth)
{
  osla_trace_add(c->v.t, OSLA_TRACE_GEMM, since, 2.0 * (double)m * (double)n * (double)depth);
}

osla_err osli_potri_subtract(const chol *c, int64_t m, int64_t n, int64_t depth, operand l,
                             operand x, operand to)
{
  bool lower = c->uplo == OSLA_LOWER;
  operand left = lower ? l : x, right = lower ? x : l;
  double since = osla_trace_now(c->v.t);
  OSLA_CALL(osla_blas_gemm(c->v.dtype, OSLA_NOTRANS, OSLA_NOTRANS, lower ? m : n, lower ? n : m,
                           depth, -1.0, left.at, left.ld, right.at, right.ld, 1.0, to.at, to.ld));
  trace_product(c, since, m, n, depth);
  return OSLA_OK;
}

osla_err osli_potri_add(const chol *c, int64_t m, int64_t n, int64_t depth, operand x_rows,
                        operand x, operand to)
{
  double since = osla_trace_now(c->v.t);
  if (c->uplo == OSLA_LOWER)
    OSLA_CALL(osla_blas_gemm(c->v.dtype, OSLA_CONJTRANS, OSLA_NOTRANS, m, n, depth, 1.0, x_rows.at,
                             x_rows.ld, x.at, x.ld, 1.0, to.at, to.ld));
  else
    OSLA_CALL(osla_blas_gemm(c->v.dtype, OSLA_NOTRANS, OSLA_CONJTRANS, n, m, depth, 1.0, x.at, x.ld,
                             x_rows.at, x_rows.ld, 1.0, to.at, to.ld));
  trace_product(c, since, m, n, depth);
  return OSLA_OK;
}

osla_err osli_potri_add_diagonal(const chol *c, int64_t n, int64_t depth, operand x, operand to)
{
  double since = osla_trace_now(c->v.t);
  osla_trans trans = c->uplo == OSLA_LOWER ? OSLA_CONJTRANS : OSLA_NOTRANS;
  OSLA_CALL(
    osla_blas_syrk(c->v.dtype, c->uplo, trans, n, depth, 1.0, x.at, x.ld, 1.0, to.at, to.ld));
  osla_trace_add(c->v.t, OSLA_TRACE_SYRK, since, (double)n * (double)(n + 1) * (double)depth);
  return OSLA_OK;
}
