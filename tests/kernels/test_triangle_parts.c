/* Tests of kernels on parts of triangular matrices: elimination of the first unknowns of symmetric
 * equations, and products. The results must agree to rounding with the results of the calls on a
 * full matrix with the elements of the triangular one. */
#include "osla.h"
#include "osla_trace.h"
#include "tests/kernels/kernel_reference.h"
#include "tests/osla_test_help.h"

#include <complex.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Order, block size, and number of unknowns that are eliminated. The cases include numbers that
 * blocks divide and do not divide, no unknown, all unknowns, orders 0 and 1, and a block larger
 * than the matrix. */
static const struct elimination {
  int64_t n, nb, e;
} cases_of[] = {{57, 8, 16}, {57, 8, 21}, {40, 64, 13}, {33, 5, 0}, {33, 5, 33},
                {1, 4, 1},   {1, 4, 0},   {0, 3, 0},    {90, 7, 84}};
enum { N_CASES = sizeof cases_of / sizeof cases_of[0] };

/* Asserts that two matrices agree to rounding: all elements if `whole` is true, otherwise those on
 * and below the diagonal. */
static void expect_equal(const osla_matrix *a, const osla_matrix *b, bool whole, const char *call)
{
  const int64_t n = osla_matrix_layout(a).n, ld = n > 0 ? n : 1;
  const osla_dtype dtype = osla_matrix_dtype(a);
  osla_transport *t = osla_grid_transport(osla_matrix_grid(a));
  void *x = osla_test_allocate((size_t)(n * n), sizeof(osla_complex));
  void *y = osla_test_allocate((size_t)(n * n), sizeof(osla_complex));
  double most = 0;
  OSLA_ASSERT_OK(osla_barrier(t));
  OSLA_ASSERT_OK(osla_matrix_get_block(a, 0, 0, n, n, x, ld));
  OSLA_ASSERT_OK(osla_matrix_get_block(b, 0, 0, n, n, y, ld));
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = whole ? 0 : j; i < n; i++) {
      const double d =
        cabs(osla_test_load(dtype, x, i + j * n) - osla_test_load(dtype, y, i + j * n));
      if (!(d <= most)) most = d;
    }
  OSLA_ASSERT_MSG(most <= 64.0 * kernel_eps(dtype) * (double)n,
                  "%s: difference %g, n = %" PRId64 ", type %d", call, most, n, (int)dtype);
  free(x);
  free(y);
  OSLA_ASSERT_OK(osla_barrier(t));
}

/* Two matrices with equal elements on one grid: at[0] is triangular, at[1] full. */
typedef struct pair {
  osla_matrix *at[2];
} pair;

static pair make_pair(osla_grid *grid, osla_dtype dtype, int64_t n, int64_t nb)
{
  pair p = {{NULL, NULL}};
  OSLA_ASSERT_OK(osla_matrix_create_triangle(grid, dtype, n, nb, &p.at[0]));
  OSLA_ASSERT_OK(osla_matrix_create(grid, dtype, n, n, nb, nb, &p.at[1]));
  /* Diagonally dominant, hence positive definite. */
  OSLA_ASSERT_OK(osla_matrix_fill(p.at[0], OSLA_FILL_DOMINANT, 3));
  OSLA_ASSERT_OK(osla_matrix_copy(p.at[0], p.at[1]));
  return p;
}

static void destroy_pair(pair *p)
{
  osla_matrix_destroy(&p->at[0]);
  osla_matrix_destroy(&p->at[1]);
}

/* Eliminates the first e of n unknowns in both layouts, so that the last n - e equations contain
 * only the other unknowns, and compares the matrices. */
