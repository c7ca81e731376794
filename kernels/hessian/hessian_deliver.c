/* Delivers the parts of an update to their owners: parts for owners on this node are added in
 * shared memory, other parts are sent.
 *
 * Owners are visited in cyclic order from a random start, so that ranks which update at the same
 * rate do not all access one owner together (French et al., section III.C). If another update has
 * nevertheless locked an owner, a ready block (U) for this owner is postponed until the other
 * owners are done.
 *
 * On this node a ready block is added directly from the caller's array. Products G^T G whose values
 * fit into piece_bytes are computed first, then added or sent as a whole. Larger products are
 * computed window by window. For an owner on this node, this is done while the owner's locks are
 * held. For an owner on another node, it is done between the messages of a chain. Large ready
 * blocks for other nodes are also sent in windows, which stay in the cache. */
#include "kernels/hessian/hessian.h"
#include "kernels/hessian/hessian_boxes.h"
#include "kernels/hessian/hessian_device.h"
#include "kernels/hessian/hessian_message.h"
#include "kernels/hessian/hessian_node.h"
#include "kernels/hessian/hessian_update.h"
#include "osla_clock.h"
#include "osla_random.h"

enum {
  CACHED_BYTES = 512 * 1024, /* largest size of a window's values, so that they stay in the cache */
  /* largest number of rows of a window: with more rows a message would have room for few columns */
  CACHED_ROWS = 1024,
  /* columns of G are sent instead of values if the values take at least this many times the
   * bytes */
  FACTOR_GAIN = 2,
  POSTPONED_MOST = 16, /* largest number of owners that an update may postpone */
  /* largest number of floating-point operations that an owner's node does in one progress step for
     an update by another node */
  FACTOR_WORK_MOST = 1 << 29
};

/* The part of an update that belongs to one owner: a range of the sorted rows and a range of the
 * sorted columns. */
typedef struct part {
  const update *u;
  int position; /* index of this owner among the owners that have a part */
  int owner;    /* rank of this owner */
  int64_t row_start, rows, col_start, cols;
  uint64_t stripes;
  /* memory on this node to which the part is added; array.at = NULL if the part is sent */
  near_part near;
} part;

/* Makes the piece with rows [r, r + rows) and columns [c, c + cols) of a part, without values. Its
 * arrays begin and end lie in the workspace, so they are valid until the next call. */
static piece make_piece(const osla_hessian *h, workspace *w, const part *a, int64_t r, int64_t rows,
                        int64_t c, int64_t cols)
{
  int64_t r0 = a->row_start + r, c0 = a->col_start + c;
  osli_split_triangle(h->options.uplo, rows, w->rows.global + r0, cols, w->cols.global + c0,
                      w->begin, w->end);
  return (piece){.rows = rows,
                 .cols = cols,
                 .row = w->rows.local + r0,
                 .col = w->cols.local + c0,
                 .begin = w->begin,
                 .end = w->end,
                 .ld = rows};
}

/* Sets the values of a piece. If the piece is added on a device, its values lie there; if it is
 * added in host memory or sent, they lie in host memory. If H lies on a device, products are
 * computed there, and elements of U are first copied in the memory in which U lies. */
static osla_err fill_piece(osla_hessian *h, workspace *w, const part *a, int64_t r, int64_t c,
                           piece *p)
{
  double start = osla_clock();
  const size_t bytes = (size_t)(p->rows * p->cols) * h->element;
  const bool there = osli_is_on_device(h, a->near.array.at);
  const bool made_there = h->device && (a->u->k >= 0 || osli_is_on_device(h, a->u->data));
  if (!there || !made_there) OSLA_CALL(osli_reserve(&w->values, &w->values_bytes, bytes));
  if (there || made_there)
    OSLA_CALL(osli_reserve_like(h, &w->device_values, &w->device_values_bytes, bytes));
  unsigned char *made = made_there ? w->device_values : w->values;
  p->values = there ? w->device_values : w->values;
  OSLA_CALL(osli_update_fill(h, w, a->u, a->row_start + r, a->col_start + c, p, made));
  if (there != made_there)
    OSLA_CALL(osli_queue_copy(bytes, made, there ? w->device_values : w->values));
  w->stats.seconds_product += osla_clock() - start;
  return OSLA_OK;
}

/* ---- owners on this node ---- */

