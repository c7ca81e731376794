/* Compares the memory that kernels predict (osla_NAME_memory) with the memory that they allocate.
 * The linker puts the functions below before the library's; they add up its allocations and
 * regions. */
#include "osla_chol.h"
#include "osla_gemm.h"
#include "osla_hessian.h"
#include "osla_inverse.h"
#include "osla_lu.h"
#include "osla_segment.h"
#include "osla_solve.h"
#include "tests/osla_test_help.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

/* --- counting of allocated bytes --- */

static struct {
  size_t now;     /* number of bytes that are allocated now */
  size_t most;    /* largest number of bytes that were allocated at any time */
  size_t regions; /* number of bytes of all regions made so far */
} taken;

static void *add(void *at)
{
  if (at) taken.now += malloc_usable_size(at);
  if (taken.now > taken.most) taken.most = taken.now;
  return at;
}

static void take_away(void *at)
{
  size_t bytes = at ? malloc_usable_size(at) : 0;
  /* the memory may have been allocated before the counting began */
  taken.now = bytes < taken.now ? taken.now - bytes : 0;
}

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void __real_free(void *at);
osla_err __real_osla_memory_check(osla_transport *t, uint64_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void __wrap_free(void *at);
osla_err __wrap_osla_memory_check(osla_transport *t, uint64_t bytes);

void *__wrap_malloc(size_t bytes)
{
  return add(__real_malloc(bytes));
}
void *__wrap_calloc(size_t count, size_t bytes)
{
  return add(__real_calloc(count, bytes));
}
void *__wrap_realloc(void *old, size_t bytes)
{
  take_away(old);
  return add(__real_realloc(old, bytes));
}
void __wrap_free(void *at)
{
  take_away(at);
  __real_free(at);
}
osla_err __wrap_osla_memory_check(osla_transport *t, uint64_t bytes)
{
  taken.regions += bytes;
  return __real_osla_memory_check(t, bytes);
}

static void start(void)
{
  memset(&taken, 0, sizeof taken);
}

/* Compares the largest use of any rank with the prediction. If `loose` is true, the prediction is
 * only an upper bound, which holds for any pivots. */
static void compare(osla_transport *t, const char *what, uint64_t predicted, bool loose)
{
  /* bytes allowed for objects whose size does not grow with the matrix or the number of ranks */
  enum { OBJECTS = 48 << 10 };
  int64_t most = (int64_t)(taken.most + taken.regions);
  OSLA_ASSERT_OK(osla_allreduce(t, &most, 1, MPI_INT64_T, MPI_MAX));
  uint64_t real = (uint64_t)most, spare = loose ? (4 << 20) : real / 50;
  OSLA_ASSERT_MSG(real <= predicted + OBJECTS && predicted <= real + spare + OBJECTS,
                  "%s: %" PRIu64 " bytes predicted, %" PRIu64 " taken", what, predicted, real);
}

/* --- tests of the predictions of kernels --- */

typedef struct job {
  osla_transport *t;   /* a new transport for each kernel, so that no region is cached */
  osla_segment *first; /* the first segment, at which a transport allocates further memory */
  osla_grid *grid;
  osla_shape shape;
  osla_matrix *a;
} job;

enum { N = 1500, NB = 64, NRHS = 64 };

static void begin(job *j)
{
  *j = (job){.t = osla_test_transport()};
  OSLA_ASSERT_OK(osla_segment_create(j->t, 8, 0, &j->first));
  OSLA_ASSERT_OK(osla_grid_create(j->t, 0, 0, &j->grid));
  OSLA_ASSERT_OK(osla_shape_make(osla_test_size(), osla_transport_node_size(j->t), N, NB,
                                 OSLA_DOUBLE, &j->shape));
  j->shape.oversubscribed = osla_transport_oversubscribed(j->t);
  CU_ASSERT(j->shape.nprow == osla_grid_nprow(j->grid) &&
            j->shape.npcol == osla_grid_npcol(j->grid) &&
            j->shape.nodes == osla_transport_n_nodes(j->t));
}

static void begin_with(job *j, osla_fill fill)
{
  begin(j);
  start();
  OSLA_ASSERT_OK(osla_matrix_create(j->grid, OSLA_DOUBLE, N, N, NB, NB, &j->a));
  compare(j->t, "matrix", osla_shape_matrix(&j->shape, N, NB), false);
  OSLA_ASSERT_OK(osla_matrix_fill(j->a, fill, 1));
  OSLA_ASSERT_OK(osla_barrier(j->t));
}

static void end(job *j)
{
  osla_matrix_destroy(&j->a);
  osla_grid_destroy(&j->grid);
  osla_segment_destroy(&j->first);
  osla_transport_destroy(&j->t);
}

static void test_triangle(void)
{
  job j;
  begin(&j);
  start();
  OSLA_ASSERT_OK(osla_matrix_create_triangle(j.grid, OSLA_DOUBLE, N, NB, &j.a));
  compare(j.t, "triangular matrix", osla_shape_triangle(&j.shape), false);
  end(&j);
}

static void test_gemm(void)
{
  job j;
  osla_matrix *b = NULL, *c = NULL;
  begin_with(&j, OSLA_FILL_UNIFORM);
  OSLA_ASSERT_OK(osla_matrix_create(j.grid, OSLA_DOUBLE, N, N, NB, NB, &b));
  OSLA_ASSERT_OK(osla_matrix_create(j.grid, OSLA_DOUBLE, N, N, NB, NB, &c));
  start();
  OSLA_ASSERT_OK(osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, 1, osla_whole(j.a), osla_whole(b), 0,
                           osla_whole(c), NULL));
  compare(j.t, "gemm", osla_gemm_memory(&j.shape), false);
  osla_matrix_destroy(&b);
  osla_matrix_destroy(&c);
  end(&j);
}