static void check_elimination(osla_grid *grid, osla_dtype dtype, const struct elimination *s)
{
  const int64_t e = s->e, rest = s->n - s->e;
  pair p = make_pair(grid, dtype, s->n, s->nb);
  for (int k = 0; k < 2; k++) {
    const osla_part l = osla_part_at(p.at[k], 0, 0, e, e), b = osla_part_at(p.at[k], e, 0, rest, e),
                    c = osla_part_at(p.at[k], e, e, rest, rest);
    int64_t info = -1;
    OSLA_ASSERT_OK(osla_potrf_part(OSLA_LOWER, l, NULL, &info));
    CU_ASSERT(info == 0);
    /* in an empty full matrix both l and b are the whole matrix, and osla_trsm_part refuses it */
    if (s->n > 0 || k == 0)
      OSLA_ASSERT_OK(osla_trsm_part(OSLA_RIGHT, OSLA_LOWER, OSLA_CONJTRANS, OSLA_NONUNIT, 1, l, b));
    OSLA_ASSERT_OK(osla_herk(OSLA_LOWER, OSLA_NOTRANS, -1, b, 1, c, NULL));
  }
  expect_equal(p.at[0], p.at[1], false, "elimination");
  destroy_pair(&p);
}

/* Products with a part B below the diagonal of the triangular matrix; sums of osla_herk and
 * osla_syrk in a part C on the diagonal; a solve with C. */
static void check_products(osla_grid *grid, osla_dtype dtype, const struct elimination *s)
{
  const bool real = dtype == OSLA_FLOAT || dtype == OSLA_DOUBLE;
  const int64_t e = s->e, rest = s->n - s->e;
  pair p = make_pair(grid, dtype, s->n, s->nb);
  osla_matrix *x = NULL, *y[2] = {NULL, NULL};
  OSLA_ASSERT_OK(osla_matrix_create(grid, dtype, e, rest, 6, 4, &x));
  OSLA_ASSERT_OK(osla_matrix_fill(x, OSLA_FILL_UNIFORM, 4));
  for (int k = 0; k < 2; k++) {
    const osla_part b = osla_part_at(p.at[k], e, 0, rest, e),
                    c = osla_part_at(p.at[k], e, e, rest, rest);
    OSLA_ASSERT_OK(osla_matrix_create(grid, dtype, s->n, s->n, 5, 5, &y[k]));
    const osla_part square = osla_part_at(y[k], 0, 0, rest, rest);
    OSLA_ASSERT_OK(osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, 0.5, b, osla_whole(x), 0, square, NULL));
    OSLA_ASSERT_OK(
      osla_gemm(OSLA_CONJTRANS, OSLA_CONJTRANS, 0.5, osla_whole(x), b, 1, square, NULL));
    OSLA_ASSERT_OK(osla_herk(OSLA_LOWER, OSLA_CONJTRANS, 0.25, osla_whole(x), -0.5, c, NULL));
    const osla_part rhs = osla_part_at(x, 0, 0, e, rest > 0),
                    sum = osla_part_at(y[k], 0, 0, rest, 1);
    if (rest > 0) OSLA_ASSERT_OK(osla_gemv(OSLA_NOTRANS, 2, b, rhs, 1, sum));
    if (e > 0 && rest > 0)
      OSLA_ASSERT_OK(osla_gemv(OSLA_CONJTRANS, 2, b, osla_part_at(y[k], 0, 0, rest, 1), 1,
                               osla_part_at(y[k], rest, 0, e, 1)));
    if (real) OSLA_ASSERT_OK(osla_syrk(OSLA_LOWER, OSLA_TRANS, 1, osla_whole(x), 1, c, NULL));
    OSLA_ASSERT_OK(osla_potrs_part(OSLA_LOWER, osla_part_at(p.at[k], e, e, rest, rest), square));
  }
  expect_equal(p.at[0], p.at[1], false, "herk");
  expect_equal(y[0], y[1], true, "gemm, gemv and potrs");
  for (int k = 0; k < 2; k++)
    osla_matrix_destroy(&y[k]);
  osla_matrix_destroy(&x);
  destroy_pair(&p);
}

