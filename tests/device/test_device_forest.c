/* Tests of star forests whose values lie on devices. Leaves must get complete values, transfers
 * between devices and host memory must give the bits of transfers in host memory, and wrong
 * arguments must be refused. In the modes device, mixed and early of tests/list, the suites of star
 * forests in tests/kernels run on devices, too. */
#include "kernels/forest/forest.h"
#include "osla_forest.h"
#include "osla_random.h"
#include "src/device/fake/fake.h"
#include "src/memory/segment.h"
#include "tests/device/device_help.h"

#include <stdlib.h>
#include <string.h>

enum { N = 1000, BYTES = N * sizeof(double) };

/* Opens a device and returns true. The devices of a node signal each other if `signals` is true;
 * otherwise hosts wait for devices. If the backend has no kernels, checks that a transfer is
 * refused, closes the device and returns false. Also returns false if no device can be opened. */
static bool forest_bench_open(device_bench *b, bool early, bool signals)
{
  osla_forest *f = NULL;
  osla_forest_run run;
  void *values = NULL;
  (void)setenv("OSLA_DEVICE_SIGNALS", signals ? "on" : "off", 1);
  const bool is_open = bench_open(b, early);
  (void)unsetenv("OSLA_DEVICE_SIGNALS");
  if (!is_open) return false;
  if (osli_device_queue(b->device)->ops->has_kernels) return true;
  OSLA_ASSERT_OK(osla_forest_alltoall(b->t, 1, &f));
  OSLA_ASSERT_OK(osla_vertices_create_on(b->device, BYTES, &values));
  OSLA_ASSERT_ERR(osla_forest_bcast_begin(f, OSLA_ONE_DOUBLE, values, values, OSLA_REPLACE, &run),
                  OSLA_ERR_UNSUPPORTED);
  OSLA_ASSERT_TEXT("without kernels");
  OSLA_ASSERT_OK(osla_forest_destroy(&f));
  OSLA_ASSERT_OK(osla_vertices_free(b->t, &values));
  bench_close(b);
  return false;
}

/* Runs a check three times: with signals and work that runs late, with signals and work that runs
 * early, and without signals (late). */
static void in_all_modes(void (*check)(bool early, bool signals))
{
  check(false, true);
  check(true, true);
  check(false, false);
}

static void fill(double *values, int64_t n, uint64_t seed)
{
  for (int64_t i = 0; i < n; i++)
    values[i] = osla_random_uniform(seed, (uint64_t)i, (uint64_t)osla_test_rank()) - 0.5;
}

static void *device_array(const osla_device *device, size_t bytes)
{
  void *memory = NULL;
  OSLA_ASSERT_OK(osli_device_alloc(osli_device_queue(device), bytes, true, &memory));
  return memory;
}

/* ---- order ---- */

/* Rank 0 fills its roots by queued work, broadcasts them, and overwrites them with zeros when the
 * transfer has ended. The other ranks check that their leaves have the values of the queued work.
 * The check fails if a transfer reads roots before this work is complete, or after its own end. */
static void check_readers(bool early, bool signals)
{
  device_bench b;
  osla_forest *f = NULL;
  void *roots = NULL, *leaves = NULL;
  double *expected = calloc(N, sizeof *expected), *found = calloc(N, sizeof *found);
  osla_root *root = calloc(N, sizeof *root);
  if (!forest_bench_open(&b, early, signals)) return;
  const bool owns = osla_test_rank() == 0;
  for (int64_t i = 0; i < N; i++)
    root[i] = (osla_root){0, N - 1 - i};
  OSLA_ASSERT_OK(osla_forest_create(b.t, owns ? N : 0, owns ? 0 : N, NULL, root, &f));
  OSLA_ASSERT_OK(osla_vertices_create_on(b.device, BYTES, &roots));
  OSLA_ASSERT_OK(osla_vertices_create_on(b.device, BYTES, &leaves));
  void *source = device_array(b.device, BYTES);
  for (int round = 0; round < 3; round++) {
    osla_forest_run run;
    for (int64_t i = 0; i < N; i++)
      expected[i] = (double)(1000 * round + i + 1);
    osli_device_copy_bytes(BYTES, expected, source);
    osli_device_copy_bytes(BYTES, source, roots);
    OSLA_ASSERT_OK(osla_forest_bcast_begin(f, OSLA_ONE_DOUBLE, roots, leaves, OSLA_REPLACE, &run));
    OSLA_ASSERT_OK(osla_forest_end(&run));
    if (owns) osli_device_copy_bytes(BYTES, found, roots);
    (void)MPI_Barrier(MPI_COMM_WORLD); /* MPI's barrier does not wait for queued work */
    if (owns) continue;
    osli_device_copy_bytes(BYTES, leaves, found);
    int bad = 0;
    for (int64_t i = 0; i < N; i++)
      bad += found[i] != expected[N - 1 - i];
    OSLA_ASSERT_MSG(bad == 0, "round %d: %d of %d leaves differ", round, bad, N);
  }
  OSLA_ASSERT_OK(osla_forest_destroy(&f));
  OSLA_ASSERT_OK(osla_vertices_free(b.t, &roots));
  OSLA_ASSERT_OK(osla_vertices_free(b.t, &leaves));
  osli_device_free(source);
  bench_close(&b);
  free(expected);
  free(found);
  free(root);
}

