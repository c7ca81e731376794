/* Tests channels between all ranks. Each element of a message is its stamp xor its index, so that
 * mixed messages are detected. */
#include "osla_channel.h"
#include "osla_clock.h"
#include "src/memory/channel.h"
#include "tests/osla_test_help.h"

#include <limits.h>
#include <stdlib.h>

enum { MOST_ENDS = 64 };

/* Number of elements in messages from a rank; it differs between the two directions of a channel.
 */
static int64_t elements_from(int rank, int64_t base)
{
  return base + 3 * rank;
}

/* Makes one end of a channel to each other rank or, if `twice` is true, two ends with different
 * tags. Returns the number of ends. */
static int all_pairs(osla_channel_end *ends, osla_channel_kind kind, int in_flight, int64_t base,
                     bool twice)
{
  int n = 0;
  for (int peer = osla_test_size() - 1; peer >= 0; peer--)
    for (int tag = 0; tag <= (int)twice && peer != osla_test_rank(); tag++)
      ends[n++] = (osla_channel_end){.peer = peer,
                                     .tag = 7 - 9 * tag,
                                     .kind = kind,
                                     .in_flight = in_flight,
                                     .send_bytes = 8 * elements_from(osla_test_rank(), base),
                                     .recv_bytes = 8 * elements_from(peer, base)};
  return n;
}

static void write_message(osla_channels *set, int which, int64_t elements, uint64_t stamp)
{
  uint64_t *out = osla_channel_buffer(set, which);
  CU_ASSERT(out && (uintptr_t)out % 16 == 0);
  for (int64_t i = 0; i < elements; i++)
    out[i] = stamp ^ (uint64_t)i;
  OSLA_ASSERT_OK(osla_channel_send(set, which, stamp));
}

/* Counts the elements of a message that were not written by a send whose stamp is in the range from
 * .. to. */
static int64_t count_wrong(const uint64_t *in, int64_t elements, uint64_t from, uint64_t to)
{
  int64_t wrong = 0;
  for (int64_t i = 0; i < elements; i++) {
    const uint64_t of = in[i] ^ (uint64_t)i;
    wrong += of < from || of > to;
  }
  return wrong;
}

/* Messages that a rank has sent and received on `n` channels. */
typedef struct traffic {
  osla_channels *set;
  osla_channel_kind kind;
  const osla_channel_end *ends;
  int n, n_open;
  uint64_t sends, sent, last[MOST_ENDS], received[MOST_ENDS];
  bool is_over[MOST_ENDS];
  int64_t wrong, backwards, misaligned;
} traffic;

static bool has_room(const traffic *a)
{
  bool room = a->sent < a->sends;
  for (int k = 0; k < a->n && room; k++)
    room = osla_channel_can_send(a->set, k);
  return room;
}

static void send_all(traffic *a)
{
  a->sent++;
  for (int k = 0; k < a->n; k++)
    write_message(a->set, k, a->ends[k].send_bytes / 8, a->sent);
}

static void receive(traffic *a, int k)
{
  const void *message;
  uint64_t stamp = 0;
  OSLA_ASSERT_OK(osla_channel_recv(a->set, k, &message, &stamp));
  a->wrong += count_wrong(message, a->ends[k].recv_bytes / 8, stamp,
                          a->kind == OSLA_CHANNEL_RACY ? a->sends : stamp);
  a->misaligned += (uintptr_t)message % 16 != 0;
  a->backwards += a->kind == OSLA_CHANNEL_EVERY ? stamp != a->last[k] + 1 : stamp < a->last[k];
  a->last[k] = stamp;
  a->received[k]++;
}

static bool something_to_do(void *arg)
{
  const traffic *a = arg;
  for (int k = 0; k < a->n; k++)
    if (!a->is_over[k] && osla_channel_can_recv(a->set, k)) return true;
  return a->n_open == 0 || has_room(a);
}

/* All ranks send `sends` messages on each channel, and receive messages in between. Each rank
 * receives until it has the last message: all messages of a channel EVERY, and at least the last
 * message of other channels. */
