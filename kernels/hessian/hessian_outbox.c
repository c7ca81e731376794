/* Sends messages to owners on other nodes. The sender has one ring of bytes for each node, in its
 * own segment.
 *
 * The sender (origin) writes messages one after another. It announces the number of waiting bytes
 * by writing a word at one rank of the receiving node, the gate, and then the words above it
 * (hessian_arrivals.h). The ranks of that node fetch the messages in their progress steps
 * (hessian_inbox.c), and report the number of fetched bytes by another word. The sender does not
 * wait for these words to arrive. At most one word of each kind is in flight, and the next word of
 * this kind announces everything that was written meanwhile. So small updates are joined into few
 * transfers, and no rank depends on the progress of another rank before its ring is full. While a
 * rank waits for room in a ring, it serves its own inboxes.
 *
 * Outboxes that have something to announce are in a list, which progress steps go through. Updating
 * threads insert outboxes; only the progress hook removes them. */
#include "kernels/hessian/hessian.h"
#include "kernels/hessian/hessian_boxes.h"
#include "kernels/hessian/hessian_message.h"
#include "src/blas/work.h"
#include "src/memory/segment.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Messages that wait for one node. All counters are in bytes since creation. */
typedef struct outbox {
  /* held by one sender for a whole chain; protects the members from `ring` to `fetched` */
  pthread_mutex_t mutex;
  int ring;         /* index of the ring in the pool of rings; -1: no ring */
  uint64_t written; /* number of bytes written so far */
  uint64_t chain;   /* value of `written` at the start of the current chain */
  uint64_t fetched; /* number of bytes that the node has fetched, according to its latest reports */
  /* value for the leaf word: number of bytes that may be fetched, and number of the ring */
  _Atomic uint64_t ready;
  _Atomic bool listed;
  struct outbox *next; /* next outbox in the list of outboxes */
  /* Only the progress hook uses the following members. */
  uint64_t announced;     /* latest leaf word that was posted */
  uint64_t announcements; /* number of times that the words above the leaf were written */
  int level;              /* highest level of the tree on which a word was posted */
  osla_posted notice;     /* state of the latest word that was posted */
} outbox;

typedef struct outbox_table {
  _Atomic(outbox *) fresh; /* list of outboxes, to which threads add */
  outbox *announcing;      /* list of outboxes that only the progress hook uses */
  pthread_mutex_t pool;    /* protects ring_node and next_ring */
  int *ring_node;          /* [n_rings] node that uses each ring; -1 if no node uses it */
  int next_ring;           /* ring at which the next search for a free ring begins */
  atomic_int wanted;       /* number of threads that wait for a free ring */
  outbox of[];             /* [n_nodes] outbox for each node */
} outbox_table;

osla_err osli_outboxes_create(osla_hessian *h)
{
  const wire *w = h->wire;
  size_t nodes = (size_t)w->n_nodes;
  outbox_table *t = h->wire->outboxes = calloc(1, sizeof *t + nodes * sizeof t->of[0]);
  OSLA_CHECK(t, OSLA_ERR_MEM, "no memory for outboxes of %d nodes", w->n_nodes);
  (void)pthread_mutex_init(&t->pool, NULL);
  for (int node = 0; node < w->n_nodes; node++) {
    (void)pthread_mutex_init(&t->of[node].mutex, NULL);
    t->of[node].ring = -1;
    t->of[node].level = w->shape.levels;
  }
  t->ring_node = malloc((size_t)w->n_rings * sizeof *t->ring_node + 1);
  OSLA_CHECK(t->ring_node, OSLA_ERR_MEM, "no memory for a pool of %d rings", w->n_rings);
  for (int ring = 0; ring < w->n_rings; ring++)
    t->ring_node[ring] = -1;
  return OSLA_OK;
}

void osli_outboxes_free(osla_hessian *h)
{
  outbox_table *t = h->wire ? h->wire->outboxes : NULL;
  if (!t) return;
  for (int node = 0; node < h->wire->n_nodes; node++)
    (void)pthread_mutex_destroy(&t->of[node].mutex);
  (void)pthread_mutex_destroy(&t->pool);
  free(t->ring_node);
  free(t);
}

size_t osli_outboxes_bytes(const wire *w)
{
  return sizeof(outbox_table) + (size_t)w->n_nodes * sizeof(outbox) +
         (size_t)w->n_rings * sizeof(int);
}

uint64_t osli_outbox_written(const osla_hessian *h, int node)
{
  return h->wire->outboxes->of[node].written;
}

static outbox *outbox_for(const osla_hessian *h, int owner)
{
  return &h->wire->outboxes->of[h->wire->node_of[owner]];
}

static int node_of(const osla_hessian *h, const outbox *o)
{
  return (int)(o - h->wire->outboxes->of);
}

/* Returns whether the node has fetched this many bytes, according to the reports of all its ranks.
 * The caller holds the outbox's mutex. */
