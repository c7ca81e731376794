/* Row interchanges.
 *
 * One process row: LAPACK's laswp on the columns at hand. Several: the rows that move, at most 2 nb
 * of them, are gathered by their owners and exchanged in one batch for all columns; each rank takes
 * all rows that come on top (it solves for U itself) and those that come to it. As in lu_column.c,
 * two sets of buffers are enough.
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
    int64_t at = pivots[i] - s->start; /* place in the list */
    if (at >= s->size) {
      for (at = s->size; at < count && m[at].to != pivots[i];)
        at++;
      if (at == count) m[at].from = m[at].to = pivots[i], count++;
    }
    int64_t from = m[i].from;
    m[i].from = m[at].from;
    m[at].from = from;
  }
  for (int64_t i = 0; i < count; i++)
    m[i].owner = row_owner(f, m[i].from);
  return count;
}

static int64_t count_of(const lu *f, int64_t moves, int prow)
{
  int64_t count = 0;
  for (int64_t i = 0; i < moves; i++)
    count += f->moves[i].owner == prow;
  return count;
}

/* Gathers my rows that move, one after another in each column, at `to`. */
static void gather(const lu *f, int64_t moves, int64_t col, int64_t cols, unsigned char *to)
{
  size_t e = f->v.element;
  int64_t *rows = f->places, count = 0;
  for (int64_t i = 0; i < moves; i++)
    if (f->moves[i].owner == f->v.prow) rows[count++] = row_local(f, f->moves[i].from);
  for (int64_t c = 0; c < cols; c++, to += (size_t)count * e)
    take_rows(e, count, local_at(&f->v, 0, col + c), rows, to);
  moved_rows(f, count, cols);
}

/* Takes what process row prow gathered, `count` rows: those on top go to f->u, others to their
 * places in the matrix if these are mine. */
static void take(const lu *f, const lu_step *s, int64_t moves, int prow, int64_t count, int64_t col,
                 int64_t cols, const unsigned char *from)
{
  size_t e = f->v.element;
  int64_t *tops = f->places, *top_from = tops + s->size, n_tops = 0, index = 0;
  int64_t *rows = top_from + s->size, *row_from = rows + s->size, n_rows = 0;
  for (int64_t i = 0; i < moves; i++) {
    if (f->moves[i].owner != prow) continue;
    if (i < s->size)
      tops[n_tops] = i, top_from[n_tops++] = index;
    else if (row_owner(f, f->moves[i].to) == f->v.prow)
      rows[n_rows] = row_local(f, f->moves[i].to), row_from[n_rows++] = index;
    index++;
  }
  for (int64_t c = 0; c < cols; c++, from += (size_t)count * e) {
    move_rows(e, n_tops, from, top_from, f->u + (size_t)(c * f->v.nb) * e, tops);
    move_rows(e, n_rows, from, row_from, local_at(&f->v, 0, col + c), rows);
  }
  moved_rows(f, n_tops + n_rows, cols);
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
  size_t bytes = (size_t)count_of(f, moves, v->prow) * column;
  unsigned char *local = osla_segment_local(f->store);
  osla_posted *posts = f->row_posts + (f->row_exchanges % 2) * (uint64_t)v->p;
  OSLA_CALL(osla_lu_finish_posts(f, f->row_posts, f->row_exchanges));
  gather(f, moves, col, cols, local + mine);
  f->row_exchanges++;
  for (int i = 1; i < v->p; i++) {
    int prow = (v->prow + i) % v->p, target = rank_at(v, prow, v->pcol);
    bool near = osla_segment_peer(f->store, target) != NULL;
    OSLA_CALL(osla_put_notify_post(f->store, target, mine, local + mine, near ? 0 : bytes, LU_ROWS,
                                   f->row_exchanges, &posts[prow]));
  }
  size_t at = set;
  for (int prow = 0; prow < v->p; prow++) {
    int origin = rank_at(v, prow, v->pcol);
    int64_t count = count_of(f, moves, prow);
    if (prow != v->prow) osla_notify_wait(f->store, origin, LU_ROWS, f->row_exchanges);
    const unsigned char *base = osla_segment_peer(f->store, origin);
    take(f, s, moves, prow, count, col, cols, (base ? base : local) + at);
    at += (size_t)count * column;
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
    f->places[i] = pivots[i] - s->start;
  return osla_lapack_laswp(v->dtype, cols, top->at, v->lld, s->size, f->places, false);
}

void osla_lu_store_rows(const lu *f, const lu_step *s, int64_t col, int64_t cols)
{
  const local_view *v = &f->v;
  if (v->p == 1 || v->prow != s->prow) return;
  osla_move_columns(v->element, s->size, cols, f->u, v->nb, local_at(v, s->row, col), v->lld);
}
