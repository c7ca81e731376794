/* The triangular solve where few right-hand sides meet a T that lies afar: T stays, X moves (fan-in
 * and fan-out of the columns: Heath, Romine, "Parallel solution of triangular systems on
 * distributed-memory multiprocessors", SIAM J. Sci. Stat. Comput. 9, 1988). NOTRANS; with the
 * transpose see trsm_fan_in.c.
 *
 * Each rank has a share W of what is left of B: B's own columns, and minus the products of its own
 * blocks of T. In step k the ranks of process row k send their shares of block row k to the owner
 * of the diagonal block, who adds them up and solves. X(k) goes along its process column, where
 * each rank subtracts T(i,k) X(k) from its share, the next step's block row first; and along the
 * process row, where each takes its columns of B.
 */
#include "trsm_fan.h"
#include "move.h"
#include "osla_trace.h"

#include <stdlib.h>
#include <string.h>

bool osla_trsm_fans(int64_t n, int64_t nrhs)
{
  enum { FEW = 4 }; /* X passes each process column and row, T as often as there are such */
  return nrhs > 0 && nrhs < n / FEW;
}

/* Does a process column have a share of this step's block row that may not be zero? */
static bool has_share(const trsm *f, const trsm_step *s, int pcol)
{
  int64_t q = f->a.q;
  int64_t first = f->forward ? pcol : ((f->steps - 1 - pcol) % q + q) % q; /* its first step */
  return first < s->s || osla_index_count(f->b.n, f->b.nb, pcol, f->b.q) > 0;
}

/* ---- what passes ---- */

/* osla_panels_plan: X(k), along the process column of its owner, and along the process row. */
static size_t x_bytes(const void *kernel, panel_kind kind, int64_t number, int root)
{
  const trsm *f = kernel;
  trsm_step s = osla_trsm_step(f, number);
  bool in_column = kind == PANEL_ROWS;
  bool here = in_column ? f->a.pcol == s.pcol : f->a.prow == s.prow;
  if (!here || root != (in_column ? s.prow : s.pcol)) return 0;
  return (size_t)(s.size * f->b.n) * f->a.element;
}

static bool x_ready(void *kernel, panel_kind kind, int64_t number, void *room)
{
  const trsm *f = kernel;
  (void)kind;
  if (atomic_load(&f->solved) <= number) return false;
  trsm_step s = osla_trsm_step(f, number);
  double since = osla_trace_now(f->a.t);
  if (room) osla_pack(f->a.element, s.size, f->b.n, fan_share_at(f, s.row, 0), f->a.rows, room);
  osla_trace_add(f->a.t, OSLA_TRACE_PACK, since, (double)(s.size * f->b.n));
  return true;
}

static osla_panels_plan panels_plan(int64_t steps, int p, bool in_columns, size_t piece)
{
  osla_panels_plan plan = {
    .steps = steps, .look_ahead = 1, .column_rows = steps < p ? (int)steps : p, .readable = false};
  if (in_columns)
    plan.kind[PANEL_ROWS] = (osla_panels_kind){.used = true, .in_column = true, .room = piece};
  plan.kind[PANEL_COLS] = (osla_panels_kind){.used = true, .room = piece};
  return plan;
}

static osla_err create_panels(trsm *f)
{
  osla_panels_plan plan =
    panels_plan(f->steps, f->a.p, f->trans == OSLA_NOTRANS, fan_piece_bytes(f));
  plan.kernel = f;
  plan.bytes = x_bytes;
  plan.ready = x_ready;
  return osla_panels_create(f->a.grid, &plan, &f->panels);
}