static void exchange(osla_transport *t, osla_channel_kind kind, int in_flight, int64_t base,
                     uint64_t sends, bool twice)
{
  osla_channel_end ends[MOST_ENDS];
  traffic a = {.kind = kind, .ends = ends, .sends = sends};
  a.n = a.n_open = all_pairs(ends, kind, in_flight, base, twice);
  if (!OSLA_ASSERT_OK(osla_channels_create(t, a.n, ends, &a.set))) return;
  while (a.n_open > 0 || a.sent < sends) {
    if (has_room(&a)) send_all(&a);
    for (int k = 0; k < a.n; k++) {
      if (a.is_over[k]) continue;
      if (osla_channel_can_recv(a.set, k)) receive(&a, k);
      a.is_over[k] = a.last[k] == sends;
      a.n_open -= a.is_over[k];
    }
    osla_channels_wait_until(a.set, something_to_do, &a);
  }
  for (int k = 0; k < a.n; k++) {
    OSLA_ASSERT_MSG(a.last[k] == sends, "kind %d from %d: last is %llu of %llu", (int)kind,
                    ends[k].peer, (unsigned long long)a.last[k], (unsigned long long)sends);
    CU_ASSERT(kind != OSLA_CHANNEL_EVERY || a.received[k] == sends);
  }
  OSLA_ASSERT_MSG(a.wrong == 0 && a.backwards == 0 && a.misaligned == 0,
                  "kind %d, %lld elements: %lld wrong, %lld backwards, %lld misaligned", (int)kind,
                  (long long)base, (long long)a.wrong, (long long)a.backwards,
                  (long long)a.misaligned);
  osla_channels_destroy(&a.set);
  CU_ASSERT(a.set == NULL);
}

static void test_kinds(void)
{
  osla_transport *t = osla_test_transport();
  const bool few = osla_test_size() <= FEW_RANKS && osla_transport_n_nodes(t) == 1;
  const uint64_t sends = few ? 2000 : osla_test_size() <= 6 ? 200 : 4;
  for (int kind = OSLA_CHANNEL_LATEST; kind <= OSLA_CHANNEL_EVERY; kind++) {
    exchange(t, (osla_channel_kind)kind, 1, 1, sends, false);
    exchange(t, (osla_channel_kind)kind, 2, 6, sends, true);
    exchange(t, (osla_channel_kind)kind, 7, 700, sends / 4, false);
  }
  exchange(t, OSLA_CHANNEL_LATEST, 3, 40000, sends / 20 + 1, false);
  /* between nodes messages of this size travel in several pieces */
  exchange(t, OSLA_CHANNEL_EVERY, 2, 5000, sends / 8 + 1, false);
  osla_transport_destroy(&t);
}

/* Tests iterations in lock step: every message is received, although each channel has room for only
 * one. */
static void test_lock_step(void)
{
  osla_transport *t = osla_test_transport();
  osla_channel_end ends[MOST_ENDS];
  const int n = all_pairs(ends, OSLA_CHANNEL_EVERY, 1, 2, false);
  int which[MOST_ENDS], wrong = 0;
  osla_channels *set;
  OSLA_ASSERT_OK(osla_channels_create(t, n, ends, &set));
  for (int k = 0; k < n; k++)
    which[k] = k;
  for (uint64_t step = 1; step <= 100; step++) {
    for (int k = 0; k < n; k++)
      write_message(set, k, ends[k].send_bytes / 8, step);
    osla_channels_wait(set, n, which, true);
    for (int k = 0; k < n; k++) {
      const void *message;
      uint64_t stamp;
      OSLA_ASSERT_OK(osla_channel_recv(set, k, &message, &stamp));
      wrong += stamp != step || count_wrong(message, ends[k].recv_bytes / 8, step, step) > 0;
    }
  }
  CU_ASSERT(wrong == 0);
  osla_channels_destroy(&set);
  osla_transport_destroy(&t);
}

/* Tests that a channel EVERY accepts as many messages as it has room for, and one more after each
 * receive. The message that the receiver is reading is not overwritten. */
static void test_room(void)
{
  enum { ROOM = 3 };
  osla_transport *t = osla_test_transport();
  osla_channel_end ends[MOST_ENDS];
  const int n = all_pairs(ends, OSLA_CHANNEL_EVERY, ROOM, 4, false);
  const void *message[MOST_ENDS];
  osla_channels *set;
  uint64_t stamp;
  OSLA_ASSERT_OK(osla_channels_create(t, n, ends, &set));
  for (uint64_t s = 1; s <= ROOM; s++)
    for (int k = 0; k < n; k++) {
      CU_ASSERT(osla_channel_can_send(set, k));
      write_message(set, k, ends[k].send_bytes / 8, s);
    }
  for (int k = 0; k < n; k++)
    CU_ASSERT(!osla_channel_can_send(set, k));
  OSLA_ASSERT_OK(osla_barrier(t)); /* no rank receives a message before this barrier */
  for (int k = 0; k < n; k++) {
    OSLA_ASSERT_OK(osla_channel_recv(set, k, &message[k], &stamp));
    CU_ASSERT(stamp == 1);
  }
  for (int k = 0; k < n; k++) { /* the send waits until the peer has received a message */
    write_message(set, k, ends[k].send_bytes / 8, ROOM + 1);
    CU_ASSERT(!osla_channel_can_send(set, k));
  }
  OSLA_ASSERT_OK(osla_barrier(t));
  for (uint64_t s = 1; s <= ROOM + 1; s++)
    for (int k = 0; k < n; k++) {
      const int64_t elements = ends[k].recv_bytes / 8;
      if (s > 1) OSLA_ASSERT_OK(osla_channel_recv(set, k, &message[k], &stamp));
      CU_ASSERT(s == 1 || stamp == s);
      CU_ASSERT(count_wrong(message[k], elements, s, s) == 0);
    }
  osla_channels_destroy(&set);
  osla_transport_destroy(&t);
}

