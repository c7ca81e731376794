/* Tests of fills, norms, scaling and sums of triangular matrices. The results must be those of the
 * same calls on a full matrix with the same elements. */
#include "tests/matrix/triangle_help.h"
#include "tests/osla_test_help.h"

#include <complex.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Orders and block sizes: orders 0 and 1, orders that blocks do not divide, and a block larger than
 * the matrix. */
static const struct shape {
  int64_t n, nb;
} shapes[] = {{41, 4}, {0, 3}, {37, 64}, {1, 1}, {30, 1}, {64, 16}, {50, 7}};
enum { N_SHAPES = sizeof shapes / sizeof shapes[0], SEED = 12 };

/* A triangular matrix and a full matrix of equal order, type and block size on one grid. */
typedef struct pair {
  osla_matrix *triangle, *full;
  osla_transport *t;
  osla_dtype dtype;
  int64_t n;
} pair;

static pair make_pair(osla_transport *t, int which, osla_dtype dtype, const struct shape *s)
{
  pair p = {.t = t, .dtype = dtype, .n = s->n};
  p.full = osla_test_make(t, which, dtype, s->n, s->n, s->nb, s->nb);
  OSLA_ASSERT_OK(
    osla_matrix_create_triangle(osla_matrix_grid(p.full), dtype, s->n, s->nb, &p.triangle));
  return p;
}

static void destroy_pair(pair *p)
{
  OSLA_ASSERT_OK(osla_barrier(p->t));
  osla_matrix_destroy(&p->triangle);
  osla_test_destroy(p->full);
}

/* Sets all bytes of the local array to 0xff, so that every element is NaN. Stored elements above
 * the diagonal stay NaN, and must not influence any result. */
static void spoil(const osla_matrix *a)
{
  if (osla_matrix_local(a))
    memset(osla_matrix_local(a), 0xff, osla_segment_bytes(osla_matrix_segment(a)));
}

/* Reads a whole matrix. The caller frees the memory. */
static void *read_whole(const osla_matrix *a)
{
  const int64_t n = osla_matrix_layout(a).n;
  void *whole = osla_test_allocate((size_t)(n * n) + 1, sizeof(osla_complex));
  OSLA_ASSERT_OK(osla_barrier(osla_grid_transport(osla_matrix_grid(a))));
  OSLA_ASSERT_OK(osla_matrix_get_block(a, 0, 0, n, n, whole, n > 0 ? n : 1));
  OSLA_ASSERT_OK(osla_barrier(osla_grid_transport(osla_matrix_grid(a))));
  return whole;
}

/* Returns the number of elements of the triangular matrix that are wrong. Elements on and below the
 * diagonal must equal those of the full matrix, and elements above the diagonal must be the
 * conjugates of those below. If real_diagonal is true, the diagonal must have the real parts of the
 * full matrix's diagonal. */
static int64_t differ(const pair *p, bool real_diagonal)
{
  void *got = read_whole(p->triangle), *want = read_whole(p->full);
  int64_t wrong = 0;
  for (int64_t j = 0; j < p->n; j++)
    for (int64_t i = 0; i < p->n; i++) {
      osla_complex x = i >= j ? osla_test_load(p->dtype, want, i + j * p->n)
                              : conj(osla_test_load(p->dtype, want, j + i * p->n));
      if (i == j && real_diagonal) x = creal(x);
      wrong += osla_test_load(p->dtype, got, i + j * p->n) != x;
    }
  free(got);
  free(want);
  return wrong;
}

/* ---- fills ---- */

static double position(int64_t i, int64_t j, void *arg)
{
  ++*(int64_t *)arg;
  return (double)(256 * i + j + (i < j ? 1000000 : 0));
}

static void check_fills(pair *p)
{
  int64_t calls = 0, ignored = 0;
  for (int f = OSLA_FILL_ZERO; f <= OSLA_FILL_INTEGER; f++) {
    spoil(p->triangle);
    OSLA_ASSERT_OK(osla_matrix_fill(p->triangle, (osla_fill)f, SEED));
    OSLA_ASSERT_OK(osla_matrix_fill(p->full, (osla_fill)f, SEED));
    OSLA_ASSERT_MSG(differ(p, true) == 0, "fill %d, n = %" PRId64, f, p->n);
  }
  OSLA_ASSERT_OK(osla_matrix_fill_with(p->triangle, position, &calls));
  OSLA_ASSERT_OK(osla_matrix_fill_with(p->full, position, &ignored));
  CU_ASSERT(differ(p, false) == 0);
  OSLA_ASSERT_OK(osla_allreduce(p->t, &calls, 1, MPI_INT64_T, MPI_SUM));
  CU_ASSERT(calls == p->n * (p->n + 1) / 2);
}

/* ---- norms ---- */

