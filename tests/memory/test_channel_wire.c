/* Counts the MPI messages of channels between nodes, by a function MPI_Isend that replaces MPI's.
 * Rank 0 and the last rank, on two nodes, communicate; other ranks only take part in collective
 * calls. */
#include "osla_channel.h"
#include "osla_clock.h"
#include "tests/osla_test_help.h"

#include <math.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static atomic_int n_messages, n_on_lines;

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
  if (tag != 0) /* tag 0 belongs to osli_send, whose messages are not counted */
    atomic_fetch_add(&n_messages, 1);
  if (tag >= 1 << 15) atomic_fetch_add(&n_on_lines, 1);
  return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}

/* Makes a transport on which the words of notifies travel as messages. */
static osla_transport *by_messages(void)
{
  (void)setenv("OSLA_MESSAGES", "on", 1);
  osla_transport *t = osla_test_transport();
  (void)unsetenv("OSLA_MESSAGES");
  return t;
}

static bool is_first(void)
{
  return osla_test_rank() == 0;
}

static bool talks(void)
{
  return is_first() || osla_test_rank() == osla_test_size() - 1;
}

static int other(void)
{
  return is_first() ? osla_test_size() - 1 : 0;
}

/* Makes one channel between rank 0 and the last rank, with message sizes in doubles for each
 * direction. */
static osla_channels *join(osla_transport *t, osla_channel_kind kind, int in_flight, int64_t out,
                           int64_t back)
{
  const osla_channel_end end = {.peer = other(),
                                .kind = kind,
                                .in_flight = in_flight,
                                .send_bytes = 8 * (is_first() ? out : back),
                                .recv_bytes = 8 * (is_first() ? back : out)};
  osla_channels *set;
  OSLA_ASSERT_OK(osla_channels_create(t, talks(), &end, &set));
  return set;
}

static void send_on(osla_channels *set, int which, int64_t n, uint64_t stamp)
{
  uint64_t *message = osla_channel_buffer(set, which);
  for (int64_t i = 0; i < n; i++)
    message[i] = stamp + (uint64_t)i;
  OSLA_ASSERT_OK(osla_channel_send(set, which, stamp));
}

static void receive_from(osla_channels *set, int which, int64_t n, uint64_t stamp)
{
  const void *message;
  uint64_t got;
  int64_t wrong = 0;
  osla_channels_wait(set, 1, &which, true);
  OSLA_ASSERT_OK(osla_channel_recv(set, which, &message, &got));
  for (int64_t i = 0; i < n; i++)
    wrong += ((const uint64_t *)message)[i] != stamp + (uint64_t)i;
  OSLA_ASSERT_MSG(got == stamp && wrong == 0, "message %llu: it is %llu, %lld wrong",
                  (unsigned long long)stamp, (unsigned long long)got, (long long)wrong);
}

static void send(osla_channels *set, int64_t n, uint64_t stamp)
{
  send_on(set, 0, n, stamp);
}

static void receive(osla_channels *set, int64_t n, uint64_t stamp)
{
  receive_from(set, 0, n, stamp);
}

/* Tests alternating messages: each is one MPI message, because its acknowledgement travels in the
 * head of the next message in the opposite direction. */
static void test_both_ways(void)
{
  enum { ROUNDS = 400 };
  osla_transport *t = by_messages();
  for (int kind = OSLA_CHANNEL_LATEST; kind <= OSLA_CHANNEL_EVERY; kind++) {
    osla_channels *set = join(t, (osla_channel_kind)kind, 2, 1, 1);
    OSLA_ASSERT_OK(osla_barrier(t));
    n_messages = 0;
    for (uint64_t s = 1; s <= ROUNDS && talks(); s++) {
      if (is_first()) send(set, 1, s);
      receive(set, 1, s);
      if (!is_first()) send(set, 1, s);
    }
    OSLA_ASSERT_MSG(n_messages <= ROUNDS + 2, "kind %d: %d messages for %d", kind, (int)n_messages,
                    (int)ROUNDS);
    osla_channels_destroy(&set);
  }
  osla_transport_destroy(&t);
}

/* Tests ranks that send at the same time. If one rank is late, the other one may have no room left;
 * then an acknowledgement travels alone, as a word, and not in the head of a message. */