static bool has_fetched(const osla_hessian *h, outbox *o, uint64_t bytes)
{
  unsigned char *base = osla_segment_local(h->segment);
  int node = node_of(h, o), members = wire_members(h->wire, node);
  void *words = base + osli_wire_fetched_offset(h->wire, node, 0);
  for (int position = 0; position < members && o->fetched < bytes; position++) {
    uint64_t fetched =
      atomic_load_explicit((_Atomic uint64_t *)words + position, memory_order_acquire);
    if (fetched > o->fetched) o->fetched = fetched;
  }
  return o->fetched >= bytes;
}

/* ---- announcing messages ---- */

static void list_outbox(outbox_table *t, outbox *o)
{
  if (atomic_exchange(&o->listed, true)) return;
  outbox *first = atomic_load(&t->fresh);
  do
    o->next = first;
  while (!atomic_compare_exchange_weak(&t->fresh, &first, o));
}

static osla_err post_word(osla_hessian *h, outbox *o, int level, uint64_t value)
{
  const wire *w = h->wire;
  int me = osla_transport_rank(h->v.t), node = node_of(h, o);
  size_t at = osli_arrivals_offset(&w->shape, wire_leaf(w, node, me), level);
  return osla_word_post(h->segment, wire_gate(w, node, me), w->arrivals_start + at, value,
                        &o->notice);
}

/* Posts the next word when the previous word has arrived, because MPI keeps the order of two words
 * only if both are written to the same address. *done: nothing is left to announce. */
static osla_err announce(osla_hessian *h, outbox *o, bool *done)
{
  uint64_t ready = atomic_load(&o->ready), me = (uint64_t)osla_transport_rank(h->v.t);
  *done = false;
  for (;;) {
    bool arrived;
    OSLA_CALL(osla_posted_test(h->segment, &o->notice, &arrived));
    if (!arrived) return OSLA_OK;
    /* a rank and a number that grows form a value that is never written twice */
    if (o->level < h->wire->shape.levels) {
      if (o->level++ == 0) o->announcements++;
      OSLA_CALL(post_word(h, o, o->level, (me + 1) << 40 | (o->announcements & 0xffffffffff)));
    } else if (ready != o->announced) {
      o->announced = ready;
      o->level = 0;
      OSLA_CALL(post_word(h, o, 0, ready));
    } else {
      *done = true;
      return OSLA_OK;
    }
  }
}

osla_err osli_outboxes_announce(osla_hessian *h)
{
  outbox_table *t = h->wire->outboxes;
  if (!t->announcing && !atomic_load_explicit(&t->fresh, memory_order_relaxed)) return OSLA_OK;
  outbox **end = &t->announcing;
  while (*end)
    end = &(*end)->next;
  *end = atomic_exchange(&t->fresh, NULL);
  for (outbox **at = &t->announcing; *at;) {
    outbox *o = *at;
    bool done;
    OSLA_CALL(announce(h, o, &done));
    if (!done) {
      at = &o->next;
      continue;
    }
    *at = o->next;
    atomic_store(&o->listed, false);
    if (atomic_load(&o->ready) != o->announced)
      list_outbox(t, o); /* more messages were written after `ready` was read */
  }
  return OSLA_OK;
}

osla_err osli_outboxes_stop(osla_hessian *h)
{
  outbox_table *t = h->wire->outboxes;
  for (outbox *o = t->announcing; o; o = o->next)
    OSLA_CALL(osla_posted_wait(h->segment, &o->notice));
  return OSLA_OK;
}

static void publish(osla_hessian *h, outbox *o)
{
  uint64_t ready = arrival_word(o->written, o->ring);
  if (o->ring < 0 || ready == atomic_load(&o->ready)) return;
  atomic_store(&o->ready, ready);
  list_outbox(h->wire->outboxes, o);
}

/* ---- sizes of messages ---- */

int64_t osli_outbox_columns(const osla_hessian *h, const piece *p, int64_t c)
{
  size_t room = h->wire->message_most - sizeof(message_head) - 2 * MESSAGE_PAD;
  size_t index = sizeof(int64_t), column = index + sizeof(uint32_t);
  size_t bytes = (size_t)p->rows * index;
  int64_t next = c;
  while (next < p->cols) {
    bytes += column + (size_t)(p->end[next] - p->begin[next]) * h->element;
    if (bytes > room) break;
    next++;
  }
  return next - c;
}

int64_t osli_outbox_rows(const osla_hessian *h)
{
  return (int64_t)(h->wire->message_most / 2 / (h->element + sizeof(int64_t)));
}

/* ---- rings ---- */

typedef struct writer {
  osla_hessian *h;
  outbox *o;
  uint64_t until; /* value of `written` after the message that is being written */
} writer;

/* Frees the ring of an outbox if everything in the ring has been fetched and no thread holds the
 * outbox's mutex. */
static bool release_empty_ring(const osla_hessian *h, outbox *o)
{
  if (pthread_mutex_trylock(&o->mutex) != 0) return false;
  bool empty = has_fetched(h, o, o->written);
  if (empty) o->ring = -1;
  (void)pthread_mutex_unlock(&o->mutex);
  return empty;
}

