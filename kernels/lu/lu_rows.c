/* Row interchanges, and the rows of U.
 *
 * One process row: LAPACK's laswp on the columns at hand. Several: the rows that move, at most 2 nb
 * of them, are gathered by their owners and exchanged in one batch for all columns: rows that come
 * on top go to those that solve for U there, those that go down to their new owner alone. As in
 * lu_column.c, two sets of buffers are enough.
 *
 * U has the same columns on all ranks of a process column. They share the work: each solves for
 * some columns and hands them to the others. (ScaLAPACK's owner of the top rows solves and
 * broadcasts, in HPL all solve for all; of few columns ours do, too.) Two sets of U again: who
 * writes its share of exchange e + 2 has rows of e + 1 from all, who had then read that of e.
 *
 * An exchange can go on between the tiles of a product that reads U of the one before it: a rank
 * begins e + 1 when it has finished e, and e + 2 when no product reads U of e any more.
 *
 * The columns left of a panel, which hold L, wait for the end: lu_left.c.
 */
#include "lu_rows.h"
#include "move.h"
#include "osla_trace.h"
#include "row_copy.h"
#include "work.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Columns. Simulated, 16 and 64 ranks: with 4 as fast, with 32 some 0.3 % slower. */
enum { LEAST_SHARE = 8 };

/* ---- the batch ---- */

/* The rows that move, in f->moves; returns their number. The first `size` come on top, in order. */
static int64_t list_moves(lu *f, const lu_step *s, const int64_t *pivots)
{
  int64_t count = s->size;
  lu_move *m = f->moves;
  for (int64_t i = 0; i < s->size; i++)
    m[i].from = m[i].to = s->start + i;
  for (int64_t i = 0; i < s->size; i++) {
    int64_t at = pivots[i] - s->start; /* position in the list */
    if (at >= s->size) {
      for (at = s->size; at < count && m[at].to != pivots[i];)
        at++;
      if (at == count) m[at].from = m[at].to = pivots[i], count++;
    }
    int64_t from = m[i].from;
    m[i].from = m[at].from;
    m[at].from = from;
  }
  for (int64_t i = 0; i < count; i++) {
    m[i].owner = row_owner(f, m[i].from);
    m[i].goes_to = i < s->size ? -1 : row_owner(f, m[i].to);
  }
  return count;
}

static int64_t count_of(const lu *f, int64_t moves, int prow)
{
  int64_t count = 0;
  for (int64_t i = 0; i < moves; i++)
    count += f->moves[i].owner == prow;
  return count;
}

/* What a process row sends to another one: rows that come on top, the same to all; behind these lie
 * rows that go down, by where they go. */
typedef struct lu_part {
  int64_t tops, before, downs; /* before: rows that go down to process rows above that one */
} lu_part;

static lu_part part_of(const lu *f, int64_t moves, int from, int to)
{
  lu_part part = {0};
  for (const lu_move *m = f->moves; m < f->moves + moves; m++) {
    if (m->owner != from) continue;
    part.tops += m->goes_to < 0;
    part.before += m->goes_to >= 0 && m->goes_to < to;
    part.downs += m->goes_to == to;
  }
  return part;
}

/* Some rows of these columns were moved, where time is modelled: those of one block share lines of
 * memory (or go to U, which is dense), the others have one for each element. */
static void did_rows(const lu *f, int64_t together, int64_t apart, int64_t cols)
{
  osla_move_did((size_t)together * f->v.element, together > 0 ? cols : 0);
  osla_work_did(OSLA_WORK_LASWP, f->v.dtype, 1, apart > 0 ? cols : 0, apart);
}

/* My rows of a step's block in one column, some columns ahead of their turn: they lie in a few
 * lines, which the processor would not guess (measured: 174 us without, 27 with, 64 rows of 1024
 * columns). */
static void fetch_ahead(const lu *f, const lu_step *s, int64_t column)
{
  const size_t e = f->v.element, bytes = (size_t)s->size * e;
  const unsigned char *rows = local_at(&f->v, s->row, column);
  for (size_t at = 0; at < bytes; at += 64)
    __builtin_prefetch(rows + at);
}

/* Gathers my rows that move at `to`, column by column: those that come on top, then by process row
 * those that go down. */