static void test_both_at_once(void)
{
  enum { ROUNDS = 400 };
  osla_transport *t = by_messages();
  osla_channels *set = join(t, OSLA_CHANNEL_EVERY, 2, 1, 1);
  OSLA_ASSERT_OK(osla_barrier(t));
  n_messages = 0;
  for (uint64_t s = 1; s <= ROUNDS && talks(); s++) {
    send(set, 1, s);
    receive(set, 1, s);
  }
  OSLA_ASSERT_MSG(n_messages <= ROUNDS + ROUNDS / 4, "%d messages for %d", (int)n_messages,
                  (int)ROUNDS);
  osla_channels_destroy(&set);
  osla_transport_destroy(&t);
}

/* Tests channels with room for one message: each rank waits for room while its peer keeps the
 * acknowledgement for the head of its next message. */
static void test_least_room(void)
{
  osla_transport *t = by_messages();
  osla_channels *set = join(t, OSLA_CHANNEL_EVERY, 1, 3, 5000);
  for (uint64_t s = 1; s <= 200 && talks(); s++) {
    send(set, is_first() ? 3 : 5000, s);
    receive(set, is_first() ? 5000 : 3, s);
  }
  osla_channels_destroy(&set);
  osla_transport_destroy(&t);
}

/* Tests messages of 64 KiB in one direction. Each is one MPI message. The receiver acknowledges by
 * one word for each four messages, and by one more when eight arrive together (because the sender
 * may be waiting for room). The sender returns at most one answer for each eight words. */
static void test_one_way(void)
{
  enum { ROUNDS = 200, LENGTH = 8192 };
  osla_transport *t = by_messages();
  osla_channels *set = join(t, OSLA_CHANNEL_EVERY, 8, LENGTH, 0);
  OSLA_ASSERT_OK(osla_barrier(t));
  n_messages = 0;
  for (uint64_t s = 1; s <= ROUNDS && talks(); s++)
    if (is_first())
      send(set, LENGTH, s);
    else
      receive(set, LENGTH, s);
  const int most = is_first() ? ROUNDS + 2 + ROUNDS / 16 : 3 * ROUNDS / 8 + 2;
  OSLA_ASSERT_MSG(n_messages <= most, "%d messages, at most %d", (int)n_messages, most);
  osla_channels_destroy(&set);
  osla_transport_destroy(&t);
}

/* A sender that has used all room can send again after one receive, although the receiver neither
 * sends nor receives further messages. */
static void test_one_freed(void)
{
  enum { ROOM = 8 };
  osla_transport *t = by_messages();
  osla_channels *set = join(t, OSLA_CHANNEL_EVERY, ROOM, 2, 0);
  for (uint64_t s = 1; s <= ROOM && talks() && is_first(); s++)
    send(set, 2, s);
  OSLA_ASSERT_OK(osla_barrier(t));
  if (talks() && is_first()) send(set, 2, ROOM + 1);
  if (talks() && !is_first()) receive(set, 2, 1);
  OSLA_ASSERT_OK(osla_barrier(t)); /* the receiver waits here, and neither sends nor receives */
  for (uint64_t s = 2; s <= ROOM + 1 && talks() && !is_first(); s++)
    receive(set, 2, s);
  osla_channels_destroy(&set);
  osla_transport_destroy(&t);
}

/* Tests that a message of any length is one MPI message. */
static void test_lengths(void)
{
  const int64_t lengths[] = {0, 1, 2049, 1100 * 2048};
  osla_transport *t = by_messages();
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    osla_channels *set = join(t, OSLA_CHANNEL_LATEST, 1, lengths[i], 1);
    if (talks() && is_first()) send(set, lengths[i], 7);
    if (talks() && !is_first()) receive(set, lengths[i], 7);
    osla_channels_destroy(&set);
  }
  osla_transport_destroy(&t);
}

/* Tests messages that nobody receives, more than there is room for: they do not appear in the next
 * set of channels, which uses the same tags. */
static void test_dropped(void)
{
  enum { SETS = 50, ROOM = 3 };
  osla_transport *t = by_messages();
  for (uint64_t k = 1; k <= SETS; k++) {
    const int64_t n = k % 2 ? 5 : 9000;
    const bool is_every = k % 3 == 0;
    osla_channels *set = join(t, is_every ? OSLA_CHANNEL_EVERY : OSLA_CHANNEL_LATEST, ROOM, n, 1);
    const uint64_t sent = is_every ? ROOM : ROOM + 2;
    for (uint64_t s = 0; s < sent && talks() && is_first(); s++)
      send(set, n, 10 * k + s);
    if (talks() && !is_first() && is_every) receive(set, n, 10 * k);
    osla_channels_destroy(&set);
  }
  osla_transport_destroy(&t);
}