static osla_err add_piece(osla_hessian *h, const part *a, const piece *p, uint64_t stripes)
{
  if (stripes) osla_stripes_take(h->v.t, a->near.lock, stripes);
  osla_err err = osli_piece_add(h, p, &a->near.array);
  osla_err done = stripes ? osli_piece_unlock(h, a->near.lock, stripes) : OSLA_OK;
  return err == OSLA_OK ? done : err;
}

/* Adds a piece, locking one block column at a time. */
static osla_err add_by_stripe(osla_hessian *h, const part *a, const piece *p)
{
  int64_t nb = h->options.nb;
  for (int64_t c = 0, next; c < p->cols; c = next) {
    for (next = c + 1; next < p->cols && p->col[next] / nb == p->col[c] / nb;)
      next++;
    piece columns = osli_piece_columns(p, c, next - c, h->element);
    OSLA_CALL(add_piece(h, a, &columns, osli_piece_stripes(&columns, h->options.nb)));
  }
  return OSLA_OK;
}

static osla_err add_window_here(osla_hessian *h, workspace *w, const part *a, const piece *p,
                                bool locked)
{
  double start = osla_clock();
  osla_err err = h->options.isolation == OSLA_ISOLATE_ELEMENT
                   ? add_by_stripe(h, a, p)
                   : add_piece(h, a, p, locked ? 0 : a->stripes);
  w->stats.seconds_add += osla_clock() - start;
  return err;
}

static osla_err deliver_window_here(osla_hessian *h, workspace *w, const part *a, int64_t r,
                                    int64_t c, piece *p, bool locked)
{
  OSLA_CALL(fill_piece(h, w, a, r, c, p));
  return add_window_here(h, w, a, p, locked);
}

static bool consecutive(int64_t count, const int64_t *position)
{
  for (int64_t i = 1; i < count; i++)
    if (position[i] != position[0] + i) return false;
  return true;
}

/* Adds the whole part p to H, and reads its values in place from the caller's U. If another update
 * holds the locks and `may_wait` is false, nothing is added and *done is false. */
static osla_err add_block_here(osla_hessian *h, workspace *w, const part *a, piece *p,
                               bool may_wait, bool *done)
{
  bool whole = h->options.isolation == OSLA_ISOLATE_UPDATE;
  osla_stripes *lock = a->near.lock;
  if (whole && !osla_stripes_try(lock, a->stripes)) {
    *done = may_wait;
    if (!may_wait) return OSLA_OK;
    double start = osla_clock();
    osla_stripes_take(h->v.t, lock, a->stripes);
    w->stats.seconds_add += osla_clock() - start;
  }
  p->values = a->u->data;
  p->ld = a->u->ld;
  p->row_position = w->rows.position + a->row_start;
  p->col_position = w->cols.position + a->col_start;
  if (consecutive(p->rows, p->row_position)) {
    p->values += (size_t)p->row_position[0] * h->element;
    p->row_position = NULL;
  }
  osla_err err = add_window_here(h, w, a, p, whole);
  osla_err complete = whole ? osli_piece_unlock(h, lock, a->stripes) : OSLA_OK;
  return err == OSLA_OK ? complete : err;
}

/* ---- owners on other nodes ---- */

static void send_piece(osla_hessian *h, workspace *w, const part *a, const piece *p, uint32_t flags,
                       const update *u)
{
  double start = osla_clock();
  uint64_t stripes = a->stripes;
  if (h->options.isolation == OSLA_ISOLATE_ELEMENT) {
    if (!p) return; /* order-independent mode uses no chains of messages */
    flags = MESSAGE_FIRST | MESSAGE_LAST;
    stripes = osli_piece_stripes(p, h->options.nb);
  }
  w->stats.bytes_sent +=
    (int64_t)osli_outbox_put(h, a->owner, p, stripes, flags, u, a->row_start, a->col_start);
  w->stats.seconds_send += osla_clock() - start;
}

/* Sends a piece with values in several messages. If `alone` is set, the piece is the whole part:
 * the first message then opens a chain, and the last message closes it. */
static void send_columns(osla_hessian *h, workspace *w, const part *a, const piece *p, bool alone)
{
  uint32_t flags = alone ? MESSAGE_FIRST : 0;
  for (int64_t c = 0; c < p->cols;) {
    int64_t cols = osli_outbox_columns(h, p, c);
    piece columns = osli_piece_columns(p, c, cols, h->element);
    c += cols;
    if (alone && c == p->cols) flags |= MESSAGE_LAST;
    send_piece(h, w, a, &columns, flags, NULL);
    flags = 0;
    osla_progress(h->v.t);
  }
}