static void gather(const lu *f, const lu_step *s, int64_t moves, int64_t col, int64_t cols,
                   unsigned char *to)
{
  enum { AHEAD = 4 };
  const bool has_block = f->v.prow == s->prow;
  const size_t e = f->v.element;
  const int64_t mine = count_of(f, moves, f->v.prow);
  int64_t *rows = f->rows, *counts = f->shares, in_block = 0, n = 0; /* counts: of each group */
  int groups = 0;
  for (int goes_to = -1; n < mine; goes_to++) {
    const int64_t before = n;
    for (const lu_move *m = f->moves; m < f->moves + moves; m++) {
      if (m->owner != f->v.prow || m->goes_to != goes_to) continue;
      in_block += has_block && m->from < s->start + s->size;
      rows[n++] = row_local(f, m->from);
    }
    if (n > before) counts[groups++] = n - before;
  }
  did_rows(f, in_block, n - in_block, cols);
  for (int64_t c = 0; c < cols && !osla_work_modelled; c++) {
    const int64_t *group = rows;
    unsigned char *group_to = to;
    if (has_block && c + AHEAD < cols) fetch_ahead(f, s, col + c + AHEAD);
    for (int g = 0; g < groups; g++) {
      take_rows(e, counts[g], local_at(&f->v, 0, col + c), group,
                group_to + (size_t)(c * counts[g]) * e);
      group += counts[g];
      group_to += (size_t)(counts[g] * cols) * e;
    }
  }
}

/* The columns, of those under exchange, for which a process row solves. */
typedef struct share {
  int64_t first, cols;
} share;

static share share_of(const lu *f, bool shared, int64_t cols, int prow)
{
  enum { UNIT = 4 }; /* of the local BLAS */
  if (!shared) return (share){0, cols};
  int64_t units = (cols + UNIT - 1) / UNIT, p = f->v.p;
  int64_t first = units * prow / p * UNIT, end = units * (prow + 1) / p * UNIT;
  return (share){first, (end < cols ? end : cols) - first};
}

/* Takes what process row prow gathered: of rows on top my share goes to U, mine of the others to
 * where they belong in the matrix. */
static void take(const lu *f, const lu_exchange *x, int prow, const unsigned char *from)
{
  size_t e = f->v.element;
  share top = share_of(f, x->shared, x->cols, f->v.prow);
  lu_part part = part_of(f, x->moves, prow, f->v.prow);
  const unsigned char *down = from + (size_t)((part.tops + part.before) * x->cols) * e;
  int64_t *tops = f->rows, *rows = tops + x->s.size, n_tops = 0, n_rows = 0;
  for (int64_t i = 0; i < x->moves; i++) {
    const lu_move *m = &f->moves[i];
    if (m->owner != prow) continue;
    if (m->goes_to < 0)
      tops[n_tops++] = i;
    else if (m->goes_to == f->v.prow)
      rows[n_rows++] = row_local(f, m->to);
  }
  for (int64_t c = top.first; c < top.first + top.cols; c++)
    place_rows(e, n_tops, from + (size_t)(c * n_tops) * e, x->u.at + (size_t)(c * x->u.ld) * e,
               tops);
  for (int64_t c = 0; c < x->cols; c++)
    place_rows(e, n_rows, down + (size_t)(c * n_rows) * e, local_at(&f->v, 0, x->col + c), rows);
  did_rows(f, n_tops, 0, top.cols);
  did_rows(f, 0, n_rows, x->cols);
}

/* Three words an exchange: rows that go down are there, those on top are, a share of U is. */
static osla_err send_part(lu *f, lu_part part, int prow, size_t at, size_t column, share top)
{
  int target = rank_at(&f->v, prow, f->v.pcol);
  bool near = osla_segment_peer(f->store, target) != NULL;
  uint64_t set = (f->row_exchanges - 1) % 2 * (uint64_t)f->v.p, word = 3 * f->row_exchanges - 1;
  const unsigned char *local = osla_segment_local(f->store);
  size_t row = (size_t)part.tops * f->v.element;
  size_t down = at + (size_t)(part.tops + part.before) * column;
  if (!near && part.downs > 0)
    OSLA_CALL(osla_put_notify_post(f->store, target, down, local + down,
                                   (size_t)part.downs * column, LU_ROWS, word - 1,
                                   &f->down_posts[set + (uint64_t)prow]));
  at += (size_t)top.first * row;
  return osla_put_notify_post(f->store, target, at, local + at, near ? 0 : (size_t)top.cols * row,
                              LU_ROWS, word, &f->row_posts[set + (uint64_t)prow]);
}

