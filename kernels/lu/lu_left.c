/* Row interchanges in the columns of L that earlier steps have computed. These columns stay
 * untouched until the end of the factorisation. Then all later interchanges are applied to a column
 * at once: one after another in cache if there is one process row, otherwise as one permutation in
 * which each row moves once, from its old owner to its new owner. */
#include "kernels/common/row_copy.h"
#include "kernels/lu/lu_parts.h"
#include "kernels/lu/lu_rows.h"
#include "src/blas/move.h"
#include "src/blas/row_swap.h"
#include "src/blas/work.h"

#include <string.h>

/* Adds the modelled time of moving `rows` rows of `cols` columns to the simulated clock. Has no
 * effect on a real machine. */
static void moved_rows(const lu *f, int64_t rows, int64_t cols)
{
  work_charge(OSLA_WORK_LASWP, f->v.dtype, 1, cols, (rows + 1) / 2);
}

/* ---- one process row ---- */

/* Interchanges rows in local columns [col, col + cols), with one process row. */
static void permute_alone(const lu *f, int64_t first, int64_t col, int64_t cols)
{
  if (!osli_work_modelled)
    osli_swap_rows(f->v.element, cols, local_at(&f->v, 0, col), f->v.lld, first, f->order,
                   f->pivots, false);
  work_charge(OSLA_WORK_LASWP, f->v.dtype, 1, cols, f->order - first);
}

/* Interchanges rows of a matrix on a device if the grid has one process row. A device serves all
 * columns at the same time but swaps one pair of rows after another, so each step interchanges all
 * columns to the left of its panel in one call. */
static osla_err permute_on_device(const lu *f)
{
  for (int64_t k = 1; k < f->steps; k++) {
    const lu_step s = osli_lu_step_make(f, k);
    OSLA_CALL(osli_lu_interchange(f, &s, f->pivots + s.start, 0, cols_below(&f->v, s.start)));
  }
  return OSLA_OK;
}

/* ---- all ranks of the process column can read one another: rows are read in place ---- */

/* Fills f->scratch with the new contents of this rank's local rows from `first` on, stored without
 * gaps. Global row g gets global row source[g]. All ranks of the process column can read one
 * another's matrix. */
static void collect(lu *f, const int64_t *source, int64_t first, int64_t col, int64_t cols)
{
  const local_view *v = &f->v;
  int64_t rows = v->rows - first, *to = f->candidates, *from = to + rows;
  for (int prow = 0; prow < v->p; prow++) {
    int rank = rank_at(v, prow, v->pcol);
    int64_t count = 0;
    for (int64_t l = 0; l < rows; l++) {
      int64_t row = source[osla_index_global(first + l, v->mb, v->prow, v->p)];
      if (row_owner(f, row) != prow) continue;
      to[count] = l;
      from[count++] = row_local(f, row);
    }
    if (count > 0)
      move_rows(v->element, count, cols, peer_at(v, rank, 0, col), osla_matrix_lld(v->matrix, rank),
                from, f->scratch, rows, to);
    moved_rows(f, count, cols);
  }
}

/* Waits until all ranks of the process column have read the rows that they need of one another. */
static osla_err wait_for_readers(lu *f)
{
  const local_view *v = &f->v;
  f->permutations++;
  for (int i = 1; i < v->p; i++)
    OSLA_CALL(osla_notify(f->store, rank_at(v, (v->prow + i) % v->p, v->pcol), LU_PERMUTED,
                          f->permutations));
  for (int i = 1; i < v->p; i++)
    osla_notify_wait(f->store, rank_at(v, (v->prow + i) % v->p, v->pcol), LU_PERMUTED,
                     f->permutations);
  return OSLA_OK;
}

static osla_err permute_in_place(lu *f, const int64_t *source, int64_t start, int64_t col,
                                 int64_t cols)
{
  const local_view *v = &f->v;
  int64_t first = rows_below(v, start), rows = v->rows - first;
  collect(f, source, first, col, cols);
  OSLA_CALL(wait_for_readers(f));
  if (rows > 0)
    osli_move_columns(v->element, rows, cols, f->scratch, rows, local_at(v, first, col), v->lld);
  return OSLA_OK;
}

/* ---- otherwise: rows are packed by destination and sent ---- */

/* Numbers of rows that move between this rank and each process row, and lists of these rows. */
typedef struct row_moves {
  int64_t *out; /* [p] number of rows that move from this rank to each process row */
  int64_t *in;  /* [p] number of rows that move from each process row to this rank */
  /* [p] for each process row, the number of rows that it receives from process rows of lower
   * index than this rank's; equal to the index, in the receive buffer of that process row, of
   * the first row that this rank sends */
  int64_t *before;
  /* [p] for each process row, the number of rows that it sends to process rows of lower index
   * than this rank's; equal to the index, in the send buffer of that process row, of the first
   * row for this rank */
  int64_t *behind;
  int64_t *leave;  /* local rows that this rank sends, ordered by destination, then by row */
  int64_t *arrive; /* local rows that this rank receives, ordered by source, then by row */
} row_moves;

