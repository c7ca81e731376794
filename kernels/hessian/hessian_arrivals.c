#include "kernels/hessian/hessian_arrivals.h"

#include <stdalign.h>

enum { LINE = 64 };
enum { IDLE, QUEUED, SERVED }; /* states of an origin at a gate */

/* Queue of origins that wait to be served: entries head .. tail - 1 of `waiting`, as a ring
 * buffer. */
typedef struct arrival_queue {
  alignas(LINE) _Atomic uint32_t locked;
  _Atomic uint32_t head, tail;
} arrival_queue;

arrival_shape osli_arrivals_shape(int leaves, int fan)
{
  arrival_shape s = {.leaves = leaves, .fan = fan, .count = {leaves}, .words = leaves};
  while (s.count[s.levels] > fan) {
    int below = s.count[s.levels++];
    s.count[s.levels] = (below - 1) / fan + 1;
    s.start[s.levels] = s.words;
    s.words += s.count[s.levels];
  }
  return s;
}

static size_t lines(size_t bytes)
{
  return (bytes + LINE - 1) / LINE * LINE;
}

static size_t words_bytes(const arrival_shape *s)
{
  return lines((size_t)s->words * sizeof(uint64_t));
}

size_t osli_arrivals_bytes(const arrival_shape *s)
{
  size_t leaves = (size_t)s->leaves;
  return sizeof(arrival_queue) + words_bytes(s) + lines(leaves * sizeof(intake)) +
         lines(leaves * sizeof(uint32_t));
}

arrivals osli_arrivals_at(const arrival_shape *s, void *memory, uint64_t *seen)
{
  unsigned char *queue = memory, *word = queue + sizeof(arrival_queue);
  unsigned char *intakes = word + words_bytes(s);
  unsigned char *waiting = intakes + lines((size_t)s->leaves * sizeof(intake));
  return (arrivals){.shape = s,
                    .queue = (arrival_queue *)(void *)queue,
                    .word = (_Atomic uint64_t *)(void *)word,
                    .seen = seen,
                    .intakes = (intake *)(void *)intakes,
                    .waiting = (uint32_t *)(void *)waiting};
}

size_t osli_arrivals_offset(const arrival_shape *s, int leaf, int level)
{
  int at = leaf;
  for (int i = 0; i < level; i++)
    at /= s->fan;
  return sizeof(arrival_queue) + (size_t)(s->start[level] + at) * sizeof(uint64_t);
}

/* ---- queue of origins and its lock ---- */

static bool try_lock(const arrivals *a)
{
  return atomic_exchange_explicit(&a->queue->locked, 1, memory_order_acquire) == 0;
}

static void unlock(const arrivals *a)
{
  atomic_store_explicit(&a->queue->locked, 0, memory_order_release);
}

static uint32_t load(_Atomic uint32_t *at)
{
  return atomic_load_explicit(at, memory_order_relaxed);
}

/* Appends an origin to the queue. The caller holds the queue's lock. */
static void enqueue(const arrivals *a, int leaf)
{
  uint32_t tail = load(&a->queue->tail), leaves = (uint32_t)a->shape->leaves;
  a->waiting[tail % leaves] = (uint32_t)leaf;
  atomic_store_explicit(&a->intakes[leaf].state, QUEUED, memory_order_relaxed);
  /* head and tail are counted modulo twice the number of leaves, so that they are equal only if the
   * queue is empty, not if it is full. */
  atomic_store_explicit(&a->queue->tail, (tail + 1) % (2 * leaves), memory_order_relaxed);
}

/* ---- finding changed words of the tree ---- */

static bool has_more(const arrivals *a, int leaf)
{
  uint64_t word = atomic_load_explicit(&a->word[leaf], memory_order_acquire);
  uint64_t fetched = atomic_load_explicit(&a->intakes[leaf].fetched, memory_order_relaxed);
  return arrival_bytes(word) != fetched;
}

static bool is_new(const arrivals *a, int leaf)
{
  return load(&a->intakes[leaf].state) == IDLE && has_more(a, leaf);
}

/* `at`: index of a word that is on a level of the tree above the leaves. */
static bool has_changed(const arrivals *a, int at)
{
  return atomic_load_explicit(&a->word[at], memory_order_relaxed) != a->seen[at - a->shape->leaves];
}

/* Examines words [first, past) of a level, and follows each changed word down to the leaves. The
 * caller holds the queue's lock. A word is recorded as seen before the words below it are read, so
 * that a later arrival changes it again. */
static void follow_changes(const arrivals *a, int level, int first, int past)
{
  const arrival_shape *s = a->shape;
  for (int i = first; i < past; i++) {
    int at = s->start[level] + i;
    if (level == 0) {
      if (is_new(a, i)) enqueue(a, i);
      continue;
    }
    if (!has_changed(a, at)) continue;
    a->seen[at - s->leaves] = atomic_load_explicit(&a->word[at], memory_order_acquire);
    int below = i * s->fan, end = below + s->fan, most = s->count[level - 1];
    follow_changes(a, level - 1, below, end < most ? end : most);
  }
}

void osli_arrivals_collect(const arrivals *a)
{
  const arrival_shape *s = a->shape;
  int top = s->start[s->levels], count = s->count[s->levels];
  bool any = false;
  for (int i = 0; i < count && !any; i++)
    any = s->levels == 0 ? is_new(a, i) : has_changed(a, top + i);
  if (!any || !try_lock(a)) return;
  follow_changes(a, s->levels, 0, count);
  unlock(a);
}

int osli_arrivals_dequeue(const arrivals *a)
{
  arrival_queue *q = a->queue;
  if (load(&q->head) == load(&q->tail) || !try_lock(a)) return -1;
  uint32_t head = load(&q->head), leaves = (uint32_t)a->shape->leaves;
  int leaf = -1;
  if (head != load(&q->tail)) {
    leaf = (int)a->waiting[head % leaves];
    atomic_store_explicit(&a->intakes[leaf].state, SERVED, memory_order_relaxed);
    atomic_store_explicit(&q->head, (head + 1) % (2 * leaves), memory_order_relaxed);
  }
  unlock(a);
  return leaf;
}

bool osli_arrivals_release(const arrivals *a, int leaf)
{
  if (!try_lock(a)) return false;
  if (has_more(a, leaf))
    enqueue(a, leaf);
  else
    atomic_store_explicit(&a->intakes[leaf].state, IDLE, memory_order_relaxed);
  unlock(a);
  return true;
}