static osla_err interchange(const lu *f, const lu_step *s, const int64_t *pivots, int64_t col,
                            int64_t cols)
{
  const local_view *v = &f->v;
  if (f->pivoting == OSLA_PIVOT_NONE) return OSLA_OK;
  for (int64_t i = 0; i < s->size; i++)
    f->rows[i] = pivots[i] - s->start;
  return osla_lapack_laswp(v->dtype, cols, local_at(v, s->row, col), v->lld, s->size, f->rows,
                           false);
}

/* Sends my rows that move. */
static osla_err begin(lu *f, const lu_step *s, const int64_t *pivots, int64_t col, int64_t cols,
                      bool shared, lu_exchange *x)
{
  const local_view *v = &f->v;
  *x = (lu_exchange){.s = *s, .col = col, .cols = cols, .shared = shared};
  if (v->p == 1) {
    x->u = (lu_operand){local_at(v, s->row, col), v->lld};
    x->next = 1;
    return interchange(f, s, pivots, col, cols);
  }
  unsigned char *local = osla_segment_local(f->store);
  uint64_t set = f->row_exchanges % 2;
  x->moves = list_moves(f, s, pivots);
  x->u = (lu_operand){local + f->u_at + (size_t)set * f->u_set, v->nb};
  x->at = f->rows_at + (size_t)set * f->rows_set;
  size_t column = (size_t)cols * v->element, mine = x->at;
  for (int prow = 0; prow < v->prow; prow++)
    mine += (size_t)count_of(f, x->moves, prow) * column;
  OSLA_CALL(osla_lu_finish_posts(f, f->row_posts, f->row_exchanges));
  OSLA_CALL(osla_lu_finish_posts(f, f->down_posts, f->row_exchanges));
  OSLA_CALL(osla_lu_finish_posts(f, f->u_posts, f->row_exchanges));
  gather(f, s, x->moves, col, cols, local + mine);
  f->row_exchanges++;
  for (int i = 1; i < v->p; i++) {
    int prow = (v->prow + i) % v->p;
    OSLA_CALL(send_part(f, part_of(f, x->moves, v->prow, prow), prow, mine, column,
                        share_of(f, shared, cols, prow)));
  }
  return OSLA_OK;
}

/* Has a process row's word of this exchange come? If it must, waits for it. */
static bool has_come(lu *f, int prow, uint64_t word, bool must)
{
  int origin = rank_at(&f->v, prow, f->v.pcol);
  if (prow == f->v.prow) return true;
  if (must) osla_notify_wait(f->store, origin, LU_ROWS, word);
  return must || osla_notify_read(f->store, origin, LU_ROWS) >= word;
}

/* Takes what process rows have gathered, in their order: all of it, or what is there. */
static void receive_rows(lu *f, lu_exchange *x, bool all)
{
  const local_view *v = &f->v;
  for (; x->next < v->p; x->next++) {
    if (!has_come(f, x->next, 3 * f->row_exchanges - 1, all)) return;
    const unsigned char *base = osla_segment_peer(f->store, rank_at(v, x->next, v->pcol));
    if (!base) base = osla_segment_local(f->store);
    take(f, x, x->next, base + x->at);
    x->at += (size_t)(count_of(f, x->moves, x->next) * x->cols) * v->element;
  }
}

osla_err osla_lu_exchange_rows(lu *f, const lu_step *s, const int64_t *pivots, int64_t col,
                               int64_t cols)
{
  lu_exchange x;
  OSLA_CALL(begin(f, s, pivots, col, cols, false, &x));
  receive_rows(f, &x, true);
  return OSLA_OK;
}

/* ---- U ---- */