static void test_readers(void)
{
  in_all_modes(check_readers);
}

/* Checks that a broadcast between a rank's own roots and leaves on its device is queued, and that
 * no call waits for it. */
static void test_queued(void)
{
  device_bench b;
  osla_forest *f = NULL;
  osla_root root[N];
  if (!forest_bench_open(&b, false, true)) return;
  for (int64_t i = 0; i < N; i++)
    root[i] = (osla_root){0, i * 7 % N};
  OSLA_ASSERT_OK(osla_forest_create(b.self, N, N, NULL, root, &f));
  void *roots = device_array(b.device, BYTES), *leaves = device_array(b.device, BYTES);
  for (int round = 0; round < 2; round++) { /* round 0 also copies the indices to the device */
    OSLA_ASSERT_OK(osla_forest_bcast(f, OSLA_ONE_DOUBLE, roots, leaves, OSLA_REPLACE));
    const device_queue *q = osli_device_queue(b.device);
    if (q->ops == &osli_fake_device) CU_ASSERT(osli_fake_queued(q->state, LANE_MAIN) > 0);
  }
  OSLA_ASSERT_OK(osla_forest_destroy(&f));
  osli_device_free(roots);
  osli_device_free(leaves);
  bench_close(&b);
}

/* Makes four equal broadcasts of one number per rank, the last two of them after
 * osli_forest_read_all_in_place. Checks that all of them read values that queued work computes. */
static void check_read_all_in_place(bool signals)
{
  device_bench b;
  osla_forest *f = NULL;
  void *root = NULL;
  enum { MOST = 64 };
  double found[MOST], expected;
  if (!forest_bench_open(&b, false, signals)) return;
  const int size = osla_test_size() < MOST ? osla_test_size() : MOST;
  OSLA_ASSERT_OK(osla_forest_allgather(b.t, 1, &f));
  OSLA_ASSERT_OK(osla_vertices_create_on(b.device, sizeof expected, &root));
  void *source = device_array(b.device, sizeof expected);
  void *leaves = device_array(b.device, (size_t)osla_test_size() * sizeof expected);
  for (int round = 0; round < 4; round++) {
    if (round == 2) osli_forest_read_all_in_place(f);
    expected = 100 * round + osla_test_rank();
    osli_device_copy_bytes(sizeof expected, &expected, source);
    osli_device_copy_bytes(sizeof expected, source, root);
    OSLA_ASSERT_OK(osla_forest_bcast(f, OSLA_ONE_DOUBLE, root, leaves, OSLA_REPLACE));
    osli_device_copy_bytes((size_t)size * sizeof *found, leaves, found);
    for (int p = 0; p < size; p++)
      CU_ASSERT(found[p] == 100 * round + p);
  }
  OSLA_ASSERT_OK(osla_forest_destroy(&f));
  OSLA_ASSERT_OK(osla_vertices_free(b.t, &root));
  osli_device_free(source);
  osli_device_free(leaves);
  bench_close(&b);
}

static void test_read_all_in_place(void)
{
  check_read_all_in_place(false);
  check_read_all_in_place(true);
}

/* ---- values in different memory, with the bits of the host ---- */

/* A forest with random edges between all ranks, in which roots have several leaves. Tests make
 * transfers on it in host memory and on devices, and compare all bytes. */
typedef struct many_edges {
  osla_forest *forest;
  osla_unit unit;
  int64_t n;    /* number of roots, and number of edges, of each rank */
  size_t bytes; /* size of each array of values in bytes */
} many_edges;

/* Makes a forest of n roots and n edges on each rank. A unit has `count` doubles. Collective. */
static many_edges many_edges_make(osla_transport *t, int64_t n, int32_t count)
{
  many_edges m = {
    .unit = {OSLA_UNIT_DOUBLE, count, 0}, .n = n, .bytes = (size_t)(n * count) * sizeof(double)};
  osla_root *root = osla_test_allocate((size_t)n, sizeof *root);
  const int size = osla_transport_size(t);
  for (int64_t i = 0; i < n; i++)
    root[i] = (osla_root){(int32_t)(osla_random_bits(1, (uint64_t)i, 0) % (uint64_t)size),
                          (int64_t)(osla_random_bits(2, (uint64_t)i, 0) % (uint64_t)(n / 3 + 1))};
  OSLA_ASSERT_OK(osla_forest_create(t, n, n, NULL, root, &m.forest));
  free(root);
  return m;
}