static void test_lu_and_solve(void)
{
  job j;
  osla_lu_result result;
  osla_matrix *b = NULL;
  begin_with(&j, OSLA_FILL_UNIFORM);
  int64_t *ipiv = malloc((size_t)j.shape.rows * sizeof *ipiv);
  start();
  OSLA_ASSERT_OK(osla_getrf(j.a, ipiv, NULL, &result));
  compare(j.t, "LU", osla_lu_memory(&j.shape), false);
  int64_t width = (NRHS + j.shape.npcol - 1) / j.shape.npcol;
  OSLA_ASSERT_OK(osla_matrix_create(j.grid, OSLA_DOUBLE, N, NRHS, NB, width, &b));
  for (int trans = 0; trans < 2; trans++) {
    start();
    OSLA_ASSERT_OK(osla_getrs(trans ? OSLA_TRANS : OSLA_NOTRANS, j.a, ipiv, b));
    compare(j.t, trans ? "solve, transposed" : "solve", osla_getrs_memory(&j.shape, NRHS), true);
  }
  free(ipiv);
  osla_matrix_destroy(&b);
  end(&j);
}

static void test_cholesky(void)
{
  job j;
  int64_t info;
  begin_with(&j, OSLA_FILL_SPD);
  start();
  OSLA_ASSERT_OK(osla_potrf(OSLA_LOWER, j.a, NULL, &info));
  CU_ASSERT(info == 0);
  compare(j.t, "Cholesky", osla_chol_memory(&j.shape), false);
  end(&j);
}

static void test_cholesky_triangle(void)
{
  job j;
  int64_t info;
  begin(&j);
  OSLA_ASSERT_OK(osla_matrix_create_triangle(j.grid, OSLA_DOUBLE, N, NB, &j.a));
  OSLA_ASSERT_OK(osla_matrix_fill(j.a, OSLA_FILL_SPD, 1));
  OSLA_ASSERT_OK(osla_barrier(j.t));
  start();
  OSLA_ASSERT_OK(osla_potrf(OSLA_LOWER, j.a, NULL, &info));
  CU_ASSERT(info == 0);
  compare(j.t, "Cholesky of a triangle", osla_chol_triangle_memory(&j.shape), false);
  end(&j);
}

static void test_inverse(void)
{
  job j;
  int64_t info;
  begin_with(&j, OSLA_FILL_SPD); /* the triangle of this matrix serves as a factor */
  start();
  OSLA_ASSERT_OK(osla_potri(OSLA_LOWER, j.a, NULL, &info));
  CU_ASSERT(info == 0);
  compare(j.t, "inverse", osla_potri_memory(&j.shape), false);
  end(&j);
}

