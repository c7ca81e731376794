/* Right-looking LU without pivoting on a block-cyclic matrix, driven by notify.
 *
 * Step k (Krishnan et al., section III.B): the owner of the diagonal block factors it and publishes
 * it to its process column and row; those solve for their parts of L(:,k) and U(k,:) and publish
 * them along their rows and columns; everyone who has both updates its part of the trailing matrix.
 * Nobody waits for anything but the panels that it needs. With look-ahead the blocks of step k+1
 * are updated first and factored before the rest of the update of step k.
 * A published panel is never changed again, so node neighbours read it in place.
 *
 * Memory per rank: on one node none; else four sets of (local rows + local columns + nb) * nb
 * elements, and one packed panel. Messages per step: at most 2 (p + q) put_notify of a rank.
 */
#include "local_view.h"
#include "lu_block.h"
#include "osla_blas.h"
#include "osla_lu.h"
#include "osla_trace.h"
#include "panels.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

typedef struct lu {
  local_view v;
  int64_t steps;
  osla_panels *panels;
  unsigned char *packed; /* a panel on its way to ranks that cannot read it in place */
  int64_t info;          /* first zero pivot found here */
} lu;

/* An operand: an address and its leading dimension. */
typedef struct operand {
  unsigned char *at;
  int64_t ld;
} operand;

/* The step's geometry on this rank. */
typedef struct step {
  int64_t k, start, size;       /* block number, first global index, width */
  int prow, pcol;               /* where the diagonal block lives */
  int64_t row, col;             /* my first local row and column from `start` on */
  int64_t row_after, col_after; /* ... behind the block */
  int64_t rows_left, cols_left; /* trailing part of mine */
} step;

static step make_step(const lu *f, int64_t k)
{
  const local_view *v = &f->v;
  step s = {.k = k, .start = k * v->nb, .prow = (int)(k % v->p), .pcol = (int)(k % v->q)};
  s.size = v->n - s.start < v->nb ? v->n - s.start : v->nb;
  s.row = rows_below(v, s.start);
  s.col = cols_below(v, s.start);
  s.row_after = rows_below(v, s.start + s.size);
  s.col_after = cols_below(v, s.start + s.size);
  s.rows_left = v->rows - s.row_after;
  s.cols_left = v->cols - s.col_after;
  return s;
}

/* Publishes an m x n piece of my array to one rank: in place, or packed into its buffer. */
static osla_err publish(lu *f, panel_kind kind, const step *s, int target, operand piece, int64_t m,
                        int64_t n, bool *is_packed)
{
  const local_view *v = &f->v;
  if (in_place(v, target)) return osla_panels_publish(f->panels, kind, s->k, target, 0, NULL, 0);
  size_t bytes = (size_t)(m * n) * v->element;
  if (!*is_packed) {
    double since = osla_trace_now(v->t);
    osla_pack(v->element, m, n, piece.at, piece.ld, f->packed);
    osla_trace_add(v->t, OSLA_TRACE_PACK, since, (double)bytes);
    *is_packed = true;
  }
  return osla_panels_publish(f->panels, kind, s->k, target, 0, f->packed, bytes);
}

static osla_err publish_along_row(lu *f, panel_kind kind, const step *s, operand piece, int64_t m,
                                  int64_t n, bool *is_packed)
{
  const local_view *v = &f->v;
  for (int i = 1; i < v->q; i++)
    OSLA_CALL(
      publish(f, kind, s, rank_at(v, v->prow, (v->pcol + i) % v->q), piece, m, n, is_packed));
  return OSLA_OK;
}

static osla_err publish_along_column(lu *f, panel_kind kind, const step *s, operand piece,
                                     int64_t m, int64_t n, bool *is_packed)
{
  const local_view *v = &f->v;
  for (int i = 1; i < v->p; i++)
    OSLA_CALL(
      publish(f, kind, s, rank_at(v, (v->prow + i) % v->p, v->pcol), piece, m, n, is_packed));
  return OSLA_OK;
}

/* Waits for the panel that the rank at (prow, pcol) publishes and says where it lies. row and col
 * are local to that rank; ld_packed is the leading dimension of a packed panel. */
static operand receive(lu *f, panel_kind kind, const step *s, int prow, int pcol, int64_t row,
                       int64_t col, int64_t ld_packed)
{
  const local_view *v = &f->v;
  int origin = rank_at(v, prow, pcol);
  if (prow != v->prow || pcol != v->pcol) osla_panels_wait(f->panels, kind, s->k, origin);
  if (in_place(v, origin))
    return (operand){peer_at(v, origin, row, col), osla_matrix_lld(v->matrix, origin)};
  return (operand){osla_panels_buffer(f->panels, kind, s->k), ld_packed};
}