enum { ROOTS, LEAVES, BEFORE, ARRAYS };

/* Does one transfer on the arrays `at`. `kind` is 0 for a broadcast, 1 for a reduction, 2 for an
 * exact reduction and 3 for a fetch. */
static void transfer(const many_edges *m, int kind, void *const at[ARRAYS])
{
  osla_err err = OSLA_OK;
  switch (kind) {
    case 0: err = osla_forest_bcast(m->forest, m->unit, at[ROOTS], at[LEAVES], OSLA_SUM); break;
    case 1:
    case 2:
      err = osla_forest_reduce(m->forest, m->unit, at[LEAVES], at[ROOTS],
                               kind == 1 ? OSLA_SUM : OSLA_SUM_EXACT);
      break;
    default:
      err = osla_forest_fetch(m->forest, m->unit, at[ROOTS], at[LEAVES], at[BEFORE], OSLA_SUM);
  }
  OSLA_ASSERT_OK(err);
}

/* Does one transfer on arrays in host memory and one on arrays in chosen memory, and asserts that
 * all bytes are equal. `memory` has a number for each array: 0 chooses host memory, 1 the device of
 * the bench, 2 memory of this device that other ranks read in place, 3 the device `second`, and 4
 * memory that the program has allocated on the device of the bench, and has registered. */
static void compare_memory(device_bench *b, osla_device *second, const many_edges *m, int kind,
                           const int memory[ARRAYS])
{
  void *on_host[ARRAYS], *at[ARRAYS], *in_place[ARRAYS];
  double *found = osla_test_allocate(1, m->bytes);
  for (int a = 0; a < ARRAYS; a++) {
    on_host[a] = osla_test_allocate(1, m->bytes);
    fill(on_host[a], (int64_t)(m->bytes / sizeof(double)), (uint64_t)(10 * kind + a));
    OSLA_ASSERT_OK(osla_vertices_create_on(b->device, m->bytes, &in_place[a]));
    at[a] = memory[a] == 0   ? osla_test_allocate(1, m->bytes)
            : memory[a] == 2 ? in_place[a]
            : memory[a] == 4 ? program_memory_allocate(b->device, m->bytes)
                             : device_array(memory[a] == 1 ? b->device : second, m->bytes);
    if (memory[a] == 4) OSLA_ASSERT_OK(osla_device_register(b->device, at[a], m->bytes));
    if (memory[a] == 0)
      memcpy(at[a], on_host[a], m->bytes);
    else
      osli_device_copy_bytes(m->bytes, on_host[a], at[a]);
  }
  transfer(m, kind, on_host);
  transfer(m, kind, at);
  for (int a = 0; a < ARRAYS; a++) {
    if (memory[a] == 0)
      memcpy(found, at[a], m->bytes);
    else
      osli_device_copy_bytes(m->bytes, at[a], found);
    OSLA_ASSERT_MSG(memcmp(found, on_host[a], m->bytes) == 0,
                    "transfer %d, memory %d %d %d: array %d differs", kind, memory[ROOTS],
                    memory[LEAVES], memory[BEFORE], a);
    if (memory[a] == 4) OSLA_ASSERT_OK(osla_device_unregister(b->device, at[a], m->bytes));
    if (memory[a] == 4) program_memory_free(b->device, at[a], m->bytes);
    if (memory[a] != 2 && memory[a] != 4) osli_free_like(at[a]);
    free(on_host[a]);
    OSLA_ASSERT_OK(osla_vertices_free(b->t, &in_place[a]));
  }
  free(found);
}

static void check_memory(bool early, bool signals)
{
  static const int memories[][ARRAYS] = {{1, 1, 1}, {2, 2, 2}, {1, 0, 0}, {0, 1, 1}, {0, 2, 2},
                                         {2, 0, 1}, {2, 2, 0}, {1, 3, 1}, {3, 2, 0}, {4, 4, 4},
                                         {4, 0, 2}, {0, 4, 4}, {3, 4, 1}};
  device_bench b;
  osla_device *second = NULL;
  if (!forest_bench_open(&b, early, signals)) return;
  const char *kind = osli_device_queue(b.device)->ops->name;
  OSLA_ASSERT_OK(osla_device_open(b.t, &(osla_device_options){.kind = kind}, &second));
  many_edges m = many_edges_make(b.t, 700, 1);
  for (size_t i = 0; i < sizeof memories / sizeof *memories; i++)
    for (int transfer_kind = 0; transfer_kind < 4; transfer_kind++) {
      int memory[ARRAYS]; /* for odd i, odd ranks use the next line of `memories` */
      const size_t mine =
        (i + i % 2 * (size_t)(osla_test_rank() % 2)) % (sizeof memories / sizeof *memories);
      memcpy(memory, memories[mine], sizeof memory);
      compare_memory(&b, second, &m, transfer_kind, memory);
    }
  OSLA_ASSERT_OK(osla_forest_destroy(&m.forest));
  m = many_edges_make(b.t, 5000, 300); /* 12 MB pass to the host in chunks of 4 MiB */
  compare_memory(&b, second, &m, 1, (int[]){1, 0, 0});
  compare_memory(&b, second, &m, 3, (int[]){2, 2, 0});
  OSLA_ASSERT_OK(osla_forest_destroy(&m.forest));
  osla_device_close(&second);
  bench_close(&b);
}

