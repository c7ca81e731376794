/* Tests osla_device_register, which makes device memory that the program has allocated known to
 * OSLA. A call that takes pointers to device memory must accept memory that OSLA allocated and
 * registered memory, and must refuse all other device memory. Transfers of star forests in
 * registered memory are tested in test_device_forest.c. */
#include "osla_forest.h"
#include "osla_hessian.h"
#include "src/device/device_ranges.h"
#include "src/device/fake/fake.h"
#include "src/memory/segment.h"
#include "tests/device/device_help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 40, BYTES = N * sizeof(double) };

/* Opens a device and allocates BYTES bytes on it that are not registered. Returns false if no
 * device can be opened. Collective. */
static bool open_with_memory(device_bench *b, void **memory)
{
  if (!bench_open(b, false)) return false;
  *memory = program_memory_allocate(b->device, BYTES);
  return true;
}

static void close_with_memory(device_bench *b, void *memory)
{
  program_memory_free(b->device, memory, BYTES);
  bench_close(b);
}

/* ---- registrations ---- */

/* Checks that osli_device_of finds the device of an address exactly while at least one registered
 * piece contains the address. Pieces overlap, and one piece is registered twice. */
static void test_pieces(void)
{
  device_bench b;
  void *memory = NULL;
  if (!open_with_memory(&b, &memory)) return;
  unsigned char *first = memory;
  const device_queue *q = osli_device_queue(b.device);
  CU_ASSERT(osli_device_of(first) == NULL);
  OSLA_ASSERT_OK(osla_device_register(b.device, first, 100));
  OSLA_ASSERT_OK(osla_device_register(b.device, first, 100));
  OSLA_ASSERT_OK(osla_device_register(b.device, first, 10));
  OSLA_ASSERT_OK(osla_device_register(b.device, first + 50, 150));
  CU_ASSERT(osli_device_of(first) == q && osli_device_of(first + 199) == q);
  CU_ASSERT(osli_device_of(first + 201) == NULL);
  OSLA_ASSERT_OK(osla_device_unregister(b.device, first, 100));
  CU_ASSERT(osli_device_of(first + 40) == q);
  OSLA_ASSERT_OK(osla_device_unregister(b.device, first, 100));
  CU_ASSERT(osli_device_of(first + 40) == NULL && osli_device_of(first + 9) == q);
  CU_ASSERT(osli_device_of(first + 50) == q);
  OSLA_ASSERT_OK(osla_device_unregister(b.device, first + 50, 150));
  OSLA_ASSERT_OK(osla_device_unregister(b.device, first, 10));
  CU_ASSERT(osli_device_of(first) == NULL);
  close_with_memory(&b, memory);
}

/* Checks that the address at which one registered piece ends and another begins belongs to the
 * piece that begins there, and that the latter can be registered with another osla_device of the
 * same GPU. */
static void test_adjacent(void)
{
  device_bench b;
  void *memory = NULL;
  osla_device *second = NULL;
  device_range r;
  if (!open_with_memory(&b, &memory)) return;
  unsigned char *first = memory;
  const device_queue *q = osli_device_queue(b.device);
  const osla_device_options options = {.kind = q->ops->name};
  OSLA_ASSERT_OK(osla_device_register(b.device, first, 100));
  CU_ASSERT(osli_range_find(first + 100, &r) && r.from == (uintptr_t)first);
  OSLA_ASSERT_OK(osla_device_register(b.device, first + 100, 50));
  CU_ASSERT(osli_range_find(first + 100, &r) && r.from == (uintptr_t)first + 100);
  OSLA_ASSERT_OK(osla_device_unregister(b.device, first + 100, 50));
  OSLA_ASSERT_OK(osla_device_open(b.t, &options, &second));
  OSLA_ASSERT_OK(osla_device_register(second, first + 100, 50));
  CU_ASSERT(osli_device_of(first + 100) == osli_device_queue(second));
  osla_device_close(&second);
  OSLA_ASSERT_OK(osla_device_unregister(b.device, first, 100));
  close_with_memory(&b, memory);
}

/* Checks that memory of a device segment can be registered and unregistered, and that its device is
 * still found afterwards. */
