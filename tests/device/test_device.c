/* Tests of device memory. Blocks, copies, fills and norms of a device matrix must equal those of a
 * host matrix, a target must have the data of a put when it is notified, and wrong arguments must
 * be refused. The device is the fake one unless OSLA_TEST_DEVICE names another kind. */
#include "osla_blas.h"
#include "osla_part.h"
#include "osla_transport.h"
#include "src/device/device.h"
#include "src/matrix/part_stage.h"
#include "tests/device/device_help.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- matrices ---- */

enum { M = 23, N = 17 };

static void check_blocks(device_bench *b, osla_grid *grid, int which)
{
  const osla_dtype dtype = all_types[which % 4];
  osla_matrix *a = NULL;
  osla_complex block[M * N], back[M * N];
  OSLA_ASSERT_OK(osla_matrix_create_on(b->device, grid, dtype, M, N, 4, 3, &a));
  CU_ASSERT(osla_matrix_device(a) == b->device);
  osla_test_write_block(dtype, block, 0, 0, M, N, M);
  if (osla_transport_rank(b->t) == 0)
    OSLA_ASSERT_OK(osla_matrix_put_block(a, 0, 0, M, N, block, M));
  OSLA_ASSERT_OK(osla_barrier(b->t));
  memset(back, 0, sizeof back);
  OSLA_ASSERT_OK(osla_matrix_get_block(a, 0, 0, M, N, back, M));
  CU_ASSERT(osla_test_differ_block(dtype, back, 0, 0, M, N, M) == 0);
  OSLA_ASSERT_OK(osla_matrix_get_block(a, 5, 2, 11, 9, back, 13));
  CU_ASSERT(osla_test_differ_block(dtype, back, 5, 2, 11, 9, 13) == 0);
  OSLA_ASSERT_OK(osla_barrier(b->t));
  osla_matrix_destroy(&a);
}

static void test_blocks(void)
{
  on_all_grids(check_blocks);
}

static double position(int64_t i, int64_t j, void *arg)
{
  (void)arg;
  return (double)(100 * i + j);
}

static void check_copies(device_bench *b, osla_grid *grid, int which)
{
  const osla_dtype dtype = all_types[(which + 1) % 4];
  matrix_pair p = pair_make(b, grid, grid, dtype, M, N, 4, 3, OSLA_FILL_UNIFORM, 3);
  matrix_pair q = pair_make(b, grid, grid, dtype, M, N, 5, 6, OSLA_FILL_ZERO, 0);
  matrix_pair r = pair_make(b, grid, grid, dtype, N, M, 6, 5, OSLA_FILL_ZERO, 0);
  pair_expect(&p, 0, "fill");
  OSLA_ASSERT_OK(osla_matrix_copy(p.host, q.device)); /* the device matrix has other block sizes */
  OSLA_ASSERT_OK(osla_matrix_copy(p.device, q.host));
  pair_expect(&q, 0, "copies across");
  OSLA_ASSERT_OK(osla_matrix_scale(0, q.device));
  OSLA_ASSERT_OK(osla_matrix_copy(p.device, q.device));
  pair_expect(&q, 0, "copy on the device");
  OSLA_ASSERT_OK(osla_matrix_transpose(OSLA_CONJTRANS, p.host, r.host));
  OSLA_ASSERT_OK(osla_matrix_transpose(OSLA_CONJTRANS, p.device, r.device));
  pair_expect(&r, 0, "transposition");
  OSLA_ASSERT_OK(osla_matrix_transpose(OSLA_TRANS, p.host, r.device));
  OSLA_ASSERT_OK(osla_matrix_transpose(OSLA_TRANS, p.device, r.host));
  pair_expect(&r, 0, "transpositions across");
  OSLA_ASSERT_OK(osla_matrix_scale(-2, q.host));
  OSLA_ASSERT_OK(osla_matrix_scale(-2, q.device));
  pair_expect(&q, 1, "scaling");
  osla_part of_host = {q.host, 2, 3, 9, 7}, of_device = {q.device, 2, 3, 9, 7};
  OSLA_ASSERT_OK(osla_matrix_fill_part(of_host, OSLA_FILL_INTEGER, 5));
  OSLA_ASSERT_OK(osla_matrix_fill_part(of_device, OSLA_FILL_INTEGER, 5));
  pair_expect(&q, 1, "fill of a part");
  OSLA_ASSERT_OK(osla_matrix_copy_part((osla_part){p.device, 1, 2, 9, 7}, of_host));
  OSLA_ASSERT_OK(osla_matrix_copy_part((osla_part){p.host, 1, 2, 9, 7}, of_device));
  pair_expect(&q, 1, "copy of a part");
  OSLA_ASSERT_OK(osla_matrix_fill_with(q.host, position, NULL));
  OSLA_ASSERT_OK(osla_matrix_fill_with(q.device, position, NULL));
  pair_expect(&q, 0, "fill with a function");
  for (int norm = OSLA_NORM_MAX; norm <= OSLA_NORM_FRO; norm++) {
    double x = 0, y = 1;
    OSLA_ASSERT_OK(osla_matrix_norm(p.host, (osla_norm)norm, &x));
    OSLA_ASSERT_OK(osla_matrix_norm(p.device, (osla_norm)norm, &y));
    OSLA_ASSERT_CLOSE(y, x, 0);
  }
  pair_free(&p), pair_free(&q), pair_free(&r);
}

