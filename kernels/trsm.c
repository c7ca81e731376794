/* B := op(T)^-1 B: checks, memory, choice of the direction.
 *
 * T is only read, so its blocks are taken one-sided (trsm_operands.c); what passes between the
 * ranks by notify are block rows of B or sums for them (trsm_run.c). Memory per rank: if B or T
 * cannot be read in place, two block columns of T and a few block rows of B. Messages per step: p -
 * 1 put_notify of the owner (NOTRANS), one of each other rank (TRANS).
 */
#include "trsm.h"

#include <inttypes.h>
#include <stdlib.h>

static osla_err check(const local_view *a, const local_view *b)
{
  OSLA_CHECK(a->m == a->n && a->mb == a->nb, OSLA_ERR_ARG,
             "solve: A is %" PRId64 " x %" PRId64 " in blocks of %" PRId64 " x %" PRId64
             ": both must be square",
             a->m, a->n, a->mb, a->nb);
  OSLA_CHECK(b->m == a->n, OSLA_ERR_ARG, "solve: B has %" PRId64 " rows, A is of order %" PRId64,
             b->m, a->n);
  OSLA_CHECK(b->grid == a->grid, OSLA_ERR_ARG,
             "solve: A and B are on two grids (%d x %d and %d x %d), not on one", a->p, a->q, b->p,
             b->q);
  OSLA_CHECK(b->mb == a->nb, OSLA_ERR_ARG,
             "solve: B must have A's block rows (%" PRId64 ", not %" PRId64 ")", a->nb, b->mb);
  OSLA_CHECK(a->dtype == b->dtype, OSLA_ERR_ARG, "solve: types '%c' and '%c' differ",
             osla_dtype_letter(a->dtype), osla_dtype_letter(b->dtype));
  OSLA_CHECK(a->dtype == OSLA_FLOAT || a->dtype == OSLA_DOUBLE, OSLA_ERR_UNSUPPORTED,
             "solve of type '%c'", osla_dtype_letter(a->dtype));
  return OSLA_OK;
}

static osla_err set_up(trsm *f)
{
  const local_view *a = &f->a, *b = &f->b;
  bool buffers_a, buffers_b;
  size_t bytes[PANEL_KINDS] = {0};
  OSLA_CALL(osla_view_needs_buffers(a, &buffers_a));
  OSLA_CALL(osla_view_needs_buffers(b, &buffers_b));
  f->widest = osla_index_count(b->n, b->nb, 0, b->q);
  size_t block_row = (size_t)(a->nb * f->widest) * b->element;
  /* NOTRANS passes solved rows, which neighbours read in place; TRANS passes partial sums, which
   * always need room: one piece for each process row. */
  if (f->trans == OSLA_TRANS)
    bytes[PANEL_COLS] = (size_t)a->p * block_row;
  else if (buffers_b)
    bytes[PANEL_ROWS] = block_row;

  int64_t lld = 1;
  for (int rank = 0; rank < osla_transport_size(a->t); rank++)
    if (osla_matrix_lld(a->matrix, rank) > lld) lld = osla_matrix_lld(a->matrix, rank);
  osla_err err = OSLA_OK;
  f->packed = malloc(block_row + 1);
  f->diagonal = malloc((size_t)(a->nb * a->nb) * a->element);
  bool complete = f->packed && f->diagonal;
  for (int i = 0; i < 2 && buffers_a; i++) {
    f->column[i] = malloc((size_t)(lld * a->nb) * a->element);
    complete = complete && f->column[i];
  }
  if (!complete) err = osla_error_set(OSLA_ERR_MEM, "buffers of a triangular solve");
  OSLA_CALL(osla_agree(a->t, err));
  return osla_panels_create(b->grid, bytes, osla_panels_row_or_column, 1, &f->panels);
}

static void clean_up(trsm *f)
{
  osla_panels_destroy(&f->panels);
  free(f->packed);
  free(f->diagonal);
  free(f->column[0]);
  free(f->column[1]);
}

osla_err osla_trsm_left(osla_uplo uplo, osla_trans trans, osla_diag diag, osla_matrix *a,
                        osla_matrix *b)
{
  trsm f = {.a = view_of(a), .b = view_of(b), .uplo = uplo, .trans = trans, .diag = diag};
  osla_err err;
  OSLA_CALL(check(&f.a, &f.b));
  trim_blocks(&f.a);
  trim_blocks(&f.b);
  f.steps = (f.a.n + f.a.nb - 1) / f.a.nb;
  f.forward = (uplo == OSLA_LOWER) == (trans == OSLA_NOTRANS);
  OSLA_TRY(osla_barrier(f.a.t)); /* A and B are complete everywhere */
  OSLA_TRY(set_up(&f));
  bool work = f.b.rows > 0 && f.b.cols > 0;
  err = !work ? OSLA_OK : trans == OSLA_TRANS ? osla_trsm_run_trans(&f) : osla_trsm_run_notrans(&f);
  if (err != OSLA_OK) osla_transport_abort(f.a.t, err); /* the others wait for my rows */
  OSLA_TRY(osla_barrier(f.a.t));                        /* nobody reads my rows any more */
cleanup:
  clean_up(&f);
  return err;
}
