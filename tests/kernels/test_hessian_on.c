/* Tests of osla_hessian_create_on: an accumulator on a matrix that exists, made by each call of
 * osla_matrix.h. All values are integers, so the sums are exact in any order. */
#include "osla_chol.h"
#include "osla_products.h"
#include "osla_solve.h"
#include "tests/file_help.h"
#include "tests/kernels/hessian_target_help.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { UPDATES = 4 };

static void push_all(osla_hessian *h, serial_sum *sum, uint64_t seed, osla_dtype dtype)
{
  const int64_t most = sum->n < 60 ? sum->n : 60;
  for (int i = 0; i < UPDATES * osla_test_size() && sum->n > 0; i++) {
    sum_add(sum, update_random(seed, i, sum->n, most, dtype), 1.0);
    if (i % osla_test_size() == osla_test_rank())
      OSLA_ASSERT_OK(update_push(h, update_random(seed, i, sum->n, most, dtype)));
  }
}

static double larger(double old, double value)
{
  return value > old ? value : old;
}

/* Two accumulators in turn on one matrix: the first one starts from the contents or from a value,
 * the second one continues. */
static void life(osla_grid *grid, made_by kind, int64_t n, osla_hessian_options o)
{
  const osla_dtype dtype = type_of(&o);
  serial_sum sum = sum_create(n, o.uplo == 0 ? OSLA_LOWER : o.uplo);
  if (o.combine == OSLA_COMBINE_MAX) sum.combine = larger;
  target a = target_make(grid, kind, dtype, n, o.nb);
  osla_hessian *h = NULL;
  target_fill(&a, &sum, o.clear, o.initial);
  OSLA_ASSERT_OK(osla_hessian_create_on(a.matrix, &o, &h));
  target_assert(&a, &sum, h, "before the first update");
  for (uint64_t turn = 1; turn <= 2; turn++) {
    push_all(h, &sum, turn, o.single_updates ? OSLA_FLOAT : dtype);
    target_assert(&a, &sum, h, "after a commit");
  }
  osla_hessian_destroy(&h);
  o.clear = false;
  o.initial = 0.0;
  memset(sum.gradient, 0, (size_t)n * sizeof *sum.gradient);
  OSLA_ASSERT_OK(osla_hessian_create_on(a.matrix, &o, &h));
  push_all(h, &sum, 3, o.single_updates ? OSLA_FLOAT : dtype);
  target_assert(&a, &sum, h, "second accumulator");
  OSLA_ASSERT_OK(osla_hessian_reset(h));
  target_fill(&a, &sum, true, 0.0);
  osla_hessian_destroy(&h);
  target_free(&a);
  sum_free(&sum);
}