/* My share of U to the others. */
static osla_err hand_out(lu *f, const lu_exchange *x)
{
  const local_view *v = &f->v;
  size_t column = (size_t)v->nb * v->element;
  unsigned char *local = osla_segment_local(f->store);
  osla_posted *posts = f->u_posts + (f->row_exchanges - 1) % 2 * (uint64_t)v->p;
  share mine = share_of(f, true, x->cols, v->prow);
  size_t here = (size_t)(x->u.at - local) + (size_t)mine.first * column;
  for (int i = 1; i < v->p; i++) {
    int prow = (v->prow + i) % v->p, target = rank_at(v, prow, v->pcol);
    bool near = osla_segment_peer(f->store, target) != NULL;
    OSLA_CALL(osla_put_notify_post(f->store, target, here, local + here,
                                   near ? 0 : (size_t)mine.cols * column, LU_ROWS,
                                   3 * f->row_exchanges, &posts[prow]));
  }
  return OSLA_OK;
}

/* Solves for my share of U, and sends it. */
static osla_err solve(lu *f, lu_exchange *x)
{
  const local_view *v = &f->v;
  share mine = share_of(f, x->shared, x->cols, v->prow);
  double since = osla_trace_now(v->t);
  OSLA_CALL(osla_blas_trsm(v->dtype, OSLA_LEFT, OSLA_LOWER, OSLA_NOTRANS, OSLA_UNIT, x->s.size,
                           mine.cols, x->top.at, x->top.ld,
                           x->u.at + (size_t)(mine.first * x->u.ld) * v->element, x->u.ld));
  osla_trace_add(v->t, OSLA_TRACE_TRSM, since, (double)(x->s.size * x->s.size) * (double)mine.cols);
  x->solved = true;
  x->next_share = x->shared ? 0 : v->p;
  return x->shared ? hand_out(f, x) : OSLA_OK;
}

/* Shares of U, in the order of process rows: all of them, or those that are there. */
static void receive_shares(lu *f, lu_exchange *x, bool all)
{
  const local_view *v = &f->v;
  unsigned char *local = osla_segment_local(f->store);
  for (; x->next_share < v->p; x->next_share++) {
    if (!has_come(f, x->next_share, 3 * f->row_exchanges, all)) return;
    if (x->next_share == v->prow) continue;
    share theirs = share_of(f, true, x->cols, x->next_share);
    size_t there = (size_t)(x->u.at - local) + (size_t)(theirs.first * v->nb) * v->element;
    const unsigned char *near = osla_segment_peer(f->store, rank_at(v, x->next_share, v->pcol));
    if (near)
      osla_move_columns(v->element, v->nb * theirs.cols, 1, near + there, 1, local + there, 1);
  }
}

osla_err osla_lu_rows_begin(lu *f, const lu_step *s, const lu_panel *panel, int64_t col,
                            int64_t cols, lu_exchange *x)
{
  bool shared = f->v.p > 1 && cols >= (int64_t)LEAST_SHARE * f->v.p;
  double since = osla_trace_now(f->v.t);
  OSLA_CALL(begin(f, s, panel->pivots, col, cols, shared, x));
  x->top = panel->top;
  osla_trace_add(f->v.t, OSLA_TRACE_ROWS, since, (double)(s->size * cols));
  return OSLA_OK;
}

static osla_err go_on(lu *f, lu_exchange *x, bool to_the_end)
{
  const local_view *v = &f->v;
  if (x->next < v->p) {
    int before = x->next;
    double since = osla_trace_now(v->t);
    receive_rows(f, x, to_the_end);
    if (x->next > before) osla_trace_add(v->t, OSLA_TRACE_ROWS, since, 0);
    if (x->next < v->p) return OSLA_OK;
  }
  if (!x->solved) OSLA_CALL(solve(f, x));
  receive_shares(f, x, to_the_end);
  return OSLA_OK;
}

osla_err osla_lu_rows_advance(lu *f, lu_exchange *x)
{
  return go_on(f, x, false);
}

osla_err osla_lu_rows_finish(lu *f, lu_exchange *x)
{
  const local_view *v = &f->v;
  OSLA_CALL(go_on(f, x, true));
  if (v->p > 1 && v->prow == x->s.prow)
    osla_move_columns(v->element, x->s.size, x->cols, x->u.at, x->u.ld,
                      local_at(v, x->s.row, x->col), v->lld);
  return OSLA_OK;
}
