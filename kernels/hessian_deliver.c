/* An update's parts go to their owners: added on the node, sent to other nodes.
 *
 * Owners are visited from a random start in a cyclic order, so that ranks which update at the same
 * rate do not all meet at one owner (French et al., section III.C).
 */
#include "hessian.h"
#include "osla_clock.h"
#include "osla_random.h"

/* Adds a filled piece on the node, or sends it. */
static osla_err deliver(osla_hessian *h, workspace *w, int owner, const piece *p)
{
  double start = osla_clock();
  osla_stripes *lock = osla_hessian_lock(h, owner);
  if (!lock) {
    osla_err err = osla_ring_send(h, w, owner, p);
    w->stats.seconds_send += osla_clock() - start;
    return err;
  }
  uint64_t stripes = osla_piece_stripes(h, p);
  osla_stripes_take(h->v.t, lock, stripes);
  osla_piece_add(h, p, osla_matrix_peer(h->matrix, owner), osla_matrix_lld(h->matrix, owner));
  osla_stripes_release(lock, stripes);
  w->stats.seconds_add += osla_clock() - start;
  return OSLA_OK;
}

/* Rows and columns that a piece for this owner may have: bounded by piece_bytes, and off the node
 * by what fits a slot of the ring. */
static void piece_limits(const osla_hessian *h, bool on_node, int64_t rows, int64_t *max_rows,
                         int64_t *max_cols)
{
  size_t limit = h->options.piece_bytes;
  if (!on_node && h->slot_bytes < limit) limit = h->slot_bytes;
  size_t one_row = h->element + sizeof(int64_t); /* in a message of a single column */
  *max_rows = (int64_t)(limit / (2 * one_row));
  if (*max_rows < 1) *max_rows = 1;
  int64_t r = rows < *max_rows ? rows : *max_rows;
  *max_cols = 1;
  size_t fixed = osla_ring_message_bytes(h, r, 0, 0);
  size_t per_column = osla_ring_message_bytes(h, r, 1, r) - fixed;
  if (limit > fixed + per_column) *max_cols = (int64_t)((limit - fixed) / per_column);
}

/* The part of one owner, piece by piece. */
static osla_err update_owner(osla_hessian *h, workspace *w, const update *u, int prow, int pcol)
{
  int64_t row_start = w->rows.start[prow], all_rows = w->rows.start[prow + 1] - row_start;
  int64_t col_start = w->cols.start[pcol], all_cols = w->cols.start[pcol + 1] - col_start;
  if (all_rows == 0 || all_cols == 0) return OSLA_OK;
  int owner = rank_at(&h->v, prow, pcol);
  int64_t max_rows, max_cols;
  piece_limits(h, osla_hessian_lock(h, owner) != NULL, all_rows, &max_rows, &max_cols);

  for (int64_t r = 0; r < all_rows; r += max_rows)
    for (int64_t c = 0; c < all_cols; c += max_cols) {
      int64_t r0 = row_start + r, c0 = col_start + c;
      int64_t rows = all_rows - r < max_rows ? all_rows - r : max_rows;
      int64_t cols = all_cols - c < max_cols ? all_cols - c : max_cols;
      double start = osla_clock();
      osla_split_triangle(h->options.uplo, rows, w->rows.global + r0, cols, w->cols.global + c0,
                          w->begin, w->end);
      piece p = {rows, cols, w->rows.local + r0, w->cols.local + c0, w->begin, w->end, NULL, rows};
      int64_t elements = osla_piece_elements(&p);
      if (elements == 0) continue;
      OSLA_CALL(osla_reserve(&w->values, &w->values_bytes, (size_t)(rows * cols) * h->element));
      p.values = w->values;
      OSLA_CALL(osla_update_fill(h, w, u, r0, c0, &p, w->values));
      w->stats.seconds_product += osla_clock() - start;
      w->stats.elements += elements;
      OSLA_CALL(deliver(h, w, owner, &p));
    }
  return OSLA_OK;
}

osla_err osla_update_owners(osla_hessian *h, workspace *w, const update *u)
{
  int owners = h->v.p * h->v.q;
  uint64_t draw = osla_random_bits(0, (uint64_t)osla_transport_rank(h->v.t), w->draws++);
  int first = (int)(draw % (uint64_t)owners);
  for (int i = 0; i < owners; i++) {
    int owner = (first + i) % owners;
    OSLA_CALL(update_owner(h, w, u, owner / h->v.q, owner % h->v.q));
  }
  return OSLA_OK;
}
