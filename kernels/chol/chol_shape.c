#include "chol_shape.h"
#include "osla_trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

osla_err osla_chol_shape(chol *f, osla_matrix *a, osla_uplo uplo, int look_ahead)
{
  *f = (chol){.v = view_of(a), .uplo = uplo};
  const local_view *v = &f->v;
  OSLA_CHECK(v->m == v->n, OSLA_ERR_ARG,
             "Cholesky of a %" PRId64 " x %" PRId64 " matrix: not square", v->m, v->n);
  OSLA_CHECK(v->mb == v->nb, OSLA_ERR_ARG,
             "Cholesky needs square blocks, not %" PRId64 " x %" PRId64, v->mb, v->nb);
  OSLA_CHECK(uplo == OSLA_LOWER || uplo == OSLA_UPPER, OSLA_ERR_ARG, "Cholesky of uplo = %d",
             (int)uplo);
  OSLA_CHECK(look_ahead >= -1 && look_ahead <= 2, OSLA_ERR_ARG,
             "Cholesky: look_ahead = %d is not -1, 0, 1 or 2", look_ahead);
  f->look_ahead = look_ahead < 0 ? 0 : look_ahead == 0 ? 1 : look_ahead;
  trim_blocks(&f->v);
  bool lower = uplo == OSLA_LOWER;
  f->n_along = lower ? v->p : v->q;
  f->n_across = lower ? v->q : v->p;
  f->along = lower ? v->prow : v->pcol;
  f->across = lower ? v->pcol : v->prow;
  f->along_count = lower ? v->rows : v->cols;
  f->across_count = lower ? v->cols : v->rows;
  f->steps = (v->n + v->nb - 1) / v->nb;
  return OSLA_OK;
}

static int gcd(int a, int b)
{
  return b == 0 ? a : gcd(b, a % b);
}

/* Who puts L(j,k) into my buffers: row and column mates, and the owners of block rows j that are
 * also among my block columns: their coordinate along equals mine across, modulo the gcd. */
static bool publishes_lower(const osla_grid *grid, int prow, int pcol)
{
  int common = gcd(osla_grid_nprow(grid), osla_grid_npcol(grid));
  return osla_panels_row_or_column(grid, prow, pcol) ||
         prow % common == osla_grid_pcol(grid) % common;
}

static bool publishes_upper(const osla_grid *grid, int prow, int pcol)
{
  int common = gcd(osla_grid_nprow(grid), osla_grid_npcol(grid));
  return osla_panels_row_or_column(grid, prow, pcol) ||
         pcol % common == osla_grid_prow(grid) % common;
}

osla_err osla_chol_set_up(chol *f)
{
  const local_view *v = &f->v;
  size_t width = (size_t)v->nb * v->element, bytes[PANEL_KINDS] = {0};
  int64_t along = osla_index_count(v->n, v->nb, 0, f->n_along);
  bool buffers;
  OSLA_CALL(osla_view_needs_buffers(v, &buffers));

  osla_err err = OSLA_OK;
  f->columns = malloc((size_t)f->across_count * width + 1);
  if (!f->columns) err = osla_error_set(OSLA_ERR_MEM, "copy of a Cholesky panel");
  if (buffers) {
    /* Blocks that one owner has for one block column's process: at most every lcm-th one. */
    int64_t lcm = (int64_t)f->n_along / gcd(f->n_along, f->n_across) * f->n_across;
    f->region = (size_t)((f->steps + lcm - 1) / lcm) * (size_t)v->nb * width;
    bytes[PANEL_DIAGONAL] = (size_t)v->nb * width;
    bytes[PANEL_ROWS] = (size_t)along * width;
    bytes[PANEL_COLS] = (size_t)f->n_along * f->region;
    f->packed = malloc((size_t)(along + v->nb) * width);
    f->packed_columns = malloc(f->region + 1);
    if (!f->packed || !f->packed_columns)
      err = osla_error_set(OSLA_ERR_MEM, "packed Cholesky panel");
  }
  OSLA_CALL(osla_agree(v->t, err));
  return osla_panels_create(v->grid, bytes,
                            f->uplo == OSLA_LOWER ? publishes_lower : publishes_upper,
                            f->look_ahead, &f->panels);
}

