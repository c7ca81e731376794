#include "kernels/forest/forest_ring.h"
#include "osla_clock.h"

#include <string.h>

enum {
  SLOT_VERTEX = 16, /* bytes for each vertex of a link, from which the size of a slot follows */
  SLOT_LINE = 64,   /* bytes of a cache line; the size of a slot is a multiple */
  SMALL = 2 << 10   /* largest slot, in bytes, of a ring on a node that has NEAR_SLOTS slots */
};
/* Rings between ranks of a node. */
enum {
  NEAR_LEAST = 1 << 10,  /* smallest size of a slot in bytes */
  NEAR_MOST = 128 << 10, /* largest size of a slot in bytes */
  NEAR_SLOTS = 16,       /* number of slots if a slot has at most SMALL bytes */
  NEAR_FEW = 4           /* number of slots if a slot has more than SMALL bytes */
};
/* Rings between nodes. */
enum {
  FAR_LEAST = 2 << 10, /* smallest size of a slot in bytes */
  FAR_MOST = 63 << 10, /* largest size of a slot in bytes */
  FAR_SLOTS = 8        /* number of slots */
};

/* Header of a part in a slot of the ring; the values follow it, aligned. */
typedef struct slot_head {
  /* the low half is the number of the part in the ring, from 1; the high half consists of the low
   * 32 bits of the transfer's number */
  _Alignas(16) _Atomic uint64_t part;
  uint64_t signature;
} slot_head;
_Static_assert(sizeof(slot_head) <= SLOT_LINE, "each slot has room for it");

/* A slot has room for all values of the link, at 16 bytes each, within the limits. */
void osli_ring_set_size(forest_ring *ring, int64_t edges, bool near)
{
  const size_t least = near ? NEAR_LEAST : FAR_LEAST, limit = near ? NEAR_MOST : FAR_MOST;
  const size_t most = limit / SLOT_VERTEX, n = (uint64_t)edges < most ? (size_t)edges : most;
  const size_t bytes = (n * SLOT_VERTEX + SLOT_LINE - 1) / SLOT_LINE * SLOT_LINE;
  ring->slot_bytes = bytes > least ? bytes : least;
  if (near)
    ring->n_slots = ring->slot_bytes > SMALL ? NEAR_FEW : NEAR_SLOTS;
  else
    ring->n_slots = FAR_SLOTS;
}

/* Bytes from one slot to the next: the values and one more cache line for the header. */
static size_t slot_stride(const forest_ring *ring)
{
  return ring->slot_bytes + SLOT_LINE;
}

size_t osli_ring_slots_bytes(const forest_ring *ring)
{
  return ring->n_slots * slot_stride(ring);
}

size_t osli_ring_staging_bytes(const forest_ring *ring)
{
  return osli_ring_slots_bytes(ring) + ring->n_slots * sizeof *ring->posted;
}

void osli_ring_init(forest_ring *ring, void *words, unsigned char *slots)
{
  ring->words = words;
  ring->slots = slots;
  memset(ring->words, 0, sizeof *ring->words);
  for (size_t at = 0; at < osli_ring_slots_bytes(ring); at += slot_stride(ring))
    memset(slots + at, 0, sizeof(slot_head));
}

void osli_ring_set_staging(forest_ring *ring, unsigned char *staging)
{
  ring->staging = staging;
  ring->posted = (osla_posted *)(void *)(staging + osli_ring_slots_bytes(ring));
}

/* Starts a receive for every free slot, before the rank at the other end learns that the slot is
 * free. */
static osla_err start_receives(forest_ring *ring)
{
  for (; ring->in && ring->receives_started < ring->consumed + ring->n_slots;
       ring->receives_started++) {
    const size_t at = ring->receives_started % ring->n_slots * slot_stride(ring);
    OSLA_CALL(osli_segment_line_start(ring->segment, ring->in, ring->slots + at,
                                      sizeof(slot_head) + ring->slot_bytes));
  }
  return OSLA_OK;
}

osla_err osli_ring_open_lines(forest_ring *ring, int receives, int sends)
{
  osla_line_end in = {.peer = ring->rank,
                      .number = receives,
                      .receives = true,
                      .most = (int)ring->n_slots,
                      .bytes = sizeof(slot_head) + ring->slot_bytes,
                      .done = &ring->words->arrived},
                out = in;
  out.number = sends;
  out.receives = false;
  out.done = &ring->departed;
  OSLA_CALL(osli_segment_line_open(ring->segment, &in, &ring->in));
  OSLA_CALL(osli_segment_line_open(ring->segment, &out, &ring->out));
  osli_ring_watch(ring, false);
  return start_receives(ring);
}

