/* Tests of signals between devices: between the lanes of a device, between the ranks of a node, and
 * in star forests, whose begin and end must not wait for the device. */
#include "osla_forest.h"
#include "src/device/fake/fake.h"
#include "src/memory/segment.h"
#include "tests/device/device_help.h"

#include <stdlib.h>
#include <string.h>

enum { N = 1000, BYTES = N * sizeof(double) };

/* ---- lanes ---- */

/* Queues *y := factor * *x + *y. */
static void add(double factor, const double *x, double *y)
{
  OSLA_ASSERT_OK(osli_device_add(OSLA_DOUBLE, 1, 1, factor, x, 1, 1, y, 1));
}

/* Lets the main lane wait for a signal of the panel lane, and checks the result of work in both
 * lanes. Only the signal makes the fake device run the panel lane. */
static void check_lanes(bool early)
{
  static _Alignas(4096) _Atomic uint64_t word[512];
  device_bench b;
  double *on = NULL, x[3] = {1, 0, 0};
  if (!bench_open(&b, early)) return;
  device_queue *q = osli_device_queue(b.device);
  const bool pins = q->ops->pin != NULL;
  OSLA_ASSERT_OK(osli_device_alloc(q, sizeof x, false, (void **)&on));
  if (pins) OSLA_ASSERT_OK(q->ops->pin(q->state, word, sizeof word));
  atomic_store(word, 0);
  for (uint64_t round = 1; round <= 3; round++) {
    osli_device_copy_bytes(sizeof x, (double[]){1, 0, 0}, on);
    (void)osli_device_lane(LANE_PANEL);
    add((double)round, on, on + 1);
    OSLA_ASSERT_OK(osli_device_signal(q, word, round));
    (void)osli_device_lane(LANE_MAIN);
    OSLA_ASSERT_OK(osli_device_await(q, word, round));
    add(5, on + 1, on + 2);
    OSLA_ASSERT_OK(osli_device_finish(q));
    CU_ASSERT(atomic_load(word) == round);
    osli_device_copy_bytes(sizeof x, on, x);
    OSLA_ASSERT_MSG(x[2] == 5 * (double)round, "round %d: %g", (int)round, x[2]);
  }
  OSLA_ASSERT_OK(osla_device_wait(b.device));
  if (pins) q->ops->unpin(q->state, word);
  osli_device_free(on);
  bench_close(&b);
}

static void test_lanes(void)
{
  check_lanes(false);
  check_lanes(true);
}

/* ---- ranks ---- */

/* Returns whether devices of the transport should use signals: whether a node has several ranks. */
static bool expects_signals(const osla_transport *t)
{
  return osla_transport_n_nodes(t) < osla_transport_size(t);
}

/* Returns the rank of this rank's node that follows this rank (step 1) or precedes it (step -1) in
 * cyclic order. */
static int next_on_node(osla_transport *t, int step)
{
  const int size = osla_transport_size(t);
  int rank = osla_transport_rank(t);
  do
    rank = (rank + size + step) % size;
  while (!osla_transport_same_node(t, rank));
  return rank;
}

/* In each round each rank fills its array by queued work, reads the array of the next rank of its
 * node, and overwrites its own array after the previous rank has read it. Ranks inform each other
 * by a barrier of MPI, which waits for no device. */
static void check_ranks(bool early)
{
  device_bench b;
  osla_segment *s = NULL;
  if (!bench_open(&b, early)) return;
  CU_ASSERT(osli_device_has_signals(b.device) == expects_signals(b.t));
  const int next = next_on_node(b.t, 1), previous = next_on_node(b.t, -1);
  OSLA_ASSERT_OK(osla_segment_create_on(b.device, 3 * BYTES, 0, &s));
  double *mine = osla_segment_local(s), *values = mine + N, *got = mine + 2 * N;
  const double *theirs = osla_segment_peer(s, next);
  double *host = osla_test_allocate(N, sizeof *host);
  for (int round = 1; round <= 3 && osli_device_has_signals(b.device); round++) {
    for (int i = 0; i < N; i++)
      host[i] = 1000 * round + osla_test_rank();
    osli_device_copy_bytes(BYTES, host, values);
    osli_device_copy_bytes(BYTES, values, mine);
    osli_device_signal_ranks(b.device);
    (void)MPI_Barrier(MPI_COMM_WORLD);
    osli_device_await_rank(b.device, next);
    osli_device_copy_bytes(BYTES, theirs, got);
    osli_device_signal_ranks(b.device);
    (void)MPI_Barrier(MPI_COMM_WORLD);
    osli_device_await_rank(b.device, previous);
    memset(host, 0, BYTES);
    osli_device_copy_bytes(BYTES, host, mine);
    osli_device_copy_bytes(BYTES, got, host);
    for (int i = 0; i < N; i++)
      OSLA_ASSERT_MSG(host[i] == 1000 * round + next, "round %d: %g instead of %d", round, host[i],
                      1000 * round + next);
  }
  free(host);
  osla_segment_destroy(&s);
  bench_close(&b);
}

