/* Tests of matrices in the memory of a segment, and in memory that only its owner accesses. */
#include "osla_gemm.h"
#include "tests/osla_test_help.h"

#include <stdlib.h>

enum { N = 45, MB = 7, NB = 4 };

static double place(int64_t i, int64_t j, void *scale)
{
  return *(const double *)scale * (double)(i - 2 * j);
}

/* Asserts that every rank reads the right values of all elements. */
static void check_values(const osla_matrix *a, double scale)
{
  osla_layout l = osla_matrix_layout(a);
  double *all = malloc((size_t)(l.m * l.n) * sizeof *all);
  int64_t bad = 0;
  OSLA_ASSERT_OK(osla_matrix_get_block(a, 0, 0, l.m, l.n, all, l.m));
  for (int64_t k = 0; k < l.m * l.n; k++)
    if (all[k] != place(k % l.m, k / l.m, &scale)) bad++;
  OSLA_ASSERT_MSG(bad == 0, "%d elements", (int)bad);
  free(all);
}

/* Makes several matrices, one after another, in the memory of one segment. */
static void test_create_in(void)
{
  osla_transport *t;
  osla_grid *grid;
  osla_segment *segment;
  osla_matrix *a = NULL;
  OSLA_ASSERT_OK(osla_transport_create(MPI_COMM_WORLD, NULL, &t));
  OSLA_ASSERT_OK(osla_grid_create(t, 0, 0, &grid));
  osla_layout l = {N, N, MB, NB, osla_grid_nprow(grid), osla_grid_npcol(grid)};
  uint64_t bytes = osla_matrix_bytes(&l, OSLA_DOUBLE);
  OSLA_ASSERT_OK(osla_segment_create(t, bytes, 0, &segment));
  for (int round = 1; round <= 3; round++) {
    double scale = round;
    OSLA_ASSERT_OK(osla_matrix_create_in(segment, grid, OSLA_DOUBLE, N / round, N, MB, NB, &a));
    CU_ASSERT(osla_matrix_local(a) == osla_segment_local(segment));
    OSLA_ASSERT_OK(osla_matrix_fill_with(a, place, &scale));
    check_values(a, scale);
    OSLA_ASSERT_OK(osla_barrier(t)); /* after this barrier no rank reads the matrix */
    osla_matrix_destroy(&a);
    CU_ASSERT(a == NULL);
  }
  osla_err err = osla_matrix_create_in(segment, grid, OSLA_DOUBLE, 2 * N, 2 * N, MB, NB, &a);
  if (osla_grid_prow(grid) >= 0) CU_ASSERT(err == OSLA_ERR_ARG && a == NULL);
  osla_matrix_destroy(&a);
  OSLA_ASSERT_ERR(osla_matrix_create_in(segment, grid, OSLA_DOUBLE, N, N, 0, NB, &a), OSLA_ERR_ARG);
  osla_segment_destroy(&segment);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* If C of a product is in memory that only its owner accesses, it gets the same values as in
 * ordinary memory. */
static void test_wrap_own(void)
{
  osla_transport *t;
  osla_grid *grid;
  osla_matrix *a, *b, *c, *own;
  OSLA_ASSERT_OK(osla_transport_create(MPI_COMM_WORLD, NULL, &t));
  OSLA_ASSERT_OK(osla_grid_create(t, 0, 0, &grid));
  OSLA_ASSERT_OK(osla_matrix_create(grid, OSLA_DOUBLE, N, N, MB, NB, &a));
  OSLA_ASSERT_OK(osla_matrix_create(grid, OSLA_DOUBLE, N, N, NB, MB, &b));
  OSLA_ASSERT_OK(osla_matrix_create(grid, OSLA_DOUBLE, N, N, MB, NB, &c));
  OSLA_ASSERT_OK(osla_matrix_fill(a, OSLA_FILL_INTEGER, 1));
  OSLA_ASSERT_OK(osla_matrix_fill(b, OSLA_FILL_INTEGER, 2));
  int64_t rows = osla_matrix_local_rows(c), cols = osla_matrix_local_cols(c), lld = rows + 3;
  double *memory = malloc((size_t)(lld * (cols + 1)) * sizeof *memory);
  OSLA_ASSERT_OK(osla_matrix_wrap_own(grid, OSLA_DOUBLE, N, N, MB, NB, memory, lld, &own));
  for (int rank = 0; rank < osla_test_size(); rank++)
    CU_ASSERT(osla_matrix_peer(own, rank) == (rank == osla_test_rank() ? memory : NULL));
  OSLA_ASSERT_OK(
    osla_gemm(OSLA_NOTRANS, OSLA_TRANS, 1, osla_whole(a), osla_whole(b), 0, osla_whole(c), NULL));
  OSLA_ASSERT_OK(
    osla_gemm(OSLA_NOTRANS, OSLA_TRANS, 1, osla_whole(a), osla_whole(b), 0, osla_whole(own), NULL));
  int64_t bad = 0;
  const double *expected = osla_matrix_local(c);
  int64_t ld = osla_matrix_lld(c, osla_transport_rank(osla_grid_transport(grid)));
  for (int64_t j = 0; j < cols; j++)
    for (int64_t i = 0; i < rows; i++)
      if (memory[i + j * lld] != expected[i + j * ld]) bad++;
  OSLA_ASSERT_MSG(bad == 0, "%d elements", (int)bad);
  osla_matrix_destroy(&own);
  OSLA_ASSERT_ERR(osla_matrix_wrap_own(grid, OSLA_DOUBLE, N, N, MB, NB, memory, 0, &own),
                  OSLA_ERR_ARG);
  osla_matrix_destroy(&a);
  osla_matrix_destroy(&b);
  osla_matrix_destroy(&c);
  free(memory);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"create_in", test_create_in}, {"wrap_own", test_wrap_own}, {NULL, NULL}};
OSLA_TEST_SUITE(test_matrix_memory, cases);
