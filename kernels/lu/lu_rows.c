/* Row interchanges.
 *
 * One process row: LAPACK's laswp on the columns at hand. Several: the rows that move, at most 2 nb
 * of them, are gathered by their owners and exchanged in one batch for all columns; each rank takes
 * all rows that come on top (it solves for U itself) and those that come to it. As in lu_column.c,
 * two sets of buffers are enough.
 *
 * The columns left of a panel, which hold L, are not touched until the end: then every column takes
 * all later interchanges at once, in cache (one process row) or as one permutation.
 */
#include "lu_rows.h"
#include "move.h"
#include "row_copy.h"
#include "work.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- the batch ---- */

static int owner_of(const lu *f, int64_t row)
{
  return osla_index_owner(row, f->v.mb, f->v.p);
}

static int64_t local_of(const lu *f, int64_t row)
{
  return osla_index_local(row, f->v.mb, f->v.p);
}

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
    m[i].owner = owner_of(f, m[i].from);
  return count;
}

static int64_t count_of(const lu *f, int64_t moves, int prow)
{
  int64_t count = 0;
  for (int64_t i = 0; i < moves; i++)
    count += f->moves[i].owner == prow;
  return count;
}

/* So many rows of these columns were moved, once. */
static void moved_rows(const lu *f, int64_t rows, int64_t cols)
{
  osla_work_did(OSLA_WORK_LASWP, f->v.dtype, 1, cols, (rows + 1) / 2);
}

