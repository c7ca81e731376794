/* Row interchanges.
 *
 * One process row: LAPACK's laswp on the columns at hand. Several: the rows that move, at most 2 nb
 * of them, are gathered by their owners and exchanged in one batch for all columns: rows that come
 * on top go to all (each solves for U itself), those that go down to their new owner alone. As in
 * lu_column.c, two sets of buffers are enough.
 *
 * The columns left of a panel, which hold L, wait for the end: lu_left.c.
 */
#include "lu_rows.h"
#include "move.h"
#include "row_copy.h"
#include "work.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

/* Gathers my rows that move at `to`, column by column: those that come on top, then by process row
 * those that go down. */
static void gather(const lu *f, int64_t moves, int64_t col, int64_t cols, unsigned char *to)
{
  int64_t *rows = f->rows, left = count_of(f, moves, f->v.prow);
  moved_rows(f, left, cols);
  for (int goes_to = -1; left > 0; goes_to++) {
    int64_t count = 0;
    for (const lu_move *m = f->moves; m < f->moves + moves; m++)
      if (m->owner == f->v.prow && m->goes_to == goes_to) rows[count++] = row_local(f, m->from);
    for (int64_t c = 0; c < cols && count > 0; c++, to += (size_t)count * f->v.element)
      take_rows(f->v.element, count, local_at(&f->v, 0, col + c), rows, to);
    left -= count;
  }
}

/* Takes what process row prow gathered: rows on top go to f->u, mine of the others to where they
 * belong in the matrix. */
static void take(const lu *f, const lu_step *s, int64_t moves, int prow, int64_t col, int64_t cols,
                 const unsigned char *from)
{
  size_t e = f->v.element;
  lu_part part = part_of(f, moves, prow, f->v.prow);
  const unsigned char *down = from + (size_t)((part.tops + part.before) * cols) * e;
  int64_t *tops = f->rows, *rows = tops + s->size, n_tops = 0, n_rows = 0;
  for (int64_t i = 0; i < moves; i++) {
    const lu_move *m = &f->moves[i];
    if (m->owner != prow) continue;
    if (m->goes_to < 0)
      tops[n_tops++] = i;
    else if (m->goes_to == f->v.prow)
      rows[n_rows++] = row_local(f, m->to);
  }
  for (int64_t c = 0; c < cols; c++) {
    place_rows(e, n_tops, from + (size_t)(c * n_tops) * e, f->u + (size_t)(c * f->v.nb) * e, tops);
    place_rows(e, n_rows, down + (size_t)(c * n_rows) * e, local_at(&f->v, 0, col + c), rows);
  }
  moved_rows(f, n_tops + n_rows, cols);
}

/* Two words an exchange: rows that go down are there, and then all is. */
static osla_err send_part(lu *f, lu_part part, int prow, size_t at, size_t column)
{
  int target = rank_at(&f->v, prow, f->v.pcol);
  bool near = osla_segment_peer(f->store, target) != NULL;
  uint64_t set = (f->row_exchanges - 1) % 2 * (uint64_t)f->v.p, word = 2 * f->row_exchanges;
  const unsigned char *local = osla_segment_local(f->store);
  size_t down = at + (size_t)(part.tops + part.before) * column;
  if (!near && part.downs > 0)
    OSLA_CALL(osla_put_notify_post(f->store, target, down, local + down,
                                   (size_t)part.downs * column, LU_ROWS, word - 1,
                                   &f->down_posts[set + (uint64_t)prow]));
  return osla_put_notify_post(f->store, target, at, local + at,
                              near ? 0 : (size_t)part.tops * column, LU_ROWS, word,
                              &f->row_posts[set + (uint64_t)prow]);
}

static osla_err exchange(lu *f, const lu_step *s, const int64_t *pivots, int64_t col, int64_t cols)
{
  const local_view *v = &f->v;
  size_t column = (size_t)cols * v->element, set = f->rows_at;
  int64_t moves = list_moves(f, s, pivots), before = 0;
  set += (size_t)(f->row_exchanges % 2) * f->rows_set;
  for (int prow = 0; prow < v->prow; prow++)
    before += count_of(f, moves, prow);
  size_t mine = set + (size_t)before * column;
  unsigned char *local = osla_segment_local(f->store);
  OSLA_CALL(osla_lu_finish_posts(f, f->row_posts, f->row_exchanges));
  OSLA_CALL(osla_lu_finish_posts(f, f->down_posts, f->row_exchanges));
  gather(f, moves, col, cols, local + mine);
  f->row_exchanges++;
  for (int i = 1; i < v->p; i++) {
    int prow = (v->prow + i) % v->p;
    OSLA_CALL(send_part(f, part_of(f, moves, v->prow, prow), prow, mine, column));
  }
  size_t at = set;
  for (int prow = 0; prow < v->p; prow++) {
    int origin = rank_at(v, prow, v->pcol);
    if (prow != v->prow) osla_notify_wait(f->store, origin, LU_ROWS, 2 * f->row_exchanges);
    const unsigned char *base = osla_segment_peer(f->store, origin);
    take(f, s, moves, prow, col, cols, (base ? base : local) + at);
    at += (size_t)count_of(f, moves, prow) * column;
  }
  return OSLA_OK;
}

osla_err osla_lu_exchange_rows(lu *f, const lu_step *s, const int64_t *pivots, int64_t col,
                               int64_t cols, lu_operand *top)
{
  const local_view *v = &f->v;
  *top = (lu_operand){f->u, v->nb};
  if (v->p > 1) return exchange(f, s, pivots, col, cols);
  *top = (lu_operand){local_at(v, s->row, col), v->lld};
  if (f->pivoting == OSLA_PIVOT_NONE) return OSLA_OK;
  for (int64_t i = 0; i < s->size; i++)
    f->rows[i] = pivots[i] - s->start;
  return osla_lapack_laswp(v->dtype, cols, top->at, v->lld, s->size, f->rows, false);
}

void osla_lu_store_rows(const lu *f, const lu_step *s, int64_t col, int64_t cols)
{
  const local_view *v = &f->v;
  if (v->p == 1 || v->prow != s->prow) return;
  osla_move_columns(v->element, s->size, cols, f->u, v->nb, local_at(v, s->row, col), v->lld);
}