static void test_ranks(void)
{
  check_ranks(false);
  check_ranks(true);
}

static device_ops not_failing; /* functions of the backend, while some of them fail */

static osla_err refuse_signal(device_state *state, const device_work *work)
{
  if (work->kind == DEVICE_SIGNAL) return osla_error_set(OSLA_ERR_STATE, "planted failure");
  return not_failing.submit(state, work);
}

static osla_err fail_wait(device_state *state, uint64_t mark)
{
  OSLA_CALL(not_failing.wait(state, mark));
  return osla_error_set(OSLA_ERR_STATE, "planted failure");
}

/* Does not submit signals, so that they never run, as on a device that has failed. */
static osla_err lose_signal(device_state *state, const device_work *work)
{
  return work->kind == DEVICE_SIGNAL ? OSLA_OK : not_failing.submit(state, work);
}

/* Lets the device of the last rank fail, when its signal is submitted if at_submit is true,
 * otherwise when the host waits. Checks that no other rank waits forever, and that all ranks get
 * the error. */
static void check_failure(bool at_submit)
{
  device_bench b;
  if (!bench_open(&b, false)) return;
  device_queue *q = osli_device_queue(b.device);
  const device_ops *real = q->ops;
  device_ops failing = not_failing = *real;
  failing.submit = at_submit ? refuse_signal : lose_signal;
  if (!at_submit) failing.wait = fail_wait;
  if (osli_device_has_signals(b.device)) {
    if (osla_test_rank() == osla_test_size() - 1) q->ops = &failing;
    osli_device_signal_ranks(b.device);
    (void)MPI_Barrier(MPI_COMM_WORLD);
    osli_device_await_rank(b.device, next_on_node(b.t, 1));
    OSLA_ASSERT_ERR(osla_agree(b.t, OSLA_OK), OSLA_ERR_STATE);
    OSLA_ASSERT_TEXT("planted failure");
    OSLA_ASSERT_SAME_TEXT();
    q->ops = real;
    (void)osla_agree(b.t, OSLA_OK); /* may return a stored error of another failed wait */
    OSLA_ASSERT_OK(osla_agree(b.t, OSLA_OK));
  }
  bench_close(&b);
}

static void test_failure(void)
{
  check_failure(true);
  check_failure(false);
}

/* ---- star forests ---- */

/* Makes transfers between the devices of a node, in which leaf i of a rank is joined to root i of
 * the next rank of its node. Checks the values, and that begin and end of transfers between ranks
 * wait for the device only without signals. */
static void check_forest(bool signals)
{
  device_bench b;
  osla_forest *f = NULL;
  osla_forest_run run;
  void *roots = NULL, *leaves = NULL, *before = NULL;
  osla_root root[N];
  double *host = osla_test_allocate(N, sizeof *host);
  (void)setenv("OSLA_DEVICE_SIGNALS", signals ? "on" : "off", 1);
  const bool is_open = bench_open(&b, false);
  (void)unsetenv("OSLA_DEVICE_SIGNALS");
  if (!is_open) return;
  device_queue *q = osli_device_queue(b.device);
  const int next = next_on_node(b.t, 1);
  CU_ASSERT(osli_device_has_signals(b.device) == (signals && expects_signals(b.t)));
  for (int i = 0; i < N; i++)
    root[i] = (osla_root){next, i};
  OSLA_ASSERT_OK(osla_forest_create(b.t, N, N, NULL, root, &f));
  OSLA_ASSERT_OK(osla_vertices_create_on(b.device, BYTES, &roots));
  OSLA_ASSERT_OK(osla_vertices_create_on(b.device, BYTES, &leaves));
  OSLA_ASSERT_OK(osla_vertices_create_on(b.device, BYTES, &before));
  for (int round = 1; round <= 3 && q->ops->has_kernels; round++) {
    for (int i = 0; i < N; i++)
      host[i] = round * 1000 + osla_test_rank();
    osli_device_copy_bytes(BYTES, host, roots);
    count_begin(b.device);
    /* leaves := roots of next; roots := roots + leaves of previous; leaves := 2 values of next */
    OSLA_ASSERT_OK(osla_forest_bcast_begin(f, OSLA_ONE_DOUBLE, roots, leaves, OSLA_REPLACE, &run));
    OSLA_ASSERT_OK(osla_forest_end(&run));
    OSLA_ASSERT_OK(osla_forest_reduce_begin(f, OSLA_ONE_DOUBLE, leaves, roots, OSLA_SUM, &run));
    OSLA_ASSERT_OK(osla_forest_end_read(&run));
    OSLA_ASSERT_OK(osla_forest_writable(f));
    OSLA_ASSERT_OK(
      osla_forest_fetch_begin(f, OSLA_ONE_DOUBLE, roots, leaves, before, OSLA_SUM, &run));
    OSLA_ASSERT_OK(osla_forest_end(&run));
    const int waits = count_end(b.device).waits;
    const bool must_wait = next != osla_test_rank() && !signals;
    OSLA_ASSERT_MSG((waits > 0) == must_wait, "%d waits", waits);
    osli_device_copy_bytes(BYTES, before, host);
    const double theirs = round * 1000 + next;
    for (int i = 0; i < N; i++)
      OSLA_ASSERT_MSG(host[i] == 2 * theirs, "before: %g instead of %g", host[i], 2 * theirs);
    osli_device_copy_bytes(BYTES, roots, host);
    for (int i = 0; i < N; i++)
      OSLA_ASSERT_MSG(host[i] == 3.0 * (round * 1000 + osla_test_rank()), "roots: %g", host[i]);
  }
  OSLA_ASSERT_OK(osla_forest_destroy(&f));
  OSLA_ASSERT_OK(osla_vertices_free(b.t, &roots));
  OSLA_ASSERT_OK(osla_vertices_free(b.t, &leaves));
  OSLA_ASSERT_OK(osla_vertices_free(b.t, &before));
  free(host);
  bench_close(&b);
}