static void test_copies(void)
{
  on_all_grids(check_copies);
}

/* Number of pieces of work that this rank has submitted to the main lane of the device so far. */
static uint64_t works_of(const device_queue *q)
{
  return q->ops->mark(q->state, LANE_MAIN) / LANES;
}

/* Checks that a copy between a host matrix and a device matrix submits at most one piece of work
 * for each block column, not one for each column. */
static void test_rectangles(void)
{
  enum { ORDER = 48, BLOCK = 8 };
  device_bench b;
  if (!bench_open(&b, false)) return;
  const int size = osla_transport_size(b.t);
  osla_grid *row = NULL;
  osla_matrix *host = NULL, *device = NULL;
  double block[ORDER * BLOCK];
  OSLA_ASSERT_OK(osla_grid_create(b.t, 1, size, &row));
  OSLA_ASSERT_OK(osla_matrix_create(row, OSLA_DOUBLE, ORDER, ORDER, BLOCK, BLOCK, &host));
  OSLA_ASSERT_OK(
    osla_matrix_create_on(b.device, row, OSLA_DOUBLE, ORDER, ORDER, BLOCK, BLOCK, &device));
  OSLA_ASSERT_OK(osla_matrix_fill(host, OSLA_FILL_UNIFORM, 1));
  const device_queue *q = osli_device_of(osla_matrix_local(device));
  const bool is_fake = strcmp(q->ops->name, "fake") == 0;
  const uint64_t most = (uint64_t)(osla_matrix_local_cols(host) + BLOCK - 1) / BLOCK;

  uint64_t before = works_of(q);
  OSLA_ASSERT_OK(osla_matrix_copy(host, device));
  OSLA_ASSERT_MSG(!is_fake || works_of(q) - before <= most, "%d copies to the device",
                  (int)(works_of(q) - before));
  before = works_of(q);
  OSLA_ASSERT_OK(osla_matrix_get_block(device, 0, BLOCK, ORDER, BLOCK, block, ORDER));
  OSLA_ASSERT_MSG(!is_fake || works_of(q) - before <= 1, "%d copies of a block column",
                  (int)(works_of(q) - before));
  double expected[ORDER * BLOCK];
  OSLA_ASSERT_OK(osla_matrix_get_block(host, 0, BLOCK, ORDER, BLOCK, expected, ORDER));
  CU_ASSERT(memcmp(block, expected, sizeof block) == 0);

  OSLA_ASSERT_OK(osla_barrier(b.t));
  osla_matrix_destroy(&device);
  osla_matrix_destroy(&host);
  osla_grid_destroy(&row);
  bench_close(&b);
}

/* Tests a part_stage, a copy in host memory by which the host writes a part of a device matrix.
 * When the copy is written back, puts that changed elements outside the part meanwhile must not be
 * lost. */
