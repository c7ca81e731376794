/* Sets of channels. The ends of all ranks are matched through one segment.
 *
 * Layout of a rank's data area: number of ends | table with an entry for each end | inboxes. A rank
 * reads the tables of its peers, so set-up takes a barrier and two gets for each peer on another
 * node, and no memory that grows with the number of ranks. */
#include "src/memory/channel.h"
#include "osla_clock.h"
#include "src/device/device.h"
#include "src/transport/live_objects.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct osla_channels {
  osla_transport *t;
  osla_segment *segment;
  int n;
  channel *channels;
  pthread_mutex_t mutex;
  /* true if this set has a progress hook, which posts the waiting messages of the set in every wait
   * of this rank */
  bool has_hook;
};

/* An end of a channel, as its peer reads it. All members have 64 bits, so there is no padding. */
typedef struct channel_entry {
  int64_t peer, tag, kind, in_flight, send_bytes, recv_bytes, inbox;
} channel_entry;

/* The table of ends of one rank. */
typedef struct peer_table {
  int rank;
  int64_t n;
  channel_entry *entries;
} peer_table;

enum { HEAD = CHANNEL_LINE };
static const int64_t MOST_BYTES = INT64_C(1) << 40;

/* ---- checks of the arguments of osla_channels_create ---- */

static osla_err check_end(const osla_transport *t, int i, const osla_channel_end *e)
{
  const int rank = osla_transport_rank(t), size = osla_transport_size(t);
  OSLA_CHECK(e->peer >= 0 && e->peer < size && e->peer != rank, OSLA_ERR_ARG,
             "channel %d of rank %d: peer = %d, but the other ranks are among 0 to %d", i, rank,
             e->peer, size - 1);
  OSLA_CHECK(e->kind >= OSLA_CHANNEL_LATEST && e->kind <= OSLA_CHANNEL_EVERY, OSLA_ERR_ARG,
             "channel %d of rank %d: kind = %d is no osla_channel_kind", i, rank, (int)e->kind);
  OSLA_CHECK(e->in_flight >= 1 && e->in_flight <= OSLA_CHANNEL_MOST, OSLA_ERR_ARG,
             "channel %d of rank %d: in_flight = %d is not among 1 to %d", i, rank, e->in_flight,
             (int)OSLA_CHANNEL_MOST);
  const int64_t bytes[] = {e->send_bytes, e->recv_bytes};
  for (int k = 0; k < 2; k++) {
    OSLA_CHECK(bytes[k] >= 0 && bytes[k] <= MOST_BYTES, OSLA_ERR_ARG,
               "channel %d of rank %d: messages of %" PRId64 " bytes are not possible", i, rank,
               bytes[k]);
    OSLA_CHECK(e->kind != OSLA_CHANNEL_RACY || bytes[k] % 8 == 0, OSLA_ERR_ARG,
               "channel %d of rank %d: RACY needs a multiple of 8 bytes, not %" PRId64, i, rank,
               bytes[k]);
  }
  return OSLA_OK;
}

static int compare_ends(const void *a, const void *b)
{
  const osla_channel_end *x = a, *y = b;
  if (x->peer != y->peer) return x->peer < y->peer ? -1 : 1;
  return x->tag < y->tag ? -1 : x->tag > y->tag;
}

static osla_err check_duplicates(const osla_transport *t, int n, const osla_channel_end *ends)
{
  osla_channel_end *sorted = malloc(((size_t)n + 1) * sizeof *sorted);
  OSLA_CHECK(sorted, OSLA_ERR_MEM, "%d ends of channels", n);
  osla_err err = OSLA_OK;
  for (int i = 0; i < n; i++)
    sorted[i] = ends[i];
  qsort(sorted, (size_t)n, sizeof *sorted, compare_ends);
  for (int i = 1; i < n && err == OSLA_OK; i++)
    if (compare_ends(&sorted[i - 1], &sorted[i]) == 0)
      err = osla_error_set(OSLA_ERR_ARG, "rank %d has two channels to rank %d with tag %d",
                           osla_transport_rank(t), sorted[i].peer, sorted[i].tag);
  free(sorted);
  return err;
}

