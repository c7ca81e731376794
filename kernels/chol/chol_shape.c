#include "kernels/chol/chol_shape.h"
#include "kernels/common/local_view.h"
#include "osla_trace.h"
#include "src/base/reserved.h"
#include "src/blas/move.h"
#include "src/device/device.h"

#include <inttypes.h>
#include <stdlib.h>

osla_err osli_chol_init(chol *f, const char *call, osla_matrix *a, osla_uplo uplo,
                        const osla_chol_options *options)
{
  *f = (chol){.v = view_of(a), .uplo = uplo};
  const local_view *v = &f->v;
  OSLA_CALL(OSLA_RESERVED(osla_chol_options, options));
  OSLA_CHECK(v->m == v->n, OSLA_ERR_ARG, "%s: the matrix is %" PRId64 " x %" PRId64 ", not square",
             call, v->m, v->n);
  OSLA_CHECK(v->mb == v->nb, OSLA_ERR_ARG, "%s: blocks must be square, not %" PRId64 " x %" PRId64,
             call, v->mb, v->nb);
  OSLA_CALL(osli_check_uplo(call, uplo, a));
  f->forward = options ? options->forward : OSLA_FORWARD_CHOSEN;
  OSLA_CALL(
    osli_check_panel_options(call, options ? options->look_ahead : 0, f->forward, &f->look_ahead));
  trim_blocks(&f->v);
  bool lower = uplo == OSLA_LOWER;
  f->n_prows = lower ? v->p : v->q;
  f->n_pcols = lower ? v->q : v->p;
  f->prow = lower ? v->prow : v->pcol;
  f->pcol = lower ? v->pcol : v->prow;
  f->n_rows = lower ? v->rows : v->cols;
  f->n_cols = lower ? v->cols : v->rows;
  f->steps = (v->n + v->nb - 1) / v->nb;
  f->is_whole = osli_device_of(v->local) && v->p == 1 && v->q == 1;
  osli_chol_set_lcm(f);
  return osli_view_check_blas(a);
}

osla_err osli_chol_agree(osla_matrix *a, osla_err local, const char *call, osla_uplo uplo,
                         const osla_chol_options *options)
{
  const osla_chol_options o = options ? *options : (osla_chol_options){0};
  const osla_layout l = osla_matrix_layout(a);
  const osla_argument same[] = {
    {"uplo", (int)uplo},        {"m", l.m}, {"n", l.n}, {"nb", l.nb}, {"look_ahead", o.look_ahead},
    {"forward", (int)o.forward}};
  return osla_agree_same(osla_grid_transport(osla_matrix_grid(a)), local, call, same,
                         (int)(sizeof same / sizeof *same));
}

/* Lists the ranks of this node that read this rank's blocks, and sets column_node. */
static osla_err find_neighbours(chol *f)
{
  const osla_transport *t = f->v.t;
  f->readers = calloc((size_t)osla_transport_node_size(t) + 1, sizeof *f->readers);
  OSLA_CHECK(f->readers, OSLA_ERR_MEM, "Cholesky: list of node neighbours");
  if (f->v.prow < 0) return OSLA_OK;
  f->column_node = osla_transport_node_of(t, rank_of(f, 0, f->pcol));
  for (int prow = 1; prow < f->n_prows; prow++)
    if (osla_transport_node_of(t, rank_of(f, prow, f->pcol)) != f->column_node) f->column_node = -1;
  /* Lists the ranks that own block columns with the indices of this rank's block rows: their
   * process column equals this rank's process row modulo gcd(n_prows, n_pcols). */
  for (int prow = 0; prow < f->n_prows && f->readable; prow++)
    for (int pcol = f->prow % f->common; pcol < f->n_pcols; pcol += f->common) {
      int rank = rank_of(f, prow, pcol);
      if (prow != f->prow && osla_transport_same_node(t, rank)) f->readers[f->n_readers++] = rank;
    }
  return OSLA_OK;
}