void osla_chol_clean_up(chol *f)
{
  osla_panels_destroy(&f->panels);
  free(f->columns);
  free(f->packed);
  free(f->packed_columns);
}

void osla_chol_copy_block(const chol *f, int64_t n_along, int64_t n_across, operand from,
                          operand to)
{
  int64_t rows = f->uplo == OSLA_LOWER ? n_along : n_across;
  int64_t cols = f->uplo == OSLA_LOWER ? n_across : n_along;
  for (int64_t c = 0; c < cols; c++)
    memcpy(to.at + (size_t)(c * to.ld) * f->v.element,
           from.at + (size_t)(c * from.ld) * f->v.element, (size_t)rows * f->v.element);
}

void osla_chol_pack_block(const chol *f, int64_t n_along, int64_t n_across, operand from, void *to)
{
  double since = osla_trace_now(f->v.t);
  osla_chol_copy_block(f, n_along, n_across, from, packed_operand(f, to, n_along, n_across));
  osla_trace_add(f->v.t, OSLA_TRACE_PACK, since,
                 (double)n_along * (double)n_across * (double)f->v.element);
}

osla_err osla_chol_solve_panel(const chol *f, int64_t n_along, int64_t size, operand diagonal,
                               operand panel)
{
  double since = osla_trace_now(f->v.t);
  if (f->uplo == OSLA_LOWER)
    OSLA_CALL(osla_blas_trsm(f->v.dtype, OSLA_RIGHT, OSLA_LOWER, OSLA_CONJTRANS, OSLA_NONUNIT,
                             n_along, size, diagonal.at, diagonal.ld, panel.at, panel.ld));
  else
    OSLA_CALL(osla_blas_trsm(f->v.dtype, OSLA_LEFT, OSLA_UPPER, OSLA_CONJTRANS, OSLA_NONUNIT, size,
                             n_along, diagonal.at, diagonal.ld, panel.at, panel.ld));
  osla_trace_add(f->v.t, OSLA_TRACE_TRSM, since, (double)size * (double)size * (double)n_along);
  return OSLA_OK;
}

osla_err osla_chol_update_block(const chol *f, int64_t n_along, int64_t n_across, int64_t k,
                                operand x_i, operand x_j, operand c)
{
  if (n_along <= 0 || n_across <= 0) return OSLA_OK;
  double since = osla_trace_now(f->v.t);
  if (f->uplo == OSLA_LOWER)
    OSLA_CALL(osla_blas_gemm(f->v.dtype, OSLA_NOTRANS, OSLA_CONJTRANS, n_along, n_across, k, -1.0,
                             x_i.at, x_i.ld, x_j.at, x_j.ld, 1.0, c.at, c.ld));
  else
    OSLA_CALL(osla_blas_gemm(f->v.dtype, OSLA_CONJTRANS, OSLA_NOTRANS, n_across, n_along, k, -1.0,
                             x_j.at, x_j.ld, x_i.at, x_i.ld, 1.0, c.at, c.ld));
  osla_trace_add(f->v.t, OSLA_TRACE_GEMM, since,
                 2.0 * (double)n_along * (double)n_across * (double)k);
  return OSLA_OK;
}

osla_err osla_chol_update_diagonal(const chol *f, int64_t n, int64_t k, operand x_j, operand c)
{
  double since = osla_trace_now(f->v.t);
  OSLA_CALL(osla_blas_syrk(f->v.dtype, f->uplo,
                           f->uplo == OSLA_LOWER ? OSLA_NOTRANS : OSLA_CONJTRANS, n, k, -1.0,
                           x_j.at, x_j.ld, 1.0, c.at, c.ld));
  osla_trace_add(f->v.t, OSLA_TRACE_SYRK, since, (double)n * (double)(n + 1) * (double)k);
  return OSLA_OK;
}