/* Gathers my rows that move, one after another in each column, at `to`. */
static void gather(const lu *f, int64_t moves, int64_t col, int64_t cols, unsigned char *to)
{
  size_t e = f->v.element;
  int64_t *rows = f->places, count = 0;
  for (int64_t i = 0; i < moves; i++)
    if (f->moves[i].owner == f->v.prow) rows[count++] = local_of(f, f->moves[i].from);
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
    else if (owner_of(f, f->moves[i].to) == f->v.prow)
      rows[n_rows] = local_of(f, f->moves[i].to), row_from[n_rows++] = index;
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

/* ---- the columns left of the panels ---- */

static void swap_in_column(size_t element, unsigned char *column, int64_t first, int64_t last,
                           const int64_t *pivots)
{
  if (osla_work_modelled) return;
  for (int64_t i = first; i < last; i++) {
    unsigned char *a = column + (size_t)i * element, *b = column + (size_t)pivots[i] * element;
    unsigned char other[16], same[16];
    copy_element(element, other, a);
    copy_element(element, same, b);
    copy_element(element, a, same);
    copy_element(element, b, other);
  }
}

/* Columns [c, c + cols) of a panel, with one process row. */
static void permute_alone(const lu *f, int64_t first, int64_t col, int64_t cols)
{
  for (int64_t c = col; c < col + cols; c++)
    swap_in_column(f->v.element, local_at(&f->v, 0, c), first, f->order, f->pivots);
  osla_work_did(OSLA_WORK_LASWP, f->v.dtype, 1, cols, f->order - first);
}

/* A process row's rows of local columns [col, col + cols): in place, or got whole. */
static osla_err reach(const lu *f, int prow, int64_t col, int64_t cols, lu_operand *out)
{
  const local_view *v = &f->v;
  int rank = rank_at(v, prow, v->pcol);
  int64_t lld = osla_matrix_lld(v->matrix, rank);
  int64_t rows = osla_index_count(v->m, v->mb, prow, v->p);
  osla_segment *segment = osla_matrix_segment(v->matrix);
  osla_transfer transfer;
  *out = (lu_operand){f->theirs, lld};
  if (in_place(v, rank)) {
    out->at = peer_at(v, rank, 0, col);
    return OSLA_OK;
  }
  if (rows == 0) return OSLA_OK;
  OSLA_CALL(osla_segment_get(segment, rank, (size_t)(col * lld) * v->element, f->theirs,
                             (size_t)((cols - 1) * lld + rows) * v->element, &transfer));
  return osla_transfer_wait(segment, &transfer);
}

/* Fills f->scratch (dense) with the rows that come to my local rows from `first` on: row g of the
 * result is row source[g]. */
static osla_err collect(lu *f, const int64_t *source, int64_t first, int64_t col, int64_t cols)
{
  const local_view *v = &f->v;
  int64_t rows = v->rows - first, *to = f->candidates, *from = to + rows;
  for (int prow = 0; prow < v->p; prow++) {
    lu_operand theirs;
    int64_t count = 0;
    for (int64_t l = 0; l < rows; l++) {
      int64_t row = source[osla_index_global(first + l, v->mb, v->prow, v->p)];
      if (owner_of(f, row) != prow) continue;
      to[count] = l;
      from[count++] = local_of(f, row);
    }
    if (count == 0) continue;
    OSLA_CALL(reach(f, prow, col, cols, &theirs));
    for (int64_t c = 0; c < cols; c++)
      move_rows(v->element, count, theirs.at + (size_t)(c * theirs.ld) * v->element, from,
                f->scratch + (size_t)(c * rows) * v->element, to);
    moved_rows(f, count, cols);
  }
  return OSLA_OK;
}

/* Permutes a block of columns, with the other ranks of my process column. */
static osla_err permute_together(lu *f, const int64_t *source, int64_t start, int64_t col,
                                 int64_t cols)
{
  const local_view *v = &f->v;
  int64_t first = rows_below(v, start), rows = v->rows - first;
  OSLA_CALL(collect(f, source, first, col, cols));
  f->permutations++;
  for (int i = 1; i < v->p; i++)
    OSLA_CALL(osla_notify(f->store, rank_at(v, (v->prow + i) % v->p, v->pcol), LU_PERMUTED,
                          f->permutations));
  for (int i = 1; i < v->p; i++) /* all have read my rows */
    osla_notify_wait(f->store, rank_at(v, (v->prow + i) % v->p, v->pcol), LU_PERMUTED,
                     f->permutations);
  if (rows > 0)
    osla_move_columns(v->element, rows, cols, f->scratch, rows, local_at(v, first, col), v->lld);
  return OSLA_OK;
}

static int64_t block_cols(const lu *f, int64_t k)
{
  return osla_index_run(k * f->v.nb, f->v.n, f->v.nb);
}

/* source[g]: the row that all interchanges of the steps after k bring to row g. From the last step
 * on backwards: the interchanges of a step come before those of the steps after it. */
static osla_err permute_panels(lu *f)
{
  const local_view *v = &f->v;
  int64_t *source = f->permutation, *step = source + v->m; /* step: one step's interchanges */
  for (int64_t i = 0; i < v->m; i++)
    source[i] = step[i] = i;
  for (int64_t k = f->steps - 2; k >= 0; k--) {
    int64_t start = (k + 1) * v->nb, end = start + v->nb < f->order ? start + v->nb : f->order;
    for (int64_t i = start; i < end; i++) {
      int64_t other = step[i];
      step[i] = step[f->pivots[i]];
      step[f->pivots[i]] = other;
    }
    for (int64_t i = start; i < v->m; i++)
      source[i] = step[source[i]];
    for (int64_t i = start; i < end; i++)
      step[i] = i, step[f->pivots[i]] = f->pivots[i];
    if (k % v->q == v->pcol)
      OSLA_CALL(permute_together(f, source, start, osla_index_local(k * v->nb, v->nb, v->q),
                                 block_cols(f, k)));
  }
  return OSLA_OK;
}

osla_err osla_lu_permute_left(lu *f)
{
  const local_view *v = &f->v;
  if (v->prow < 0 || f->pivoting == OSLA_PIVOT_NONE) return OSLA_OK;
  if (v->p > 1) return permute_panels(f);
  for (int64_t k = v->pcol; k < f->steps - 1; k += v->q)
    permute_alone(f, (k + 1) * v->nb, osla_index_local(k * v->nb, v->nb, v->q), block_cols(f, k));
  return OSLA_OK;
}