static void test_stage(void)
{
  device_bench b;
  if (!bench_open(&b, false)) return;
  osla_grid *grid = osla_test_square_grid(b.t);
  osla_matrix *a = NULL;
  part_stage stage;
  const double two[2] = {5, 7};
  double got[4 * 4];
  OSLA_ASSERT_OK(osla_matrix_create_on(b.device, grid, OSLA_DOUBLE, 4, 4, 4, 4, &a));
  if (osla_matrix_local_rows(a) > 0 && osla_matrix_local_cols(a) > 0) {
    OSLA_ASSERT_OK(osli_part_stage_open(&(osla_part){a, 1, 1, 2, 2}, true, &stage));
    OSLA_ASSERT_OK(osla_matrix_put_block(a, 0, 1, 1, 2, two, 1));
    OSLA_ASSERT_OK(osla_matrix_put_block(a, 3, 1, 1, 2, two, 1));
    const stored_columns stored = osli_part_stage_columns(&stage, 0);
    for (int i = 0; i < 4; i++)
      osla_test_store(OSLA_DOUBLE, stage.base, stored_index(&stored, i % 2, i / 2), i + 1);
    osli_part_stage_close(&stage);
    OSLA_ASSERT_OK(osla_matrix_get_block(a, 0, 0, 4, 4, got, 4));
    const double expected[4 * 4] = {0, 0, 0, 0, 5, 1, 2, 5, 7, 3, 4, 7, 0, 0, 0, 0};
    CU_ASSERT(memcmp(got, expected, sizeof got) == 0);
  }
  OSLA_ASSERT_OK(osla_barrier(b.t));
  osla_matrix_destroy(&a);
  osla_grid_destroy(&grid);
  bench_close(&b);
}

/* ---- BLAS and LAPACK ---- */

/* Factors a matrix by getrf and interchanges the rows of another matrix by laswp, on the device and
 * in host memory. The pivots and all elements must be equal. */
static void test_blas(void)
{
  enum { ORDER = 9 };
  device_bench b;
  if (!bench_open(&b, false)) return;
  for (int i = 0; i < 4; i++) {
    const osla_dtype dtype = all_types[i];
    matrix_pair a =
      pair_make(&b, b.alone, b.alone, dtype, ORDER, ORDER, 4, 4, OSLA_FILL_UNIFORM, 1);
    matrix_pair x = pair_make(&b, b.alone, b.alone, dtype, ORDER, 3, 4, 4, OSLA_FILL_UNIFORM, 2);
    matrix_pair *both[2] = {&a, &x};
    int64_t pivots[2][ORDER], info[2] = {-1, -1};
    for (int on_device = 0; on_device < 2; on_device++) {
      const osla_matrix *m = on_device ? both[0]->device : both[0]->host;
      const osla_matrix *y = on_device ? both[1]->device : both[1]->host;
      int64_t *p = pivots[on_device];
      OSLA_ASSERT_OK(osla_lapack_getrf(dtype, ORDER, ORDER, osla_matrix_local(m),
                                       osla_matrix_lld(m, 0), p, &info[on_device]));
      OSLA_ASSERT_OK(
        osla_lapack_laswp(dtype, 3, osla_matrix_local(y), osla_matrix_lld(y, 0), ORDER, p, false));
    }
    CU_ASSERT(info[0] == 0 && info[1] == 0);
    CU_ASSERT(memcmp(pivots[0], pivots[1], sizeof pivots[0]) == 0);
    pair_expect(&a, 0, "getrf '%c'", osla_dtype_letter(dtype));
    pair_expect(&x, 0, "laswp '%c'", osla_dtype_letter(dtype));
    pair_free(&a), pair_free(&x);
  }
  bench_close(&b);
}

/* ---- segments ---- */

/* Each rank puts numbers into device memory of the next rank by each kind of put. The next rank
 * must then read these numbers by each kind of read. */