static void test_memory(void)
{
  in_all_modes(check_memory);
}

/* Checks that a forest which has served a device can serve another one after the first one is
 * closed. */
static void test_next_device(void)
{
  device_bench b;
  if (!forest_bench_open(&b, false, true)) return;
  const osla_device_options options = {.kind = osli_device_queue(b.device)->ops->name};
  many_edges m = many_edges_make(b.t, 500, 2);
  for (int round = 0; round < 3; round++) {
    for (int kind = 0; kind < 4; kind++)
      compare_memory(&b, b.device, &m, kind, (int[]){1, 2, 1});
    osla_device_close(&b.device);
    OSLA_ASSERT_OK(osla_device_open(b.t, &options, &b.device));
  }
  OSLA_ASSERT_OK(osla_forest_destroy(&m.forest));
  bench_close(&b);
}

/* ---- wrong arguments ---- */

/* A function of a reduction. */
static void keep(int64_t count, void *inout, const void *in, void *context)
{
  (void)count, (void)inout, (void)in, (void)context;
}

/* Checks that each rank refuses a type that devices do not have, an array that is too short, device
 * memory of another rank, and values on a device for a function. */
static void test_refused(void)
{
  device_bench b;
  osla_forest_run run;
  void *values = NULL;
  osla_segment *s = NULL;
  double leaves[N] = {0};
  long double wide[N] = {0};
  if (!forest_bench_open(&b, false, true)) return;
  osla_forest *f = NULL;
  OSLA_ASSERT_OK(osla_forest_alltoall(b.t, N / osla_test_size(), &f));
  OSLA_ASSERT_OK(osla_vertices_create_on(b.device, BYTES / 2, &values));
  OSLA_ASSERT_ERR(osla_forest_bcast_begin(f, (osla_unit){OSLA_UNIT_LONG_DOUBLE, 1, 0}, values, wide,
                                          OSLA_REPLACE, &run),
                  OSLA_ERR_UNSUPPORTED);
  OSLA_ASSERT_TEXT("devices have no long double");
  OSLA_ASSERT_ERR(osla_forest_bcast_begin(f, OSLA_ONE_DOUBLE, values, leaves, OSLA_REPLACE, &run),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("only 4000 bytes of device memory are known there");
  OSLA_ASSERT_ERR(osla_forest_reduce_check(f, OSLA_ONE_DOUBLE, leaves, values, OSLA_SUM),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_OK(osla_segment_create_on(b.device, BYTES, 0, &s));
  void *other = osla_segment_peer(s, (osla_test_rank() + 1) % osla_test_size());
  if (osla_test_size() > 1 && other) {
    OSLA_ASSERT_ERR(osla_forest_bcast_begin(f, OSLA_ONE_DOUBLE, leaves, other, OSLA_SUM, &run),
                    OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("device memory of another rank");
  }
  OSLA_ASSERT_OK(osla_forest_bcast(f, OSLA_ONE_DOUBLE, osla_segment_local(s), leaves, OSLA_SUM));
  void *mine = osla_segment_local(s);
  OSLA_ASSERT_ERR(osla_forest_reduce_with(f, OSLA_ONE_DOUBLE, mine, leaves, keep, NULL),
                  OSLA_ERR_UNSUPPORTED);
  OSLA_ASSERT_TEXT("needs values in host memory, but leaves lie on a device");
  OSLA_ASSERT_ERR(osla_forest_reduce_with(f, OSLA_ONE_DOUBLE, leaves, mine, keep, NULL),
                  OSLA_ERR_UNSUPPORTED);
  OSLA_ASSERT_TEXT("needs values in host memory, but roots lie on a device");
  osla_segment_destroy(&s);
  OSLA_ASSERT_OK(osla_forest_destroy(&f));
  OSLA_ASSERT_OK(osla_vertices_free(b.t, &values));
  bench_close(&b);
}

static const osla_test_case cases[] = {{"readers", test_readers},
                                       {"queued", test_queued},
                                       {"memory", test_memory},
                                       {"next device", test_next_device},
                                       {"refused", test_refused},
                                       {"read all", test_read_all_in_place},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_device_forest, cases);