osla_err osli_chol_allocate(chol *f,
                            size_t (*bytes)(const void *chol, panel_kind, int64_t step, int root),
                            bool (*ready)(void *chol, panel_kind, int64_t step, void *room))
{
  const local_view *v = &f->v;
  OSLA_CALL(osli_view_neighbours_readable(v, &f->readable));
  osla_err err = find_neighbours(f);
  const size_t columns_bytes = osli_chol_columns_bytes(f) + 1;
  f->columns = osli_alloc_like(v->local, columns_bytes);
  if (!f->columns)
    err = osli_alloc_like_failed(v->local, columns_bytes, "Cholesky, copy of a panel");
  OSLA_CALL(osla_agree(v->t, err));

  osla_panels_plan plan = osli_chol_panels_plan(f, osla_transport_n_nodes(v->t) > 1);
  plan.kernel = f;
  plan.device = osla_matrix_device(v->matrix);
  plan.bytes = bytes;
  plan.ready = ready;
  return osli_panels_create(v->grid, &plan, &f->panels);
}

void osli_chol_free(chol *f)
{
  osli_panels_destroy(&f->panels);
  free(f->readers);
  osli_free_like(f->columns);
}

void osli_chol_copy_block(const chol *f, int64_t n_rows, int64_t n_cols, operand from, operand to)
{
  int64_t stored_rows = f->uplo == OSLA_LOWER ? n_rows : n_cols;
  int64_t stored_cols = f->uplo == OSLA_LOWER ? n_cols : n_rows;
  osli_move_columns(f->v.element, stored_rows, stored_cols, from.at, from.ld, to.at, to.ld);
}

void osli_chol_pack_block(const chol *f, int64_t n_rows, int64_t n_cols, operand from, void *to)
{
  double since = osla_trace_now(f->v.t);
  osli_chol_copy_block(f, n_rows, n_cols, from, packed_operand(f, to, n_rows, n_cols));
  osla_trace_add(f->v.t, OSLA_TRACE_PACK, since,
                 (double)n_rows * (double)n_cols * (double)f->v.element);
}

osla_err osli_chol_solve_panel(const chol *f, int64_t n_rows, int64_t size, operand diagonal,
                               operand panel)
{
  double since = osla_trace_now(f->v.t);
  if (f->uplo == OSLA_LOWER)
    OSLA_CALL(osla_blas_trsm(f->v.dtype, OSLA_RIGHT, OSLA_LOWER, OSLA_CONJTRANS, OSLA_NONUNIT,
                             n_rows, size, diagonal.at, diagonal.ld, panel.at, panel.ld));
  else
    OSLA_CALL(osla_blas_trsm(f->v.dtype, OSLA_LEFT, OSLA_UPPER, OSLA_CONJTRANS, OSLA_NONUNIT, size,
                             n_rows, diagonal.at, diagonal.ld, panel.at, panel.ld));
  osla_trace_add(f->v.t, OSLA_TRACE_TRSM, since, (double)size * (double)size * (double)n_rows);
  return OSLA_OK;
}

osla_err osli_chol_update_block(const chol *f, int64_t n_rows, int64_t n_cols, int64_t k,
                                operand x_i, operand x_j, operand c)
{
  if (n_rows <= 0 || n_cols <= 0) return OSLA_OK;
  double since = osla_trace_now(f->v.t);
  if (f->uplo == OSLA_LOWER)
    OSLA_CALL(osla_blas_gemm(f->v.dtype, OSLA_NOTRANS, OSLA_CONJTRANS, n_rows, n_cols, k, -1.0,
                             x_i.at, x_i.ld, x_j.at, x_j.ld, 1.0, c.at, c.ld));
  else
    OSLA_CALL(osla_blas_gemm(f->v.dtype, OSLA_CONJTRANS, OSLA_NOTRANS, n_cols, n_rows, k, -1.0,
                             x_j.at, x_j.ld, x_i.at, x_i.ld, 1.0, c.at, c.ld));
  osla_trace_add(f->v.t, OSLA_TRACE_GEMM, since, 2.0 * (double)n_rows * (double)n_cols * (double)k);
  return OSLA_OK;
}

osla_err osli_chol_update_diagonal(const chol *f, int64_t n, int64_t k, operand x_j, operand c)
{
  double since = osla_trace_now(f->v.t);
  OSLA_CALL(osla_blas_syrk(f->v.dtype, f->uplo,
                           f->uplo == OSLA_LOWER ? OSLA_NOTRANS : OSLA_CONJTRANS, n, k, -1.0,
                           x_j.at, x_j.ld, 1.0, c.at, c.ld));
  osla_trace_add(f->v.t, OSLA_TRACE_SYRK, since, (double)n * (double)(n + 1) * (double)k);
  return OSLA_OK;
}