static void test_forest(void)
{
  check_forest(true);
  check_forest(false);
}

/* ---- arguments and many devices ---- */

/* Checks that osla_device_wait waits for queued work, and returns and clears a stored error. */
static void test_wait(void)
{
  device_bench b;
  double *on = NULL;
  if (!bench_open(&b, false)) return;
  device_queue *q = osli_device_queue(b.device);
  OSLA_ASSERT_OK(osli_device_alloc(q, 2 * sizeof *on, false, (void **)&on));
  osli_device_copy_bytes(2 * sizeof *on, (double[]){1, 2}, on);
  add(1, on, on + 1);
  if (q->ops == &osli_fake_device) CU_ASSERT(osli_fake_queued(q->state, LANE_MAIN) == 1);
  OSLA_ASSERT_OK(osla_device_wait(b.device));
  if (q->ops == &osli_fake_device) CU_ASSERT(osli_fake_queued(q->state, LANE_MAIN) == 0);
  osli_device_keep_error(osla_error_set(OSLA_ERR_STATE, "planted failure"));
  OSLA_ASSERT_ERR(osla_device_wait(b.device), OSLA_ERR_STATE);
  OSLA_ASSERT_TEXT("planted failure");
  OSLA_ASSERT_OK(osla_device_wait(b.device));
  osli_device_free(on);
  bench_close(&b);
}

/* Opens one device more than can have signals at the same time. Checks that this device has none,
 * and that another device has signals after one of the first devices was closed. */
static void test_limit(void)
{
  enum { LIMIT = 64 }; /* LINES of device_signals.c */
  const char *kind = getenv("OSLA_TEST_DEVICE");
  const osla_device_options options = {.kind = kind ? kind : "fake"};
  osla_transport *t = osla_test_transport();
  osla_device *device[LIMIT + 1];
  for (int i = 0; i <= LIMIT; i++) {
    OSLA_ASSERT_OK(osla_device_open(t, &options, &device[i]));
    OSLA_ASSERT_MSG(osli_device_has_signals(device[i]) == (i < LIMIT && expects_signals(t)),
                    "device %d", i);
  }
  osla_device_close(&device[3]);
  OSLA_ASSERT_OK(osla_device_open(t, &options, &device[3]));
  CU_ASSERT(osli_device_has_signals(device[3]) == expects_signals(t));
  for (int i = 0; i <= LIMIT; i++)
    osla_device_close(&device[i]);
  osla_transport_destroy(&t);
}

/* Checks that a wrong value of OSLA_DEVICE_SIGNALS is refused, and that later devices can use the
 * words of signals of closed devices. */
static void test_settings(void)
{
  enum { ROUNDS = 70 }; /* more than LINES of device_signals.c, so that lines must be used again */
  const char *kind = getenv("OSLA_TEST_DEVICE");
  const osla_device_options options = {.kind = kind ? kind : "fake"};
  osla_transport *t = osla_test_transport();
  osla_device *device = NULL;
  (void)setenv("OSLA_DEVICE_SIGNALS", "maybe", 1);
  OSLA_ASSERT_ERR(osla_device_open(t, &options, &device), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("must be on or off");
  OSLA_ASSERT_SAME_TEXT();
  (void)unsetenv("OSLA_DEVICE_SIGNALS");
  for (int round = 0; round < ROUNDS; round++) {
    OSLA_ASSERT_OK(osla_device_open(t, &options, &device));
    CU_ASSERT(osli_device_has_signals(device) == expects_signals(t));
    osla_device_close(&device);
  }
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {{"lanes", test_lanes},     {"ranks", test_ranks},
                                       {"failure", test_failure}, {"forest", test_forest},
                                       {"wait", test_wait},       {"settings", test_settings},
                                       {"limit", test_limit},     {NULL, NULL}};
OSLA_TEST_SUITE(test_device_signals, cases);
