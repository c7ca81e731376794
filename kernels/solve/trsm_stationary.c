/* Triangular solve for few right-hand sides with T on other nodes, NOTRANS: T stays in place and X
 * is moved (fan-in and fan-out of columns: Heath, Romine, "Parallel solution of triangular systems
 * on distributed-memory multiprocessors", SIAM J. Sci. Stat. Comput. 9, 1988). The transposed solve
 * is in trsm_stationary_trans.c.
 *
 * Each rank has a share (f->share): a matrix with the rank's rows of A and all columns of B. The
 * sum of the shares in a process row is what remains of B. At first the share contains the rank's
 * columns of B, and zeros in other columns; later it also contains minus the products of the rank's
 * own blocks of T. In step k the ranks of process row k send their share of block row k to the
 * owner of the diagonal block, which adds up the shares and solves. X(k) is sent along the process
 * column, where each rank subtracts T(i,k) X(k) from its share: immediately in the rows that the
 * next step needs, later in the other rows (trsm_deferred.c). Then X(k) is sent along the process
 * row, where each rank stores its columns of B. If a second solve follows, the first one does not
 * store X in B; the second solve starts with the X(k) of the first one at the owners of the
 * diagonal blocks. */
#include "kernels/solve/trsm.h"
#include "osla_trace.h"
#include "src/blas/move.h"

#include <stdlib.h>
#include <string.h>

bool osli_trsm_is_stationary(int64_t n, int64_t nrhs)
{
  /* X is sent along every process column and row, so X is moved only if there are fewer than n /
   * FEW right-hand sides. */
  enum { FEW = 4 };
  return nrhs > 0 && nrhs < n / FEW;
}

/* Returns whether the share of process column pcol in this step's block row may be nonzero. */
static bool has_share(const trsm *f, const trsm_step *s, int pcol)
{
  int64_t q = f->a.q;
  /* first step whose diagonal block process column pcol owns */
  int64_t first = f->forward ? pcol : ((f->steps - 1 - pcol) % q + q) % q;
  return first < s->s || (!f->reuses_shares && osla_index_count(f->b.n, f->b.nb, pcol, f->b.q) > 0);
}

/* ---- messages ---- */

/* Returns the bytes that a root publishes in step k (member `bytes` of osla_panels_plan). X(k) is
 * sent along the process column of its owner (PANEL_ROWS), and along the process row (PANEL_COLS).
 */
static size_t x_bytes(const void *kernel, panel_kind kind, int64_t number, int root)
{
  const trsm *f = kernel;
  trsm_step s = osli_trsm_step(f, number);
  bool in_column = kind == PANEL_ROWS;
  bool here = in_column ? f->a.pcol == s.pcol : f->a.prow == s.prow;
  if (!here || root != (in_column ? s.prow : s.pcol)) return 0;
  return (size_t)(s.size * f->b.n) * f->a.element;
}

static bool x_ready(void *kernel, panel_kind kind, int64_t number, void *room)
{
  const trsm *f = kernel;
  if (atomic_load(kind == PANEL_ROWS ? &f->solved : &f->publishable) <= number) return false;
  trsm_step s = osli_trsm_step(f, number);
  double since = osla_trace_now(f->a.t);
  if (room) osli_pack(f->a.element, s.size, f->b.n, share_at(f, s.row, 0), f->share_ld, room);
  osla_trace_add(f->a.t, OSLA_TRACE_PACK, since, (double)(s.size * f->b.n));
  return true;
}

static osla_panels_plan panels_plan(int64_t steps, int p, bool in_columns, bool in_rows,
                                    size_t piece)
{
  osla_panels_plan plan = {
    .steps = steps, .look_ahead = 1, .column_rows = steps < p ? (int)steps : p, .readable = false};
  if (in_columns)
    plan.kind[PANEL_ROWS] = (osla_panels_kind){.used = true, .in_column = true, .room = piece};
  if (in_rows) plan.kind[PANEL_COLS] = (osla_panels_kind){.used = true, .room = piece};
  return plan;
}

static osla_err create_panels(trsm *f)
{
  bool plain = f->trans == OSLA_NOTRANS;
  osla_panels_plan plan =
    panels_plan(f->steps, f->a.p, plain, !(plain && f->keeps_shares), block_row_bytes(f));
  plan.kernel = f;
  plan.bytes = x_bytes;
  plan.ready = x_ready;
  return osli_panels_create(f->a.grid, &plan, &f->panels);
}

/* Leading dimension of a share, which is an odd number of cache lines. If the distance between
 * columns were a power of two, the columns would compete for a few sets of the cache. */
