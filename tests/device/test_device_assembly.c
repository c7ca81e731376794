/* Tests of the accumulator on a device matrix. It must give the sums of an accumulator on a host
 * matrix that gets equal updates, a system that it assembles must have the same solution, and
 * errors must be reported on all ranks. */
#include "osla_chol.h"
#include "osla_index.h"
#include "osla_random.h"
#include "osla_solve.h"
#include "src/memory/segment.h"
#include "tests/device/device_help.h"
#include "tests/hessian_reference.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { ORDER = 53 };

/* ---- equal updates of a host matrix and of a device matrix ---- */

/* Adds blocks U of random numbers, whose sums are rounded, and products G^T G. The elements of G
 * are multiples of 2^-10, so each BLAS computes equal bits. Indices may be repeated. If `there` is
 * not NULL, U and G are passed in device memory of this segment. */
static void push_random(osla_hessian *h, osla_segment *there, int turn)
{
  enum { K = 9, COUNT = 40 };
  double u[K * COUNT], g[K * COUNT];
  int64_t ix[COUNT];
  const int ranks = osla_test_size(), rank = osla_test_rank();
  for (int i = 0; i < 3; i++) {
    const uint64_t number = (uint64_t)((turn * 3 + i) * ranks + rank);
    for (uint64_t a = 0; a < K * COUNT; a++) {
      u[a] = osla_random_uniform(17, a, number);
      g[a] = rint(u[a] * 1024) / 1024;
    }
    for (int64_t a = 0; a < COUNT; a++)
      ix[a] = osla_test_choose(18 + number, a, ORDER);
    if (there) OSLA_ASSERT_OK(device_upload(there, g, sizeof g));
    OSLA_ASSERT_OK(osla_hessian_update(h, COUNT, ix, K, there ? osla_segment_local(there) : g, K));
    if (there) OSLA_ASSERT_OK(device_upload(there, u, sizeof u));
    OSLA_ASSERT_OK(
      osla_hessian_update_block(h, K, ix, COUNT, ix, there ? osla_segment_local(there) : u, K));
  }
}

/* Compares the sums of an accumulator on a device matrix with those of an accumulator on a host
 * matrix. In order-independent mode all bits must be equal; otherwise the sums may differ by
 * rounding. */
static void check_bits(device_bench *b, osla_grid *grid, int which)
{
  for (int exact = 0; exact < 2; exact++) {
    osla_hessian_options o = {.nb = which % 2 ? 4 : 7, .order_independent = exact != 0};
    if (exact) o.bound = 100.0;
    matrix_pair p =
      pair_make(b, grid, grid, OSLA_DOUBLE, ORDER, ORDER, o.nb, o.nb, OSLA_FILL_UNIFORM, 3);
    osla_hessian *host = NULL, *device = NULL;
    osla_segment *g = NULL;
    OSLA_ASSERT_OK(osla_segment_create_on(b->device, 4096, 0, &g));
    OSLA_ASSERT_OK(osla_hessian_create_on(p.host, &o, &host));
    OSLA_ASSERT_OK(osla_hessian_create_on(p.device, &o, &device));
    for (int turn = 0; turn < 2; turn++) {
      push_random(host, NULL, turn);
      push_random(device, turn == which % 2 ? g : NULL, turn);
      OSLA_ASSERT_OK(osla_hessian_commit(host));
      OSLA_ASSERT_OK(osla_hessian_commit(device));
      pair_expect(&p, exact ? 0 : 100, "updates, exact %d", exact);
    }
    osla_hessian_destroy(&device);
    osla_hessian_destroy(&host);
    osla_segment_destroy(&g);
    pair_free(&p);
  }
}

static void test_bits(void)
{
  on_all_grids(check_bits);
}

/* ---- values beyond the bound ---- */

static void add_one(osla_hessian *h, int64_t i, int64_t j, double value)
{
  OSLA_ASSERT_OK(osla_hessian_update_block(h, 1, &i, 1, &j, &value, 1));
}

static void expect_range(osla_hessian *h, const char *element, const char *what)
{
  OSLA_ASSERT_ERR(osla_hessian_commit(h), OSLA_ERR_RANGE);
  OSLA_ASSERT_TEXT(element);
  OSLA_ASSERT_TEXT(what);
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_OK(osla_hessian_reset(h));
}