void osli_ring_watch(const forest_ring *ring, bool watched)
{
  osli_segment_line_watch(ring->segment, ring->in, watched);
}

void osli_ring_close(forest_ring *ring)
{
  osli_segment_line_close(ring->segment, &ring->in);
  osli_segment_line_close(ring->segment, &ring->out);
}

/* True if all values fit into one part. Uses no divisions, which would slow down small messages
 * measurably. */
static bool is_one_part(const forest_ring *ring, int64_t edges, size_t element, int64_t count)
{
  const size_t most = ring->slot_bytes;
  if ((uint64_t)edges > most || (uint64_t)count > most) return false;
  return element * (size_t)count <= most && (size_t)edges * element * (size_t)count <= most;
}

static int64_t quotient_up(int64_t a, int64_t b)
{
  return (a + b - 1) / b;
}

/* Number of vertices in a part, when the values are divided into parts of about equal size; 0 if a
 * vertex is larger than a slot. */
static int64_t vertices_of_a_part(const forest_ring *ring, int64_t edges, size_t element,
                                  int64_t count)
{
  const int64_t most = (int64_t)(ring->slot_bytes / (element * (size_t)count));
  return most > 0 ? quotient_up(edges, quotient_up(edges, most)) : 0;
}
/* Number of numbers in a part, if one vertex is larger than a slot. */
static int64_t numbers_of_a_part(const forest_ring *ring, size_t element)
{
  return (int64_t)(ring->slot_bytes / element);
}

int64_t osli_ring_parts(const forest_ring *ring, int64_t edges, size_t element, int64_t count)
{
  if (is_one_part(ring, edges, element, count)) return 1;
  int64_t n = vertices_of_a_part(ring, edges, element, count);
  if (n > 0) return quotient_up(edges, n);
  return edges * quotient_up(count, numbers_of_a_part(ring, element));
}

ring_part osli_ring_part(const forest_ring *ring, int64_t edges, size_t element, int64_t count,
                         int64_t part)
{
  if (is_one_part(ring, edges, element, count)) return (ring_part){0, edges, 0, count};
  int64_t n = vertices_of_a_part(ring, edges, element, count);
  if (n > 0) {
    int64_t first = part * n;
    return (ring_part){first, edges - first < n ? edges - first : n, 0, count};
  }
  int64_t numbers = numbers_of_a_part(ring, element), each = quotient_up(count, numbers);
  int64_t first = part % each * numbers;
  return (ring_part){part / each, 1, first, count - first < numbers ? count - first : numbers};
}

/* Ends the job after an error, because other ranks have begun the transfer and wait for this
 * rank. */
static void abort_on_error(const forest_ring *ring, osla_err err)
{
  if (err != OSLA_OK) osla_transport_abort(ring->pool->t, err);
}

/* Returns the number of parts that this rank has sent and that the other rank has acknowledged. */
static uint64_t consumed_there(const forest_ring *ring)
{
  return atomic_load_explicit(&ring->words->consumed, memory_order_acquire);
}

/* True if the first n parts have left the send buffer, so that its slots may be written again. */
static bool have_departed(forest_ring *ring, uint64_t n)
{
  uint64_t left = atomic_load_explicit(&ring->departed, memory_order_acquire);
  for (; !ring->out && left < n; left++) {
    bool done;
    abort_on_error(ring,
                   osla_posted_test(ring->segment, &ring->posted[left % ring->n_slots], &done));
    if (!done) break;
    atomic_store_explicit(&ring->departed, left + 1, memory_order_relaxed);
  }
  for (; ring->out && ring->n_traced < left; ring->n_traced++)
    osli_segment_line_left(ring->segment, &ring->posted[ring->n_traced % ring->n_slots]);
  return left >= n;
}

/* Memory into which this rank writes parts: slots of the other rank if it is on this node,
 * otherwise the send buffer. */
static unsigned char *sending_slots(const forest_ring *ring)
{
  return ring->near_slots ? ring->near_slots : ring->staging;
}