static void test_own_memory(void)
{
  device_bench b;
  osla_segment *s = NULL;
  if (!bench_open(&b, false)) return;
  OSLA_ASSERT_OK(osla_segment_create_on(b.device, BYTES, 0, &s));
  unsigned char *first = osla_segment_local(s);
  OSLA_ASSERT_OK(osla_device_register(b.device, first + 8, BYTES - 8));
  OSLA_ASSERT_OK(osla_device_unregister(b.device, first + 8, BYTES - 8));
  CU_ASSERT(osli_device_of(first + 8) == osli_device_queue(b.device));
  osla_segment_destroy(&s);
  bench_close(&b);
}

/* Checks that work on registered memory is queued, and that osla_device_unregister waits for it. */
static void test_wait(void)
{
  device_bench b;
  void *memory = NULL;
  if (!open_with_memory(&b, &memory)) return;
  const device_queue *q = osli_device_queue(b.device);
  const bool is_fake = q->ops == &osli_fake_device;
  OSLA_ASSERT_OK(osla_device_register(b.device, memory, BYTES));
  double *x = memory;
  OSLA_ASSERT_OK(osli_device_add(OSLA_DOUBLE, N / 2, 1, 1, x, N, 1, x + N / 2, N));
  if (is_fake) CU_ASSERT(osli_fake_queued(q->state, LANE_MAIN) == 1);
  OSLA_ASSERT_OK(osla_device_unregister(b.device, memory, BYTES));
  if (is_fake) CU_ASSERT(osli_fake_queued(q->state, LANE_MAIN) == 0);
  close_with_memory(&b, memory);
}

/* Checks that osla_device_close ends the registrations of memory on the device. */
static void test_close(void)
{
  device_bench b;
  void *memory = NULL;
  osla_device *second = NULL;
  if (!open_with_memory(&b, &memory)) return;
  const osla_device_options options = {.kind = osli_device_queue(b.device)->ops->name};
  OSLA_ASSERT_OK(osla_device_open(b.t, &options, &second));
  void *of_second = program_memory_allocate(second, BYTES);
  OSLA_ASSERT_OK(osla_device_register(second, of_second, BYTES));
  CU_ASSERT(osli_device_of(of_second) == osli_device_queue(second));
  OSLA_ASSERT_OK(osla_device_unregister(second, of_second, BYTES));
  OSLA_ASSERT_OK(osla_device_register(second, of_second, BYTES / 2));
  program_memory_free(second, of_second, BYTES);
  osla_device_close(&second);
  CU_ASSERT(osli_device_of(of_second) == NULL);
  close_with_memory(&b, memory);
}

/* Copies a block from registered memory to a matrix, and back to other registered memory. The
 * matrix lies on the device if on_device is true, otherwise in host memory. */
static void check_block(device_bench *b, double *memory, bool on_device)
{
  double given[N], got[N];
  osla_grid *grid = osla_test_square_grid(b->t);
  osla_matrix *a = NULL;
  for (int i = 0; i < N; i++)
    given[i] = i < N / 2 ? i + 1 : 0;
  if (on_device)
    OSLA_ASSERT_OK(osla_matrix_create_on(b->device, grid, OSLA_DOUBLE, 7, 9, 3, 2, &a));
  else
    OSLA_ASSERT_OK(osla_matrix_create(grid, OSLA_DOUBLE, 7, 9, 3, 2, &a));
  osli_device_copy_bytes(BYTES, given, memory);
  if (osla_test_rank() == 0) OSLA_ASSERT_OK(osla_matrix_put_block(a, 2, 3, 5, 4, memory, 5));
  OSLA_ASSERT_OK(osla_barrier(b->t));
  OSLA_ASSERT_OK(osla_matrix_get_block(a, 2, 3, 5, 4, memory + N / 2, 5));
  osli_device_copy_bytes(BYTES, memory, got);
  CU_ASSERT(memcmp(got + N / 2, given, BYTES / 2) == 0);
  OSLA_ASSERT_OK(osla_barrier(b->t));
  osla_matrix_destroy(&a);
  osla_grid_destroy(&grid);
}

static void test_blocks(void)
{
  device_bench b;
  void *memory = NULL;
  if (!open_with_memory(&b, &memory)) return;
  OSLA_ASSERT_OK(osla_device_register(b.device, memory, BYTES));
  check_block(&b, memory, false);
  check_block(&b, memory, true);
  OSLA_ASSERT_OK(osla_device_unregister(b.device, memory, BYTES));
  close_with_memory(&b, memory);
}

