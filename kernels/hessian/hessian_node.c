/* Node sums (options.node_sums): additions to the parts of H on other nodes are first summed on
 * this node, and sent once, at the next commit or checkpoint.
 *
 * In this file a node is a node of the transport: ranks that share memory, even if they cannot
 * access the parts of H of one another (wire.separate).
 *
 * For each owner to whose part some rank of this node cannot add, this node has an array of the
 * shape of that part. The array is in the memory of one of the node's ranks, its host: the owner
 * itself if it is on this node, otherwise each rank in turn. An update is added to this array in
 * the same way as to an owner's part on this node. The array has its own locks. At the commit each
 * host sends the block columns with additions through its outboxes, or adds them to its own part,
 * and clears them. So a node sends at most one matrix H, for any number of updates. */
#include "kernels/hessian/hessian_node.h"
#include "kernels/hessian/hessian.h"
#include "kernels/hessian/hessian_boxes.h"
#include "kernels/hessian/hessian_message.h"
#include "kernels/hessian/hessian_target.h"
#include "kernels/hessian/hessian_update.h"
#include "osla_clock.h"
#include "src/matrix/memory_kind.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64 };

/* bytes of the head in front of each array */
typedef struct node_head {
  osla_stripes lock;
  /* mask of the stripes that have had additions since the array was last sent */
  alignas(LINE) _Atomic uint64_t touched;
} node_head;

struct node_sums {
  osla_segment *segment;
  /* [ranks] array for each owner; array.at = NULL if an owner has no array */
  near_part of[];
};

/* Returns the array for the owner at a position of the process grid, without an address. */
static owner_array array_for(const osla_hessian *h, int prow, int pcol)
{
  const int owner = rank_at(&h->v, prow, pcol);
  return (owner_array){.matrix = h->matrix,
                       .owner = owner,
                       .lld = osla_matrix_lld(h->matrix, owner) > 0
                                ? osla_index_count(h->n, h->options.nb, prow, h->v.p)
                                : 0};
}

/* Returns the bytes of the array for the owner at a position, with its head; 0 if the owner has no
 * elements. */
static size_t array_bytes(const osla_hessian *h, int prow, int pcol)
{
  const int64_t rows = osla_index_count(h->n, h->options.nb, prow, h->v.p);
  const int64_t cols = osla_index_count(h->n, h->options.nb, pcol, h->v.q);
  if (rows == 0 || cols == 0) return 0;
  const owner_array a = array_for(h, prow, pcol);
  const stored_columns last = array_columns(&a, cols - 1);
  /* index of the first element after the last column */
  const size_t bytes = (size_t)stored_index(&last, rows, cols - 1) * h->v.element;
  return bytes == 0 ? 0 : sizeof(node_head) + (bytes + LINE - 1) / LINE * LINE;
}

/* Returns the rank that has index `node_rank` among the ranks of this node. */
static int rank_of_member(const osla_transport *t, int node_rank)
{
  int rank = 0;
  while (osla_transport_node_of(t, rank) != osla_transport_node(t) || node_rank-- > 0)
    rank++;
  return rank;
}

/* Returns the index of a rank of this node among the ranks of the node. */
static int member_of_rank(const osla_transport *t, int rank)
{
  int member = 0;
  for (int other = 0; other < rank; other++)
    member += osla_transport_same_node(t, other);
  return member;
}

/* True if all ranks of this node can add to the owner's part of H itself. */
static bool all_reach(const osla_hessian *h, int owner)
{
  return osla_transport_same_node(h->v.t, owner) &&
         (!h->wire->separate || osla_transport_node_size(h->v.t) == 1);
}

typedef void visit_array(osla_hessian *h, int prow, int pcol, int host, size_t offset);

/* Calls visit, if it is not NULL, for each array of this node, with the owner's grid position, the
 * array's host, and the array's offset in the host's segment. *mine is the size in bytes of the
 * arrays of which this rank is the host. */
static osla_err for_each_array(osla_hessian *h, visit_array *visit, size_t *mine)
{
  int members = osla_transport_node_size(h->v.t), turn = 0;
  size_t *used = calloc((size_t)members, sizeof *used);
  OSLA_CHECK(used, OSLA_ERR_MEM, "no memory for node sums");
  *mine = 0;
  for (int prow = 0; prow < h->v.p; prow++)
    for (int pcol = 0; pcol < h->v.q; pcol++) {
      int owner = rank_at(&h->v, prow, pcol), member = turn;
      size_t bytes = array_bytes(h, prow, pcol);
      if (bytes == 0 || all_reach(h, owner)) continue;
      if (osla_transport_same_node(h->v.t, owner))
        member = member_of_rank(h->v.t, owner);
      else
        turn = (turn + 1) % members;
      int host = rank_of_member(h->v.t, member);
      if (visit) visit(h, prow, pcol, host, used[member]);
      used[member] += bytes;
      if (host == osla_transport_rank(h->v.t)) *mine = used[member];
    }
  free(used);
  return OSLA_OK;
}