/* Tests messages that are never received, and receives without a new message, which return the
 * earlier one. */
static void test_unread(void)
{
  osla_transport *t = osla_test_transport();
  osla_channel_end ends[MOST_ENDS];
  const int n = all_pairs(ends, OSLA_CHANNEL_LATEST, 2, 5, false);
  osla_channels *set;
  OSLA_ASSERT_OK(osla_channels_create(t, n, ends, &set));
  for (int k = 0; k < n; k++) {
    const void *message = set;
    CU_ASSERT(!osla_channel_can_recv(set, k));
    OSLA_ASSERT_OK(osla_channel_recv(set, k, &message, NULL));
    CU_ASSERT(message == NULL);
  }
  OSLA_ASSERT_OK(osla_barrier(t));
  for (uint64_t s = 1; s <= 50; s++)
    for (int k = 0; k < n; k++)
      write_message(set, k, ends[k].send_bytes / 8, s);
  for (int k = 0; k < n && osla_test_rank() == 0; k++) {
    const void *message, *again;
    uint64_t stamp;
    osla_channels_wait(set, 1, &k, true);
    OSLA_ASSERT_OK(osla_channel_recv(set, k, &message, &stamp));
    CU_ASSERT(count_wrong(message, ends[k].recv_bytes / 8, stamp, stamp) == 0);
    while (stamp < 50) {
      osla_channels_wait(set, 1, &k, true);
      OSLA_ASSERT_OK(osla_channel_recv(set, k, &message, &stamp));
    }
    OSLA_ASSERT_OK(osla_channel_recv(set, k, &again, &stamp));
    CU_ASSERT(again == message && stamp == 50);
  }
  osla_channels_destroy(&set);
  osla_channels_destroy(&set);
  osla_transport_destroy(&t);
}

static void test_empty(void)
{
  osla_transport *t = osla_test_transport();
  osla_channels *set;
  OSLA_ASSERT_OK(osla_channels_create(t, 0, NULL, &set));
  osla_channels_wait(set, 0, NULL, true);
  osla_channels_wait(set, 0, NULL, false);
  osla_channels_destroy(&set);
  for (int kind = OSLA_CHANNEL_LATEST; kind <= OSLA_CHANNEL_EVERY; kind++) {
    osla_channel_end ends[MOST_ENDS]; /* messages that consist of a stamp only */
    const int n = all_pairs(ends, (osla_channel_kind)kind, 1, 0, false);
    for (int k = 0; k < n; k++)
      ends[k].send_bytes = ends[k].recv_bytes = 0;
    OSLA_ASSERT_OK(osla_channels_create(t, n, ends, &set));
    for (int k = 0; k < n; k++)
      OSLA_ASSERT_OK(osla_channel_send(set, k, 5));
    for (int k = 0; k < n; k++) {
      const void *message;
      uint64_t stamp = 0;
      osla_channels_wait(set, 1, &k, true);
      OSLA_ASSERT_OK(osla_channel_recv(set, k, &message, &stamp));
      CU_ASSERT(message && stamp == 5);
    }
    osla_channels_destroy(&set);
  }
  osla_transport_destroy(&t);
}

/* ---- tests of invalid arguments ---- */

static osla_channel_end good_end(int peer)
{
  return (osla_channel_end){.peer = peer, .in_flight = 1, .send_bytes = 8, .recv_bytes = 8};
}

static void refuse(osla_transport *t, int n, const osla_channel_end *ends, const char *text)
{
  osla_channels *set = (osla_channels *)(void *)t;
  OSLA_ASSERT_ERR(osla_channels_create(t, n, ends, &set), OSLA_ERR_ARG);
  CU_ASSERT(set == NULL);
  OSLA_ASSERT_TEXT(text);
  OSLA_ASSERT_SAME_TEXT();
}

