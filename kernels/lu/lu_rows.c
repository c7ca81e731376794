/* Row interchanges, and the solve for rows of U.
 *
 * One process row: LAPACK's laswp on the given columns. Several process rows: the owners gather the
 * rows that move, at most 2 nb, and exchange them in one batch for all columns. Rows that move into
 * the top block go to the ranks that solve for U in these columns. Rows that move down go to their
 * new owner only. Two sets of buffers, used alternately, are enough, as in lu_column.c. Rows from
 * other nodes lie in the memory of the group's leader (lu_node_group.h), and the leader's set of
 * buffers is free in time, too. The sender of exchange e + 2 has finished exchange e + 1, so every
 * member of the group has begun exchange e + 1, and had stored the rows of exchange e before.
 *
 * All ranks of a process column have the same columns of U. They share the work: each rank solves
 * for some columns and sends them to the others. (In ScaLAPACK the owner of the top rows solves and
 * broadcasts. In HPL every rank solves for all columns, as the ranks do here if there are few
 * columns.) Two sets of U are enough: a rank that writes its share of exchange e + 2 has received
 * rows of e + 2 from all ranks, and their products no longer read U of exchange e.
 *
 * Other nodes send rows and shares of U only once for all members of a node group, to the memory of
 * the leader. The members read them there.
 *
 * An exchange can proceed between the tiles of a product that still reads U of the previous
 * exchange. A rank begins exchange e + 1 after it has finished exchange e. It begins exchange e + 2
 * when no product reads U of exchange e any more.
 *
 * Interchanges in the columns left of a panel are applied at the end (lu_left.c). */
#include "kernels/lu/lu_rows.h"
#include "kernels/common/row_copy.h"
#include "kernels/lu/lu_node_group.h"
#include "osla_trace.h"
#include "src/blas/move.h"
#include "src/blas/work.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Least number of columns of U per rank for which the solve is shared. */
enum { LEAST_SHARE = 8 };

/* ---- exchange of rows ---- */

/* Lists the rows that move in f->moves and returns their number. The first `size` entries move into
 * the top block, in order. */