static osla_err check_ends(const osla_transport *t, int n, const osla_channel_end *ends)
{
  OSLA_CHECK(n >= 0 && (n == 0 || ends), OSLA_ERR_ARG, "n = %d ends of channels", n);
  for (int i = 0; i < n; i++)
    OSLA_CALL(check_end(t, i, &ends[i]));
  return check_duplicates(t, n, ends);
}

/* ---- memory of a set of channels ---- */

static const channel_ops *ops_of(const osla_transport *t, const osla_channel_end *e)
{
  /* implementations on a node, in the order of osla_channel_kind */
  static const channel_ops *const near[] = {&osli_channel_newest, &osli_channel_racy,
                                            &osli_channel_ring};
  return osla_transport_same_node(t, e->peer) ? near[e->kind] : &osli_channel_posted;
}

static size_t tables_bytes(int n)
{
  return HEAD + channel_round((size_t)n * sizeof(channel_entry), CHANNEL_LINE);
}

static osla_err plan_memory(osla_channels *set, const osla_channel_end *ends, size_t *bytes)
{
  set->channels = calloc((size_t)set->n + 1, sizeof *set->channels);
  OSLA_CHECK(set->channels, OSLA_ERR_MEM, "%d channels", set->n);
  *bytes = tables_bytes(set->n);
  for (int i = 0; i < set->n; i++) {
    channel *c = &set->channels[i];
    *c = (channel){.ops = ops_of(set->t, &ends[i]), .end = ends[i], .inbox = *bytes};
    *bytes += c->ops->inbox_bytes(ends[i].in_flight, (size_t)ends[i].recv_bytes);
    OSLA_CHECK(*bytes <= (size_t)MOST_BYTES * 8, OSLA_ERR_ARG,
               "channels of rank %d: more than %zu bytes", osla_transport_rank(set->t), *bytes);
  }
  return OSLA_OK;
}

static void write_table(const osla_channels *set)
{
  unsigned char *area = osla_segment_local(set->segment);
  channel_entry *entries = (channel_entry *)(void *)(area + HEAD);
  *(int64_t *)(void *)area = set->n;
  for (int i = 0; i < set->n; i++) {
    const osla_channel_end *e = &set->channels[i].end;
    entries[i] = (channel_entry){.peer = e->peer,
                                 .tag = e->tag,
                                 .kind = (int64_t)e->kind,
                                 .in_flight = e->in_flight,
                                 .send_bytes = e->send_bytes,
                                 .recv_bytes = e->recv_bytes,
                                 .inbox = (int64_t)set->channels[i].inbox};
  }
}

/* ---- matching of the two ends of each channel ---- */

static osla_err read_table(const osla_channels *set, int rank, peer_table *out)
{
  if (out->entries && out->rank == rank) return OSLA_OK;
  free(out->entries);
  *out = (peer_table){.rank = rank};
  OSLA_CALL(osla_segment_read(set->segment, rank, 0, &out->n, sizeof out->n));
  out->entries = malloc(((size_t)out->n + 1) * sizeof *out->entries);
  OSLA_CHECK(out->entries, OSLA_ERR_MEM, "%" PRId64 " ends of rank %d", out->n, rank);
  return osla_segment_read(set->segment, rank, HEAD, out->entries,
                           (size_t)out->n * sizeof *out->entries);
}