static row_moves list_row_moves(lu *f, const int64_t *source, int64_t start)
{
  const local_view *v = &f->v;
  int64_t p = v->p, left = 0, came = 0;
  row_moves s = {.out = f->shares,
                 .in = f->shares + p,
                 .before = f->shares + 2 * p,
                 .behind = f->shares + 3 * p,
                 .leave = f->candidates,
                 .arrive = f->candidates + v->rows};
  int64_t *leaves_at = f->shares + 4 * p, *arrives_at = f->shares + 5 * p;
  memset(f->shares, 0, (size_t)(4 * p) * sizeof *f->shares);
  for (int64_t row = start; row < v->m; row++) {
    int to = row_owner(f, row), from = row_owner(f, source[row]);
    s.out[to] += from == v->prow;
    s.in[from] += to == v->prow;
    s.before[to] += from < v->prow;
    s.behind[from] += to < v->prow;
  }
  for (int prow = 0; prow < v->p; prow++) {
    leaves_at[prow] = left, left += s.out[prow];
    arrives_at[prow] = came, came += s.in[prow];
  }
  for (int64_t row = start; row < v->m; row++) {
    int to = row_owner(f, row), from = row_owner(f, source[row]);
    if (from == v->prow) s.leave[leaves_at[to]++] = row_local(f, source[row]);
    if (to == v->prow) s.arrive[arrives_at[from]++] = row_local(f, row);
  }
  return s;
}

/* Permutes rows by packed messages. The two sets of buffers of the row exchanges are free at this
 * time and are used alternately. Half of a set contains the rows that this rank sends, where node
 * neighbours read them. The other half receives rows from other nodes. */
static osla_err permute_packed(lu *f, const int64_t *source, int64_t start, int64_t col,
                               int64_t cols)
{
  const local_view *v = &f->v;
  size_t e = v->element, column = (size_t)cols * e, half = f->rows_set / 2;
  size_t leaving = f->rows_at + (size_t)(f->row_exchanges % 2) * f->rows_set;
  size_t coming = leaving + half;
  unsigned char *local = osla_segment_local(f->store);
  osla_posted *posts = f->row_posts + (f->row_exchanges % 2) * (uint64_t)v->p;
  row_moves s = list_row_moves(f, source, start);
  OSLA_CALL(osli_lu_finish_posts(f, f->row_posts, f->row_exchanges));
  f->row_exchanges++;
  f->permutations++;
  int64_t left = 0, came = 0;
  for (int prow = 0; prow < v->p; left += s.out[prow++])
    for (int64_t c = 0; c < cols; c++)
      gather_elements(e, s.out[prow], local_at(v, 0, col + c), s.leave + left,
                      local + leaving + (size_t)left * column + (size_t)(c * s.out[prow]) * e);
  moved_rows(f, left, cols);
  size_t at = leaving;
  for (int prow = 0; prow < v->p; at += (size_t)s.out[prow++] * column) {
    int target = rank_at(v, prow, v->pcol);
    bool near = osla_segment_peer(f->store, target) != NULL;
    size_t bytes = near ? 0 : (size_t)s.out[prow] * column;
    if (prow == v->prow) continue;
    OSLA_CALL(osla_put_notify_post(f->store, target, coming + (size_t)s.before[prow] * column,
                                   local + at, bytes, LU_PERMUTED, f->permutations, &posts[prow]));
  }
  for (int prow = 0; prow < v->p; came += s.in[prow++]) {
    int origin = rank_at(v, prow, v->pcol);
    if (prow != v->prow) osla_notify_wait(f->store, origin, LU_PERMUTED, f->permutations);
    const unsigned char *near = osla_segment_peer(f->store, origin);
    const unsigned char *from = near ? near + leaving + (size_t)s.behind[prow] * column
                                     : local + coming + (size_t)came * column;
    for (int64_t c = 0; c < cols; c++)
      scatter_elements(e, s.in[prow], from + (size_t)(c * s.in[prow]) * e, local_at(v, 0, col + c),
                       s.arrive + came);
  }
  moved_rows(f, came, cols);
  return OSLA_OK;
}

/* ---- interchanges in all columns of L ---- */

static int64_t block_cols(const lu *f, int64_t k)
{
  return osla_index_run(k * f->v.nb, f->v.n, f->v.nb);
}

/* Permutes the rows of all panels, from the last step to the first, because the interchanges of a
 * step precede those of later steps. source[g] is the row that the interchanges of all steps after
 * k move to row g. */
static osla_err permute_panels(lu *f)
{
  const local_view *v = &f->v;
  /* `step` holds the permutation of one step */
  int64_t *source = f->permutation, *step = source + v->m;
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
    if (k % v->q != v->pcol) continue;
    int64_t col = osla_index_local(k * v->nb, v->nb, v->q), cols = block_cols(f, k);
    OSLA_CALL(f->column_readable ? permute_in_place(f, source, start, col, cols)
                                 : permute_packed(f, source, start, col, cols));
  }
  return OSLA_OK;
}

osla_err osli_lu_permute_left(lu *f)
{
  const local_view *v = &f->v;
  if (v->prow < 0 || f->pivoting == OSLA_PIVOT_NONE) return OSLA_OK;
  if (v->p > 1) return permute_panels(f);
  if (osli_device_of(v->local)) return permute_on_device(f);
  for (int64_t k = v->pcol; k < f->steps - 1; k += v->q)
    permute_alone(f, (k + 1) * v->nb, osla_index_local(k * v->nb, v->nb, v->q), block_cols(f, k));
  return OSLA_OK;
}