/* Returns whether to send columns of G instead of values. */
static bool ships_factors(const osla_hessian *h, const part *a, const piece *p, int64_t elements)
{
  int64_t k = a->u->k;
  if (k <= 0 || h->options.shipping == OSLA_SHIP_VALUES) return false;
  size_t bytes = osli_message_size(p, k, h->element);
  if (bytes > h->wire->message_most) return false;
  if (h->options.shipping == OSLA_SHIP_FACTORS) return true;
  return FACTOR_GAIN * bytes <= (size_t)elements * h->element &&
         2.0 * (double)k * (double)p->rows * (double)p->cols <= FACTOR_WORK_MOST;
}

/* Copies the columns of G that belong to one part from device memory to host memory. *u and *sent
 * become an update and a part that refer to the copied columns. */
static osla_err download_panels(osla_hessian *h, workspace *w, const part *a, update *u, part *sent)
{
  const size_t column = (size_t)u->k * h->element;
  const size_t rows = (size_t)a->rows * column, cols = (size_t)a->cols * column;
  OSLA_CALL(osli_reserve(&w->values, &w->values_bytes, rows + cols));
  OSLA_CALL(osli_queue_copy(rows, u->row_panel + (size_t)a->row_start * column, w->values));
  OSLA_CALL(osli_queue_copy(cols, u->col_panel + (size_t)a->col_start * column, w->values + rows));
  u->row_panel = w->values;
  u->col_panel = w->values + rows;
  sent->row_start = sent->col_start = 0;
  return OSLA_OK;
}

/* ---- windows, on this node or sent ---- */

/* Finds the size of a window whose values take at most `bytes`. If the window is sent to another
 * node, one column and the row list must also fit into half a message. */
static void window_limits(const osla_hessian *h, const part *a, size_t bytes, int64_t *rows,
                          int64_t *cols)
{
  int64_t most = (int64_t)(bytes / h->element);
  if (!a->near.array.at) {
    int64_t fit = osli_outbox_rows(h);
    if (most > fit) most = fit;
  }
  *rows = a->rows < most ? a->rows : most;
  if (bytes <= CACHED_BYTES && *rows > CACHED_ROWS) *rows = CACHED_ROWS;
  *cols = most / *rows > 0 ? most / *rows : 1;
}

static osla_err deliver_windows(osla_hessian *h, workspace *w, const part *a, size_t bytes)
{
  int64_t max_rows, max_cols;
  window_limits(h, a, bytes, &max_rows, &max_cols);
  for (int64_t r = 0; r < a->rows; r += max_rows)
    for (int64_t c = 0; c < a->cols; c += max_cols) {
      piece p = make_piece(h, w, a, r, a->rows - r < max_rows ? a->rows - r : max_rows, c,
                           a->cols - c < max_cols ? a->cols - c : max_cols);
      if (osli_piece_elements(&p) == 0) continue;
      if (a->near.array.at) {
        OSLA_CALL(deliver_window_here(h, w, a, r, c, &p, true));
      } else {
        OSLA_CALL(fill_piece(h, w, a, r, c, &p));
        send_columns(h, w, a, &p, false);
      }
    }
  return OSLA_OK;
}

/* Computes and adds a part window by window. The caller holds the part's locks. */
static osla_err deliver_windows_here(osla_hessian *h, workspace *w, const part *a, size_t bytes)
{
  bool whole = h->options.isolation == OSLA_ISOLATE_UPDATE;
  osla_stripes *lock = a->near.lock;
  if (whole) osla_stripes_take(h->v.t, lock, a->stripes);
  osla_err err = deliver_windows(h, w, a, bytes);
  osla_err complete = whole ? osli_piece_unlock(h, lock, a->stripes) : OSLA_OK;
  return err == OSLA_OK ? complete : err;
}

/* Estimates the bytes of a chain of messages with this many elements, to which index lists and
 * message heads add a few per cent. */
static size_t estimate(const osla_hessian *h, int64_t elements)
{
  return (size_t)elements * h->element / 16 * 17 + 1024;
}

/* Sends a part window by window as one chain. Even after an error the chain is closed, so that the
 * receiving rank releases the owner's locks. */
static osla_err deliver_chain(osla_hessian *h, workspace *w, const part *a, int64_t elements,
                              size_t bytes)
{
  osli_outbox_begin(h, a->owner, estimate(h, elements));
  send_piece(h, w, a, NULL, MESSAGE_FIRST, NULL);
  osla_err err = deliver_windows(h, w, a, bytes);
  send_piece(h, w, a, NULL, MESSAGE_LAST, NULL);
  osli_outbox_end(h, a->owner);
  return err;
}