static void test_inverse_of_lu(void)
{
  job j;
  int64_t info;
  begin_with(&j, OSLA_FILL_DOMINANT); /* this matrix serves as LU factors */
  const int64_t rows = osla_matrix_local_rows(j.a), nb = j.shape.nb, n = j.shape.n;
  const int prow = osla_grid_prow(osla_matrix_grid(j.a));
  int64_t *ipiv = malloc((size_t)(rows + 1) * sizeof *ipiv);
  /* each row is interchanged with a row of the next block, so that all rows move to another process
   */
  for (int64_t i = 0; i < rows; i++) {
    const int64_t row = osla_index_global(i, nb, prow, j.shape.nprow);
    ipiv[i] = 1 + (row + nb < n ? row + nb : row);
  }
  start();
  OSLA_ASSERT_OK(osla_getri(j.a, ipiv, NULL, &info));
  CU_ASSERT(info == 0);
  compare(j.t, "inverse of LU", osla_getri_memory(&j.shape), false);
  free(ipiv);
  end(&j);
}

static void test_accumulator(void)
{
  job j;
  osla_hessian *h = NULL;
  begin(&j);
  osla_hessian_options o = {0};
  o.nb = NB;
  start();
  OSLA_ASSERT_OK(osla_hessian_create(j.grid, N, &o, &h));
  compare(j.t, "accumulator", osla_hessian_memory(&j.shape) + osla_shape_matrix(&j.shape, N, NB),
          false);
  osla_hessian_destroy(&h);
  end(&j);
}

/* Tests predictions for 10,000 ranks with 128 on a node. */
static void test_scale(void)
{
  osla_shape s;
  OSLA_ASSERT_OK(osla_shape_make(10000, 128, 1000000, 128, OSLA_DOUBLE, &s));
  CU_ASSERT(s.nprow == 100 && s.npcol == 100 && s.nodes == 79 && !s.columns_near && !s.rows_near);
  CU_ASSERT(osla_shape_matrix(&s, s.n, s.nb) > UINT64_C(800000000));
  CU_ASSERT(osla_shape_triangle(&s) > UINT64_C(400000000));
  CU_ASSERT(osla_shape_triangle(&s) < UINT64_C(450000000));
  const osla_layout largest = {INT64_MAX, INT64_MAX, 8, 8, 2, 2};
  CU_ASSERT(osla_matrix_triangle_bytes(&largest, OSLA_DOUBLE) == UINT64_MAX);
  /* the number of elements has 62 bits, and the number of bytes more than 64 */
  const osla_layout wide = {INT64_C(3000000000), INT64_C(3000000000), 8, 8, 1, 1};
  CU_ASSERT(osla_matrix_triangle_bytes(&wide, OSLA_COMPLEX_DOUBLE) == UINT64_MAX);
  OSLA_ASSERT_ERR(osla_shape_make(4, 5, 10, 1, OSLA_DOUBLE, &s), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_shape_make(0, 1, 10, 1, OSLA_DOUBLE, &s), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_shape_make(4, 2, 10, 0, OSLA_DOUBLE, &s), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_shape_make(4, 2, -1, 1, OSLA_DOUBLE, &s), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_shape_make(4, 2, 2000000000, 1, OSLA_DOUBLE, &s), OSLA_ERR_RANGE);
  OSLA_ASSERT_OK(osla_shape_make(64, 32, 100, 8, OSLA_DOUBLE, &s));
  CU_ASSERT(s.columns_near && !s.rows_near && s.nprow == 8);
}

static const osla_test_case cases[] = {
  {"gemm", test_gemm},
  {"lu_and_solve", test_lu_and_solve},
  {"cholesky", test_cholesky},
  {"cholesky_triangle", test_cholesky_triangle},
  {"accumulator", test_accumulator},
  {"inverse", test_inverse},
  {"inverse_of_lu", test_inverse_of_lu},
  {"triangle", test_triangle},
  {"scale", test_scale},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_memory, cases);