static void check_bound(device_bench *b, osla_grid *grid, int which)
{
  const osla_hessian_options o = {.nb = 2, .order_independent = true, .bound = 1.0};
  osla_matrix *a = NULL;
  osla_hessian *h = NULL;
  double big = 3;
  (void)which;
  OSLA_ASSERT_OK(osla_matrix_create_on(b->device, grid, OSLA_DOUBLE, 9, 9, 2, 2, &a));
  OSLA_ASSERT_OK(osla_hessian_create_on(a, &o, &h));
  if (osla_test_rank() == 0) add_one(h, 7, 3, 1.5);
  expect_range(h, "H[7, 3]", "by 1.5 is not within the bound 1");
  if (osla_test_rank() == 0) add_one(h, 8, 5, (double)NAN);
  expect_range(h, "H[8, 5]", "nan");
  if (osla_test_rank() == osla_test_size() - 1)
    for (int i = 0; i < 3; i++)
      add_one(h, 6, 2, -0.75);
  expect_range(h, "H[6, 2]", "= -2.25 is not within the bound 1");
  if (osla_test_rank() == 0)
    for (int i = 0; i < 2100; i++)
      add_one(h, 4, 4, 1);
  expect_range(h, "H[4, 4]", "is not within the bound 1");
  if (osla_test_rank() == 0) add_one(h, 8, 3, 0.25);
  OSLA_ASSERT_OK(osla_hessian_commit(h));
  if (osla_test_rank() == 0) OSLA_ASSERT_OK(osla_matrix_put_block(a, 5, 4, 1, 1, &big, 1));
  OSLA_ASSERT_OK(osla_barrier(b->t));
  if (osla_test_rank() == 0) add_one(h, 5, 4, 0.25);
  expect_range(h, "H[5, 4]", "was 3 before an update");
  osla_hessian_destroy(&h);
  if (osla_test_rank() == 0) OSLA_ASSERT_OK(osla_matrix_put_block(a, 8, 8, 1, 1, &big, 1));
  OSLA_ASSERT_OK(osla_barrier(b->t));
  OSLA_ASSERT_ERR(osla_hessian_create_on(a, &o, &h), OSLA_ERR_RANGE);
  OSLA_ASSERT_TEXT("H[8, 8]");
  OSLA_ASSERT_SAME_TEXT();
  osla_matrix_destroy(&a);
}

static void test_bound(void)
{
  on_all_grids(check_bound);
}

/* ---- isolation ---- */

/* Rank 0 adds an update to elements of all ranks of its node and enters MPI_Barrier, which does not
 * wait for devices. The other ranks then check that their elements are complete, because an update
 * must return only when its work on the device is complete. */
