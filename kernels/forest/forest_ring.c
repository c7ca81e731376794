#include "kernels/forest/forest_ring.h"
#include "osla_clock.h"

#include <string.h>

/* Slots, their bytes: of what is small, and at most. */
enum { SLOT_VERTEX = 16, SLOT_LINE = 64, SMALL = 2 << 10 };
enum { NEAR_LEAST = 1 << 10, NEAR_MOST = 128 << 10, NEAR_SLOTS = 16, NEAR_FEW = 4 };
enum { FAR_LEAST = 2 << 10, FAR_MOST = 63 << 10, FAR_SLOTS = 8 };
_Static_assert(sizeof(forest_head) == 16, "values behind it are aligned");

/* Before a neighbour's values. */
typedef struct near_head {
  _Alignas(16) _Atomic uint64_t part; /* of all time, from 1: its low half; the high one: number */
  uint64_t what;
} near_head;
_Static_assert(sizeof(near_head) <= SLOT_LINE, "each slot has room for it");

/* Room for NEAR_FEW times all values of the link, or FAR_SLOTS times, as far as the limits go; more
 * of what is small. */
void osli_ring_size(forest_ring *ring, int64_t edges, bool near)
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

/* From one slot to the next: with room for a head, in whole lines. */
static size_t slot_stride(const forest_ring *ring)
{
  return ring->slot_bytes + SLOT_LINE;
}

size_t osli_ring_all_slots(const forest_ring *ring)
{
  return ring->n_slots * slot_stride(ring);
}

size_t osli_ring_staging(const forest_ring *ring)
{
  return osli_ring_all_slots(ring) + ring->n_slots * sizeof *ring->posted;
}

void osli_ring_start(forest_ring *ring, void *words, unsigned char *slots)
{
  ring->words = words;
  ring->slots = slots;
  memset(ring->words, 0, sizeof *ring->words);
  for (size_t at = 0; at < osli_ring_all_slots(ring); at += slot_stride(ring))
    memset(slots + at, 0, sizeof(near_head));
}

void osli_ring_stage(forest_ring *ring, unsigned char *staging)
{
  ring->staging = staging;
  ring->posted = (osla_posted *)(void *)(staging + osli_ring_all_slots(ring));
}

/* Every free slot has a receive before the other side hears that it is free. */
static osla_err expect(forest_ring *ring)
{
  for (; ring->in && ring->expected < ring->consumed + ring->n_slots; ring->expected++) {
    const size_t at = ring->expected % ring->n_slots * slot_stride(ring);
    OSLA_CALL(osli_segment_line_start(ring->segment, ring->in, ring->slots + at,
                                      sizeof(forest_head) + ring->slot_bytes));
  }
  return OSLA_OK;
}