static int64_t share_ld(int64_t rows, size_t element)
{
  enum { LINE = 64 };
  int64_t per_line = LINE / (int64_t)element, lines = (rows + per_line - 1) / per_line;
  return (lines | 1) * per_line;
}

osla_err osli_trsm_stationary_open(trsm *f)
{
  bool plain = f->trans == OSLA_NOTRANS;
  size_t piece = block_row_bytes(f);
  f->share_ld = share_ld(f->a.rows, f->a.element);
  size_t share = (size_t)(f->share_ld * f->b.n) * f->a.element;
  OSLA_CALL(create_panels(f));
  OSLA_CALL(
    osli_pieces_create(f->a.grid, (size_t)(plain ? f->a.q : f->a.p) * piece, 1, plain, &f->pieces));
  f->sums = malloc((size_t)osli_pieces_depth(f->pieces) * piece + 1);
  if (!f->reuses_shares) f->share = malloc(share);
  osla_err err =
    f->sums && f->share ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "shares of a triangular solve");
  if (err == OSLA_OK && plain) err = osli_trsm_deferred_create(f);
  return osla_agree(f->a.t, err);
}

uint64_t osli_trsm_stationary_memory(const osla_shape *s, int64_t nrhs, bool follows)
{
  size_t piece = (size_t)s->nb * (size_t)nrhs * s->element;
  osla_panels_plan plan = panels_plan((s->n + s->nb - 1) / s->nb, s->nprow, true, true, piece);
  uint64_t share = (uint64_t)share_ld(s->rows, s->element) * (uint64_t)nrhs * s->element;
  return (follows ? 0 : share) + osli_panels_memory(&plan, s) +
         osli_pieces_memory((size_t)s->npcol * piece, 1, s) +
         (uint64_t)osli_pieces_depth_for(1) * piece + osli_trsm_deferred_memory(s, piece);
}

/* ---- shares ---- */

/* Prepares this rank's share for a second solve: the blocks X(k) that this rank owns stay, all
 * other elements become zero. */
static void clear_unsolved(const trsm *f)
{
  const local_view *a = &f->a;
  for (int64_t number = 0; number < f->steps; number++) {
    trsm_step s = osli_trsm_step(f, number);
    if (a->prow != s.prow || a->pcol == s.pcol) continue;
    for (int64_t c = 0; c < f->b.n; c++)
      memset(share_at(f, s.row, c), 0, (size_t)s.size * a->element);
  }
}

static void fill_shares(const trsm *f)
{
  const local_view *b = &f->b;
  size_t column = (size_t)f->a.rows * f->a.element;
  if (f->reuses_shares) {
    clear_unsolved(f);
    return;
  }
  for (int64_t c = 0; c < b->n; c++)
    if (osla_index_owner(c, b->nb, b->q) != b->pcol) memset(share_at(f, 0, c), 0, column);
  for (int64_t c = 0; c < b->cols; c++)
    memcpy(share_at(f, 0, osla_index_global(c, b->nb, b->pcol, b->q)), local_at(b, 0, c), column);
  osli_move_charge(column, b->cols);
}

/* Sends this rank's share of the step's block row to the owner of the diagonal block. */
static osla_err send_share(trsm *f, const trsm_step *s)
{
  const local_view *a = &f->a;
  unsigned char *sum = sum_at(f, s);
  if (!has_share(f, s, a->pcol)) return OSLA_OK;
  OSLA_CALL(osli_trsm_deferred_finish_rows(f, s));
  /* Wait until the previous contents of this send buffer have arrived. */
  OSLA_CALL(osli_pieces_wait_posted(f->pieces, s->s));
  osli_pack(a->element, s->size, f->b.n, share_at(f, s->row, 0), f->share_ld, sum);
  return osli_pieces_post(f->pieces, s->s, rank_at(a, s->prow, s->pcol),
                          (size_t)a->pcol * block_row_bytes(f), sum,
                          (size_t)(s->size * f->b.n) * a->element);
}

/* Waits until the share of process column pcol in the step's block row has arrived. Meanwhile
 * computes deferred products. */
static osla_err wait_for_share(trsm *f, const trsm_step *s, int pcol)
{
  int origin = rank_at(&f->a, f->a.prow, pcol);
  bool any = true;
  while (any && !osli_pieces_has_arrived(f->pieces, s->s, origin))
    OSLA_CALL(osli_trsm_deferred_advance(f, &any));
  osli_pieces_wait(f->pieces, s->s, origin);
  return OSLA_OK;
}

