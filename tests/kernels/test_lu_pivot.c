/* Tests of LU with pivoting. Matrices with known pivots and factors are compared bitwise, for every
 * grid, shape, block size and look-ahead. Random matrices are checked by LAPACK's pivots and by
 * error bounds. Further tests have singular matrices, and repeated calls with delays. The loop must
 * have no collective operation. */
#include "osla_random.h"
#include "osla_trace.h"
#include "tests/kernels/kernel_trace.h"
#include "tests/kernels/lu_reference.h"
#include "tests/osla_test_help.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct size_case {
  int64_t m, n, nb;
} size_case;

static const size_case sizes[] = {
  {1, 1, 1},   {1, 1, 4},    {1, 9, 2},    {9, 1, 2},    {2, 2, 1},    {11, 11, 1},  {16, 16, 4},
  {37, 37, 5}, {50, 50, 64}, {61, 61, 40}, {23, 60, 7},  {60, 23, 7},  {70, 12, 16}, {12, 70, 16},
  {33, 40, 8}, {40, 33, 8},  {72, 72, 18}, {80, 80, 11}, {30, 96, 32}, {90, 30, 1}};
enum { N_SIZES = sizeof sizes / sizeof sizes[0] };

static int parts_of(osla_dtype dtype)
{
  return dtype >= OSLA_COMPLEX_FLOAT ? 2 : 1;
}

/* Calls `check` for combinations of grids, sizes, types, and owned and wrapped matrices. Each value
 * of `offset` selects other combinations. */
typedef void checker(kernel_matrix *a, int variant);