static osla_err factor_diagonal(lu *f, const step *s)
{
  const local_view *v = &f->v;
  operand block = {local_at(v, s->row, s->col), v->lld};
  int64_t info;
  bool is_packed = false;
  double since = osla_trace_now(v->t), size = (double)s->size;
  OSLA_CALL(osla_lu_block(v->dtype, s->size, block.at, block.ld, &info));
  osla_trace_add(v->t, OSLA_TRACE_PANEL, since, 2.0 / 3.0 * size * size * size);
  if (info > 0 && f->info == 0) f->info = s->start + info;
  OSLA_CALL(publish_along_column(f, PANEL_DIAGONAL, s, block, s->size, s->size, &is_packed));
  return publish_along_row(f, PANEL_DIAGONAL, s, block, s->size, s->size, &is_packed);
}

/* L(i,k) := A(i,k) U(k,k)^-1 for my rows below the diagonal block. */
static osla_err factor_column(lu *f, const step *s, operand diagonal)
{
  const local_view *v = &f->v;
  operand l = {local_at(v, s->row_after, s->col), v->lld};
  bool is_packed = false;
  double since = osla_trace_now(v->t), size = (double)s->size;
  OSLA_CALL(osla_blas_trsm(v->dtype, OSLA_RIGHT, OSLA_UPPER, OSLA_NOTRANS, OSLA_NONUNIT,
                           s->rows_left, s->size, diagonal.at, diagonal.ld, l.at, l.ld));
  osla_trace_add(v->t, OSLA_TRACE_TRSM, since, size * size * (double)s->rows_left);
  return publish_along_row(f, PANEL_ROWS, s, l, s->rows_left, s->size, &is_packed);
}

/* U(k,j) := L(k,k)^-1 A(k,j) for my columns right of the diagonal block. */
static osla_err factor_row(lu *f, const step *s, operand diagonal)
{
  const local_view *v = &f->v;
  operand u = {local_at(v, s->row, s->col_after), v->lld};
  bool is_packed = false;
  double since = osla_trace_now(v->t), size = (double)s->size;
  OSLA_CALL(osla_blas_trsm(v->dtype, OSLA_LEFT, OSLA_LOWER, OSLA_NOTRANS, OSLA_UNIT, s->size,
                           s->cols_left, diagonal.at, diagonal.ld, u.at, u.ld));
  osla_trace_add(v->t, OSLA_TRACE_TRSM, since, size * size * (double)s->cols_left);
  return publish_along_column(f, PANEL_COLS, s, u, s->size, s->cols_left, &is_packed);
}

static osla_err factor_step(lu *f, const step *s)
{
  const local_view *v = &f->v;
  bool my_column = v->pcol == s->pcol, my_row = v->prow == s->prow;
  if (my_column && my_row) OSLA_CALL(factor_diagonal(f, s));
  bool column_work = my_column && s->rows_left > 0, row_work = my_row && s->cols_left > 0;
  if (!column_work && !row_work) return OSLA_OK;
  int64_t diag_row = osla_index_local(s->start, v->mb, v->p);
  int64_t diag_col = osla_index_local(s->start, v->nb, v->q);
  operand diagonal = receive(f, PANEL_DIAGONAL, s, s->prow, s->pcol, diag_row, diag_col, s->size);
  if (column_work) OSLA_CALL(factor_column(f, s, diagonal));
  if (row_work) OSLA_CALL(factor_row(f, s, diagonal));
  return OSLA_OK;
}

/* A(i,j) -= L(i,k) U(k,j) on local rows [row, row + m) and columns [col, col + n). */
static osla_err update(const lu *f, const step *s, operand l, operand u, int64_t row, int64_t m,
                       int64_t col, int64_t n)
{
  const local_view *v = &f->v;
  if (m <= 0 || n <= 0) return OSLA_OK;
  unsigned char *l_part = l.at + (size_t)(row - s->row_after) * v->element;
  unsigned char *u_part = u.at + (size_t)((col - s->col_after) * u.ld) * v->element;
  double since = osla_trace_now(v->t);
  OSLA_CALL(osla_blas_gemm(v->dtype, OSLA_NOTRANS, OSLA_NOTRANS, m, n, s->size, -1.0, l_part, l.ld,
                           u_part, u.ld, 1.0, local_at(v, row, col), v->lld));
  osla_trace_add(v->t, OSLA_TRACE_GEMM, since, 2.0 * (double)m * (double)n * (double)s->size);
  return OSLA_OK;
}

/* Step s, and with look-ahead the factorisation of the next one in the midst of it. */
static osla_err run_step(lu *f, const step *s, int look_ahead)
{
  const local_view *v = &f->v;
  operand l = {0}, u = {0};
  if (s->rows_left > 0 && s->cols_left > 0) {
    int64_t panel_col = osla_index_local(s->start, v->nb, v->q);
    int64_t panel_row = osla_index_local(s->start, v->mb, v->p);
    l = receive(f, PANEL_ROWS, s, v->prow, s->pcol, s->row_after, panel_col, s->rows_left);
    u = receive(f, PANEL_COLS, s, s->prow, v->pcol, panel_row, s->col_after, s->size);
  }
  int64_t row = s->row_after, col = s->col_after;
  if (s->k + 1 < f->steps) {
    step next = make_step(f, s->k + 1);
    if (look_ahead > 0) { /* first what the next panels need: its block column, its block row */
      OSLA_CALL(update(f, s, l, u, row, v->rows - row, col, next.col_after - col));
      col = next.col_after;
      OSLA_CALL(update(f, s, l, u, row, next.row_after - row, col, v->cols - col));
      row = next.row_after;
      OSLA_CALL(factor_step(f, &next));
    }
    OSLA_CALL(update(f, s, l, u, row, v->rows - row, col, v->cols - col));
    if (look_ahead <= 0) OSLA_CALL(factor_step(f, &next));
  }
  return osla_panels_finish(f->panels, s->k);
}