static void test_kinds(void)
{
  static const osla_uplo shapes[] = {OSLA_LOWER, OSLA_UPPER, OSLA_GENERAL};
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int which = 0; which < 4 && (grid = hessian_grid(t, which)) != NULL; which++) {
    for (int kind = 0; kind < MADE_BY_KINDS; kind++) {
      if (osla_test_size() >= FEW_RANKS && kind % 2 != which % 2 && kind != WRAP) continue;
      osla_hessian_options o = {.uplo = shapes[(which + kind) % 3], .nb = which % 2 ? 3 : 16};
      o.clear = (which + kind / 2) % 2;
      o.single = (which + kind) % 4 == 3;
      if (kind == TRIANGLE) o.uplo = OSLA_LOWER;
      life(grid, (made_by)kind, 53, o);
    }
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* Options that change how updates travel and how they are combined. */
static void test_options(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = hessian_grid(t, 0);
  osla_hessian_options o = {.nb = 8};
  o.ring_bytes = 1; /* the smallest rings, so that there are many messages */
  o.piece_bytes = 4096;
  life(grid, WRAP, 61, o);
  o.isolation = OSLA_ISOLATE_ELEMENT;
  o.uplo = OSLA_UPPER;
  life(grid, WRAP, 61, o);
  o.shipping = OSLA_SHIP_FACTORS;
  o.single_updates = true;
  life(grid, WRAP_OWN, 61, o);
  o = (osla_hessian_options){.nb = 16, .node_sums = true};
  life(grid, WRAP, 61, o);
  o.uplo = OSLA_GENERAL;
  o.clear = true;
  life(grid, CREATE, 40, o);
  o.combine = OSLA_COMBINE_MAX;
  o.initial = -20.0;
  life(grid, WRAP, 40, o);
  o.node_sums = o.clear = false;
  o.initial = 0.0;
  life(grid, WRAP, 40, o);
  o = (osla_hessian_options){.nb = 4, .order_independent = true};
  o.bound = o.gradient_bound = 1e6;
  for (int kind = 0; kind < MADE_BY_KINDS; kind++)
    life(grid, (made_by)kind, 45, o);
  o.clear = true;
  life(grid, WRAP, 45, o);
  life(grid, WRAP, 1, o);
  o.order_independent = false;
  life(grid, WRAP, 0, o);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* Triangular matrices on all grids, with options that change how updates travel, how they are
 * combined, and how H is stored. */
static void test_triangle(void)
{
  static const osla_hessian_options options[] = {
    {.nb = 1, .ring_bytes = 1, .piece_bytes = 4096},
    {.nb = 3, .node_sums = true},
    {.nb = 16, .single_updates = true, .shipping = OSLA_SHIP_FACTORS},
    {.nb = 100, .single = true, .isolation = OSLA_ISOLATE_ELEMENT, .clear = true},
    {.nb = 8, .combine = OSLA_COMBINE_MAX, .node_sums = true, .clear = true, .initial = -20.0},
    {.nb = 5, .order_independent = true, .bound = 1e6, .gradient_bound = 1e6, .ring_bytes = 1},
    {.nb = 7, .order_independent = true, .bound = 1e6, .gradient_bound = 1e6, .clear = true},
  };
  enum { OPTIONS = sizeof options / sizeof *options };
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int which = 0; (grid = hessian_grid(t, which)) != NULL; which++) {
    for (int i = 0; i < OPTIONS; i++)
      if (osla_test_size() < FEW_RANKS || i % 3 == which % 3)
        life(grid, TRIANGLE, i % 3 == 2 ? 37 : 61, options[i]);
    osla_grid_destroy(&grid);
  }
  grid = hessian_grid(t, 0);
  life(grid, TRIANGLE, 1, options[0]);
  life(grid, TRIANGLE, 0, options[1]);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* ---- threads ---- */

static void test_threads(void)
{
  osla_transport *t = NULL;
  const osla_transport_options with = {.threads_per_rank = PRODUCERS};
  OSLA_ASSERT_OK(osla_transport_create(MPI_COMM_WORLD, &with, &t));
  osla_grid *grid = hessian_grid(t, 0);
  osla_hessian_options o = {.nb = 8};
  o.ring_bytes = 1;
  target a = target_make(grid, WRAP, OSLA_DOUBLE, 48, 8);
  serial_sum sum = sum_create(48, OSLA_LOWER);
  osla_hessian *h = NULL;
  target_fill(&a, &sum, false, 0.0);
  OSLA_ASSERT_OK(osla_hessian_create_on(a.matrix, &o, &h));
  push_by_threads(h, &sum);
  target_assert(&a, &sum, h, "threads");
  osla_hessian_destroy(&h);
  target_free(&a);
  sum_free(&sum);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* ---- checkpoints ---- */

/* Takes a checkpoint, and continues from it on a matrix of another kind, grid and block size. The
 * file holds both triangles of a full matrix. If it comes from a triangular matrix, the upper
 * triangle of a full matrix stays as it is. */
static void restart(osla_transport *t, made_by from, made_by to, osla_hessian_options o)
{
  const char *path = scratch_path("on.h5");
  osla_grid *first = hessian_grid(t, 0), *second = hessian_grid(t, osla_test_size() > 1 ? 1 : 0);
  serial_sum sum = sum_create(37, OSLA_LOWER);
  target a = target_make(first, from, OSLA_DOUBLE, 37, 8);
  osla_hessian *h = NULL;
  target_fill(&a, &sum, false, 0.0);
  OSLA_ASSERT_OK(osla_hessian_create_on(a.matrix, &o, &h));
  push_ids(h, &sum, 0, 9);
  OSLA_ASSERT_OK(osla_hessian_checkpoint(h, path, "job"));
  osla_hessian_destroy(&h); /* as if the job had been killed */
  target_free(&a);

  a = target_make(second, to, OSLA_DOUBLE, 37, 5);
  if (from == TRIANGLE) {
    serial_sum unused = sum_create(37, OSLA_LOWER);
    target_fill(&a, &unused, false, 0.0);
    sum_free(&unused);
  }
  OSLA_ASSERT_OK(osla_hessian_create_on(a.matrix, &o, &h));
  OSLA_ASSERT_OK(osla_hessian_restore(h, path, "job"));
  CU_ASSERT(osla_hessian_has_id(h, 8) && !osla_hessian_has_id(h, 9));
  push_ids(h, &sum, 9, 15);
  OSLA_ASSERT_OK(osla_hessian_commit(h));
  target_assert(&a, &sum, h, "restored");
  osla_hessian_destroy(&h);
  target_free(&a);
  sum_free(&sum);
  osla_grid_destroy(&first);
  osla_grid_destroy(&second);
}

/* Checks that osla_hessian_checkpoint and osla_hessian_restore refuse a matrix on several ranks
 * whose memory only the owner can access, and leave H as it is. */
static void refuse_checkpoint(osla_transport *t)
{
  osla_grid *grid = hessian_grid(t, 0);
  const bool refused = osla_grid_nprow(grid) * osla_grid_npcol(grid) > 1;
  target a = target_make(grid, WRAP_OWN, OSLA_DOUBLE, 37, 8);
  serial_sum sum = sum_create(37, OSLA_LOWER);
  osla_hessian *h = NULL;
  target_fill(&a, &sum, false, 0.0);
  OSLA_ASSERT_OK(osla_hessian_create_on(a.matrix, NULL, &h));
  if (refused) {
    OSLA_ASSERT_ERR(osla_hessian_checkpoint(h, scratch_path("own.h5"), NULL), OSLA_ERR_UNSUPPORTED);
    OSLA_ASSERT_ERR(osla_hessian_restore(h, scratch_path("on.h5"), "job"), OSLA_ERR_UNSUPPORTED);
    OSLA_ASSERT_TEXT("make it by osla_matrix_wrap");
    OSLA_ASSERT_SAME_TEXT();
  }
  target_assert(&a, &sum, h, "after refused calls");
  osla_hessian_destroy(&h);
  target_free(&a);
  sum_free(&sum);
  osla_grid_destroy(&grid);
}

static void test_restart(void)
{
  osla_transport *t = osla_test_transport();
  scratch_create();
  osla_hessian_options o = {0};
  restart(t, WRAP, WRAP, o);
  restart(t, CREATE, WRAP, o);
  restart(t, TRIANGLE, WRAP, o);
  o.checkpoint_holds = true;
  restart(t, TRIANGLE, TRIANGLE, o);
  restart(t, WRAP, CREATE_IN, o);
  o.order_independent = true;
  o.bound = o.gradient_bound = 1e6;
  restart(t, WRAP, WRAP, o);
  restart(t, WRAP, TRIANGLE, o);
  o.checkpoint_holds = false;
  restart(t, TRIANGLE, CREATE_IN, o);
  refuse_checkpoint(t);
  scratch_remove(1);
  osla_transport_destroy(&t);
}

/* ---- the chain from updates to a solution ---- */

/* H := H + updates on a wrapped matrix that holds a multiple of I; Cholesky and solve in place. */
static void test_solve(void)
{
  enum { N = 40, NB = 6 };
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int which = 0; which < 3 && (grid = hessian_grid(t, which)) != NULL; which++) {
    target a = target_make(grid, WRAP, OSLA_DOUBLE, N, NB);
    osla_matrix *x = NULL, *copy = NULL, *r = NULL;
    osla_hessian *h = NULL;
    int64_t info = -1;
    double residual = NAN;
    OSLA_ASSERT_OK(osla_matrix_fill(a.matrix, OSLA_FILL_IDENTITY, 0));
    OSLA_ASSERT_OK(osla_hessian_create_on(a.matrix, NULL, &h));
    for (int i = osla_test_rank(); i < 8; i += osla_test_size())
      OSLA_ASSERT_OK(update_push(h, update_random(11, 8 * i + 3, N, N, OSLA_DOUBLE)));
    /* dominates the sum of the random blocks, which alone may be indefinite */
    for (int64_t i = osla_test_rank(); i < N; i += osla_test_size()) {
      const double large = 1e6;
      OSLA_ASSERT_OK(osla_hessian_update_block(h, 1, &i, 1, &i, &large, 1));
    }
    OSLA_ASSERT_OK(osla_hessian_commit(h));
    osla_hessian_destroy(&h);
    OSLA_ASSERT_OK(osla_matrix_create(grid, OSLA_DOUBLE, N, N, NB, NB, &copy));
    OSLA_ASSERT_OK(osla_matrix_create(grid, OSLA_DOUBLE, N, 2, NB, NB, &x));
    OSLA_ASSERT_OK(osla_matrix_create(grid, OSLA_DOUBLE, N, 2, NB, NB, &r));
    OSLA_ASSERT_OK(osla_matrix_copy(a.matrix, copy));
    OSLA_ASSERT_OK(osla_matrix_fill(x, OSLA_FILL_UNIFORM, 5));
    OSLA_ASSERT_OK(osla_matrix_copy(x, r));
    OSLA_ASSERT_OK(osla_potrf(OSLA_LOWER, a.matrix, NULL, &info));
    CU_ASSERT(info == 0);
    OSLA_ASSERT_OK(osla_potrs(OSLA_LOWER, a.matrix, x));
    OSLA_ASSERT_OK(osla_symm(OSLA_LEFT, OSLA_LOWER, 1, osla_whole(copy), osla_whole(x), -1,
                             osla_whole(r), NULL));
    OSLA_ASSERT_OK(osla_matrix_norm(r, OSLA_NORM_MAX, &residual));
    OSLA_ASSERT_MSG(residual < 1e-12, "residual %g", residual);
    osla_matrix_destroy(&r);
    osla_matrix_destroy(&x);
    osla_matrix_destroy(&copy);
    target_free(&a);
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* ---- refused arguments ---- */

static void refuse_made(osla_grid *grid, osla_dtype dtype, int64_t m, int64_t mb, osla_err err,
                        const char *text)
{
  osla_matrix *a = NULL;
  OSLA_ASSERT_OK(osla_matrix_create(grid, dtype, m, 12, mb, 4, &a));
  hessian_refused(a, NULL, err, text);
  osla_matrix_destroy(&a);
}

static void test_refused(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = hessian_grid(t, 0);
  osla_hessian *h = NULL, *made = NULL;
  osla_matrix *again = NULL;
  refuse_made(grid, OSLA_COMPLEX_DOUBLE, 12, 4, OSLA_ERR_UNSUPPORTED, "type 'z'");
  refuse_made(grid, OSLA_DOUBLE, 13, 4, OSLA_ERR_ARG, "13 x 12");
  refuse_made(grid, OSLA_DOUBLE, 12, 3, OSLA_ERR_ARG, "3 x 4");
  target a = target_make(grid, WRAP, OSLA_DOUBLE, 12, 4);
  serial_sum sum = sum_create(12, OSLA_LOWER);
  target_fill(&a, &sum, false, 0.0);
  hessian_refused(a.matrix, &(osla_hessian_options){.nb = 5}, OSLA_ERR_ARG, "nb = 5");
  hessian_refused(a.matrix, &(osla_hessian_options){.single = true}, OSLA_ERR_ARG, "single");
  hessian_refused(a.matrix, &(osla_hessian_options){.initial = 2.0}, OSLA_ERR_ARG, "clear");
  osla_hessian_options exact = {.order_independent = true, .bound = 5.0};
  hessian_refused(a.matrix, &exact, OSLA_ERR_RANGE, "not within the bound 5");
  hessian_refused(a.matrix, &(osla_hessian_options){.reserved = {1}}, OSLA_ERR_ARG, "reserved");

  OSLA_ASSERT_OK(osla_hessian_create_on(a.matrix, NULL, &h));
  hessian_refused(a.matrix, NULL, OSLA_ERR_STATE, "another accumulator");
  OSLA_ASSERT_OK(osla_matrix_wrap(grid, OSLA_DOUBLE, 12, 12, 4, 4, a.memory,
                                  osla_matrix_lld(a.matrix, osla_test_rank()), &again));
  hessian_refused(again, NULL, OSLA_ERR_STATE, "another accumulator");
  osla_matrix_destroy(&again);
  OSLA_ASSERT_OK(osla_hessian_create(grid, 12, NULL, &made));
  OSLA_ASSERT_OK(osla_hessian_matrix(made, &again));
  hessian_refused(again, NULL, OSLA_ERR_STATE, "another accumulator");
  osla_hessian_destroy(&made);
  target_assert(&a, &sum, h, "after refusals");
  osla_hessian_destroy(&h);
  target_free(&a);
  sum_free(&sum);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* options.triangle requires the lower triangle, and a matrix of the caller that is triangular. */
static void test_refused_triangle(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = hessian_grid(t, 0);
  target full = target_make(grid, CREATE, OSLA_DOUBLE, 12, 4);
  target half = target_make(grid, TRIANGLE, OSLA_DOUBLE, 12, 4);
  osla_hessian *h = NULL;
  osla_hessian_options o = {.triangle = 1};
  hessian_refused(full.matrix, &o, OSLA_ERR_ARG, "the matrix is a full one");
  o.uplo = OSLA_GENERAL;
  hessian_refused(half.matrix, &o, OSLA_ERR_ARG, "set uplo to OSLA_LOWER");
  o = (osla_hessian_options){.uplo = OSLA_UPPER};
  hessian_refused(half.matrix, &o, OSLA_ERR_ARG, "set uplo to OSLA_LOWER");
  o.triangle = 1;
  OSLA_ASSERT_ERR(osla_hessian_create(grid, 12, &o, &h), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("set uplo to OSLA_LOWER");
  o = (osla_hessian_options){.triangle = 2};
  OSLA_ASSERT_ERR(osla_hessian_create(grid, 12, &o, &h), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("triangle = 2");
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_OK(osla_hessian_create_on(half.matrix, NULL, &h));
  hessian_refused(half.matrix, NULL, OSLA_ERR_STATE, "another accumulator");
  osla_hessian_destroy(&h);
  target_free(&half);
  target_free(&full);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* Memory of the last rank is read-only: neither a window nor an accumulator is made on it, and no
 * rank ends by a signal. */
static void test_read_only(void)
{
  enum { N = 12, NB = 4, BYTES = 4096 };
  osla_transport *t = osla_test_transport();
  osla_grid *grid = NULL;
  OSLA_ASSERT_OK(osla_grid_create(t, 1, osla_test_size() < 3 ? osla_test_size() : 3, &grid));
  const bool mine = osla_grid_pcol(grid) == osla_grid_npcol(grid) - 1;
  osla_matrix *a = NULL;
  double *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CU_ASSERT_FATAL(memory != MAP_FAILED);
  if (mine) CU_ASSERT(mprotect(memory, BYTES, PROT_READ) == 0);
  OSLA_ASSERT_ERR(osla_matrix_wrap(grid, OSLA_DOUBLE, N, N, NB, NB, memory, N, &a), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("not all mapped for writing");
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_OK(osla_matrix_wrap_own(grid, OSLA_DOUBLE, N, N, NB, NB, memory, N, &a));
  hessian_refused(a, NULL, OSLA_ERR_ARG, "read-only memory");
  CU_ASSERT(memory[0] == 0.0);
  osla_matrix_destroy(&a);
  CU_ASSERT(munmap(memory, BYTES) == 0);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"kinds", test_kinds},         {"options", test_options},
  {"triangle", test_triangle},   {"threads", test_threads},
  {"restart", test_restart},     {"solve", test_solve},
  {"refused", test_refused},     {"refused_triangle", test_refused_triangle},
  {"read_only", test_read_only}, {NULL, NULL},
};
OSLA_TEST_SUITE(test_hessian_on, cases);
