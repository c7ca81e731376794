#include "kernels/hessian/hessian_wire.h"
#include "kernels/hessian/hessian.h"

#include <stdlib.h>

enum {
  ALIGN = 64,
  RING_MIN = 64 * 1024,
  MESSAGE_MOST = 4 << 20,
  INBOXES = 4,
  RINGS_MOST = 1 << ARRIVAL_RING_BITS
};

/* offsets in a segment: the lock is at 0, the word that wakes the rank at wake_start, the reports
 * of fetched bytes at fetched_start */
static const size_t wake_start = sizeof(osla_stripes);
static const size_t fetched_start = sizeof(osla_stripes) + ALIGN;

size_t osli_wire_fetched_offset(const wire *w, int node, int position)
{
  return fetched_start + (size_t)(w->node_start[node] + position) * sizeof(uint64_t);
}

osla_stripes *osli_hessian_lock(const osla_hessian *h, int rank)
{
  return osla_segment_peer(h->segment, rank);
}

/* Writes a word by a store, because the other rank is on the same node. Cannot fail. */
void osli_wire_wake(osla_hessian *h, int rank)
{
  osla_posted posted;
  (void)osla_word_post(h->segment, rank, wake_start, 1, &posted);
}

/* ---- ranks and nodes ---- */

/* Sets all tables. Returns the number of ranks of the smallest node. */
static int list_members(const osla_transport *t, wire *w)
{
  int ranks = w->ranks, smallest = ranks;
  for (int rank = 0; rank < ranks; rank++) {
    w->node_of[rank] = w->separate ? rank : osla_transport_node_of(t, rank);
    w->node_start[w->node_of[rank] + 1]++;
  }
  w->node = w->node_of[osla_transport_rank(t)];
  for (int node = 0; node < w->n_nodes; node++) {
    if (w->node_start[node + 1] < smallest) smallest = w->node_start[node + 1];
    w->node_start[node + 1] += w->node_start[node];
  }
  /* node_start[node] is used as the next free index of the node */
  for (int rank = 0; rank < ranks; rank++) {
    int node = w->node_of[rank];
    if (rank == osla_transport_rank(t)) w->position = w->node_start[node];
    w->member[w->node_start[node]++] = rank;
  }
  for (int node = w->n_nodes; node > 0; node--)
    w->node_start[node] = w->node_start[node - 1];
  w->node_start[0] = 0;
  w->position -= w->node_start[w->node];
  return smallest;
}

osla_err osli_wire_create(osla_hessian *h, bool separate)
{
  const osla_transport *t = h->v.t;
  int ranks = osla_transport_size(t), nodes = separate ? ranks : osla_transport_n_nodes(t);
  wire *w = h->wire = calloc(1, sizeof *w);
  OSLA_CHECK(w, OSLA_ERR_MEM, "no memory for the layout of messages");
  w->ranks = ranks;
  w->n_nodes = nodes;
  w->separate = separate;
  w->node_of = malloc((size_t)ranks * sizeof *w->node_of);
  w->member = malloc((size_t)ranks * sizeof *w->member);
  w->node_start = calloc((size_t)nodes + 1, sizeof *w->node_start);
  OSLA_CHECK(w->node_of && w->member && w->node_start, OSLA_ERR_MEM,
             "no memory for tables of %d ranks", ranks);
  int smallest = list_members(t, w);
  w->remote = ranks - smallest;
  w->shape = osli_arrivals_shape(nodes > 1 ? (ranks - 1) / smallest + 1 : 0, ARRIVAL_FAN);
  return OSLA_OK;
}

void osli_wire_free(osla_hessian *h)
{
  if (!h->wire) return;
  free(h->wire->node_of);
  free(h->wire->member);
  free(h->wire->node_start);
  free(h->wire);
}

/* ---- sizes ---- */

static size_t aligned(size_t bytes)
{
  return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

static size_t part_of(size_t bytes, size_t parts)
{
  size_t part = bytes / parts;
  const size_t most = (size_t)1 << 30;
  if (part > most) part = most;
  return (part > RING_MIN ? part : RING_MIN) / ALIGN * ALIGN;
}

/* Half of the bytes is for rings, 5/16 is for buffers of inboxes, and 3/16 is for unpacking
 * messages. Unpacking takes four times the size of the largest message. */
static void divide_room(wire *w, size_t bytes)
{
  int nodes = w->n_nodes - 1;
  size_t rings = bytes / 2 / RING_MIN;
  w->n_rings = nodes < RINGS_MOST ? nodes : RINGS_MOST;
  if (rings < (size_t)w->n_rings) w->n_rings = rings > 1 ? (int)rings : 1;
  w->scarce = w->n_rings < nodes;
  w->ring_bytes = part_of(bytes / 2, (size_t)w->n_rings);
  w->n_inboxes = w->remote < INBOXES ? w->remote : INBOXES;
  w->inbox_bytes = part_of(bytes / 16 * 5, (size_t)w->n_inboxes);
  size_t message = bytes / 64 * 3 / (size_t)w->n_inboxes;
  if (message < RING_MIN / RING_PARTS) message = RING_MIN / RING_PARTS;
  if (message > w->ring_bytes / RING_PARTS) message = w->ring_bytes / RING_PARTS;
  if (message > MESSAGE_MOST) message = MESSAGE_MOST;
  w->message_most = message / ALIGN * ALIGN;
}

void osli_wire_sizes(osla_hessian *h, size_t bytes)
{
  wire *w = h->wire;
  if (w->n_nodes > 1) divide_room(w, bytes);
  w->arrivals_start = aligned(fetched_start + (size_t)w->ranks * sizeof(uint64_t));
  w->rings_start = w->arrivals_start + osli_arrivals_bytes(&w->shape);
  w->segment_bytes = w->rings_start + (size_t)w->n_rings * w->ring_bytes;
}

size_t osli_wire_bytes(const osla_hessian *h)
{
  const wire *w = h->wire;
  return w->segment_bytes + 2 * (size_t)w->ranks * sizeof *w->member +
         ((size_t)w->n_nodes + 1) * sizeof *w->node_start;
}