static void check_norms(pair *p)
{
  double value = -1, expected = -2;
  spoil(p->triangle);
  OSLA_ASSERT_OK(osla_matrix_fill(p->triangle, OSLA_FILL_UNIFORM, SEED));
  OSLA_ASSERT_OK(osla_matrix_copy(p->triangle, p->full));
  for (int norm = OSLA_NORM_MAX; norm <= OSLA_NORM_FRO; norm++) {
    OSLA_ASSERT_OK(osla_matrix_norm(p->triangle, (osla_norm)norm, &value));
    OSLA_ASSERT_OK(osla_matrix_norm(p->full, (osla_norm)norm, &expected));
    OSLA_ASSERT_CLOSE(value, expected, norm == OSLA_NORM_MAX ? 0.0 : 1e-13 * expected);
    /* On one rank the sums are equal bit by bit, because both layouts add the elements of a column
     * in the same order. */
    if (osla_test_size() == 1 && norm == OSLA_NORM_ONE) CU_ASSERT(value == expected);
  }
  if (p->n < 2) return;
  osla_complex nan = 0;
  osla_test_store(p->dtype, &nan, 0, (double)NAN);
  if (osla_test_rank() == 0)
    OSLA_ASSERT_OK(osla_matrix_put_block(p->triangle, p->n - 1, 0, 1, 1, &nan, 1));
  OSLA_ASSERT_OK(osla_barrier(p->t));
  for (int norm = OSLA_NORM_MAX; norm <= OSLA_NORM_FRO; norm++) {
    OSLA_ASSERT_OK(osla_matrix_norm(p->triangle, (osla_norm)norm, &value));
    OSLA_ASSERT_MSG(isnan(value), "norm %d is %g", norm, value);
  }
}

/* ---- scaling and sums ---- */

static void check_sums(pair *p)
{
  const bool single = p->dtype == OSLA_FLOAT || p->dtype == OSLA_COMPLEX_FLOAT;
  const osla_dtype other = (osla_dtype)(single ? (int)p->dtype + 1 : (int)p->dtype - 1);
  const osla_layout l = osla_matrix_layout(p->full);
  pair q = {.t = p->t, .dtype = other, .n = p->n};
  osla_grid *grid = osla_matrix_grid(p->full);
  OSLA_ASSERT_OK(osla_matrix_create(grid, other, p->n, p->n, l.mb, l.nb, &q.full));
  OSLA_ASSERT_OK(osla_matrix_create_triangle(grid, other, p->n, l.nb, &q.triangle));
  spoil(p->triangle);
  OSLA_ASSERT_OK(osla_matrix_fill(p->triangle, OSLA_FILL_UNIFORM, SEED));
  OSLA_ASSERT_OK(osla_matrix_copy(p->triangle, p->full));
  OSLA_ASSERT_OK(osla_matrix_scale(-1.5, p->triangle));
  OSLA_ASSERT_OK(osla_matrix_scale(-1.5, p->full));
  CU_ASSERT(differ(p, false) == 0);
  OSLA_ASSERT_OK(osla_matrix_add(2.0, p->triangle, 0.0, q.triangle));
  OSLA_ASSERT_OK(osla_matrix_add(2.0, p->full, 0.0, q.full));
  CU_ASSERT(differ(&q, false) == 0);
  OSLA_ASSERT_OK(osla_matrix_add(0.25, q.triangle, -0.5, p->triangle));
  OSLA_ASSERT_OK(osla_matrix_add(0.25, q.full, -0.5, p->full));
  CU_ASSERT(differ(p, false) == 0);
  OSLA_ASSERT_ERR(osla_matrix_add(1.0, p->full, 1.0, q.triangle), OSLA_ERR_UNSUPPORTED);
  OSLA_ASSERT_TEXT("the destination is triangular and the source is not");
  OSLA_ASSERT_ERR(osla_matrix_add(1.0, p->triangle, 1.0, q.full), OSLA_ERR_UNSUPPORTED);
  OSLA_ASSERT_SAME_TEXT();
  CU_ASSERT(differ(&q, false) == 0 && differ(p, false) == 0);
  spoil(p->triangle);
  OSLA_ASSERT_OK(osla_barrier(p->t));
  OSLA_ASSERT_OK(osla_matrix_scale(0.0, p->triangle));
  OSLA_ASSERT_OK(osla_matrix_fill(p->full, OSLA_FILL_ZERO, 0));
  CU_ASSERT(differ(p, false) == 0);
  osla_matrix_destroy(&q.triangle);
  osla_matrix_destroy(&q.full);
}

static void check_each(void (*check)(pair *p))
{
  osla_transport *t = osla_test_transport();
  const int n_grids = osla_test_n_grids(t);
  const int step = osla_test_size() >= FEW_RANKS ? n_grids : 2;
  for (int which = 0; which < n_grids; which++)
    for (int k = which; k < N_SHAPES; k += step) {
      pair p = make_pair(t, which, (osla_dtype)((k + which) % 4), &shapes[k]);
      check(&p);
      destroy_pair(&p);
    }
  osla_transport_destroy(&t);
}

static void test_fills(void)
{
  check_each(check_fills);
}

static void test_norms(void)
{
  check_each(check_norms);
}

static void test_sums(void)
{
  check_each(check_sums);
}

/* ---- parts ---- */

/* Fills a part, scales it, and computes its norms. The results must equal those of the calls on a
 * separate matrix of the part's size, and other elements of `a` must not change. */