static void set_array(osla_hessian *h, int prow, int pcol, int host, size_t offset)
{
  unsigned char *at = (unsigned char *)osla_segment_peer(h->node->segment, host) + offset;
  node_head *head = (node_head *)(void *)at;
  owner_array array = array_for(h, prow, pcol);
  array.at = at + sizeof *head;
  h->node->of[array.owner] =
    (near_part){.array = array, .lock = &head->lock, .touched = &head->touched, .host = host};
}

osla_err osli_node_sums_bytes(osla_hessian *h, size_t *bytes)
{
  *bytes = 0;
  return h->options.node_sums ? for_each_array(h, NULL, bytes) : OSLA_OK;
}

osla_err osli_node_sums_check(const osla_hessian_options *o)
{
  OSLA_CHECK(!o->order_independent, OSLA_ERR_UNSUPPORTED, "node_sums excludes order_independent");
  OSLA_CHECK(o->combine != OSLA_COMBINE_USER, OSLA_ERR_UNSUPPORTED,
             "node_sums excludes OSLA_COMBINE_USER");
  OSLA_CHECK(osli_update_dtype(o) == osli_hessian_dtype(o), OSLA_ERR_UNSUPPORTED,
             "node_sums excludes updates of another type than H");
  return OSLA_OK;
}

/* ---- clearing node sums ---- */

/* Returns the neutral value of the operation: combining it with an element leaves the element
 * unchanged. */
static double neutral(const osla_hessian *h)
{
  const osla_hessian_options plain = {.combine = h->options.combine};
  return osli_combiner_initial(&plain);
}

static void empty_columns(const osla_hessian *h, const owner_array *a, int64_t rows, int64_t c,
                          int64_t cols)
{
  stored_columns run = {0};
  for (int64_t j = c; j < c + cols; j++) {
    const int64_t column = array_column(a, &run, j);
    osli_fill_column(h->v.dtype, rows - run.first_row,
                     array_at(a, column + run.first_row, h->v.element), neutral(h));
  }
}

/* ---- create and destroy ---- */

osla_err osli_node_sums_create(osla_hessian *h)
{
  if (!h->options.node_sums) return OSLA_OK;
  size_t ranks = (size_t)osla_transport_size(h->v.t), bytes = 0;
  h->node = calloc(1, sizeof *h->node + ranks * sizeof h->node->of[0]);
  osla_err err = h->node ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "no memory for node sums");
  if (err == OSLA_OK) err = osli_node_sums_bytes(h, &bytes);
  OSLA_CALL(osla_agree(h->v.t, err));
  OSLA_CALL(osla_segment_create(h->v.t, bytes, 0, &h->node->segment));
  err = for_each_array(h, set_array, &bytes);
  if (err == OSLA_OK && neutral(h) != 0.0)
    for (int p = 0; p < h->v.p * h->v.q; p++) {
      int prow = p / h->v.q, pcol = p % h->v.q;
      const near_part *a = &h->node->of[rank_at(&h->v, prow, pcol)];
      if (a->array.at && a->host == osla_transport_rank(h->v.t))
        empty_columns(h, &a->array, osla_index_count(h->n, h->options.nb, prow, h->v.p), 0,
                      osla_index_count(h->n, h->options.nb, pcol, h->v.q));
    }
  return osla_agree(h->v.t, err);
}

void osli_node_sums_destroy(osla_hessian *h)
{
  if (h->node) osla_segment_destroy(&h->node->segment);
  free(h->node);
  h->node = NULL;
}

near_part osli_near_part(const osla_hessian *h, int owner)
{
  if (h->wire->node_of[owner] == h->wire->node)
    return (near_part){.array = owner_part(h, owner), .lock = osli_hessian_lock(h, owner)};
  return h->node ? h->node->of[owner] : (near_part){.host = -1};
}

/* ---- sending ---- */

/* Local and global indices of an array, and the range of the triangle in each column. */
typedef struct index_lists {
  int64_t rows, cols;
  int64_t *row;        /* [rows] local index of each row */
  int64_t *row_global; /* [rows] global index of each row */
  int64_t *col;        /* [cols] local index of each column */
  int64_t *col_global; /* [cols] global index of each column */
  int64_t *begin;      /* [cols] first row of the triangle in each column */
  int64_t *end;        /* [cols] row after the last row of the triangle in each column */
} index_lists;

static osla_err make_lists(const osla_hessian *h, int prow, int pcol, index_lists *l)
{
  int64_t nb = h->options.nb;
  l->rows = osla_index_count(h->n, nb, prow, h->v.p);
  l->cols = osla_index_count(h->n, nb, pcol, h->v.q);
  l->row = malloc((size_t)(2 * l->rows + 4 * l->cols) * sizeof *l->row);
  OSLA_CHECK(l->row, OSLA_ERR_MEM,
             "no memory for lists of %" PRId64 " rows and %" PRId64 " columns", l->rows, l->cols);
  l->row_global = l->row + l->rows;
  l->col = l->row_global + l->rows;
  l->col_global = l->col + l->cols;
  l->begin = l->col_global + l->cols;
  l->end = l->begin + l->cols;
  for (int64_t i = 0; i < l->rows; i++) {
    l->row[i] = i;
    l->row_global[i] = osla_index_global(i, nb, prow, h->v.p);
  }
  for (int64_t j = 0; j < l->cols; j++) {
    l->col[j] = j;
    l->col_global[j] = osla_index_global(j, nb, pcol, h->v.q);
  }
  return OSLA_OK;
}

