/* Tests of transfers to and from device memory of other ranks, which are on other nodes if the job
 * has several nodes. Data must arrive unchanged, also while the owner computes and if several
 * threads transfer, and the rank that calls must get the error of an owner. */
#include "osla_clock.h"
#include "osla_gemm.h"
#include "src/device/fake/fake.h"
#include "src/memory/segment_state.h"
#include "tests/device/device_help.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Value of byte i of the pattern that `seed` selects. */
static unsigned char pattern(int seed, size_t i)
{
  return (unsigned char)((i * 31 + i / 255 + (size_t)seed * 7) % 251);
}

static void fill_pattern(int seed, unsigned char *bytes, size_t count)
{
  for (size_t i = 0; i < count; i++)
    bytes[i] = pattern(seed, i);
}

static size_t count_wrong(int seed, const unsigned char *bytes, size_t count)
{
  size_t wrong = 0;
  for (size_t i = 0; i < count; i++)
    wrong += bytes[i] != pattern(seed, i);
  return wrong;
}

enum {
  MOST = (5 << 19) + 3, /* bytes of the largest transfer, which needs several requests */
  START = 5             /* offset of the data in the target segment in bytes */
};
static const size_t counts[] = {1, 8, 4097, MOST};
enum { N_COUNTS = sizeof counts / sizeof *counts };

/* Puts `count` bytes of the buffer `mine`, in host or device memory, into the next rank's memory of
 * segment s, and gets them back. Checks what this rank received, and what came back. For an even
 * turn, which *turn counts, the put is followed by a notify through the segment `signal`. `host` is
 * a buffer in host memory, and may be `mine`. */
static void put_and_get(osla_segment *s, osla_segment *signal, size_t count, void *mine,
                        unsigned char *host, uint64_t *turn)
{
  osla_transport *t = osla_segment_transport(s);
  const int rank = osla_transport_rank(t), size = osla_transport_size(t);
  const int next = (rank + 1) % size, before = (rank + size - 1) % size, seed = (int)++*turn;
  osla_posted posted = {0};
  osla_transfer transfer;
  fill_pattern(seed + rank, host, count);
  if (mine != host) osli_device_copy_bytes(count, host, mine);
  if (*turn % 2 == 0) {
    OSLA_ASSERT_OK(osla_segment_put(s, next, START, mine, count, &transfer));
    OSLA_ASSERT_OK(osla_transfer_wait(s, &transfer));
    OSLA_ASSERT_OK(osla_segment_flush(s, next));
    OSLA_ASSERT_OK(osla_notify(signal, next, 0, *turn));
    osla_notify_wait(signal, before, 0, *turn);
  } else {
    OSLA_ASSERT_OK(osla_put_notify_post(s, next, START, mine, count, 0, *turn, &posted));
    OSLA_ASSERT_OK(osla_posted_wait(s, &posted));
    osla_notify_wait(s, before, 0, *turn);
  }
  memset(host, 0, count);
  OSLA_ASSERT_OK(osla_segment_read(s, rank, START, host, count));
  CU_ASSERT(count_wrong(seed + before, host, count) == 0);
  memset(host, 0, count);
  if (mine != host) osli_device_copy_bytes(count, host, mine);
  OSLA_ASSERT_OK(osla_segment_fetch(s, next, START, mine, count, &transfer));
  OSLA_ASSERT_OK(osla_transfer_wait(s, &transfer));
  if (mine != host) osli_device_copy_bytes(count, mine, host);
  OSLA_ASSERT_MSG(count_wrong(seed + rank, host, count) == 0, "%zu bytes, turn %d", count, seed);
  OSLA_ASSERT_OK(osla_barrier(t));
}