unsigned char *osli_ring_slot(forest_ring *ring)
{
  if (ring->sent - consumed_there(ring) >= ring->n_slots) return NULL;
  const size_t at = ring->sent % ring->n_slots * slot_stride(ring);
  const bool is_free = ring->near_slots || ring->sent < ring->n_slots ||
                       have_departed(ring, ring->sent + 1 - ring->n_slots);
  return is_free ? sending_slots(ring) + at + sizeof(slot_head) : NULL;
}

/* The number of a part and the number of its transfer, in one word. The low 32 bits of each number
 * suffice, because a slot is overwritten long before these bits repeat. */
static uint64_t part_word(uint64_t part, uint32_t number)
{
  return (uint32_t)part | (uint64_t)number << 32;
}

static void send_far(forest_ring *ring, size_t slot, size_t bytes)
{
  const size_t at = slot * slot_stride(ring);
  ring->pool->far_bytes += bytes;
  if (ring->out)
    abort_on_error(ring, osli_segment_line_send(ring->segment, ring->out, ring->staging + at,
                                                sizeof(slot_head) + bytes, &ring->posted[slot]));
  else
    abort_on_error(ring, osla_put_word_post(ring->segment, ring->rank, ring->far_slots + at,
                                            ring->staging + at, sizeof(slot_head) + bytes,
                                            ring->far_words + offsetof(ring_words, arrived),
                                            ring->sent, &ring->posted[slot]));
}

void osli_ring_send(forest_ring *ring, forest_head head, size_t bytes)
{
  const size_t slot = ring->sent++ % ring->n_slots;
  slot_head *at = (slot_head *)(void *)(sending_slots(ring) + slot * slot_stride(ring));
  at->signature = head.signature;
  osla_clock_settle();
  atomic_store_explicit(&at->part, part_word(ring->sent, head.number), memory_order_release);
  if (ring->near_slots)
    osli_pool_wake_rank(ring->pool, ring->rank);
  else
    send_far(ring, slot, bytes);
}

const unsigned char *osli_ring_next(forest_ring *ring, forest_head *head)
{
  const unsigned char *slot = ring->slots + ring->consumed % ring->n_slots * slot_stride(ring);
  const slot_head *at = (const slot_head *)(const void *)slot;
  const bool may_be_here =
    ring->near_slots ||
    atomic_load_explicit(&ring->words->arrived, memory_order_acquire) != ring->consumed;
  const uint64_t part = may_be_here ? atomic_load_explicit(&at->part, memory_order_acquire) : 0;
  if (!may_be_here || (uint32_t)part != (uint32_t)(ring->consumed + 1)) return NULL;
  *head = (forest_head){.signature = at->signature, .number = (uint32_t)(part >> 32)};
  return slot + sizeof *at;
}

void osli_ring_consume(forest_ring *ring)
{
  ring->consumed++;
  abort_on_error(ring, start_receives(ring));
}

bool osli_ring_credit(forest_ring *ring)
{
  if (ring->consumed - ring->credited < ring->n_slots / 2) return true;
  return osli_ring_credit_all(ring);
}

bool osli_ring_credit_all(forest_ring *ring)
{
  if (ring->credited == ring->consumed) return true;
  if (ring->near_slots) {
    osla_clock_settle();
    atomic_store_explicit(&ring->near_words->consumed, ring->consumed, memory_order_release);
    osli_pool_wake_rank(ring->pool, ring->rank);
  } else {
    bool done;
    abort_on_error(ring, osla_posted_test(ring->segment, &ring->credit, &done));
    if (!done) return false;
    abort_on_error(ring, osla_word_post(ring->segment, ring->rank,
                                        ring->far_words + offsetof(ring_words, consumed),
                                        ring->consumed, &ring->credit));
  }
  ring->credited = ring->consumed;
  return true;
}

bool osli_ring_is_posted(forest_ring *ring)
{
  return ring->near_slots || have_departed(ring, ring->sent);
}

bool osli_ring_is_empty(const forest_ring *ring)
{
  return consumed_there(ring) == ring->sent && ring->credited == ring->consumed;
}

osla_err osli_ring_wait_posted(forest_ring *ring)
{
  for (size_t slot = 0; slot < ring->n_slots && !ring->near_slots && !ring->out; slot++)
    OSLA_CALL(osla_posted_wait(ring->segment, &ring->posted[slot]));
  return osla_posted_wait(ring->segment, &ring->credit);
}