static void test_segment(void)
{
  for (int early = 0; early < 2; early++) {
    device_bench b;
    if (!bench_open(&b, early)) return;
    osla_segment *s = NULL;
    osla_transfer transfer = OSLA_TRANSFER_NONE;
    osla_posted posted;
    const int rank = osla_transport_rank(b.t), size = osla_transport_size(b.t);
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    int64_t mine[2] = {rank, 100 + rank}, got[2] = {-1, -1};
    OSLA_ASSERT_OK(osla_segment_create_on(b.device, sizeof mine, 1, &s));
    CU_ASSERT(osla_segment_device(s) == b.device);
    OSLA_ASSERT_OK(osla_segment_read(s, next, 0, got, sizeof got));
    CU_ASSERT(got[0] == 0 && got[1] == 0);
    OSLA_ASSERT_OK(osla_barrier(b.t));
    OSLA_ASSERT_OK(osla_put_notify(s, next, 0, mine, sizeof *mine, 0, 1));
    OSLA_ASSERT_OK(
      osla_put_notify_post(s, next, sizeof *mine, mine + 1, sizeof *mine, 0, 2, &posted));
    OSLA_ASSERT_OK(osla_posted_wait(s, &posted));
    osla_notify_wait(s, before, 0, 2);
    OSLA_ASSERT_OK(osla_segment_fetch(s, rank, 0, got, sizeof got, &transfer));
    OSLA_ASSERT_OK(osla_transfer_wait(s, &transfer));
    CU_ASSERT(got[0] == before && got[1] == 100 + before);
    got[0] = got[1] = -1;
    OSLA_ASSERT_OK(osla_segment_get(s, rank, 0, got, sizeof got, &transfer));
    OSLA_ASSERT_OK(osla_transfer_wait(s, &transfer));
    CU_ASSERT(got[0] == before && got[1] == 100 + before);
    OSLA_ASSERT_OK(osla_barrier(b.t));
    OSLA_ASSERT_OK(osla_segment_put(s, next, 0, mine + 1, sizeof *mine, &transfer));
    OSLA_ASSERT_OK(osla_transfer_wait(s, &transfer));
    OSLA_ASSERT_OK(osla_segment_flush(s, next));
    OSLA_ASSERT_OK(osla_barrier(b.t));
    OSLA_ASSERT_OK(osla_segment_read(s, rank, 0, got, sizeof *got));
    CU_ASSERT(got[0] == 100 + before);
    OSLA_ASSERT_ERR(osla_word_post(s, next, 0, 1, &posted), OSLA_ERR_UNSUPPORTED);
    OSLA_ASSERT_ERR(osla_put_notify(s, next, 0, mine, sizeof *mine, 1, 1), OSLA_ERR_ARG);
    OSLA_ASSERT_OK(osla_barrier(b.t));
    osla_segment_destroy(&s);
    bench_close(&b);
  }
}

/* ---- backends ---- */

/* Tests the functions of a backend that no matrix calls: `describe`, `pin` and `unpin`, and
 * `copy_now`, which must not wait for queued work. */
static void test_backend(void)
{
  device_bench b;
  if (!bench_open(&b, false)) return;
  osla_segment *s = NULL;
  static double two[2] = {2, 3};
  double now = -1;
  char text[200] = "";
  OSLA_ASSERT_OK(osla_segment_create_on(b.device, sizeof two, 0, &s));
  double *on = osla_segment_local(s);
  const device_queue *q = osli_device_of(on);
  OSLA_ASSERT_OK(q->ops->describe(0, text, sizeof text));
  CU_ASSERT(strstr(text, " MiB ") && !strstr(text, "device 0"));
  if (q->ops->pin) OSLA_ASSERT_OK(q->ops->pin(q->state, two, sizeof two));
  OSLA_ASSERT_OK(q->ops->copy_now(q->state, two, on, sizeof two));
  OSLA_ASSERT_OK(osli_device_add(OSLA_DOUBLE, 1, 1, 2, on + 1, 1, 3, on, 1));
  OSLA_ASSERT_OK(q->ops->copy_now(q->state, on, &now, sizeof now));
  CU_ASSERT(now == 2 || strstr(text, "NVIDIA")); /* on a GPU the addition may be complete */
  OSLA_ASSERT_OK(osli_device_settle(SETTLE_COPY));
  OSLA_ASSERT_OK(q->ops->copy_now(q->state, on, &now, sizeof now));
  CU_ASSERT(now == 12);
  for (int again = 1; q->ops->pin && again >= 0; again--) {
    q->ops->unpin(q->state, two);
    if (again) OSLA_ASSERT_OK(q->ops->pin(q->state, two, sizeof two));
  }
  osla_segment_destroy(&s);
  bench_close(&b);
}

/* ---- errors of queued work ---- */

static void plant_error(const device_bench *b)
{
  if (osla_transport_rank(b->t) == 0)
    osli_device_keep_error(osla_error_set(OSLA_ERR_MEM, "work of the device failed"));
}

/* Checks that a rank whose queued work has failed still makes a call for which other ranks wait.
 * osla_agree must then return the error on all ranks, and osla_barrier on this rank alone. */