/* Searches for a free ring among a few rings of the pool. The next call searches the rings that
 * follow them. */
static bool try_acquire_ring(void *arg)
{
  enum { RINGS_A_CALL = 16 };
  writer *w = arg;
  outbox_table *t = w->h->wire->outboxes;
  int rings = w->h->wire->n_rings;
  (void)pthread_mutex_lock(&t->pool);
  for (int i = 0; i < RINGS_A_CALL && i < rings && w->o->ring < 0; i++) {
    int ring = t->next_ring, node = t->ring_node[ring];
    t->next_ring = (ring + 1) % rings;
    if (node >= 0 && !release_empty_ring(w->h, &t->of[node])) continue;
    t->ring_node[ring] = node_of(w->h, w->o);
    w->o->ring = ring;
  }
  (void)pthread_mutex_unlock(&t->pool);
  return w->o->ring >= 0;
}

static bool no_ring_wanted(void *arg)
{
  const writer *w = arg;
  return atomic_load(&w->h->wire->outboxes->wanted) == 0;
}

/* Waits for a ring. The caller holds the outbox's mutex and no stripes. Other nodes can always
 * empty a ring, because chains that have begun are completed and new chains wait. */
static void acquire_ring(writer *w)
{
  if (w->o->ring >= 0 || try_acquire_ring(w)) return;
  atomic_int *wanted = &w->h->wire->outboxes->wanted;
  atomic_fetch_add(wanted, 1);
  osla_segment_wait(w->h->segment, try_acquire_ring, w);
  atomic_fetch_sub(wanted, 1);
}

/* ---- writing ---- */

static bool has_room(void *arg)
{
  const writer *w = arg;
  uint64_t ring = w->h->wire->ring_bytes;
  return w->until <= ring || has_fetched(w->h, w->o, w->until - ring);
}

static void wait_for_room(writer *w, size_t bytes)
{
  w->until = w->o->written + bytes;
  if (has_room(w)) return;
  publish(w->h, w->o);
  osla_segment_wait(w->h->segment, has_room, w);
}

static size_t ring_offset(const osla_hessian *h, const outbox *o)
{
  return h->wire->rings_start + (size_t)o->ring * h->wire->ring_bytes;
}

/* A chain that fits into half of the ring is announced as a whole, with its length, so that the
 * receiving rank locks the owner's stripes only after the whole chain has arrived. */
void osli_outbox_begin(osla_hessian *h, int owner, size_t bytes)
{
  writer w = {.h = h, .o = outbox_for(h, owner)};
  size_t half = h->wire->ring_bytes / 2;
  if (!no_ring_wanted(&w)) osla_segment_wait(h->segment, no_ring_wanted, &w);
  (void)pthread_mutex_lock(&w.o->mutex);
  acquire_ring(&w);
  wait_for_room(&w, bytes < half ? bytes : half);
  w.o->chain = w.o->written;
}

void osli_outbox_end(osla_hessian *h, int owner)
{
  outbox *o = outbox_for(h, owner);
  uint32_t bytes = (uint32_t)(o->written - o->chain);
  size_t size = h->wire->ring_bytes;
  size_t at = (size_t)(o->chain % size) + offsetof(message_head, chain);
  /* The head of a message is at a multiple of 8 bytes, so this field does not wrap around the
   * ring's end. */
  if (bytes > 0 && arrival_bytes(atomic_load(&o->ready)) == o->chain &&
      h->options.isolation == OSLA_ISOLATE_UPDATE)
    osli_segment_store(h->segment, ring_offset(h, o) + at % size, &bytes, sizeof bytes);
  publish(h, o);
  (void)pthread_mutex_unlock(&o->mutex);
}

static void write_to_ring(void *arg, const void *bytes, size_t count)
{
  writer *w = arg;
  size_t ring = ring_offset(w->h, w->o), size = w->h->wire->ring_bytes;
  size_t at = (size_t)(w->o->written % size);
  size_t first = count < size - at ? count : size - at;
  w->o->written += count;
  if (!bytes) return;
  osli_segment_store(w->h->segment, ring + at, bytes, first);
  if (first == count) return;
  osli_segment_store(w->h->segment, ring, (const unsigned char *)bytes + first, count - first);
}

size_t osli_outbox_put(osla_hessian *h, int owner, const piece *p, uint64_t stripes, uint32_t flags,
                       const update *u, int64_t r0, int64_t c0)
{
  static const piece nothing;
  writer w = {.h = h, .o = outbox_for(h, owner)};
  message_panels g = {0};
  if (u) {
    const size_t column = (size_t)u->k * h->element;
    g = (message_panels){u->k, u->row_panel + (size_t)r0 * column,
                         u->col_panel + (size_t)c0 * column};
  }
  if (!p) p = &nothing;
  wait_for_room(&w, osli_message_size(p, g.k, h->element));
  return osli_message_put(p, owner, stripes, flags, &g, h->element, h->options.uplo, write_to_ring,
                          &w);
}