/* Delivers one part. *done: false if the part was postponed and must be delivered again. A part is
 * postponed only if `may_wait` is false. */
static osla_err deliver_part(osla_hessian *h, workspace *w, part *a, bool may_wait, bool *done)
{
  piece p = make_piece(h, w, a, 0, a->rows, 0, a->cols);
  int64_t elements = osli_piece_elements(&p);
  *done = true;
  if (elements == 0) return OSLA_OK;
  a->stripes = osli_piece_stripes(&p, h->options.nb);
  if (a->near.touched) atomic_fetch_or(a->near.touched, a->stripes);
  bool ready = a->u->k < 0;
  if (ready && a->near.array.at &&
      osli_is_on_device(h, a->u->data) == osli_is_on_device(h, a->near.array.at)) {
    OSLA_CALL(add_block_here(h, w, a, &p, may_wait, done));
    if (*done) w->stats.elements += elements;
    return OSLA_OK;
  }
  w->stats.elements += elements;
  size_t values = (size_t)a->rows * h->element, most = osli_piece_bytes(h);
  bool fits = values <= most / (size_t)a->cols;
  if (a->near.array.at)
    return fits ? deliver_window_here(h, w, a, 0, 0, &p, false)
                : deliver_windows_here(h, w, a, most);
  w->stats.elements_sent += elements;
  if (ships_factors(h, a, &p, elements)) {
    update u = *a->u;
    part sent = *a;
    if (h->device) OSLA_CALL(download_panels(h, w, a, &u, &sent));
    osli_outbox_begin(h, a->owner, 0);
    send_piece(h, w, &sent, &p, MESSAGE_FIRST | MESSAGE_LAST, &u);
    osli_outbox_end(h, a->owner);
    return OSLA_OK;
  }
  bool tall = a->rows > osli_outbox_rows(h);
  bool large = values * (size_t)a->cols > CACHED_BYTES;
  if (ready && large && most > CACHED_BYTES) most = CACHED_BYTES;
  if ((ready && large) || tall || !fits) return deliver_chain(h, w, a, elements, most);
  OSLA_CALL(fill_piece(h, w, a, 0, 0, &p));
  osli_outbox_begin(h, a->owner, estimate(h, elements));
  send_columns(h, w, a, &p, true);
  osli_outbox_end(h, a->owner);
  return OSLA_OK;
}

/* Returns the part of the owner with index `position`. The owners that have rows and columns of the
 * update are numbered row by row of the process grid. */
static part part_at(const osla_hessian *h, const workspace *w, const update *u, int position)
{
  int prow = w->rows.used[position / w->cols.n_used],
      pcol = w->cols.used[position % w->cols.n_used];
  int owner = rank_at(&h->v, prow, pcol);
  return (part){.u = u,
                .position = position,
                .owner = owner,
                .row_start = w->rows.start[prow],
                .rows = w->rows.start[prow + 1] - w->rows.start[prow],
                .col_start = w->cols.start[pcol],
                .cols = w->cols.start[pcol + 1] - w->cols.start[pcol],
                .near = osli_near_part(h, owner)};
}

osla_err osli_update_owners(osla_hessian *h, workspace *w, const update *u)
{
  int owners = w->rows.n_used * w->cols.n_used, postponed[POSTPONED_MOST], n_postponed = 0;
  uint64_t draw = osla_random_bits(0, (uint64_t)osla_transport_rank(h->v.t), w->draws++);
  int first = (int)(draw % (uint64_t)owners);
  for (int i = 0; i < owners; i++) {
    bool done, may_wait = n_postponed == POSTPONED_MOST || owners == 1;
    part a = part_at(h, w, u, (first + i) % owners);
    OSLA_CALL(deliver_part(h, w, &a, may_wait, &done));
    if (!done) postponed[n_postponed++] = a.position;
    osla_progress(h->v.t); /* makes progress: serves transfers of other nodes */
  }
  for (int turn = 0; n_postponed > 0; turn++) {
    int left = 0;
    for (int i = 0; i < n_postponed; i++) {
      bool done;
      part a = part_at(h, w, u, postponed[i]);
      OSLA_CALL(deliver_part(h, w, &a, turn > 0, &done));
      if (!done) postponed[left++] = a.position;
    }
    n_postponed = left;
  }
  return OSLA_OK;
}