osla_err osla_trsm_fan_passing(trsm *f)
{
  bool plain = f->trans == OSLA_NOTRANS;
  size_t piece = fan_piece_bytes(f), share = (size_t)f->a.rows * (size_t)f->b.n * f->a.element;
  OSLA_CALL(create_panels(f));
  OSLA_CALL(
    osla_pieces_create(f->a.grid, (size_t)(plain ? f->a.q : f->a.p) * piece, 1, plain, &f->pieces));
  f->sums = malloc((size_t)osla_pieces_depth(f->pieces) * piece + 1);
  f->share = malloc(share + 1);
  OSLA_CALL(osla_agree(f->a.t, f->sums && f->share
                                 ? OSLA_OK
                                 : osla_error_set(OSLA_ERR_MEM, "shares of a triangular solve")));
  return plain ? OSLA_OK : osla_trsm_fan_in_passing(f);
}

uint64_t osla_trsm_fan_memory(const osla_shape *s, int64_t nrhs)
{
  size_t piece = (size_t)s->nb * (size_t)nrhs * s->element;
  osla_panels_plan plan = panels_plan((s->n + s->nb - 1) / s->nb, s->nprow, true, piece);
  return (uint64_t)s->rows * (uint64_t)nrhs * s->element + osla_panels_memory(&plan, s) +
         osla_pieces_memory((size_t)s->npcol * piece, 1, s) +
         (uint64_t)osla_pieces_depth_for(1) * piece;
}

/* ---- shares ---- */

static void begin_shares(const trsm *f)
{
  const local_view *b = &f->b;
  size_t column = (size_t)f->a.rows * f->a.element;
  memset(f->share, 0, column * (size_t)b->n);
  for (int64_t c = 0; c < b->cols; c++)
    memcpy(fan_share_at(f, 0, osla_index_global(c, b->nb, b->pcol, b->q)), local_at(b, 0, c),
           column);
  osla_move_did(column, b->cols);
}

/* My share of the block row goes to the owner of the diagonal block. */
static osla_err send_share(trsm *f, const trsm_step *s)
{
  const local_view *a = &f->a;
  unsigned char *sum = fan_sum_at(f, s);
  if (!has_share(f, s, a->pcol)) return OSLA_OK;
  OSLA_CALL(osla_pieces_posted(f->pieces, s->s)); /* what was packed there has arrived */
  osla_pack(a->element, s->size, f->b.n, fan_share_at(f, s->row, 0), a->rows, sum);
  return osla_pieces_post(f->pieces, s->s, rank_at(a, s->prow, s->pcol),
                          (size_t)a->pcol * fan_piece_bytes(f), sum,
                          (size_t)(s->size * f->b.n) * a->element);
}

/* X(k), in my share of the block row. */
static osla_err solve_block(trsm *f, const trsm_step *s)
{
  const local_view *a = &f->a;
  const unsigned char *sums = osla_pieces_buffer(f->pieces, s->s);
  for (int i = 1; i < a->q; i++) {
    int pcol = (a->pcol + i) % a->q;
    if (!has_share(f, s, pcol)) continue;
    osla_pieces_wait(f->pieces, s->s, rank_at(a, a->prow, pcol));
    osla_trsm_add(a, s->size, f->b.n, 1, sums + (size_t)pcol * fan_piece_bytes(f),
                  fan_share_at(f, s->row, 0), a->rows);
  }
  double since = osla_trace_now(a->t), size = (double)s->size;
  OSLA_CALL(osla_blas_trsm(a->dtype, OSLA_LEFT, f->uplo, OSLA_NOTRANS, f->diag, s->size, f->b.n,
                           local_at(a, s->row, osla_index_local(s->start, a->nb, a->q)), a->lld,
                           fan_share_at(f, s->row, 0), a->rows));
  osla_trace_add(a->t, OSLA_TRACE_TRSM, since, size * size * (double)f->b.n);
  atomic_store(&f->solved, s->s + 1);
  osla_panels_progress(f->panels);
  return OSLA_OK;
}

/* ---- products ---- */

/* My rows [first, last) of a step whose product is still to be subtracted. */
typedef struct rest {
  trsm_step s;
  int64_t first, last, ldx;
  const unsigned char *x;
} rest;