/* ---- the accumulator ---- */

/* Adds G^T G to an accumulator on the device, with G in registered memory, and checks each element
 * of the sum. Also checks that arrays in other device memory are refused. */
static void test_accumulator(void)
{
  enum { K = 3, COUNT = 7 };
  device_bench b;
  void *memory = NULL;
  double g[K * COUNT], h[COUNT * COUNT];
  int64_t ix[COUNT];
  if (!open_with_memory(&b, &memory)) return;
  if (!osli_device_queue(b.device)->ops->has_kernels) {
    close_with_memory(&b, memory);
    return;
  }
  osla_grid *grid = osla_test_square_grid(b.t);
  osla_matrix *a = NULL;
  osla_hessian *hessian = NULL;
  osla_segment *s = NULL;
  const osla_hessian_options options = {.clear = true, .uplo = OSLA_GENERAL};
  for (int i = 0; i < K * COUNT; i++)
    g[i] = (double)(i % 5 - 2);
  for (int i = 0; i < COUNT; i++)
    ix[i] = COUNT - 1 - i;
  OSLA_ASSERT_OK(osla_matrix_create_on(b.device, grid, OSLA_DOUBLE, COUNT, COUNT, 2, 2, &a));
  OSLA_ASSERT_OK(osla_hessian_create_on(a, &options, &hessian));
  OSLA_ASSERT_ERR(osla_hessian_update(hessian, COUNT, ix, K, memory, K), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("G: address ");
  OSLA_ASSERT_TEXT("call osla_device_register first");
  OSLA_ASSERT_ERR(osla_hessian_update_block(hessian, 1, memory, 1, ix, g, 1), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("ix: address ");
  OSLA_ASSERT_ERR(osla_hessian_update_block(hessian, 1, ix, 1, memory, g, 1), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("jx: address ");
  OSLA_ASSERT_ERR(osla_hessian_update_block(hessian, 1, ix, 1, ix, memory, 1), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("U: address ");
  OSLA_ASSERT_ERR(osla_hessian_update_gradient(hessian, 1, ix, memory), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("the gradient: address ");
  OSLA_ASSERT_OK(osla_device_register(b.device, memory, sizeof g));
  osli_device_copy_bytes(sizeof g, g, memory);
  OSLA_ASSERT_OK(osla_hessian_update(hessian, COUNT, ix, K, memory, K));
  OSLA_ASSERT_ERR(osla_hessian_update(hessian, COUNT, ix, K, memory, K + 1), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("G: the array needs 216 bytes, and only 168 bytes of device memory are known");
  OSLA_ASSERT_OK(osla_segment_create_on(b.device, BYTES, 0, &s));
  void *other = osla_segment_peer(s, (osla_test_rank() + 1) % osla_test_size());
  if (osla_test_size() > 1 && other) {
    OSLA_ASSERT_ERR(osla_hessian_update(hessian, COUNT, ix, K, other, K), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("G: the array lies in device memory of another rank");
  }
  osla_segment_destroy(&s);
  OSLA_ASSERT_OK(osla_hessian_commit(hessian));
  OSLA_ASSERT_OK(osla_matrix_get_block(a, 0, 0, COUNT, COUNT, h, COUNT));
  for (int i = 0; i < COUNT; i++)
    for (int j = 0; j < COUNT; j++) {
      double sum = 0;
      for (int k = 0; k < K; k++)
        sum += g[k + K * i] * g[k + K * j];
      CU_ASSERT(h[ix[i] + COUNT * ix[j]] == sum * osla_test_size());
    }
  OSLA_ASSERT_OK(osla_device_unregister(b.device, memory, sizeof g));
  osla_hessian_destroy(&hessian);
  osla_matrix_destroy(&a);
  osla_grid_destroy(&grid);
  close_with_memory(&b, memory);
}

/* ---- wrong arguments ---- */

static void expect_refused(osla_device *device, void *memory, size_t bytes, const char *text)
{
  OSLA_ASSERT_ERR(osla_device_register(device, memory, bytes), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT(text);
}

static void test_refused(void)
{
  device_bench b;
  void *memory = NULL;
  osla_segment *s = NULL;
  double on_host[N];
  if (!open_with_memory(&b, &memory)) return;
  const device_queue *q = osli_device_queue(b.device);
  expect_refused(b.device, NULL, BYTES, "the address of the memory is NULL");
  expect_refused(b.device, memory, 0, "0 bytes");
  expect_refused(b.device, on_host, sizeof on_host, "lies in no memory of this device");
  if (q->ops == &osli_fake_device)
    expect_refused(b.device, memory, BYTES + 1, "lies in no memory of this device");
  OSLA_ASSERT_OK(osla_segment_create_on(b.device, BYTES, 0, &s));
  void *other = osla_segment_peer(s, (osla_test_rank() + 1) % osla_test_size());
  if (osla_test_size() > 1 && other)
    expect_refused(b.device, other, BYTES, "device memory of another rank");
  osla_segment_destroy(&s);
  OSLA_ASSERT_ERR(osla_device_unregister(b.device, memory, BYTES), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("320 bytes at ");
  OSLA_ASSERT_OK(osla_device_register(b.device, memory, BYTES));
  OSLA_ASSERT_ERR(osla_device_unregister(b.device, memory, BYTES - 1), OSLA_ERR_ARG);
  OSLA_ASSERT_OK(osla_device_unregister(b.device, memory, BYTES));
  OSLA_ASSERT_ERR(osla_device_follow(b.device, NULL), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("stream is NULL");
  if (q->ops == &osli_fake_device) {
    OSLA_ASSERT_ERR(osla_device_follow(b.device, &b), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("a device of kind \"fake\" has no streams");
  }
  close_with_memory(&b, memory);
}

/* Checks that an osla_device refuses to register memory that is registered with another osla_device
 * of the same GPU. */
static void test_two_devices(void)
{
  device_bench b;
  void *memory = NULL;
  osla_device *second = NULL;
  if (!open_with_memory(&b, &memory)) return;
  const osla_device_options options = {.kind = osli_device_queue(b.device)->ops->name};
  OSLA_ASSERT_OK(osla_device_open(b.t, &options, &second));
  OSLA_ASSERT_OK(osla_device_register(b.device, memory, BYTES));
  expect_refused(second, memory, BYTES,
                 "belongs to another osla_device: unregister it there first");
  OSLA_ASSERT_OK(osla_device_unregister(b.device, memory, BYTES));
  osla_device_close(&second);
  close_with_memory(&b, memory);
}

/* Checks that memory of a device that this rank has not opened is refused as memory of the program,
 * as values of a star forest, and as G and indices of the accumulator, with the numbers of both
 * devices. An access by the host to this memory would crash. */
static void test_unopened(void)
{
  device_bench b;
  unopened_memory memory;
  double leaves[N] = {0}, got[4];
  const int64_t ix[2] = {1, 0};
  char text[100];
  osla_forest *f = NULL;
  osla_matrix *a = NULL;
  osla_hessian *hessian = NULL;
  if (!bench_open(&b, false)) return;
  if (!unopened_allocate(b.device, BYTES, &memory)) {
    bench_close(&b);
    return;
  }
  const int mine = osli_device_queue(b.device)->ordinal;
  (void)snprintf(text, sizeof text, "lies on device %d, and this osla_device is device %d",
                 memory.ordinal, mine);
  expect_refused(b.device, memory.address, BYTES, text);
  (void)snprintf(text, sizeof text,
                 "address %p lies on device %d, and this rank has opened device %d", memory.address,
                 memory.ordinal, mine);
  OSLA_ASSERT_OK(osla_forest_alltoall(b.t, N / osla_test_size(), &f));
  OSLA_ASSERT_ERR(osla_forest_bcast(f, OSLA_ONE_DOUBLE, memory.address, leaves, OSLA_REPLACE),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT(text);
  OSLA_ASSERT_ERR(osla_forest_bcast(f, OSLA_ONE_DOUBLE, leaves, memory.address, OSLA_REPLACE),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT(text);
  OSLA_ASSERT_OK(osla_forest_destroy(&f));
  osla_grid *grid = osla_test_square_grid(b.t);
  OSLA_ASSERT_OK(osla_matrix_create(grid, OSLA_DOUBLE, 2, 2, 1, 1, &a));
  OSLA_ASSERT_OK(osla_hessian_create_on(a, NULL, &hessian));
  OSLA_ASSERT_ERR(osla_hessian_update(hessian, 2, ix, 3, memory.address, 3), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT(text);
  OSLA_ASSERT_ERR(osla_hessian_update(hessian, 2, memory.address, 1, leaves, 1), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT(text);
  OSLA_ASSERT_OK(osla_hessian_commit(hessian));
  OSLA_ASSERT_OK(osla_matrix_get_block(a, 0, 0, 2, 2, got, 2));
  CU_ASSERT(got[0] == 0 && got[1] == 0 && got[2] == 0 && got[3] == 0);
  osla_hessian_destroy(&hessian);
  osla_matrix_destroy(&a);
  osla_grid_destroy(&grid);
  unopened_free(&memory);
  bench_close(&b);
}

/* Checks that a star forest refuses device memory that is not registered. */
static void test_forest(void)
{
  device_bench b;
  void *memory = NULL;
  double leaves[N] = {0};
  osla_forest *f = NULL;
  if (!open_with_memory(&b, &memory)) return;
  OSLA_ASSERT_OK(osla_forest_alltoall(b.t, N / osla_test_size(), &f));
  OSLA_ASSERT_ERR(osla_forest_bcast_check(f, OSLA_ONE_DOUBLE, memory, leaves, OSLA_REPLACE),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("roots: address ");
  OSLA_ASSERT_TEXT("call osla_device_register first");
  OSLA_ASSERT_ERR(osla_forest_bcast_check(f, OSLA_ONE_DOUBLE, leaves, memory, OSLA_REPLACE),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("leaves: address ");
  OSLA_ASSERT_OK(osla_forest_destroy(&f));
  close_with_memory(&b, memory);
}

/* Repeats a transfer with equal arguments. Checks that it is refused after its leaves were
 * unregistered, and after they were registered again with too few bytes. */
static void test_repeated(void)
{
  device_bench b;
  void *memory = NULL;
  const double roots[N] = {0};
  osla_forest *f = NULL;
  if (!open_with_memory(&b, &memory)) return;
  if (!osli_device_queue(b.device)->ops->has_kernels) {
    close_with_memory(&b, memory);
    return;
  }
  const int64_t each = N / osla_test_size();
  const size_t bytes = (size_t)(each * osla_test_size()) * sizeof(double);
  OSLA_ASSERT_OK(osla_forest_alltoall(b.t, each, &f));
  OSLA_ASSERT_OK(osla_device_register(b.device, memory, bytes));
  for (int i = 0; i < 2; i++)
    OSLA_ASSERT_OK(osla_forest_bcast(f, OSLA_ONE_DOUBLE, roots, memory, OSLA_REPLACE));
  OSLA_ASSERT_OK(osla_device_unregister(b.device, memory, bytes));
  OSLA_ASSERT_ERR(osla_forest_bcast(f, OSLA_ONE_DOUBLE, roots, memory, OSLA_REPLACE), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("call osla_device_register first");
  OSLA_ASSERT_OK(osla_device_register(b.device, memory, bytes - 1));
  OSLA_ASSERT_ERR(osla_forest_bcast(f, OSLA_ONE_DOUBLE, roots, memory, OSLA_REPLACE), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("leaves: the array needs ");
  OSLA_ASSERT_OK(osla_device_register(b.device, memory, bytes));
  OSLA_ASSERT_OK(osla_forest_bcast(f, OSLA_ONE_DOUBLE, roots, memory, OSLA_REPLACE));
  OSLA_ASSERT_OK(osla_device_unregister(b.device, memory, bytes));
  OSLA_ASSERT_OK(osla_device_unregister(b.device, memory, bytes - 1));
  OSLA_ASSERT_OK(osla_forest_destroy(&f));
  close_with_memory(&b, memory);
}

static const osla_test_case cases[] = {{"pieces", test_pieces},
                                       {"own memory", test_own_memory},
                                       {"wait", test_wait},
                                       {"close", test_close},
                                       {"blocks", test_blocks},
                                       {"accumulator", test_accumulator},
                                       {"refused", test_refused},
                                       {"two devices", test_two_devices},
                                       {"forest", test_forest},
                                       {"repeated", test_repeated},
                                       {"adjacent", test_adjacent},
                                       {"unopened", test_unopened},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_device_register, cases);