static void for_all(checker *check, int offset)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g++) {
    for (int s = 0; s < N_SIZES; s++) {
      if (!lu_turn(t, g, s + offset)) continue;
      const size_case *c = &sizes[s];
      kernel_matrix a = kernel_make(grid, (osla_dtype)((g + 3 * s) % 4), c->m, c->n, c->nb, c->nb,
                                    (g + 2 * s) % 3 == 0);
      check(&a, 2 * g + s);
      kernel_free(&a);
    }
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* Checks the factors of a matrix with known pivots. zero: the step whose pivot is 0, or -1. */
static void check_known(kernel_matrix *a, int look_ahead, uint64_t seed, int64_t zero,
                        const char *name)
{
  osla_layout l = osla_matrix_layout(a->a);
  lu_known known = lu_known_make(l.m, l.n, parts_of(osla_matrix_dtype(a->a)), seed, zero, true);
  lu_run r = lu_run_make(a, &known.a, OSLA_PIVOT_PARTIAL, look_ahead, name);
  OSLA_ASSERT_MSG(r.result.info == zero + 1, "%s: info %" PRId64 ", not %" PRId64, r.label,
                  r.result.info, zero + 1);
  (void)lu_expect_growth(&r);
  (void)lu_expect_pivots(&r, known.pivots, "known:");
  kernel_expect(a->a, &known.lu, "%s", r.label);
  lu_run_free(&r);
  lu_known_free(&known);
}

static void known(kernel_matrix *a, int variant)
{
  osla_layout l = osla_matrix_layout(a->a);
  int64_t zero = variant % 3 == 0 ? osla_test_choose(9, variant, lu_order(l.m, l.n)) : -1;
  check_known(a, lu_look_ahead(variant), (uint64_t)variant, zero, "known");
  if (osla_test_size() > 2) return;
  check_known(a, lu_look_ahead(variant + 1), (uint64_t)variant + 50, -1, "known");
  check_known(a, lu_look_ahead(variant + 2), (uint64_t)variant + 90, 0, "known");
}

static void test_known(void)
{
  for_all(known, 0);
}

/* Each rank has so many columns that their rows are exchanged in two parts, the second one during
 * products (lu_update.c). */
static void test_wide(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g++) {
    int64_t n = 290 * osla_grid_npcol(grid), m = 60 + 11 * osla_grid_nprow(grid), nb = 7 + g;
    kernel_matrix a = kernel_make(grid, (osla_dtype)(g % 4), m, n, nb, nb, g % 3 == 0);
    for (int ahead = 0; ahead < 3; ahead++)
      if (osla_test_size() <= 6 || g % 3 == ahead)
        check_known(&a, lu_look_ahead(ahead), (uint64_t)(g + ahead), ahead == 2 ? m / 2 : -1,
                    "wide");
    kernel_free(&a);
    /* one block with far more columns than rows; most of the columns are not in a panel */
    if (osla_test_size() == 1) {
      a = kernel_make(grid, OSLA_DOUBLE, 12, 100000, 100000, 100000, 0);
      check_known(&a, 0, 77, -1, "one block");
      kernel_free(&a);
    }
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* A grid of one process column on two nodes. The process rows from 1 to the middle are on the
 * second node, so that the first and the last process rows are adjacent in the ring, but not in one
 * node group (kernels/lu/lu_node_group.h). */
static osla_grid *grid_apart(osla_transport *t)
{
  int size = osla_test_size(), rank = osla_test_rank(), half = (size + 1) / 2;
  int row = rank == 0 ? 0 : rank >= half ? 1 + rank - half : size - half + rank;
  osla_grid *grid = NULL;
  OSLA_ASSERT_OK(osla_grid_create_at(t, size, 1, row, 0, &grid));
  return grid;
}

static void test_apart(void)
{
  enum { N = 290, NB = 9 };
  osla_transport *t = osla_test_transport();
  osla_grid *grid = grid_apart(t);
  int step = osla_test_size() > 8 ? 5 : 1;
  for (int variant = 0; variant < 8; variant += step) {
    int64_t m = 20 + 40 * variant;
    kernel_matrix a =
      kernel_make(grid, (osla_dtype)(variant % 4), m, N, NB, NB, variant / 4 % 2 == 0);
    check_known(&a, lu_look_ahead(variant), (uint64_t)variant, variant == 3 ? m / 2 : -1, "apart");
    kernel_free(&a);
  }
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* A random matrix in which no two candidates for a pivot are within rounding errors of each other.
 */
static dense clear_matrix(int64_t m, int64_t n, osla_dtype dtype, lu_lapack *lapack)
{
  for (uint64_t seed = 1;; seed++) {
    dense d = lu_make(m, n, dtype, lu_uniform, seed);
    *lapack = lu_lapack_make(&d, dtype);
    if (lapack->clear) return d;
    dense_free(&d);
    lu_lapack_free(lapack);
  }
}

static void random_matrix(kernel_matrix *a, int variant)
{
  osla_layout l = osla_matrix_layout(a->a);
  lu_lapack lapack;
  dense d = clear_matrix(l.m, l.n, osla_matrix_dtype(a->a), &lapack);
  for (int pivoting = OSLA_PIVOT_PARTIAL; pivoting <= OSLA_PIVOT_TOURNAMENT; pivoting++) {
    lu_run r = lu_run_make(a, &d, (osla_pivoting)pivoting, lu_look_ahead(variant), "random");
    OSLA_ASSERT_MSG(r.result.info == 0 && r.result.trusted, "%s: info %" PRId64, r.label,
                    r.result.info);
    (void)lu_expect_growth(&r);
    (void)lu_expect_backward(&r);
    (void)lu_expect_small(&r);
    if (pivoting == OSLA_PIVOT_PARTIAL) {
      (void)lu_expect_bounded(&r);
      (void)lu_expect_pivots(&r, lapack.pivots, "LAPACK's");
    }
    lu_run_free(&r);
  }
  dense_free(&d);
  lu_lapack_free(&lapack);
}

static void test_random(void)
{
  for_all(random_matrix, 1);
}

/* The pivots are the same for every look-ahead. Factors may differ by rounding, because products
 * have other widths. */
static void test_look_ahead(void)
{
  enum { N = 64, NB = 6 };
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g++) {
    if (lu_turn(t, g, 1)) {
      kernel_matrix a = kernel_make(grid, OSLA_DOUBLE, N, N, NB, NB, false);
      dense d = lu_make(N, N, OSLA_DOUBLE, lu_uniform, 3);
      lu_run first = lu_run_make(&a, &d, OSLA_PIVOT_TOURNAMENT, -1, "look-ahead");
      for (int depth = 1; depth <= 2; depth++) {
        lu_run r = lu_run_make(&a, &d, OSLA_PIVOT_TOURNAMENT, depth, "look-ahead");
        (void)lu_expect_pivots(&r, first.pivots, "without look-ahead");
        (void)lu_expect_backward(&r);
        lu_run_free(&r);
      }
      lu_run_free(&first);
      dense_free(&d);
      kernel_free(&a);
    }
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* ---- singular matrices ---- */

static osla_complex zero_column(int64_t i, int64_t j, uint64_t seed)
{
  return j == (int64_t)seed ? 0.0 : lu_uniform(i, j, seed);
}

static osla_complex zero_rows(int64_t i, int64_t j, uint64_t seed)
{
  return i % 5 == (int64_t)seed % 5 ? 0.0 : lu_uniform(i, j, seed);
}

static osla_complex rank_one(int64_t i, int64_t j, uint64_t seed)
{
  uint64_t bits = osla_random_bits(seed, (uint64_t)i, 0);
  double x = (bits & 1 ? 1.0 : -1.0) * (double)(INT64_C(1) << bits / 2 % 5);
  return x * (double)(j % 7 - 8);
}

static osla_complex all_zero(int64_t i, int64_t j, uint64_t seed)
{
  (void)i, (void)j, (void)seed;
  return 0.0;
}

typedef struct singular_case {
  const char *name;
  lu_element *f;
  uint64_t seed;
} singular_case;

static void check_singular(kernel_matrix *a, const singular_case *c, int look_ahead)
{
  osla_layout l = osla_matrix_layout(a->a);
  osla_dtype dtype = osla_matrix_dtype(a->a);
  dense d = lu_make(l.m, l.n, dtype, c->f, c->seed);
  lu_lapack lapack = lu_lapack_make(&d, dtype);
  CU_ASSERT(lapack.info > 0);
  lu_run r = lu_run_make(a, &d, OSLA_PIVOT_PARTIAL, look_ahead, c->name);
  OSLA_ASSERT_MSG(r.result.info == lapack.info && !r.result.trusted,
                  "%s: info %" PRId64 ", LAPACK %" PRId64, r.label, r.result.info, lapack.info);
  (void)lu_expect_backward(&r); /* the factorisation is complete although a pivot is 0 */
  (void)lu_expect_bounded(&r);
  lu_run_free(&r);
  r = lu_run_make(a, &d, OSLA_PIVOT_TOURNAMENT, look_ahead, c->name);
  OSLA_ASSERT_MSG(r.result.info == lapack.info && !r.result.trusted,
                  "%s: info %" PRId64 ", LAPACK %" PRId64, r.label, r.result.info, lapack.info);
  lu_run_free(&r);
  lu_lapack_free(&lapack);
  dense_free(&d);
}

static void test_singular(void)
{
  static const singular_case list[] = {{"first column zero", zero_column, 0},
                                       {"a column zero", zero_column, 17},
                                       {"last column zero", zero_column, 38},
                                       {"rows zero", zero_rows, 1},
                                       {"rank 1", rank_one, 5},
                                       {"all zero", all_zero, 0}};
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g++) {
    if (osla_test_size() <= 2 || g % 2 == 0) {
      kernel_matrix a = kernel_make(grid, (osla_dtype)(g / 2 % 4), 41, 39, 6, 6, g % 3 == 0);
      for (int s = 0; s < 6; s++)
        if (lu_turn(t, g, s)) check_singular(&a, &list[s], lu_look_ahead(s));
      kernel_free(&a);
    }
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* ---- no collective operation in the loop ---- */

static void test_no_collectives(void)
{
  enum { N = 100, NB = 8 };
  osla_transport *t = osla_test_transport();
  osla_grid *grid = kernel_grid(t, kernel_n_grids(t) > 2 ? 1 : 0); /* a 2 x 2 grid on four ranks */
  kernel_matrix a = kernel_make(grid, OSLA_DOUBLE, N, N, NB, NB, false);
  int64_t ipiv[N];
  for (int pivoting = OSLA_PIVOT_PARTIAL; pivoting <= OSLA_PIVOT_NONE; pivoting++)
    for (int look_ahead = -1; look_ahead <= 2; look_ahead++) {
      if (osla_test_size() > 2 && look_ahead != lu_look_ahead(pivoting)) continue;
      osla_lu_options options = {.pivoting = (osla_pivoting)pivoting,
                                 .look_ahead = look_ahead,
                                 .forward = kernel_forward(look_ahead + pivoting + 1)};
      osla_lu_result result;
      char what[64];
      (void)snprintf(what, sizeof what, "pivoting %d, look-ahead %d", pivoting, look_ahead);
      OSLA_ASSERT_OK(osla_matrix_fill(a.a, OSLA_FILL_DOMINANT, 3));
      OSLA_ASSERT_OK(osla_trace_start(t));
      OSLA_ASSERT_OK(osla_getrf(a.a, pivoting == OSLA_PIVOT_NONE ? NULL : ipiv, &options, &result));
      (void)loop_trace_expect(t, what);
    }
  kernel_free(&a);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* ---- repeated calls with delays ---- */

static void test_back_to_back(void)
{
  lu_known known_factors = lu_known_make(41, 45, 1, 1, -1, true);
  lu_back_to_back(&known_factors, OSLA_PIVOT_PARTIAL);
  lu_known_free(&known_factors);
}

static void stress(const stress_round *r)
{
  kernel_matrix a = kernel_make(r->grid, r->dtype, r->m, r->n, r->nb, r->nb, r->wrapped);
  check_known(&a, lu_look_ahead(r->number), r->seed, -1, r->name);
  random_matrix(&a, r->number + 1);
  kernel_free(&a);
}

static void test_stress(void)
{
  kernel_stress(4, 3000, stress);
}

static const osla_test_case cases[] = {
  {"known", test_known},
  {"wide", test_wide},
  {"apart", test_apart},
  {"random", test_random},
  {"look_ahead", test_look_ahead},
  {"singular", test_singular},
  {"no_collectives", test_no_collectives},
  {"back_to_back", test_back_to_back},
  {"stress", test_stress},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_lu_pivot, cases);