static void test_errors(void)
{
  device_bench b;
  if (!bench_open(&b, false)) return;
  osla_segment *s = NULL;
  const int rank = osla_transport_rank(b.t), size = osla_transport_size(b.t);
  double sum = 1;
  OSLA_ASSERT_OK(osla_segment_create_on(b.device, 8, 1, &s));
  plant_error(&b);
  OSLA_ASSERT_OK(osla_notify(s, (rank + 1) % size, 0, 1));
  osla_notify_wait(s, (rank + size - 1) % size, 0, 1);
  OSLA_ASSERT_OK(osla_allreduce(b.t, &sum, 1, MPI_DOUBLE, MPI_SUM));
  OSLA_ASSERT_CLOSE(sum, size, 0);
  OSLA_ASSERT_ERR(osla_agree(b.t, OSLA_OK), OSLA_ERR_MEM);
  OSLA_ASSERT_TEXT("work of the device failed");
  OSLA_ASSERT_SAME_TEXT();
  plant_error(&b);
  const osla_err err = osla_barrier(b.t);
  CU_ASSERT(err == (rank == 0 ? OSLA_ERR_MEM : OSLA_OK));
  OSLA_ASSERT_OK(osla_barrier(b.t));
  osla_segment_destroy(&s);
  plant_error(&b); /* the close of the device discards this error */
  bench_close(&b);
  if (!bench_open(&b, false)) return;
  OSLA_ASSERT_OK(osla_agree(b.t, OSLA_OK));
  bench_close(&b);
}

/* ---- wrong arguments ---- */

static void expect_refused(osla_transport *t, osla_device_options options, osla_err code,
                           const char *text)
{
  osla_device *device = NULL;
  OSLA_ASSERT_ERR(osla_device_open(t, &options, &device), code);
  OSLA_ASSERT_TEXT(text);
  OSLA_ASSERT_SAME_TEXT();
  CU_ASSERT(device == NULL);
}

static void test_wrong_devices(void)
{
  osla_transport *t = osla_test_transport();
  int other;
  (void)unsetenv("OSLA_DEVICE");
  if (osla_transport_n_nodes(t) == 1) {
    expect_refused(t, (osla_device_options){0}, OSLA_ERR_ARG, "OSLA_DEVICE");
    expect_refused(t, (osla_device_options){.kind = "gpu"}, OSLA_ERR_ARG, "fake or cuda");
    if (!getenv("OSLA_TEST_DEVICE"))
      expect_refused(t, (osla_device_options){.kind = "cuda"}, OSLA_ERR_UNSUPPORTED,
                     "libosla_cuda.so");
    expect_refused(t, (osla_device_options){.kind = "fake", .chosen = true, .ordinal = 99},
                   OSLA_ERR_ARG, "ordinal = 99");
    expect_refused(t, (osla_device_options){.kind = "fake", .stream = &other}, OSLA_ERR_ARG,
                   "stream");
    (void)setenv("OSLA_FAKE_DEVICE", "now", 1);
    expect_refused(t, (osla_device_options){.kind = "fake"}, OSLA_ERR_ARG, "late or early");
    (void)unsetenv("OSLA_FAKE_DEVICE");
    (void)setenv("OSLA_DEVICE_PANELS", "gpu", 1);
    expect_refused(t, (osla_device_options){.kind = "fake"}, OSLA_ERR_ARG, "device or host");
    (void)unsetenv("OSLA_DEVICE_PANELS");
    if (osla_test_rank() == 0) (void)setenv("OSLA_DEVICE_PANELS", "host", 1);
    if (osla_test_size() > 1)
      expect_refused(t, (osla_device_options){.kind = "fake"}, OSLA_ERR_ARG,
                     "OSLA_DEVICE_PANELS is 1 on rank 0, but 0 on rank 1");
    (void)unsetenv("OSLA_DEVICE_PANELS");
    osla_device *device = NULL;
    (void)setenv("OSLA_DEVICE", "fake", 1);
    OSLA_ASSERT_OK(osla_device_open(t, NULL, &device));
    CU_ASSERT(device != NULL);
    osla_device_close(&device);
    (void)unsetenv("OSLA_DEVICE");
  }
  CU_ASSERT(t != NULL);
  osla_transport_destroy(&t);
}