static void for_all(void (*check)(osla_grid *grid, osla_dtype dtype, const struct elimination *s))
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  const int step = osla_test_size() >= FEW_RANKS ? 4 : 2;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g++) {
    for (int k = g % step; k < N_CASES; k += step)
      check(grid, (osla_dtype)((g + k / step) % 4), &cases_of[k]);
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

static void test_elimination(void)
{
  for_all(check_elimination);
}

static void test_products(void)
{
  for_all(check_products);
}

static void test_errors(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = osla_test_square_grid(t);
  pair p = make_pair(grid, OSLA_COMPLEX_DOUBLE, 20, 4);
  osla_matrix *a = p.at[0];
  const osla_part b = osla_part_at(a, 8, 0, 12, 8), c = osla_part_at(a, 8, 8, 12, 12);
  const osla_part crossing = osla_part_at(a, 4, 0, 12, 12), whole = osla_whole(p.at[1]);
  int64_t info = 0;
  OSLA_ASSERT_ERR(osla_potrf_part(OSLA_LOWER, crossing, NULL, &info), OSLA_ERR_UNSUPPORTED);
  OSLA_ASSERT_TEXT("potrf: A is the 12 x 12 part at (4, 0) of a triangular matrix, which neither "
                   "lies below the diagonal nor");
  OSLA_ASSERT_ERR(osla_potrf_part(OSLA_UPPER, c, NULL, &info), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_syrk(OSLA_LOWER, OSLA_NOTRANS, 1, b, 1, c, NULL), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("call osla_herk");
  OSLA_ASSERT_ERR(osla_herk(OSLA_UPPER, OSLA_NOTRANS, 1, b, 1, c, NULL), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("herk: uplo is OSLA_UPPER, but a matrix of osla_matrix_create_triangle");
  OSLA_ASSERT_ERR(osla_trsm(OSLA_LEFT, OSLA_UPPER, OSLA_NOTRANS, OSLA_NONUNIT, 1, a, p.at[1]),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("trsm: uplo is OSLA_UPPER, but a matrix of osla_matrix_create_triangle");
  OSLA_ASSERT_ERR(
    osla_herk(OSLA_LOWER, OSLA_NOTRANS, 1, c, 1, osla_part_at(p.at[1], 0, 0, 12, 12), NULL),
    OSLA_ERR_UNSUPPORTED);
  OSLA_ASSERT_ERR(
    osla_herk(OSLA_LOWER, OSLA_NOTRANS, 1, crossing, 1, osla_part_at(p.at[1], 0, 0, 12, 12), NULL),
    OSLA_ERR_UNSUPPORTED);
  OSLA_ASSERT_TEXT("herk: A is the 12 x 12 part at (4, 0) of a triangular matrix");
  OSLA_ASSERT_ERR(osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, 1, whole, whole, 1, osla_whole(a), NULL),
                  OSLA_ERR_UNSUPPORTED);
  OSLA_ASSERT_ERR(osla_trsm_part(OSLA_LEFT, OSLA_LOWER, OSLA_NOTRANS, OSLA_NONUNIT, 1,
                                 osla_part_at(a, 0, 0, 8, 8), osla_part_at(a, 8, 8, 8, 8)),
                  OSLA_ERR_UNSUPPORTED);
  OSLA_ASSERT_TEXT("trsm: B is the 8 x 8 part at (8, 8) of a triangular matrix, on its diagonal");
  OSLA_ASSERT_ERR(osla_trsm_part(OSLA_RIGHT, OSLA_LOWER, OSLA_NOTRANS, OSLA_NONUNIT, 1,
                                 osla_part_at(a, 8, 8, 1, 1), osla_part_at(a, 3, 3, 5, 1)),
                  OSLA_ERR_UNSUPPORTED);
  OSLA_ASSERT_TEXT("B is the 5 x 1 part at (3, 3) of a triangular matrix, which neither lies");
  OSLA_ASSERT_ERR(
    osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, 1, c, b, 1, osla_part_at(p.at[1], 0, 0, 12, 8), NULL),
    OSLA_ERR_UNSUPPORTED);
  OSLA_ASSERT_TEXT("gemm: A is the 12 x 12 part at (8, 8) of a triangular matrix, on its diagonal: "
                   "call osla_symm");
  OSLA_ASSERT_ERR(
    osla_herk(OSLA_LOWER, OSLA_NOTRANS, 1, whole, 1, osla_part_at(a, 4, 0, 12, 12), NULL),
    OSLA_ERR_UNSUPPORTED);
  OSLA_ASSERT_TEXT(
    "herk: C is the 12 x 12 part at (4, 0) of a triangular matrix: it must begin and");
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_OK(osla_barrier(t));
  expect_equal(p.at[0], p.at[1], false, "refused calls");
  destroy_pair(&p);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* All products and solves must accept empty parts of triangular matrices, wherever the parts
 * lie. */
static void test_empty(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = osla_test_square_grid(t);
  osla_matrix *a = NULL, *none = NULL, *x = NULL;
  OSLA_ASSERT_OK(osla_matrix_create_triangle(grid, OSLA_DOUBLE, 20, 4, &a));
  OSLA_ASSERT_OK(osla_matrix_create_triangle(grid, OSLA_DOUBLE, 0, 4, &none));
  OSLA_ASSERT_OK(osla_matrix_create(grid, OSLA_DOUBLE, 9, 9, 3, 3, &x));
  const osla_part parts[] = {osla_whole(none), osla_part_at(a, 4, 4, 0, 0),
                             osla_part_at(a, 3, 7, 0, 0), osla_part_at(a, 9, 2, 0, 0)};
  const osla_part no_rows = osla_part_at(x, 0, 0, 0, 5), no_cols = osla_part_at(x, 1, 0, 0, 0);
  int64_t info = -1;
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
    const osla_part p = parts[k];
    OSLA_ASSERT_OK(
      osla_symm(OSLA_LEFT, OSLA_LOWER, 1, p, no_rows, 1, osla_part_at(x, 5, 0, 0, 5), NULL));
    OSLA_ASSERT_OK(
      osla_symv(OSLA_LOWER, 1, p, osla_part_at(x, 0, 0, 0, 1), 1, osla_part_at(x, 0, 1, 0, 1)));
    OSLA_ASSERT_OK(
      osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, 1, p, no_rows, 1, osla_part_at(x, 5, 0, 0, 5), NULL));
    OSLA_ASSERT_OK(osla_syrk(OSLA_LOWER, OSLA_NOTRANS, 1, no_cols, 1, p, NULL));
    OSLA_ASSERT_OK(osla_potrf_part(OSLA_LOWER, p, NULL, &info));
    CU_ASSERT(info == 0);
    OSLA_ASSERT_OK(osla_potrs_part(OSLA_LOWER, p, no_rows));
    OSLA_ASSERT_OK(osla_potrs_part(OSLA_LOWER, p, p));
    OSLA_ASSERT_OK(
      osla_trsm_part(OSLA_LEFT, OSLA_LOWER, OSLA_NOTRANS, OSLA_NONUNIT, 1, no_cols, p));
  }
  osla_matrix_destroy(&a);
  osla_matrix_destroy(&none);
  osla_matrix_destroy(&x);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* Products must refuse a result in a full matrix that shares memory with a triangular operand. */
static void test_overlap(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = osla_test_square_grid(t);
  pair p = make_pair(grid, OSLA_DOUBLE, 20, 4);
  osla_matrix *c = NULL, *tall = NULL;
  OSLA_ASSERT_OK(
    osla_matrix_create_in(osla_matrix_segment(p.at[0]), grid, OSLA_DOUBLE, 20, 4, 2, 2, &c));
  OSLA_ASSERT_OK(osla_matrix_create(grid, OSLA_DOUBLE, 20, 4, 4, 4, &tall));
  const osla_part a = osla_whole(p.at[0]), b = osla_whole(tall);
  OSLA_ASSERT_ERR(osla_symm(OSLA_LEFT, OSLA_LOWER, 1, a, b, 0, osla_whole(c), NULL), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("symm: C overlaps A");
  OSLA_ASSERT_ERR(osla_hemm(OSLA_LEFT, OSLA_LOWER, 1, a, b, 0, osla_whole(c), NULL), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("hemm: C overlaps A");
  OSLA_ASSERT_ERR(
    osla_symv(OSLA_LOWER, 1, a, osla_part_at(tall, 0, 0, 20, 1), 0, osla_part_at(c, 0, 0, 20, 1)),
    OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("symv: y overlaps A");
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_OK(osla_barrier(t));
  expect_equal(p.at[0], p.at[1], false, "refused calls");
  osla_matrix_destroy(&c);
  osla_matrix_destroy(&tall);
  destroy_pair(&p);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* Returns the number of transfers, copies and collective operations of all ranks in a call of
 * osla_gemm and one of osla_herk, both with alpha = 0. The operands A and B are parts of the matrix
 * `of`. */
static int64_t events_of_zero(const osla_matrix *of, osla_part c)
{
  static const osla_trace_kind kinds[] = {
    OSLA_TRACE_GET,      OSLA_TRACE_PUT,      OSLA_TRACE_COPY,  OSLA_TRACE_PACK,
    OSLA_TRACE_NOTIFY,   OSLA_TRACE_BARRIER,  OSLA_TRACE_BCAST, OSLA_TRACE_ALLREDUCE,
    OSLA_TRACE_ALLTOALL, OSLA_TRACE_ALLGATHER};
  osla_transport *t = osla_grid_transport(osla_matrix_grid(of));
  osla_matrix *matrix = (osla_matrix *)(uintptr_t)of; /* read only */
  const osla_part a = osla_part_at(matrix, 8, 0, 12, 8);
  osla_trace_summary s;
  int64_t events = 0;
  OSLA_ASSERT_OK(osla_trace_start(t));
  OSLA_ASSERT_OK(osla_gemm(OSLA_NOTRANS, OSLA_TRANS, 0, a, a, -2, c, NULL));
  OSLA_ASSERT_OK(osla_herk(OSLA_LOWER, OSLA_NOTRANS, 0, a, -2, c, NULL));
  OSLA_ASSERT_OK(osla_trace_summarise(t, &s));
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    events += s.kind[kinds[k]].events;
  return events;
}

static double not_a_number(int64_t i, int64_t j, void *arg)
{
  (void)i, (void)j, (void)arg;
  return NAN;
}

/* Products with alpha = 0 must not read A and B, which contain NaN. Therefore operands in a
 * triangular matrix must cause no more transfers and copies than operands in a full matrix. */
static void test_zero(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = osla_test_square_grid(t);
  osla_matrix *c[2] = {NULL, NULL};
  int64_t events[2];
  pair p = make_pair(grid, OSLA_DOUBLE, 20, 4);
  for (int k = 0; k < 2; k++) {
    OSLA_ASSERT_OK(osla_matrix_fill_with(p.at[k], not_a_number, NULL));
    OSLA_ASSERT_OK(osla_matrix_create(grid, OSLA_DOUBLE, 12, 12, 5, 5, &c[k]));
    OSLA_ASSERT_OK(osla_matrix_fill(c[k], OSLA_FILL_UNIFORM, 3));
    events[k] = events_of_zero(p.at[k], osla_whole(c[k]));
  }
  expect_equal(c[0], c[1], true, "alpha = 0");
  OSLA_ASSERT_MSG(events[0] == events[1],
                  "%" PRId64
                  " transfers and collective operations for a triangular operand, %" PRId64
                  " for a full one",
                  events[0], events[1]);
  for (int k = 0; k < 2; k++)
    osla_matrix_destroy(&c[k]);
  destroy_pair(&p);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {{"elimination", test_elimination},
                                       {"products", test_products},
                                       {"empty", test_empty},
                                       {"zero", test_zero},
                                       {"overlap", test_overlap},
                                       {"errors", test_errors},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_triangle_parts, cases);