static osla_err run(lu *f, int look_ahead)
{
  if (f->steps == 0 || f->v.prow < 0) return OSLA_OK;
  step s = make_step(f, 0);
  OSLA_CALL(factor_step(f, &s));
  for (int64_t k = 0; k < f->steps; k++) {
    s = make_step(f, k);
    OSLA_CALL(run_step(f, &s, look_ahead));
  }
  return OSLA_OK;
}

static osla_err set_up(lu *f)
{
  local_view *v = &f->v;
  bool buffers;
  OSLA_CALL(osla_view_needs_buffers(v, &buffers));
  int64_t rows = osla_index_count(v->m, v->mb, 0, v->p),
          cols = osla_index_count(v->n, v->nb, 0, v->q);
  size_t width = (size_t)v->nb * v->element;
  size_t bytes[PANEL_KINDS] = {0};
  osla_err err = OSLA_OK;
  if (buffers) {
    bytes[PANEL_DIAGONAL] = (size_t)v->nb * width;
    bytes[PANEL_ROWS] = (size_t)rows * width;
    bytes[PANEL_COLS] = (size_t)cols * width;
    size_t largest = (size_t)((rows > cols ? rows : cols) + v->nb) * width;
    f->packed = malloc(largest);
    if (!f->packed) err = osla_error_set(OSLA_ERR_MEM, "%zu bytes for a packed panel", largest);
  }
  OSLA_CALL(osla_agree(v->t, err));
  return osla_panels_create(v->grid, bytes, osla_panels_row_or_column, &f->panels);
}

/* Largest |u_ij|, i <= j. */
static double largest_of_upper(const local_view *v)
{
  double largest = 0.0;
  for (int64_t c = 0; c < v->cols; c++) {
    int64_t j = osla_index_global(c, v->nb, v->pcol, v->q);
    int64_t rows = rows_below(v, j + 1);
    for (int64_t r = 0; r < rows; r++) {
      const void *at = local_at(v, r, c);
      double x = fabs(v->dtype == OSLA_FLOAT ? (double)*(const float *)at : *(const double *)at);
      if (!(x <= largest)) largest = x; /* a NaN gets in and stays */
      if (isnan(largest)) return largest;
    }
  }
  return largest;
}

/* info: the lowest; growth: the largest, or NaN if any rank found one. */
static osla_err agree_result(const lu *f, double largest_before, osla_lu_result *result)
{
  double largest = largest_of_upper(&f->v);
  double pair[2] = {isnan(largest) ? 0.0 : largest, isnan(largest) ? 1.0 : 0.0};
  int64_t first = f->info > 0 ? f->info : INT64_MAX;
  OSLA_CALL(osla_allreduce(f->v.t, pair, 2, MPI_DOUBLE, MPI_MAX));
  OSLA_CALL(osla_allreduce(f->v.t, &first, 1, MPI_INT64_T, MPI_MIN));
  result->info = first == INT64_MAX ? 0 : first;
  result->growth = pair[1] > 0.0          ? (double)NAN
                   : largest_before > 0.0 ? pair[0] / largest_before
                                          : 1.0;
  return OSLA_OK;
}

osla_err osla_getrf_nopiv(osla_matrix *a, const osla_lu_options *options, osla_lu_result *result)
{
  lu f = {.v = view_of(a)};
  const local_view *v = &f.v;
  OSLA_CHECK(v->m == v->n, OSLA_ERR_ARG, "LU of a %" PRId64 " x %" PRId64 " matrix: not square",
             v->m, v->n);
  OSLA_CHECK(v->mb == v->nb, OSLA_ERR_ARG, "LU needs square blocks, not %" PRId64 " x %" PRId64,
             v->mb, v->nb);
  OSLA_CHECK(v->dtype == OSLA_FLOAT || v->dtype == OSLA_DOUBLE, OSLA_ERR_UNSUPPORTED,
             "LU of type '%c'", osla_dtype_letter(v->dtype));
  trim_blocks(&f.v);
  f.steps = (v->n + v->nb - 1) / v->nb;
  double largest;
  osla_err err;
  OSLA_TRY(osla_matrix_norm(a, OSLA_NORM_MAX, &largest)); /* also: A is complete everywhere */
  OSLA_TRY(set_up(&f));
  err = run(&f, options ? options->look_ahead : 1);
  if (err != OSLA_OK) osla_transport_abort(v->t, err); /* the others wait for my panels */
  OSLA_TRY(agree_result(&f, largest, result));         /* also: nobody reads my panels any more */
cleanup:
  osla_panels_destroy(&f.panels);
  free(f.packed);
  return err;
}