static void check_part(osla_matrix *a, osla_part part)
{
  osla_transport *t = osla_grid_transport(osla_matrix_grid(a));
  const osla_dtype dtype = osla_matrix_dtype(a);
  const bool diagonal = part.i == part.j;
  osla_matrix *own = NULL;
  double value = -1, expected = -2;
  osla_grid *grid = osla_matrix_grid(a);
  if (diagonal)
    OSLA_ASSERT_OK(osla_matrix_create_triangle(grid, dtype, part.n, 5, &own));
  else
    OSLA_ASSERT_OK(osla_matrix_create(grid, dtype, part.m, part.n, 5, 5, &own));
  osla_test_write_mirrored(a, true);
  OSLA_ASSERT_OK(osla_matrix_fill_part(part, OSLA_FILL_UNIFORM, SEED));
  OSLA_ASSERT_OK(osla_matrix_scale_part(3.0, part));
  OSLA_ASSERT_OK(osla_matrix_fill(own, OSLA_FILL_UNIFORM, SEED));
  OSLA_ASSERT_OK(osla_barrier(t));
  OSLA_ASSERT_OK(osla_matrix_scale(3.0, own));
  for (int norm = OSLA_NORM_MAX; norm <= OSLA_NORM_FRO; norm++) {
    OSLA_ASSERT_OK(osla_matrix_norm_part(part, (osla_norm)norm, &value));
    OSLA_ASSERT_OK(osla_matrix_norm(own, (osla_norm)norm, &expected));
    OSLA_ASSERT_CLOSE(value, expected, 1e-13 * expected);
  }
  const size_t bytes = (size_t)(part.m * part.n) * osla_dtype_size(dtype);
  unsigned char *got = osla_test_allocate(bytes + 1, 1), *want = osla_test_allocate(bytes + 1, 1);
  OSLA_ASSERT_OK(osla_matrix_get_block(a, part.i, part.j, part.m, part.n, got, part.m));
  OSLA_ASSERT_OK(osla_matrix_get_block(own, 0, 0, part.m, part.n, want, part.m));
  CU_ASSERT(memcmp(got, want, bytes) == 0);
  free(got);
  free(want);
  OSLA_ASSERT_OK(osla_barrier(t));
  osla_matrix_destroy(&own);
  /* After a fill with zeros, exactly the elements of the part, and their mirror images, must differ
   * from osla_test_mirrored. */
  OSLA_ASSERT_OK(osla_matrix_fill_part(part, OSLA_FILL_ZERO, 0));
  const osla_part none = {0};
  const int64_t n = osla_matrix_layout(a).n;
  const int64_t changed = diagonal ? part.m * part.m : 2 * part.m * part.n;
  CU_ASSERT(n > 0 && osla_test_differ_mirrored(a, &none, 0, 0) == changed);
  OSLA_ASSERT_OK(osla_barrier(t));
}

static void test_parts(void)
{
  osla_transport *t = osla_test_transport();
  for (int which = 0; which < osla_test_n_grids(t); which++) {
    osla_grid *grid = osla_test_grid(t, which);
    osla_matrix *a = NULL;
    double value;
    OSLA_ASSERT_OK(osla_matrix_create_triangle(grid, (osla_dtype)(which % 4), 52, 6, &a));
    check_part(a, osla_part_at(a, 12, 12, 31, 31));
    check_part(a, osla_part_at(a, 7, 7, 40, 40));
    check_part(a, osla_part_at(a, 27, 5, 25, 22));
    OSLA_ASSERT_ERR(osla_matrix_fill_part(osla_part_at(a, 4, 3, 9, 9), OSLA_FILL_ZERO, 0),
                    OSLA_ERR_UNSUPPORTED);
    OSLA_ASSERT_TEXT("fill: A is the 9 x 9 part at (4, 3) of a triangular matrix");
    OSLA_ASSERT_ERR(osla_matrix_norm_part(osla_part_at(a, 0, 20, 9, 9), OSLA_NORM_ONE, &value),
                    OSLA_ERR_UNSUPPORTED);
    OSLA_ASSERT_SAME_TEXT();
    OSLA_ASSERT_ERR(osla_matrix_scale_part(2.0, osla_part_at(a, 0, 0, 9, 8)), OSLA_ERR_UNSUPPORTED);
    if (which % 4 >= OSLA_COMPLEX_FLOAT) {
      OSLA_ASSERT_ERR(osla_matrix_scale(CMPLX(1.0, 2.0), a), OSLA_ERR_ARG);
      OSLA_ASSERT_TEXT("alpha = 1+2i is not real");
      OSLA_ASSERT_OK(osla_matrix_scale_part(CMPLX(1.0, 2.0), osla_part_at(a, 20, 0, 9, 8)));
    }
    OSLA_ASSERT_OK(osla_barrier(t));
    osla_test_destroy(a);
  }
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {{"fills", test_fills},
                                       {"norms", test_norms},
                                       {"sums", test_sums},
                                       {"parts", test_parts},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_triangle_ops, cases);