static void test_refused(void)
{
  osla_transport *t = osla_test_transport();
  const int rank = osla_test_rank(), size = osla_test_size(), next = (rank + 1) % size;
  const bool first = rank == 0;
  osla_channel_end e = good_end(size);
  refuse(t, 1, &e, "channel 0 of rank 0: peer = ");
  e.peer = rank;
  refuse(t, first, &e, "channel 0 of rank 0: peer = 0");
  e.peer = -1;
  refuse(t, first, &e, "peer = -1");
  refuse(t, first ? -1 : 0, &e, "n = -1");
  if (size > 1) {
    const osla_channel_end good = good_end(next);
    osla_channel_end bad = good;
    bad.kind = (osla_channel_kind)9;
    refuse(t, first, &bad, "kind = 9");
    bad = good;
    bad.in_flight = OSLA_CHANNEL_MOST + 1;
    refuse(t, first, &bad, "in_flight = 4097");
    bad.in_flight = 0;
    refuse(t, first, &bad, "in_flight = 0");
    bad = good;
    bad.send_bytes = -8;
    refuse(t, first, &bad, "messages of -8 bytes");
    bad.send_bytes = INT64_MAX;
    refuse(t, first, &bad, "messages of 9223372036854775807 bytes");
    bad = good;
    bad.kind = OSLA_CHANNEL_RACY;
    bad.recv_bytes = 12;
    refuse(t, first, &bad, "RACY needs a multiple of 8 bytes, not 12");
    /* the messages of the first end alone need too much memory */
    osla_channel_end huge[] = {good, good};
    for (int i = 0; i < 2; i++)
      huge[i].kind = OSLA_CHANNEL_EVERY, huge[i].tag = i, huge[i].in_flight = OSLA_CHANNEL_MOST,
      huge[i].recv_bytes = INT64_C(1) << 40;
    refuse(t, first ? 2 : 0, huge, "channels of rank 0: more than");
    const osla_channel_end twice[] = {good, good_end(next)};
    refuse(t, first ? 2 : 0, twice, "rank 0 has two channels to rank 1 with tag 0");
    refuse(t, first, &good, "rank 0 has a channel to rank 1 with tag 0, and that rank has none");
  }
  osla_transport_destroy(&t);
}

/* Tests channels whose two ends differ in one of four members, or in the tag. */
static void test_mismatch(void)
{
  osla_transport *t = osla_test_transport();
  const int rank = osla_test_rank();
  static const char *const texts[] = {
    "rank 0 gives 16 (sends messages of bytes), and rank 1 8",
    "rank 0 gives 24 (receives messages of bytes), and rank 1 8",
    "rank 0 gives 2 (kind), and rank 1 0", "rank 0 gives 3 (in_flight), and rank 1 1",
    "rank 0 has a channel to rank 1 with tag 4, and that rank has none"};
  for (int i = 0; i < 5 && osla_test_size() > 1; i++) {
    osla_channel_end e = good_end(rank == 0);
    if (rank == 0) {
      if (i == 0) e.send_bytes = 16;
      if (i == 1) e.recv_bytes = 24;
      if (i == 2) e.kind = OSLA_CHANNEL_EVERY;
      if (i == 3) e.in_flight = 3;
      if (i == 4) e.tag = 4;
    }
    refuse(t, rank < 2, &e, texts[i]);
  }
  CU_ASSERT(t != NULL);
  osla_transport_destroy(&t);
}

/* Tests that no rank waits for a peer that has destroyed its channels: messages to the peer are
 * dropped, and its receivers see the channel closed. */
static void test_peer_ends(void)
{
  osla_transport *t = osla_test_transport();
  for (int kind = OSLA_CHANNEL_LATEST; kind <= OSLA_CHANNEL_EVERY; kind++) {
    osla_channel_end ends[MOST_ENDS];
    const int n = all_pairs(ends, (osla_channel_kind)kind, 1, 3, false);
    osla_channels *set;
    OSLA_ASSERT_OK(osla_channels_create(t, n, ends, &set));
    for (int k = 0; k < n && osla_test_rank() > 0; k++) {
      if (ends[k].peer > 0) continue;
      for (uint64_t s = 1; s <= 5; s++) /* more messages than there is room for */
        write_message(set, k, ends[k].send_bytes / 8, s);
      const void *message = set;
      osla_channels_wait(set, 1, &k, true);
      CU_ASSERT(!osla_channel_can_recv(set, k));
      OSLA_ASSERT_ERR(osla_channel_recv(set, k, &message, NULL),
                      kind == OSLA_CHANNEL_EVERY ? OSLA_ERR_STATE : OSLA_OK);
      CU_ASSERT(message == NULL);
    }
    osla_channels_destroy(&set); /* rank 0 destroys its channels at once, before its peers do */
  }
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"kinds", test_kinds},       {"lock_step", test_lock_step}, {"room", test_room},
  {"unread", test_unread},     {"empty", test_empty},         {"refused", test_refused},
  {"mismatch", test_mismatch}, {"peer_ends", test_peer_ends}, {NULL, NULL},
};
OSLA_TEST_SUITE(test_channel, cases);