static void test_wrong_memory(void)
{
  device_bench b;
  if (!bench_open(&b, false)) return;
  osla_grid *grid = osla_test_square_grid(b.t);
  osla_matrix *a = NULL, *wrapped = NULL;
  osla_segment *s = (osla_segment *)&b;
  double sum = 1;
  OSLA_ASSERT_ERR(osla_matrix_create_on(b.device, grid, OSLA_DOUBLE, 40000, 40000, 64, 64, &a),
                  OSLA_ERR_MEM);
  OSLA_ASSERT_TEXT("bytes of device memory are needed");
  OSLA_ASSERT_SAME_TEXT();
  CU_ASSERT(a == NULL);
  OSLA_ASSERT_ERR(osla_matrix_create_on(b.device, grid, OSLA_DOUBLE, -1, 4, 4, 4, &a),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_matrix_create_on(b.device, b.alone, OSLA_DOUBLE, 4, 4, 4, 4, &a),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("grid and device belong to different transports");
  OSLA_ASSERT_ERR(osla_segment_create_on(b.device, 8, -1, &s), OSLA_ERR_ARG);
  CU_ASSERT(s == NULL);
  OSLA_ASSERT_OK(osla_matrix_create_on(b.device, grid, OSLA_DOUBLE, 8, 8, 2, 2, &a));
  OSLA_ASSERT_ERR(osla_segment_attach(b.t, osla_matrix_local(a), 8, &s), OSLA_ERR_UNSUPPORTED);
  OSLA_ASSERT_ERR(
    osla_matrix_wrap_own(grid, OSLA_DOUBLE, 8, 8, 2, 2, osla_matrix_local(a), 8, &wrapped),
    OSLA_ERR_UNSUPPORTED);
  OSLA_ASSERT_ERR(osla_allreduce(b.t, osla_matrix_local(a), 1, MPI_DOUBLE, MPI_SUM),
                  OSLA_ERR_UNSUPPORTED);
  OSLA_ASSERT_OK(osla_allreduce(b.t, &sum, 1, MPI_DOUBLE, MPI_SUM));
  OSLA_ASSERT_CLOSE(sum, osla_transport_size(b.t), 0);
  osla_matrix_destroy(&a);
  osla_grid_destroy(&grid);
  bench_close(&b);
}

/* Tests a device matrix without elements, whose norm must be 0, and an identity matrix in memory of
 * a device segment, whose Frobenius norm must be 3. */
static void test_edges(void)
{
  device_bench b;
  if (!bench_open(&b, false)) return;
  osla_grid *grid = osla_test_square_grid(b.t);
  osla_matrix *a = NULL;
  osla_segment *s = NULL;
  double x = -1;
  OSLA_ASSERT_OK(osla_matrix_create_on(b.device, grid, OSLA_DOUBLE, 0, 5, 2, 2, &a));
  OSLA_ASSERT_OK(osla_matrix_fill(a, OSLA_FILL_UNIFORM, 1));
  OSLA_ASSERT_OK(osla_matrix_norm(a, OSLA_NORM_FRO, &x));
  CU_ASSERT(x == 0);
  osla_matrix_destroy(&a);
  OSLA_ASSERT_OK(osla_segment_create_on(b.device, 1000, 0, &s));
  OSLA_ASSERT_OK(osla_matrix_create_in(s, grid, OSLA_DOUBLE, 9, 9, 2, 2, &a));
  CU_ASSERT(osla_matrix_device(a) == b.device);
  OSLA_ASSERT_OK(osla_matrix_fill(a, OSLA_FILL_IDENTITY, 1));
  OSLA_ASSERT_OK(osla_matrix_norm(a, OSLA_NORM_FRO, &x));
  OSLA_ASSERT_CLOSE(x, 3, 1e-14);
  osla_matrix_destroy(&a);
  osla_segment_destroy(&s);
  osla_grid_destroy(&grid);
  bench_close(&b);
}

static const osla_test_case cases[] = {{"blocks", test_blocks},
                                       {"copies", test_copies},
                                       {"rectangles", test_rectangles},
                                       {"stage", test_stage},
                                       {"blas", test_blas},
                                       {"segment", test_segment},
                                       {"backend", test_backend},
                                       {"errors", test_errors},
                                       {"wrong devices", test_wrong_devices},
                                       {"wrong memory", test_wrong_memory},
                                       {"edges", test_edges},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_device, cases);