static int64_t list_moves(lu *f, const lu_step *s, const int64_t *pivots)
{
  int64_t count = s->size;
  lu_move *m = f->moves;
  for (int64_t i = 0; i < s->size; i++)
    m[i].from = m[i].to = s->start + i;
  for (int64_t i = 0; i < s->size; i++) {
    int64_t at = pivots[i] - s->start; /* position in the list of moves */
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

/* Rows that a process row sends to a range of process rows. Rows that move into the top block come
 * first and are the same for all receivers. Rows that move down follow, ordered by destination. */
typedef struct lu_part {
  int64_t tops;   /* number of rows that move into the top block */
  int64_t before; /* number of rows that move down to process rows before the range */
  int64_t downs;  /* number of rows that move down to the range */
} lu_part;

static lu_part part_of(const lu *f, int64_t moves, int from, lu_range to)
{
  lu_part part = {0};
  for (const lu_move *m = f->moves; m < f->moves + moves; m++) {
    if (m->owner != from) continue;
    part.tops += m->goes_to < 0;
    part.before += m->goes_to >= 0 && m->goes_to < to.first;
    part.downs += m->goes_to >= to.first && m->goes_to < to.end;
  }
  return part;
}

/* Adds the modelled time of moving rows to the simulated clock: of `together` rows that are
 * adjacent in memory, as in one block or in U, and of `apart` rows whose elements take a cache line
 * each. */
static void model_rows(const lu *f, int64_t together, int64_t apart, int64_t cols)
{
  osli_move_charge((size_t)together * f->v.element, together > 0 ? cols : 0);
  work_charge(OSLA_WORK_LASWP, f->v.dtype, 1, apart > 0 ? cols : 0, apart);
}

/* Prefetches this rank's rows of the step's block in one column. The rows of a column are a few
 * adjacent cache lines, and the hardware does not predict the next column. */
static void fetch_ahead(const lu *f, const lu_step *s, int64_t column)
{
  const size_t e = f->v.element, bytes = (size_t)s->size * e;
  const unsigned char *rows = local_at(&f->v, s->row, column);
  for (size_t at = 0; at < bytes; at += 64)
    __builtin_prefetch(rows + at);
}

/* Gathers the first `groups` groups of rows of an exchange on a device, and copies them to the host
 * buffer `to`. */
static void gather_on_device(const lu *f, const lu_exchange *x, int groups, unsigned char *to)
{
  unsigned char *const first = x->u.at + f->u_set, *at = first;
  const int64_t *rows = f->rows, *counts = f->shares;
  for (int g = 0; g < groups; rows += counts[g++]) {
    move_rows(f->v.element, counts[g], x->cols, local_at(&f->v, 0, x->col), f->v.lld, rows, at,
              counts[g], NULL);
    at += (size_t)(counts[g] * x->cols) * f->v.element;
  }
  osli_move_bytes(to, first, (size_t)(at - first));
}

/* Gathers in the buffer `to`, stored by column, the rows of this rank that change their position:
 * first the rows that move into the top block, then the rows that move down, ordered by
 * destination. */
static void gather_rows(const lu *f, const lu_exchange *x, unsigned char *to)
{
  enum { AHEAD = 4 };
  const lu_step *s = &x->s;
  const int64_t moves = x->moves, col = x->col, cols = x->cols;
  const bool has_block = f->v.prow == s->prow;
  const size_t e = f->v.element;
  const int64_t mine = count_of(f, moves, f->v.prow);
  /* counts[i]: number of rows in group i */
  int64_t *rows = f->rows, *counts = f->shares, in_block = 0, n = 0;
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
  if (f->on_device) {
    gather_on_device(f, x, groups, to);
    return;
  }
  model_rows(f, in_block, n - in_block, cols);
  for (int64_t c = 0; c < cols && !osli_work_modelled; c++) {
    const int64_t *group = rows;
    unsigned char *group_to = to;
    if (has_block && c + AHEAD < cols) fetch_ahead(f, s, col + c + AHEAD);
    for (int g = 0; g < groups; g++) {
      gather_elements(e, counts[g], local_at(&f->v, 0, col + c), group,
                      group_to + (size_t)(c * counts[g]) * e);
      group += counts[g];
      group_to += (size_t)(counts[g] * cols) * e;
    }
  }
}

/* Range of process rows that share the solve with process row `prow`, including `prow`. */
static lu_range sharers(const lu *f, const lu_exchange *x, int prow)
{
  if (x->sharing == LU_ALONE) return one_process_row(prow);
  if (x->sharing == LU_BY_GROUP) return osli_lu_node_group(f, f->leaders[prow]);
  return (lu_range){0, f->v.p};
}

/* Range of columns for which a process row, or a range of process rows, solves. */
typedef struct share {
  int64_t first, cols;
} share;

static share share_of(const lu *f, const lu_exchange *x, lu_range prows)
{
  enum { UNIT = 4 }; /* number of columns that the kernel of the local BLAS computes together */
  const lu_range all = sharers(f, x, prows.first);
  if (x->sharing == LU_ALONE) return (share){0, x->cols};
  int64_t units = (x->cols + UNIT - 1) / UNIT, n = all.end - all.first;
  int64_t first = units * (prows.first - all.first) / n * UNIT;
  int64_t end = units * (prows.end - all.first) / n * UNIT;
  return (share){first, (end < x->cols ? end : x->cols) - first};
}

/* Stores the rows that process row `prow` has gathered: this rank's share of rows for the top block
 * goes to U, rows that move down go to the matrix. */
static void store_rows(const lu *f, const lu_exchange *x, int prow, const unsigned char *from)
{
  size_t e = f->v.element;
  share top = share_of(f, x, one_process_row(f->v.prow));
  lu_part part = part_of(f, x->moves, prow, one_process_row(f->v.prow));
  if (f->on_device) {
    unsigned char *copy = x->u.at + f->u_set;
    osli_move_bytes(copy, from, (size_t)(count_of(f, x->moves, prow) * x->cols) * e);
    from = copy;
  }
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
  move_rows(e, n_tops, top.cols, from + (size_t)(top.first * n_tops) * e, n_tops, NULL,
            x->u.at + (size_t)(top.first * x->u.ld) * e, x->u.ld, tops);
  move_rows(e, n_rows, x->cols, down, n_rows, NULL, local_at(&f->v, 0, x->col), f->v.lld, rows);
  model_rows(f, n_tops, 0, top.cols);
  model_rows(f, 0, n_rows, x->cols);
}

/* Sends gathered rows to process row `prow`. A node neighbour gets its own rows; the leader of a
 * group on another node gets the rows of the whole group. Notify values of exchange e: 3 e - 2 when
 * rows that move down have arrived; 3 e - 1 when rows for the top block have arrived; 3 e when a
 * share of U has arrived. */
static osla_err send_part(lu *f, const lu_exchange *x, int prow, size_t at)
{
  const int target = rank_at(&f->v, prow, f->v.pcol);
  const bool near = store_of(f, prow) != NULL;
  if (!near && !is_leader(f, prow)) return OSLA_OK;
  const lu_range to = near ? one_process_row(prow) : osli_lu_node_group(f, prow);
  const lu_part part = part_of(f, x->moves, f->v.prow, to);
  const share top = share_of(f, x, to);
  const size_t column = (size_t)x->cols * f->v.element;
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

osla_err osli_lu_interchange(const lu *f, const lu_step *s, const int64_t *pivots, int64_t col,
                             int64_t cols)
{
  const local_view *v = &f->v;
  if (f->pivoting == OSLA_PIVOT_NONE) return OSLA_OK;
  for (int64_t i = 0; i < s->size; i++)
    f->rows[i] = pivots[i] - s->start;
  return osla_lapack_laswp(v->dtype, cols, local_at(v, s->row, col), v->lld, s->size, f->rows,
                           false);
}

/* Begins an exchange: gathers and sends this rank's rows that move. */
static osla_err begin_exchange(lu *f, const lu_step *s, const int64_t *pivots, int64_t col,
                               int64_t cols, lu_sharing sharing, lu_exchange *x)
{
  const local_view *v = &f->v;
  *x = (lu_exchange){.s = *s, .col = col, .cols = cols, .sharing = sharing};
  if (v->p == 1) {
    x->u = (operand){local_at(v, s->row, col), v->lld};
    x->next = 1;
    return osli_lu_interchange(f, s, pivots, col, cols);
  }
  unsigned char *local = osla_segment_local(f->store);
  uint64_t set = f->row_exchanges % 2;
  x->moves = list_moves(f, s, pivots);
  x->u = (operand){local + f->u_at + (size_t)set * f->u_set, v->nb};
  if (f->on_device) x->u.at = f->on_device + (size_t)set * (f->u_set + f->rows_set);
  x->at = f->rows_at + (size_t)set * f->rows_set;
  size_t column = (size_t)cols * v->element, mine = x->at;
  for (int prow = 0; prow < v->prow; prow++)
    mine += (size_t)count_of(f, x->moves, prow) * column;
  OSLA_CALL(osli_lu_finish_posts(f, f->row_posts, f->row_exchanges));
  OSLA_CALL(osli_lu_finish_posts(f, f->down_posts, f->row_exchanges));
  OSLA_CALL(osli_lu_finish_posts(f, f->u_posts, f->row_exchanges));
  gather_rows(f, x, local + mine);
  f->row_exchanges++;
  for (int i = 1; i < v->p; i++)
    OSLA_CALL(send_part(f, x, (v->prow + i) % v->p, mine));
  return OSLA_OK;
}

/* True if all members of the node group have begun the current exchange. Before they have, their
 * products may still read that set of U in the leader's memory which the rows and shares of this
 * exchange overwrite. */
static bool group_has_begun(lu *f, bool wait)
{
  const lu_range group = osli_lu_node_group(f, my_leader(f));
  for (int prow = group.first; prow < group.end; prow++)
    if (!osli_lu_is_notified(f, prow, LU_ROWS, 3 * f->row_exchanges - 1, wait)) return false;
  return true;
}

/* Stores the rows that process rows have sent, in the order of process rows. With `all` waits for
 * all of them, otherwise stores those that have arrived. */
static osla_err receive_rows(lu *f, lu_exchange *x, bool all)
{
  const local_view *v = &f->v;
  const int leader = my_leader(f);
  if (x->next == v->p || !group_has_begun(f, all)) return OSLA_OK;
  for (; x->next < v->p; x->next++) {
    const unsigned char *base = store_of(f, x->next);
    bool notified = base || leader == v->prow
                      ? osli_lu_is_notified(f, x->next, LU_ROWS, 3 * f->row_exchanges - 1, all)
                      : osli_lu_is_notified(f, leader, LU_LEADER, 2 * f->row_exchanges - 1, all);
    if (!notified) return OSLA_OK;
    store_rows(f, x, x->next, (base ? base : store_of(f, leader)) + x->at);
    x->at += (size_t)(count_of(f, x->moves, x->next) * x->cols) * v->element;
  }
  return is_leader(f, v->prow) ? osli_lu_group_notify(f, 2 * f->row_exchanges - 1) : OSLA_OK;
}

osla_err osli_lu_exchange_rows(lu *f, const lu_step *s, const int64_t *pivots, int64_t col,
                               int64_t cols)
{
  lu_exchange x;
  OSLA_CALL(begin_exchange(f, s, pivots, col, cols, LU_ALONE, &x));
  return receive_rows(f, &x, true);
}

/* ---- solve for U ---- */

/* Sends this rank's share of U to the ranks that need it. Members of the node group get it in their
 * leader's memory. */
static osla_err send_share(lu *f, const lu_exchange *x)
{
  const local_view *v = &f->v;
  size_t column = (size_t)v->nb * v->element;
  unsigned char *local = osla_segment_local(f->store), *leaders = store_of(f, my_leader(f));
  osla_posted *posts = f->u_posts + (f->row_exchanges - 1) % 2 * (uint64_t)v->p;
  share mine = share_of(f, x, one_process_row(v->prow));
  size_t here = (size_t)(x->u.at - local) + (size_t)mine.first * column;
  if (leaders != local)
    osli_move_columns(v->element, v->nb * mine.cols, 1, local + here, 1, leaders + here, 1);
  for (int i = 1; i < v->p; i++) {
    int prow = (v->prow + i) % v->p;
    bool wanted = is_in_my_group(f, prow) || (x->sharing == LU_BY_COLUMN && is_leader(f, prow));
    if (!wanted) continue;
    bool near = store_of(f, prow) != NULL;
    OSLA_CALL(osla_put_notify_post(f->store, rank_at(v, prow, v->pcol), here, local + here,
                                   near ? 0 : (size_t)mine.cols * column, LU_ROWS,
                                   3 * f->row_exchanges, &posts[prow]));
  }
  return OSLA_OK;
}

/* Solves for this rank's share of U and sends it. */
static osla_err solve_share(lu *f, lu_exchange *x)
{
  const local_view *v = &f->v;
  share mine = share_of(f, x, one_process_row(v->prow));
  double since = osla_trace_now(v->t);
  OSLA_CALL(osla_blas_trsm(v->dtype, OSLA_LEFT, OSLA_LOWER, OSLA_NOTRANS, OSLA_UNIT, x->s.size,
                           mine.cols, x->top.at, x->top.ld,
                           x->u.at + (size_t)(mine.first * x->u.ld) * v->element, x->u.ld));
  osla_trace_add(v->t, OSLA_TRACE_TRSM, since, (double)(x->s.size * x->s.size) * (double)mine.cols);
  x->solved = true;
  x->next_share = sharers(f, x, v->prow).first;
  return x->sharing == LU_ALONE ? OSLA_OK : send_share(f, x);
}

/* Receives shares of U in the order of process rows. With `all` waits for all of them, otherwise
 * receives those that have arrived. Shares of members of the node group are in the leader's memory;
 * the leader receives shares of other ranks. */
static osla_err receive_shares(lu *f, lu_exchange *x, bool all)
{
  const local_view *v = &f->v;
  const int leader = my_leader(f), end = sharers(f, x, v->prow).end;
  unsigned char *local = osla_segment_local(f->store);
  if (x->complete) return OSLA_OK;
  for (; x->next_share < end; x->next_share++) {
    const int prow = x->next_share;
    const bool in_group = is_in_my_group(f, prow);
    bool notified = in_group || leader == v->prow
                      ? osli_lu_is_notified(f, prow, LU_ROWS, 3 * f->row_exchanges, all)
                      : osli_lu_is_notified(f, leader, LU_LEADER, 2 * f->row_exchanges, all);
    if (!notified) return OSLA_OK;
    if (in_group || leader != v->prow) continue;
    share theirs = share_of(f, x, one_process_row(prow));
    size_t there = (size_t)(x->u.at - local) + (size_t)(theirs.first * v->nb) * v->element;
    const unsigned char *near = store_of(f, prow);
    if (near)
      osli_move_columns(v->element, v->nb * theirs.cols, 1, near + there, 1, local + there, 1);
  }
  x->complete = true;
  if (x->sharing != LU_ALONE) x->u.at = store_of(f, leader) + (x->u.at - local);
  if (x->sharing == LU_BY_COLUMN && leader == v->prow)
    return osli_lu_group_notify(f, 2 * f->row_exchanges);
  return OSLA_OK;
}

/* Chooses which ranks share the solve. With few columns the messages would cost more than the saved
 * work. Some nodes may choose LU_ALONE and other nodes LU_BY_GROUP, because in both cases a node
 * receives all columns of the rows for the top block. */
static lu_sharing choose_sharing(const lu *f, int64_t cols)
{
  const lu_range group = osli_lu_node_group(f, my_leader(f));
  if (f->v.p == 1 || f->on_device) return LU_ALONE;
  if (cols >= (int64_t)LEAST_SHARE * f->v.p) return LU_BY_COLUMN;
  return cols >= (int64_t)LEAST_SHARE * (group.end - group.first) ? LU_BY_GROUP : LU_ALONE;
}

osla_err osli_lu_rows_begin(lu *f, const lu_step *s, const lu_panel *panel, int64_t col,
                            int64_t cols, lu_exchange *x)
{
  double since = osla_trace_now(f->v.t);
  OSLA_CALL(begin_exchange(f, s, panel->pivots, col, cols, choose_sharing(f, cols), x));
  x->top = panel->triangle;
  osla_trace_add(f->v.t, OSLA_TRACE_ROWS, since, (double)(s->size * cols));
  return OSLA_OK;
}

static osla_err advance_exchange(lu *f, lu_exchange *x, bool to_the_end)
{
  const local_view *v = &f->v;
  if (x->next < v->p) {
    int before = x->next;
    double since = osla_trace_now(v->t);
    OSLA_CALL(receive_rows(f, x, to_the_end));
    if (x->next > before) osla_trace_add(v->t, OSLA_TRACE_ROWS, since, 0);
    if (x->next < v->p) return OSLA_OK;
  }
  if (!x->solved) OSLA_CALL(solve_share(f, x));
  return receive_shares(f, x, to_the_end);
}

osla_err osli_lu_rows_advance(lu *f, lu_exchange *x)
{
  return advance_exchange(f, x, false);
}

osla_err osli_lu_rows_finish(lu *f, lu_exchange *x)
{
  const local_view *v = &f->v;
  OSLA_CALL(advance_exchange(f, x, true));
  if (v->p > 1 && v->prow == x->s.prow)
    osli_move_columns(v->element, x->s.size, x->cols, x->u.at, x->u.ld,
                      local_at(v, x->s.row, x->col), v->lld);
  return OSLA_OK;
}