static osla_err check_match(const osla_channel_end *e, int rank, const channel_entry *peer)
{
  const struct {
    const char *what;
    int64_t mine, theirs;
  } pairs[] = {{"sends messages of bytes", e->send_bytes, peer->recv_bytes},
               {"receives messages of bytes", e->recv_bytes, peer->send_bytes},
               {"kind", (int64_t)e->kind, peer->kind},
               {"in_flight", e->in_flight, peer->in_flight}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    OSLA_CHECK(pairs[i].mine == pairs[i].theirs, OSLA_ERR_ARG,
               "channel of ranks %d and %d, tag %d: rank %d gives %" PRId64 " (%s), "
               "and rank %d %" PRId64,
               rank, e->peer, e->tag, rank, pairs[i].mine, pairs[i].what, e->peer, pairs[i].theirs);
  return OSLA_OK;
}

static osla_err connect_channel(osla_channels *set, channel *c, peer_table *peer)
{
  const int rank = osla_transport_rank(set->t);
  OSLA_CALL(read_table(set, c->end.peer, peer));
  const channel_entry *match = NULL;
  for (int64_t k = 0; k < peer->n && !match; k++)
    if (peer->entries[k].peer == rank && peer->entries[k].tag == c->end.tag)
      match = &peer->entries[k];
  OSLA_CHECK(match, OSLA_ERR_ARG,
             "rank %d has a channel to rank %d with tag %d, and that rank has none to it", rank,
             c->end.peer, c->end.tag);
  OSLA_CALL(check_match(&c->end, rank, match));
  unsigned char *there = osla_segment_peer(set->segment, c->end.peer);
  c->segment = set->segment;
  c->mutex = &set->mutex;
  c->number = (int)(c - set->channels);
  c->peer_number = (int)(match - peer->entries);
  c->peer_inbox = (size_t)match->inbox;
  c->inbox_memory = (unsigned char *)osla_segment_local(set->segment) + c->inbox;
  c->peer_inbox_memory = there ? there + c->peer_inbox : NULL;
  return c->ops->start(c);
}

static osla_err connect_all(osla_channels *set)
{
  peer_table peer = {0};
  osla_err err = OSLA_OK;
  for (int i = 0; i < set->n && err == OSLA_OK; i++)
    err = connect_channel(set, &set->channels[i], &peer);
  free(peer.entries);
  return err;
}

/* ---- progress of the channels of a set ---- */

static void post_waiting_messages(void *arg)
{
  osla_channels *set = arg;
  for (int i = 0; i < set->n; i++)
    if (set->channels[i].ops->progress &&
        set->channels[i].ops->progress(&set->channels[i]) != OSLA_OK)
      osla_transport_abort(set->t, OSLA_ERR_MPI);
}

static bool has_remote_peer(const osla_channels *set)
{
  for (int i = 0; i < set->n; i++)
    if (!set->channels[i].peer_inbox_memory) return true;
  return false;
}

static osla_err add_hook(osla_channels *set)
{
  if (!has_remote_peer(set)) return OSLA_OK;
  OSLA_CALL(osla_progress_add(set->t, post_waiting_messages, set));
  set->has_hook = true;
  return OSLA_OK;
}

static void free_set(osla_channels *set)
{
  if (!set) return;
  if (set->has_hook) osla_progress_remove(set->t, post_waiting_messages, set);
  for (int i = 0; set->channels && i < set->n; i++) {
    if (set->channels[i].ops && set->channels[i].ops->stop)
      set->channels[i].ops->stop(&set->channels[i]);
    free(set->channels[i].state);
  }
  osla_segment_destroy(&set->segment);
  (void)pthread_mutex_destroy(&set->mutex);
  free(set->channels);
  free(set);
}

/* Connects the channels after all ranks have written their tables. */
static osla_err connect_after_barrier(osla_channels *set)
{
  OSLA_CALL(osla_barrier(set->t));
  OSLA_CALL(connect_all(set));
  return add_hook(set);
}

osla_err osla_channels_create(osla_transport *t, int n, const osla_channel_end *ends,
                              osla_channels **out)
{
  OSLA_MAKES("osla_channels_create", "osla_channels_destroy");
  *out = NULL;
  size_t bytes = 0;
  osla_channels *set = calloc(1, sizeof *set);
  osla_err err = set ? check_ends(t, n, ends) : osla_error_set(OSLA_ERR_MEM, "set of channels");
  if (set) (void)pthread_mutex_init(&set->mutex, NULL);
  if (err == OSLA_OK) {
    set->t = t;
    set->n = n;
    err = plan_memory(set, ends, &bytes);
  }
  err = osla_agree(t, err);
  if (err == OSLA_OK) err = osla_segment_create(t, bytes, 0, &set->segment);
  if (err == OSLA_OK) {
    osla_segment_steers(set->segment);
    write_table(set);
    err = osla_agree(t, connect_after_barrier(set));
  }
  if (err != OSLA_OK) {
    free_set(set);
    return err;
  }
  *out = set;
  return OSLA_OK;
}

/* ---- sending and receiving messages ---- */

void *osla_channel_buffer(osla_channels *set, int which)
{
  return set->channels[which].ops->buffer(&set->channels[which]);
}

/* Returns question(c). If it is false and the peer is on another node, makes a progress step and
 * asks again, because a caller may poll in a loop. */
static bool poll_channel(channel *c, bool (*question)(channel *c))
{
  if (question(c)) return true;
  if (c->peer_inbox_memory) return false;
  osla_progress(osla_segment_transport(c->segment));
  return question(c);
}

bool osla_channel_can_send(osla_channels *set, int which)
{
  const channel_ops *ops = set->channels[which].ops;
  return !ops->can_send || poll_channel(&set->channels[which], ops->can_send);
}

osla_err osla_channel_send(osla_channels *set, int which, uint64_t stamp)
{
  osli_device_settle_kept(SETTLE_NOTIFY);
  /* A peer on this node can read the message at once, so the sender's simulated clock is settled
   * before the send. */
  if (set->channels[which].peer_inbox_memory) osla_clock_settle();
  return set->channels[which].ops->send(&set->channels[which], stamp);
}

bool osla_channel_can_recv(osla_channels *set, int which)
{
  return poll_channel(&set->channels[which], set->channels[which].ops->can_recv);
}

static _Atomic uint32_t *closed_word(const channel *c, unsigned char *inbox)
{
  return (_Atomic uint32_t *)(void *)(inbox + c->ops->closed_at);
}

/* Has a message arrived, or has the peer closed its end of the channel, so that no further message
 * can come? */
static bool is_ready(void *arg)
{
  channel *c = arg;
  if (c->ops->can_recv(c)) return true;
  if (c->ops->closed) return c->ops->closed(c);
  return atomic_load_explicit(closed_word(c, c->inbox_memory), memory_order_acquire);
}

osla_err osla_channel_recv(osla_channels *set, int which, const void **message, uint64_t *stamp)
{
  channel *c = &set->channels[which];
  *message = NULL;
  if (c->end.kind == OSLA_CHANNEL_EVERY) {
    osla_segment_wait(c->segment, is_ready, c);
    OSLA_CHECK(c->ops->can_recv(c), OSLA_ERR_STATE,
               "rank %d has closed the channel (tag %d) and all its messages were received",
               c->end.peer, c->end.tag);
  }
  return c->ops->recv(c, message, stamp);
}

/* ---- destruction of a set of channels ---- */

static osla_err close_end(channel *c)
{
  (void)pthread_mutex_lock(c->mutex);
  c->is_closed = true;
  (void)pthread_mutex_unlock(c->mutex);
  if (c->ops->progress) return c->ops->progress(c);
  atomic_store_explicit(closed_word(c, c->peer_inbox_memory), 1, memory_order_release);
  osla_segment_wake(c->segment, c->end.peer);
  return OSLA_OK;
}

static bool are_all_delivered(void *arg)
{
  const osla_channels *set = arg;
  bool all = true;
  for (int i = 0; i < set->n; i++) /* each call of `delivered` advances its channel */
    if (set->channels[i].ops->delivered)
      all = set->channels[i].ops->delivered(&set->channels[i]) && all;
  return all;
}

void osla_channels_destroy(osla_channels **channels)
{
  osla_channels *set = channels ? *channels : NULL;
  if (!set) return;
  for (int i = 0; i < set->n; i++)
    if (close_end(&set->channels[i]) != OSLA_OK) osla_transport_abort(set->t, OSLA_ERR_MPI);
  osla_segment_wait(set->segment, are_all_delivered, set);
  free_set(set);
  *channels = NULL;
}

/* ---- waits for messages and for room ---- */

typedef struct awaited {
  const osla_channels *set;
  int n;
  const int *which;
  bool all;
} awaited;

static bool are_ready(void *arg)
{
  const awaited *a = arg;
  int ready = 0;
  for (int k = 0; k < a->n; k++)
    ready += is_ready(&a->set->channels[a->which[k]]);
  return a->all ? ready == a->n : ready > 0 || a->n == 0;
}

void osla_channels_wait(osla_channels *set, int n, const int *which, bool all)
{
  awaited a = {set, n, which, all};
  osla_segment_wait(set->segment, are_ready, &a);
}

void osla_channels_wait_until(osla_channels *set, bool (*test)(void *arg), void *arg)
{
  osla_segment_wait(set->segment, test, arg);
}