osla_err osli_ring_open_lines(forest_ring *ring, int receives, int sends)
{
  osla_line_end in = {.peer = ring->rank,
                      .number = receives,
                      .receives = true,
                      .most = (int)ring->n_slots,
                      .bytes = sizeof(forest_head) + ring->slot_bytes,
                      .done = &ring->words->arrived},
                out = in;
  out.number = sends;
  out.receives = false;
  out.done = &ring->left;
  OSLA_CALL(osli_segment_line_open(ring->segment, &in, &ring->in));
  OSLA_CALL(osli_segment_line_open(ring->segment, &out, &ring->out));
  osli_ring_watch(ring, false);
  return expect(ring);
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

/* All values in one part: without a division, each of which takes as long as a store to memory. */
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

/* Whole vertices, in parts of about the same size; 0: one is larger than a slot, and a part is some
 * numbers of it. */
static int64_t vertices_of_a_part(const forest_ring *ring, int64_t edges, size_t element,
                                  int64_t count)
{
  const int64_t most = (int64_t)(ring->slot_bytes / (element * (size_t)count));
  return most > 0 ? quotient_up(edges, quotient_up(edges, most)) : 0;
}
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

/* After the first message a failure cannot be returned to the others. */
static void must(const forest_ring *ring, osla_err err)
{
  if (err != OSLA_OK) osla_transport_abort(ring->pool->t, err);
}

/* Of mine, consumed by the other side, as far as is known. */
static uint64_t consumed_there(forest_ring *ring)
{
  const uint64_t consumed = atomic_load_explicit(&ring->words->consumed, memory_order_acquire);
  return consumed > ring->heard ? consumed : ring->heard;
}

/* What a head says, unless a later one has said more. Its 32 bits count from what is known, of
 * which the word may have told most: at most a ring's slots away. */
static void hear(forest_ring *ring, const forest_head *head)
{
  const uint64_t known = consumed_there(ring);
  const int32_t more = (int32_t)(head->consumed - (uint32_t)known);
  if (more > 0) ring->heard = known + (uint64_t)more;
}

/* The last part that is here, which is perhaps not to be read for long. */
static void hear_last(forest_ring *ring)
{
  const uint64_t arrived = atomic_load_explicit(&ring->words->arrived, memory_order_acquire);
  forest_head head;
  if (ring->near_slots || arrived == ring->consumed) return;
  memcpy(&head, ring->slots + (arrived - 1) % ring->n_slots * slot_stride(ring), sizeof head);
  hear(ring, &head);
}

/* Have so many parts left the staging? */
static bool have_left(forest_ring *ring, uint64_t n)
{
  uint64_t left = atomic_load_explicit(&ring->left, memory_order_acquire);
  for (; !ring->out && left < n; left++) {
    bool done;
    must(ring, osla_posted_test(ring->segment, &ring->posted[left % ring->n_slots], &done));
    if (!done) break;
    atomic_store_explicit(&ring->left, left + 1, memory_order_relaxed);
  }
  for (; ring->out && ring->noted < left; ring->noted++)
    osli_segment_line_left(ring->segment, &ring->posted[ring->noted % ring->n_slots]);
  return left >= n;
}

unsigned char *osli_ring_slot(forest_ring *ring)
{
  if (ring->sent - consumed_there(ring) >= ring->n_slots) hear_last(ring);
  if (ring->sent - consumed_there(ring) >= ring->n_slots) return NULL;
  const size_t at = ring->sent % ring->n_slots * slot_stride(ring);
  if (ring->near_slots) return ring->near_slots + at + sizeof(near_head);
  const bool is_free =
    ring->sent < ring->n_slots || have_left(ring, ring->sent + 1 - ring->n_slots);
  return is_free ? ring->staging + at + sizeof(forest_head) : NULL;
}

/* Halves of numbers do: a slot holds nothing that is older than its ring. */
static uint64_t part_word(uint64_t part, uint32_t number)
{
  return (uint32_t)part | (uint64_t)number << 32;
}

/* The slot after it is written next, with as much. */
static void send_near(forest_ring *ring, forest_head head, size_t slot, size_t bytes)
{
  const unsigned char *next = ring->near_slots + ring->sent % ring->n_slots * slot_stride(ring);
  near_head *at = (near_head *)(void *)(ring->near_slots + slot * slot_stride(ring));
  at->what = head.what;
  osla_clock_settle();
  atomic_store_explicit(&at->part, part_word(ring->sent, head.number), memory_order_release);
  osla_pool_wake(ring->pool, ring->rank);
  for (size_t line = 0; line < sizeof *at + bytes && line <= SMALL; line += SLOT_LINE)
    osla_own_soon(next + line);
}

static void send_far(forest_ring *ring, forest_head head, size_t slot, size_t bytes)
{
  const size_t at = slot * slot_stride(ring);
  head.consumed = (uint32_t)ring->consumed;
  ring->credited = ring->consumed;
  ring->pool->far_bytes += bytes;
  memcpy(ring->staging + at, &head, sizeof head);
  if (ring->out) {
    must(ring, osli_segment_line_send(ring->segment, ring->out, ring->staging + at,
                                      sizeof head + bytes, &ring->posted[slot]));
    return;
  }
  must(ring,
       osla_put_word_post(ring->segment, ring->rank, ring->far_slots + at, ring->staging + at,
                          sizeof head + bytes, ring->far_words + offsetof(ring_words, arrived),
                          ring->sent, &ring->posted[slot]));
}

void osli_ring_send(forest_ring *ring, forest_head head, size_t bytes)
{
  const size_t slot = ring->sent++ % ring->n_slots;
  if (ring->near_slots)
    send_near(ring, head, slot, bytes);
  else
    send_far(ring, head, slot, bytes);
}

static const unsigned char *next_near(const forest_ring *ring, const unsigned char *slot,
                                      forest_head *head)
{
  const near_head *at = (const near_head *)(const void *)slot;
  const uint64_t part = atomic_load_explicit(&at->part, memory_order_acquire);
  if ((uint32_t)part != (uint32_t)(ring->consumed + 1)) return NULL;
  *head = (forest_head){.what = at->what, .number = (uint32_t)(part >> 32)};
  return slot + sizeof *at;
}

const unsigned char *osli_ring_next(forest_ring *ring, forest_head *head)
{
  const unsigned char *slot = ring->slots + ring->consumed % ring->n_slots * slot_stride(ring);
  if (ring->near_slots) return next_near(ring, slot, head);
  if (atomic_load_explicit(&ring->words->arrived, memory_order_acquire) == ring->consumed)
    return NULL;
  memcpy(head, slot, sizeof *head);
  hear(ring, head);
  return slot + sizeof *head;
}

void osli_ring_take(forest_ring *ring)
{
  ring->consumed++;
  must(ring, expect(ring));
}

bool osli_ring_credit(forest_ring *ring)
{
  if (ring->consumed - ring->credited < ring->n_slots / 2) return true;
  return osli_ring_credit_all(ring);
}

bool osli_ring_credit_all(forest_ring *ring)
{
  if (ring->credited_by_word == ring->consumed) return true;
  if (ring->near_slots) {
    osla_clock_settle();
    atomic_store_explicit(&ring->near_words->consumed, ring->consumed, memory_order_release);
    osla_pool_wake(ring->pool, ring->rank);
  } else {
    bool done;
    must(ring, osla_posted_test(ring->segment, &ring->credit, &done));
    if (!done) return false;
    must(ring,
         osla_word_post(ring->segment, ring->rank, ring->far_words + offsetof(ring_words, consumed),
                        ring->consumed, &ring->credit));
  }
  ring->credited = ring->credited_by_word = ring->consumed;
  return true;
}

bool osli_ring_is_posted(forest_ring *ring)
{
  return ring->near_slots || have_left(ring, ring->sent);
}

bool osli_ring_is_empty(const forest_ring *ring)
{
  const uint64_t consumed = atomic_load_explicit(&ring->words->consumed, memory_order_acquire);
  return consumed == ring->sent && ring->credited_by_word == ring->consumed;
}

osla_err osli_ring_finish(forest_ring *ring)
{
  for (size_t slot = 0; slot < ring->n_slots && !ring->near_slots && !ring->out; slot++)
    OSLA_CALL(osla_posted_wait(ring->segment, &ring->posted[slot]));
  return osla_posted_wait(ring->segment, &ring->credit);
}