/* Waits until X(k) has arrived. Meanwhile computes deferred products. */
static osla_err wait_for_x(trsm *f, const trsm_step *s, panel_kind kind, const void **x)
{
  int root = kind == PANEL_ROWS ? s->prow : s->pcol;
  bool any = true;
  while (any && !osli_panels_has_arrived(f->panels, kind, s->s, root, x))
    OSLA_CALL(osli_trsm_deferred_advance(f, &any));
  *x = osli_panels_wait(f->panels, kind, s->s, root);
  return OSLA_OK;
}

/* Computes X(k) in this rank's share; this rank owns the diagonal block. */
static osla_err solve_block(trsm *f, const trsm_step *s)
{
  const local_view *a = &f->a;
  const unsigned char *sums = osli_pieces_buffer(f->pieces, s->s);
  OSLA_CALL(osli_trsm_deferred_finish_rows(f, s));
  for (int i = 1; i < a->q; i++) {
    int pcol = (a->pcol + i) % a->q;
    if (!has_share(f, s, pcol)) continue;
    OSLA_CALL(wait_for_share(f, s, pcol));
    osli_trsm_add(a, s->size, f->b.n, 1, sums + (size_t)pcol * block_row_bytes(f),
                  share_at(f, s->row, 0), f->share_ld);
  }
  const operand block = own_column(f, s, s->row);
  double since = osla_trace_now(a->t), size = (double)s->size;
  OSLA_CALL(osla_blas_trsm(a->dtype, OSLA_LEFT, f->uplo, OSLA_NOTRANS, f->diag, s->size, f->b.n,
                           block.at, block.ld, share_at(f, s->row, 0), f->share_ld));
  osla_trace_add(a->t, OSLA_TRACE_TRSM, since, size * size * (double)f->b.n);
  atomic_store(&f->solved, s->s + 1);
  if (a->p > 1) osli_panels_progress(f->panels);
  return OSLA_OK;
}

void osli_trsm_store_columns(trsm *f, const trsm_step *s, const unsigned char *x, int64_t ldx)
{
  const local_view *b = &f->b;
  size_t column = (size_t)ldx * b->element;
  for (int64_t c = 0; c < b->cols; c++)
    memcpy(local_at(b, s->row, c), x + (size_t)osla_index_global(c, b->nb, b->pcol, b->q) * column,
           (size_t)s->size * b->element);
  osli_move_charge((size_t)s->size * b->element, b->cols);
}

/* Stores this rank's columns of B from blocks X(k) that have arrived, for steps before `last`.
 * Waits for the blocks of steps before `must`. */
static osla_err store_ready_columns(trsm *f, int64_t must, int64_t last)
{
  const local_view *a = &f->a;
  for (; f->n_stored < last; f->n_stored++) {
    trsm_step s = osli_trsm_step(f, f->n_stored);
    const void *x = NULL;
    if (!f->keeps_shares && a->prow == s.prow && a->pcol == s.pcol)
      osli_trsm_store_columns(f, &s, share_at(f, s.row, 0), f->share_ld);
    else if (!f->keeps_shares && a->prow == s.prow) {
      if (f->n_stored >= must && !osli_panels_has_arrived(f->panels, PANEL_COLS, s.s, s.pcol, &x))
        return OSLA_OK;
      OSLA_CALL(wait_for_x(f, &s, PANEL_COLS, &x));
      osli_trsm_store_columns(f, &s, x, s.size);
    }
    osli_panels_finish(f->panels, s.s);
  }
  return OSLA_OK;
}

osla_err osli_trsm_stationary_run_notrans(trsm *f)
{
  /* number of steps by which storing X may lag behind; less than the buffers of panels allow */
  enum { BEHIND = 2 };
  const local_view *a = &f->a;
  fill_shares(f);
  for (int64_t number = 0; number < f->steps; number++) {
    trsm_step s = osli_trsm_step(f, number);
    const void *x = NULL;
    osla_at_step(a->t, "osla_trsm", number);
    if (a->prow == s.prow && a->pcol != s.pcol) OSLA_CALL(send_share(f, &s));
    /* now the data that the next step needs have been sent */
    atomic_store(&f->publishable, number);
    if (a->prow == s.prow && a->pcol == s.pcol) OSLA_CALL(solve_block(f, &s));
    OSLA_CALL(osli_pieces_finish(f->pieces, number));
    if (a->pcol == s.pcol && a->prow != s.prow && s.first < s.last)
      OSLA_CALL(wait_for_x(f, &s, PANEL_ROWS, &x));
    if (a->pcol == s.pcol) OSLA_CALL(osli_trsm_deferred_add(f, &s, x));
    OSLA_CALL(store_ready_columns(f, number - BEHIND, number));
  }
  atomic_store(&f->publishable, f->steps);
  OSLA_CALL(store_ready_columns(f, f->steps, f->steps));
  osli_panels_drain(f->panels);
  return OSLA_OK;
}