static void test_transfers(void)
{
  for (int early = 0; early < 2; early++) {
    device_bench b;
    if (!bench_open(&b, early)) return;
    osla_segment *far[2] = {NULL, NULL}, *mine = NULL;
    unsigned char *host = osla_test_allocate(MOST, 1);
    uint64_t turn = 0;
    OSLA_ASSERT_OK(osla_segment_create_on(b.device, MOST, 0, &mine));
    OSLA_ASSERT_OK(osla_segment_create_on(b.device, START + MOST, 1, &far[0]));
    OSLA_ASSERT_OK(osla_segment_create(b.t, START + MOST, 1, &far[1]));
    for (int i = 0; i < 2 * N_COUNTS; i++) {
      put_and_get(far[0], far[1], counts[i / 2], host, host, &turn);
      put_and_get(far[0], far[1], counts[i / 2], osla_segment_local(mine), host, &turn);
      put_and_get(far[1], far[0], counts[i / 2], osla_segment_local(mine), host, &turn);
    }
    free(host);
    osla_segment_destroy(&far[0]);
    osla_segment_destroy(&far[1]);
    osla_segment_destroy(&mine);
    bench_close(&b);
  }
}

/* ---- an owner that computes ---- */

/* The other ranks get and put data in device memory of rank 0 while rank 0 has queued work for
 * which it does not wait. Rank 0 only makes progress, or, if `by_thread` is true, leaves progress
 * to a progress thread. The data must be right, and the queued work must not have run. */
static void owner_computes(bool by_thread)
{
  enum { TIMES = 20, COUNT = 1000 };
  const osla_transport_options with = {.progress_thread = by_thread, .threads_per_rank = 1};
  const osla_device_options options = {.kind = "fake"};
  osla_transport *t = NULL;
  osla_device *device = NULL;
  osla_segment *s = NULL, *other = NULL;
  (void)setenv("OSLA_FAKE_DEVICE", "late", 1);
  OSLA_ASSERT_OK(osla_transport_create(MPI_COMM_WORLD, &with, &t));
  OSLA_ASSERT_OK(osla_device_open(t, &options, &device));
  OSLA_ASSERT_OK(osla_segment_create_on(device, COUNT * sizeof(double), 1, &s));
  OSLA_ASSERT_OK(osla_segment_create_on(device, sizeof(double), 0, &other));
  const int rank = osla_transport_rank(t), size = osla_transport_size(t);
  double got[COUNT], *queued = osla_segment_local(other);
  if (rank == 0) {
    for (int i = 0; i < COUNT; i++)
      got[i] = i;
    OSLA_ASSERT_OK(osla_segment_put(s, 0, 0, got, sizeof got, &(osla_transfer){0}));
  }
  OSLA_ASSERT_OK(osla_barrier(t));
  if (rank == 0) {
    OSLA_ASSERT_OK(osli_device_add(OSLA_DOUBLE, 1, 1, 1, queued, 1, 1, queued, 1));
    for (int other_rank = 1; other_rank < size; other_rank++)
      while (osla_notify_read(s, other_rank, 0) == 0)
        if (!by_thread) osla_progress(t);
    CU_ASSERT(osli_fake_queued(osli_device_of(queued)->state, LANE_MAIN) == 1);
  } else {
    for (int i = 0; i < TIMES; i++) {
      memset(got, 0, sizeof got);
      OSLA_ASSERT_OK(osla_segment_read(s, 0, 0, got, (COUNT - 1) * sizeof *got));
      for (int k = rank; k < COUNT - size; k++)
        CU_ASSERT(got[k] == k || k < size);
      const double mine = -rank - i;
      osla_transfer transfer;
      OSLA_ASSERT_OK(
        osla_segment_put(s, 0, (size_t)rank * sizeof mine, &mine, sizeof mine, &transfer));
      OSLA_ASSERT_OK(osla_transfer_wait(s, &transfer));
      OSLA_ASSERT_OK(osla_segment_read(s, 0, (size_t)rank * sizeof mine, got, sizeof mine));
      CU_ASSERT(got[0] == mine);
    }
    OSLA_ASSERT_OK(osla_notify(s, 0, 0, 1));
  }
  OSLA_ASSERT_OK(osla_barrier(t));
  osla_segment_destroy(&other);
  osla_segment_destroy(&s);
  osla_device_close(&device);
  osla_transport_destroy(&t);
}