static osla_err subtract_rows(const trsm *f, const rest *r, int64_t first, int64_t last)
{
  const local_view *a = &f->a;
  double since = osla_trace_now(a->t);
  double one = a->dtype == OSLA_FLOAT || a->dtype == OSLA_DOUBLE ? 2 : 8;
  if (first >= last) return OSLA_OK;
  OSLA_CALL(osla_blas_gemm(a->dtype, OSLA_NOTRANS, OSLA_NOTRANS, last - first, f->b.n, r->s.size,
                           -1.0, local_at(a, first, osla_index_local(r->s.start, a->nb, a->q)),
                           a->lld, r->x, r->ldx, 1.0, fan_share_at(f, first, 0), a->rows));
  osla_trace_add(a->t, OSLA_TRACE_GEMM, since,
                 one * (double)(last - first) * (double)r->s.size * (double)f->b.n);
  osla_progress(a->t);
  return OSLA_OK;
}

/* The next step's block row first; the rest is left for later. */
static osla_err begin_products(trsm *f, const trsm_step *s, rest *r)
{
  const local_view *a = &f->a;
  *r = (rest){.s = *s};
  if (a->pcol != s->pcol || s->first >= s->last) return OSLA_OK;
  bool mine = a->prow == s->prow;
  r->first = s->first;
  r->last = s->last;
  r->x = mine ? fan_share_at(f, s->row, 0) : osla_panels_wait(f->panels, PANEL_ROWS, s->s, s->prow);
  r->ldx = mine ? a->rows : s->size;
  trsm_step next = osla_trsm_step(f, s->s + 1); /* there is one: rows are left */
  if (a->prow != next.prow) return OSLA_OK;
  OSLA_CALL(subtract_rows(f, r, next.row, next.row + next.size));
  if (f->uplo == OSLA_LOWER)
    r->first = next.row + next.size;
  else
    r->last = next.row;
  return OSLA_OK;
}

void osla_trsm_fan_take(trsm *f, const trsm_step *s, const unsigned char *x, int64_t ldx)
{
  const local_view *b = &f->b;
  size_t column = (size_t)ldx * b->element;
  for (int64_t c = 0; c < b->cols; c++)
    memcpy(local_at(b, s->row, c), x + (size_t)osla_index_global(c, b->nb, b->pcol, b->q) * column,
           (size_t)s->size * b->element);
  osla_move_did((size_t)s->size * b->element, b->cols);
}

/* My columns of X(k) become B's. */
static void take_columns(trsm *f, const trsm_step *s)
{
  const local_view *a = &f->a;
  if (a->prow != s->prow) return;
  if (a->pcol == s->pcol)
    osla_trsm_fan_take(f, s, fan_share_at(f, s->row, 0), a->rows);
  else
    osla_trsm_fan_take(f, s, osla_panels_wait(f->panels, PANEL_COLS, s->s, s->pcol), s->size);
}

static osla_err finish_step(trsm *f, const rest *r)
{
  OSLA_CALL(subtract_rows(f, r, r->first, r->last));
  take_columns(f, &r->s);
  osla_panels_finish(f->panels, r->s.s);
  return OSLA_OK;
}

osla_err osla_trsm_run_fan(trsm *f)
{
  const local_view *a = &f->a;
  rest r;
  begin_shares(f);
  for (int64_t number = 0; number < f->steps; number++) {
    trsm_step s = osla_trsm_step(f, number);
    osla_at_step(a->t, "osla_trsm", number);
    if (a->prow == s.prow && a->pcol != s.pcol) OSLA_CALL(send_share(f, &s));
    if (a->prow == s.prow && a->pcol == s.pcol) OSLA_CALL(solve_block(f, &s));
    OSLA_CALL(osla_pieces_finish(f->pieces, number));
    if (number > 0) OSLA_CALL(finish_step(f, &r));
    OSLA_CALL(begin_products(f, &s, &r));
  }
  OSLA_CALL(finish_step(f, &r));
  osla_panels_drain(f->panels);
  return OSLA_OK;
}