/* Adds a piece to this rank's own part of H. */
static osla_err add_columns(osla_hessian *h, const piece *p)
{
  const owner_array own = owner_part(h, osla_transport_rank(h->v.t));
  osla_stripes *lock = osli_hessian_lock(h, own.owner);
  const uint64_t stripes = osli_piece_stripes(p, h->options.nb);
  osla_stripes_take(h->v.t, lock, stripes);
  osla_err err = osli_piece_add(h, p, &own);
  osla_err complete = osli_piece_unlock(h, lock, stripes);
  return err == OSLA_OK ? complete : err;
}

/* Sends a piece as a sequence of messages, each with as many columns as fit, or adds it if the
 * owner is this rank. */
static osla_err send_piece(osla_hessian *h, int owner, const piece *p, osla_hessian_stats *stats)
{
  for (int64_t c = 0, cols; c < p->cols; c += cols) {
    cols = osli_outbox_columns(h, p, c);
    piece columns = osli_piece_columns(p, c, cols, h->element);
    int64_t elements = osli_piece_elements(&columns);
    if (elements == 0) continue;
    if (owner == osla_transport_rank(h->v.t)) {
      OSLA_CALL(add_columns(h, &columns));
      continue;
    }
    osli_outbox_begin(h, owner, osli_message_size(&columns, 0, h->element));
    stats->bytes_sent +=
      (int64_t)osli_outbox_put(h, owner, &columns, osli_piece_stripes(&columns, h->options.nb),
                               MESSAGE_FIRST | MESSAGE_LAST, NULL, 0, 0);
    osli_outbox_end(h, owner);
    stats->elements_sent += elements;
    osla_progress(h->v.t);
  }
  return OSLA_OK;
}

/* Sends the columns [c, c + cols) of an array to its owner. */
static osla_err send_columns(osla_hessian *h, const owner_array *a, const index_lists *l, int64_t c,
                             int64_t cols, osla_hessian_stats *stats)
{
  const stored_columns run = array_columns(a, c);
  int64_t most = osli_outbox_rows(h);
  for (int64_t r = run.first_row; r < l->rows; r += most) {
    int64_t rows = l->rows - r < most ? l->rows - r : most;
    osli_split_triangle(h->options.uplo, rows, l->row_global + r, cols, l->col_global + c, l->begin,
                        l->end);
    const piece p = {.rows = rows,
                     .cols = cols,
                     .row = l->row + r,
                     .col = l->col + c,
                     .begin = l->begin,
                     .end = l->end,
                     .values = array_at(a, stored_index(&run, r, c), h->v.element),
                     .ld = run.ld};
    OSLA_CALL(send_piece(h, a->owner, &p, stats));
  }
  return OSLA_OK;
}

static osla_err send_array(osla_hessian *h, int prow, int pcol, osla_hessian_stats *stats)
{
  const near_part *a = &h->node->of[rank_at(&h->v, prow, pcol)];
  if (!a->array.at || a->host != osla_transport_rank(h->v.t)) return OSLA_OK;
  uint64_t touched = atomic_load(a->touched);
  if (touched == 0) return OSLA_OK;
  index_lists l = {0};
  OSLA_CALL(make_lists(h, prow, pcol, &l));
  int64_t nb = h->options.nb;
  osla_err err = OSLA_OK;
  for (int64_t c = 0; c < l.cols && err == OSLA_OK; c += nb) {
    int64_t cols = l.cols - c < nb ? l.cols - c : nb;
    if (!(touched & column_stripe(c, nb))) continue;
    err = send_columns(h, &a->array, &l, c, cols, stats);
    empty_columns(h, &a->array, l.rows, c, cols);
  }
  atomic_store(a->touched, 0);
  free(l.row);
  return err;
}

osla_err osli_node_sums_send(osla_hessian *h)
{
  if (!h->node) return OSLA_OK;
  /* after this barrier all updates by ranks of the node are complete */
  OSLA_CALL(osli_matrix_barrier(h->v.matrix));
  double start = osla_clock();
  osla_hessian_stats stats = {0};
  osla_err err = OSLA_OK;
  for (int position = 0; position < h->v.p * h->v.q && err == OSLA_OK; position++)
    err = send_array(h, position / h->v.q, position % h->v.q, &stats);
  (void)pthread_mutex_lock(&h->mutex);
  h->stats.bytes_sent += stats.bytes_sent;
  h->stats.elements_sent += stats.elements_sent;
  if (stats.bytes_sent > 0) h->stats.seconds_send += osla_clock() - start;
  (void)pthread_mutex_unlock(&h->mutex);
  return osla_agree(h->v.t, err);
}