static void test_owner_computes(void)
{
  owner_computes(false);
  if (osla_test_multiple("an owner with a progress thread")) owner_computes(true);
}

/* ---- threads, and errors of an owner ---- */

typedef struct reader {
  osla_segment *s;
  int from, seed;
  size_t offset, count, wrong;
  osla_err err;
} reader;

static void *read_often(void *arg)
{
  enum { TIMES = 20 };
  reader *r = arg;
  unsigned char *bytes = malloc(r->count);
  for (int i = 0; i < TIMES && bytes && r->err == OSLA_OK; i++) {
    memset(bytes, 0, r->count);
    r->err = osla_segment_read(r->s, r->from, r->offset, bytes, r->count);
    r->wrong += count_wrong(r->seed, bytes, r->count);
  }
  free(bytes);
  return NULL;
}

static void test_threads(void)
{
  enum { THREADS = 3, COUNT = 5000 };
  device_bench b;
  if (!osla_test_multiple("several threads") || !bench_open(&b, false)) return;
  osla_segment *s = NULL;
  const int rank = osla_transport_rank(b.t), size = osla_transport_size(b.t);
  unsigned char bytes[COUNT];
  reader readers[THREADS];
  pthread_t threads[THREADS];
  OSLA_ASSERT_OK(osla_segment_create_on(b.device, THREADS * COUNT, 0, &s));
  for (int i = 0; i < THREADS; i++) {
    osla_transfer transfer;
    fill_pattern(rank + i, bytes, COUNT);
    OSLA_ASSERT_OK(osla_segment_put(s, rank, (size_t)i * COUNT, bytes, COUNT, &transfer));
  }
  OSLA_ASSERT_OK(osla_barrier(b.t));
  for (int i = 0; i < THREADS; i++) {
    const int from = (rank + 1 + i % 2) % size;
    readers[i] = (reader){s, from, from + i, (size_t)i * COUNT, COUNT, 0, OSLA_OK};
    CU_ASSERT(pthread_create(&threads[i], NULL, read_often, &readers[i]) == 0);
  }
  for (int i = 0; i < THREADS; i++) {
    (void)pthread_join(threads[i], NULL);
    CU_ASSERT(readers[i].err == OSLA_OK && readers[i].wrong == 0);
  }
  OSLA_ASSERT_OK(osla_barrier(b.t));
  osla_segment_destroy(&s);
  bench_close(&b);
}

/* Checks that a request for an address that is not on the owner's device returns an error, and that
 * the owner serves the next request. */
static void test_owner_fails(void)
{
  device_bench b;
  if (!bench_open(&b, false)) return;
  osla_segment *s = NULL;
  const int next = (osla_transport_rank(b.t) + 1) % osla_transport_size(b.t);
  double x = 1;
  OSLA_ASSERT_OK(osla_segment_create_on(b.device, sizeof x, 0, &s));
  if (!osla_transport_same_node(b.t, next))
    for (int is_put = 0; is_put < 2; is_put++) {
      x = 1;
      OSLA_ASSERT_ERR(
        osli_device_service_copy(b.device->service, next, &x, &x, sizeof x, is_put == 1),
        OSLA_ERR_ARG);
      OSLA_ASSERT_TEXT("is not on a device of this rank");
      CU_ASSERT(x == 1);
      OSLA_ASSERT_OK(osla_segment_read(s, next, 0, &x, sizeof x));
      CU_ASSERT(x == 0);
    }
  OSLA_ASSERT_OK(osla_barrier(b.t));
  osla_segment_destroy(&s);
  bench_close(&b);
}

/* Checks that a notify arrives, and that the sender gets the error, if the data that precede the
 * notify cannot be copied to the other rank's device. */