static void check_unlock(device_bench *b, osla_grid *grid, int which)
{
  const osla_hessian_options o = {.nb = 4, .clear = true};
  osla_matrix *a = NULL;
  osla_hessian *h = NULL;
  (void)which;
  OSLA_ASSERT_OK(osla_matrix_create_on(b->device, grid, OSLA_DOUBLE, 16, 16, 4, 4, &a));
  OSLA_ASSERT_OK(osla_hessian_create_on(a, &o, &h));
  if (osla_test_rank() == 0) OSLA_ASSERT_OK(update_push(h, update_ones(16, 2, OSLA_DOUBLE)));
  CU_ASSERT(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
  const int64_t cols = osla_matrix_local_cols(a), rows = osla_matrix_local_rows(a);
  if (rows > 0 && cols > 0 && osla_transport_same_node(b->t, 0)) {
    double *copy = osla_test_allocate((size_t)(rows * cols), sizeof *copy);
    const device_queue *q = osli_device_find(osla_matrix_local(a));
    const osla_layout l = osla_matrix_layout(a);
    int64_t wrong = 0;
    OSLA_ASSERT_OK(
      q->ops->copy_now(q->state, osla_matrix_local(a), copy, (size_t)(rows * cols) * sizeof *copy));
    for (int64_t c = 0; c < cols; c++)
      for (int64_t r = 0; r < rows; r++) {
        const int64_t i = osla_index_global(r, 4, osla_grid_prow(grid), l.nprow);
        const int64_t j = osla_index_global(c, 4, osla_grid_pcol(grid), l.npcol);
        wrong += i >= j && copy[r + c * rows] != 2;
      }
    OSLA_ASSERT_MSG(wrong == 0, "%" PRId64 " elements were not complete when the update returned",
                    wrong);
    free(copy);
  }
  OSLA_ASSERT_OK(osla_barrier(b->t));
  osla_hessian_destroy(&h);
  osla_matrix_destroy(&a);
}

static void test_unlock(void)
{
  on_all_grids(check_unlock);
}

/* ---- assembly, factorisation and solution ---- */

static void assemble_and_solve(const matrix_pair *p, osla_matrix *a, osla_matrix *x)
{
  osla_hessian *h = NULL;
  int64_t info = -1;
  (void)p;
  OSLA_ASSERT_OK(osla_hessian_create_on(a, NULL, &h));
  push_random(h, NULL, 0);
  for (int64_t i = osla_test_rank(); i < ORDER; i += osla_test_size())
    add_one(h, i, i, 1e4); /* makes the sum positive definite */
  OSLA_ASSERT_OK(osla_hessian_commit(h));
  osla_hessian_destroy(&h);
  OSLA_ASSERT_OK(osla_potrf(OSLA_LOWER, a, NULL, &info));
  CU_ASSERT(info == 0);
  OSLA_ASSERT_OK(osla_potrs(OSLA_LOWER, a, x));
}

static void check_chain(device_bench *b, osla_grid *grid, int which)
{
  const int64_t nb = which % 2 ? 5 : 16;
  matrix_pair p =
    pair_make(b, grid, grid, OSLA_DOUBLE, ORDER, ORDER, nb, nb, OSLA_FILL_IDENTITY, 0);
  matrix_pair x = pair_make(b, grid, grid, OSLA_DOUBLE, ORDER, 3, nb, nb, OSLA_FILL_UNIFORM, 2);
  assemble_and_solve(&p, p.host, x.host);
  assemble_and_solve(&p, p.device, x.device);
  pair_expect(&x, 100, "solution after assembly");
  pair_free(&x);
  pair_free(&p);
}

static void test_chain(void)
{
  on_all_grids(check_chain);
}

/* ---- refused arguments ---- */

static void combine_nothing(int64_t count, void *inout, const void *in, void *context)
{
  (void)count, (void)inout, (void)in, (void)context;
}

/* Submits no work. Refuses work of kind COMBINE, as libosla_cuda does if it was built without nvcc,
 * and ignores work of other kinds. */
static osla_err submit_without_kernels(device_state *state, const device_work *work)
{
  (void)state;
  if (work->kind != DEVICE_COMBINE) return OSLA_OK;
  return osla_error_set(OSLA_ERR_UNSUPPORTED, "this build has no kernels");
}

static void refuse_without_kernels(device_bench *b, osla_matrix *a)
{
  device_queue *q = osli_device_queue(b->device);
  const device_ops *ops = q->ops;
  device_ops without = *ops;
  without.submit = submit_without_kernels;
  q->ops = &without;
  hessian_refused(a, NULL, OSLA_ERR_UNSUPPORTED, "no kernels");
  q->ops = ops;
}

/* Checks that no checkpoint can be made after the device has refused an addition, because the sums
 * are then unknown. Each rank updates a column of its own, because the owner would add an update
 * from another node only later. */
static void fail_update(device_bench *b, osla_hessian *h)
{
  const double g = 1;
  const int64_t i = 4 * osla_test_rank();
  const osla_hessian_datum datum = {
    .id = (uint64_t)osla_test_rank() + 2, .count = 1, .ix = &i, .k = 1, .g = &g, .ldg = 1};
  device_queue *q = osli_device_queue(b->device);
  const device_ops *ops = q->ops;
  device_ops without = *ops;
  without.submit = submit_without_kernels;
  q->ops = &without;
  OSLA_ASSERT_ERR(osla_hessian_update_once(h, &datum, NULL), OSLA_ERR_UNSUPPORTED);
  q->ops = ops;
  OSLA_ASSERT_ERR(osla_hessian_checkpoint(h, "refused.h5", NULL), OSLA_ERR_STATE);
  OSLA_ASSERT_TEXT("reset first");
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_OK(osla_hessian_commit(h));
  OSLA_ASSERT_OK(osla_hessian_reset(h));
}

/* Checks that an update from memory of another osla_device of the same number is refused. */
static void refuse_same_number(const device_bench *b, osla_hessian *h)
{
  const int ordinal = osli_device_queue(b->device)->ordinal;
  const osla_device_options options = {.kind = "fake", .chosen = true, .ordinal = ordinal};
  osla_device *twin = NULL;
  osla_segment *g = NULL;
  const int64_t i = 0;
  OSLA_ASSERT_OK(osla_device_open(b->t, &options, &twin));
  OSLA_ASSERT_OK(osla_segment_create_on(twin, 64, 0, &g));
  OSLA_ASSERT_ERR(osla_hessian_update(h, 1, &i, 1, osla_segment_local(g), 1), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT(" of another osla_device: ");
  osla_segment_destroy(&g);
  osla_device_close(&twin);
}

static void test_refused(void)
{
  device_bench b;
  if (!bench_open(&b, false)) return;
  osla_grid *grid = NULL;
  OSLA_ASSERT_OK(osla_grid_create(b.t, 1, osla_test_size(), &grid));
  const osla_device_options second = {.kind = "fake", .chosen = true, .ordinal = 3};
  const int64_t n = 4 * osla_test_size();
  osla_device *other = NULL;
  osla_segment *far = NULL, *near = NULL;
  osla_matrix *a = NULL, *host = NULL;
  osla_hessian *h = NULL, *on_host = NULL;
  double g = 1;
  int64_t i = 0;
  OSLA_ASSERT_OK(osla_device_open(b.t, &second, &other));
  OSLA_ASSERT_OK(osla_segment_create_on(other, 64, 0, &far));
  OSLA_ASSERT_OK(osla_segment_create_on(b.device, 4096, 0, &near));
  OSLA_ASSERT_OK(osla_matrix_create_on(b.device, grid, OSLA_DOUBLE, n, n, 4, 4, &a));
  OSLA_ASSERT_OK(osla_matrix_create(grid, OSLA_DOUBLE, n, n, 4, 4, &host));
  const osla_hessian_options user = {.combine = OSLA_COMBINE_USER,
                                     .combine_function = combine_nothing};
  hessian_refused(a, &user, OSLA_ERR_UNSUPPORTED, "OSLA_COMBINE_USER calls a function of the host");
  refuse_without_kernels(&b, a);
  if (osla_test_size() > 1)
    hessian_refused(osla_test_rank() == 0 ? host : a, NULL, OSLA_ERR_ARG,
                    "memory of the matrix (1: a device) is 0 on rank 0, but 1 on rank 1");
  OSLA_ASSERT_OK(osla_hessian_create_on(a, NULL, &h));
  hessian_refused(a, NULL, OSLA_ERR_STATE, "another accumulator");
  OSLA_ASSERT_OK(osla_hessian_create_on(host, NULL, &on_host));
  OSLA_ASSERT_ERR(osla_hessian_update(h, 1, &i, 1, osla_segment_local(far), 1), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("G lies on device 3, and H on device ");
  refuse_same_number(&b, h);
  OSLA_ASSERT_ERR(osla_hessian_update(on_host, 1, &i, 1, osla_segment_local(near), 1),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT(", and H in host memory");
  OSLA_ASSERT_ERR(osla_hessian_update_block(on_host, 1, &i, 1, &i, osla_segment_local(near), 1),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_hessian_update(h, 1, osla_segment_local(near), 1, &g, 1), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("ix lies on device ");
  OSLA_ASSERT_ERR(osla_hessian_update_gradient(h, 1, &i, osla_segment_local(near)), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("the gradient lies on device ");
  const osla_hessian_datum datum = {
    .id = 1, .count = 1, .ix = &i, .k = 1, .g = osla_segment_local(far), .ldg = 1};
  OSLA_ASSERT_ERR(osla_hessian_update_once(h, &datum, NULL), OSLA_ERR_ARG);
  CU_ASSERT(!osla_hessian_has_id(h, 1));
  fail_update(&b, h);
  OSLA_ASSERT_OK(osla_hessian_commit(h));
  double norm = -1;
  OSLA_ASSERT_OK(osla_matrix_norm(a, OSLA_NORM_MAX, &norm));
  CU_ASSERT(norm == 0);
  osla_hessian_destroy(&on_host);
  osla_hessian_destroy(&h);
  osla_matrix_destroy(&host);
  osla_matrix_destroy(&a);
  osla_segment_destroy(&near);
  osla_segment_destroy(&far);
  osla_device_close(&other);
  osla_grid_destroy(&grid);
  bench_close(&b);
}

static const osla_test_case cases[] = {
  {"bits", test_bits},   {"bound", test_bound},     {"unlock", test_unlock},
  {"chain", test_chain}, {"refused", test_refused}, {NULL, NULL},
};
OSLA_TEST_SUITE(test_device_assembly, cases);