/* Number of doubles in a message on the channel with this number. From number 508 on, the size is
 * close to the largest that fits into the MPI message that carries a word. */
static int64_t length_of(int number)
{
  return number < 508 ? 1 : 2045 + number % 4;
}

/* Tests channels with and without message lines, which exist for numbers below 512 only. The last
 * rank numbers its channels in reverse, so that channels have two lines, a line in one direction,
 * or none. */
static void test_without_lines(void)
{
  enum { MANY = 520, LINES = 512, ROUNDS = 3 };
  osla_transport *t = by_messages();
  osla_channel_end *ends = osla_test_allocate(MANY, sizeof *ends);
  osla_channels *set;
  for (int k = 0; k < MANY; k++)
    ends[k] = (osla_channel_end){.peer = other(),
                                 .tag = is_first() ? k : MANY - 1 - k,
                                 .kind = OSLA_CHANNEL_EVERY,
                                 .in_flight = 2,
                                 .send_bytes = 8 * length_of(MANY - 1 - k),
                                 .recv_bytes = 8 * length_of(k)};
  OSLA_ASSERT_OK(osla_channels_create(t, talks() ? MANY : 0, ends, &set));
  n_on_lines = 0;
  for (uint64_t s = 1; s <= ROUNDS && talks(); s++) {
    for (int k = 0; k < MANY; k++)
      send_on(set, k, length_of(MANY - 1 - k), s + (uint64_t)k);
    for (int k = 0; k < MANY; k++)
      receive_from(set, k, length_of(k), s + (uint64_t)(MANY - 1 - k));
  }
  osla_channels_destroy(&set);
  if (talks())
    OSLA_ASSERT_MSG(n_on_lines == ROUNDS * LINES, "%d messages on lines", (int)n_on_lines);
  osla_transport_destroy(&t);
  free(ends);
}

static double processor_time(void)
{
  struct timespec now;
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Share of CPU time of the first rank while it waits for one of n neighbours, which sends after a
 * while; 0 on other ranks. */
static double busy_share(osla_transport *t, int n)
{
  enum { MANY = 160, THAT = 17, SLEEP_US = 400000 };
  osla_channel_end ends[MANY];
  osla_channels *set;
  double share = 0.0;
  for (int k = 0; k < n; k++)
    ends[k] = (osla_channel_end){.peer = other(),
                                 .tag = k,
                                 .kind = OSLA_CHANNEL_EVERY,
                                 .in_flight = 1,
                                 .send_bytes = 8,
                                 .recv_bytes = 8};
  OSLA_ASSERT_OK(osla_channels_create(t, talks() ? n : 0, ends, &set));
  OSLA_ASSERT_OK(osla_barrier(t));
  if (talks() && !is_first()) {
    (void)usleep(SLEEP_US);
    send_on(set, THAT, 1, 1);
  }
  if (talks() && is_first()) {
    const double start = osla_clock(), before = processor_time();
    receive_from(set, THAT, 1, 1);
    share = (processor_time() - before) / (osla_clock() - start);
  }
  osla_channels_destroy(&set);
  return share;
}

/* Tests that a rank with many neighbours sleeps while it waits for one of them. Other load on the
 * machine makes each turn longer, so the rank needs to sleep in only one of three attempts. */
static void check_many(osla_transport *t, int n)
{
  double least = 1.0;
  for (int i = 0; i < 3 && least >= 0.5; i++) {
    double share = busy_share(t, n);
    OSLA_ASSERT_OK(osla_allreduce(t, &share, 1, MPI_DOUBLE, MPI_MAX));
    least = fmin(least, share);
  }
  OSLA_ASSERT_MSG(least < 0.5, "%d neighbours: at work for %.2f of the time", n, least);
}

static void test_many(void)
{
  osla_transport *t = by_messages();
  check_many(t, 30);
  check_many(t, 160);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"both_ways", test_both_ways},
  {"both_at_once", test_both_at_once},
  {"least_room", test_least_room},
  {"one_way", test_one_way},
  {"one_freed", test_one_freed},
  {"lengths", test_lengths},
  {"dropped", test_dropped},
  {"without_lines", test_without_lines},
  {"many", test_many},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_channel_wire, cases);