static void test_notify_after_failure(void)
{
  device_bench b;
  if (!bench_open(&b, false)) return;
  enum { OUTSIDE = 1 << 30 }; /* offset of an address that is on no device */
  osla_segment *s = NULL;
  const int size = osla_transport_size(b.t), rank = osla_transport_rank(b.t);
  const int next = (rank + 1) % size, last = (rank + size - 1) % size;
  const double x = 1;
  osla_posted posted = {0};
  OSLA_ASSERT_OK(osla_segment_create_on(b.device, sizeof x, 1, &s));
  if (!osla_transport_same_node(b.t, next)) {
    OSLA_ASSERT_ERR(osla_put_notify(s, next, OUTSIDE, &x, sizeof x, 0, 1), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("is not on a device of this rank");
    OSLA_ASSERT_ERR(osla_put_notify_post(s, next, OUTSIDE, &x, sizeof x, 0, 2, &posted),
                    OSLA_ERR_ARG);
    OSLA_ASSERT_OK(osla_posted_wait(s, &posted));
  }
  if (!osla_transport_same_node(b.t, last)) osla_notify_wait(s, last, 0, 2);
  OSLA_ASSERT_OK(osla_barrier(b.t));
  osla_segment_destroy(&s);
  bench_close(&b);
}

/* Checks that a rank's second device still serves transfers of other ranks after the first device,
 * with which it shares the service, is closed. */
static void test_two_devices(void)
{
  device_bench b;
  if (!bench_open(&b, false)) return;
  const osla_device_options options = {.kind = "fake", .chosen = true, .ordinal = 3};
  const int rank = osla_transport_rank(b.t), next = (rank + 1) % osla_transport_size(b.t);
  osla_device *device = NULL;
  osla_segment *s = NULL;
  int got = -1;
  OSLA_ASSERT_OK(osla_device_open(b.t, &options, &device));
  CU_ASSERT(device->service == b.device->service);
  osla_device_close(&b.device);
  OSLA_ASSERT_OK(osla_segment_create_on(device, sizeof rank, 0, &s));
  OSLA_ASSERT_OK(osla_segment_put(s, rank, 0, &rank, sizeof rank, &(osla_transfer){0}));
  OSLA_ASSERT_OK(osla_barrier(b.t));
  OSLA_ASSERT_OK(osla_segment_read(s, next, 0, &got, sizeof got));
  CU_ASSERT(got == next);
  OSLA_ASSERT_OK(osla_barrier(b.t));
  osla_segment_destroy(&s);
  osla_device_close(&device);
  bench_close(&b);
}

/* ---- loads that ranks of a node share ---- */

/* Compares a product of the smallest size at which ranks of a node share the loads of A and B with
 * the product in host memory. */
static void test_shared_loads(void)
{
  enum { N = 512, K = 1024 };
  device_bench b;
  if (!bench_open(&b, false)) return;
  osla_grid *grid = osla_test_square_grid(b.t);
  if (osla_transport_size(b.t) >= 4) {
    matrix_pair x = pair_make(&b, b.alone, grid, OSLA_DOUBLE, N, K, 64, 64, OSLA_FILL_UNIFORM, 1);
    matrix_pair y = pair_make(&b, b.alone, grid, OSLA_DOUBLE, K, N, 64, 64, OSLA_FILL_UNIFORM, 2);
    matrix_pair c = pair_make(&b, b.alone, grid, OSLA_DOUBLE, N, N, 64, 64, OSLA_FILL_ZERO, 0);
    OSLA_ASSERT_OK(osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, 1, osla_whole(x.host), osla_whole(y.host),
                             0, osla_whole(c.host), NULL));
    OSLA_ASSERT_OK(osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, 1, osla_whole(x.device),
                             osla_whole(y.device), 0, osla_whole(c.device), NULL));
    pair_expect(&c, 500, "gemm with shared loads");
    pair_free(&x), pair_free(&y), pair_free(&c);
  }
  CU_ASSERT(grid != NULL);
  osla_grid_destroy(&grid);
  bench_close(&b);
}

static const osla_test_case cases[] = {{"transfers", test_transfers},
                                       {"owner computes", test_owner_computes},
                                       {"threads", test_threads},
                                       {"owner fails", test_owner_fails},
                                       {"notify after a failure", test_notify_after_failure},
                                       {"two devices", test_two_devices},
                                       {"shared loads", test_shared_loads},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_device_nodes, cases);
