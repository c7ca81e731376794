/* Tests of process grids: shapes, idle ranks, positions given by the ranks, shifted grids, every
 * error. */
#include "tests/osla_test_help.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* Asserts that the ranks of the grid have row-major positions, and that all further ranks are idle.
 */
static void check_row_major(osla_grid *grid, osla_transport *t, int nprow, int npcol)
{
  int rank = osla_transport_rank(t);
  bool idle = rank >= nprow * npcol;
  CU_ASSERT(osla_grid_transport(grid) == t);
  CU_ASSERT(osla_grid_nprow(grid) == nprow && osla_grid_npcol(grid) == npcol);
  CU_ASSERT(osla_grid_prow(grid) == (idle ? -1 : rank / npcol));
  CU_ASSERT(osla_grid_pcol(grid) == (idle ? -1 : rank % npcol));
  for (int prow = 0; prow < nprow; prow++)
    for (int pcol = 0; pcol < npcol; pcol++)
      CU_ASSERT(osla_grid_rank_at(grid, prow, pcol) == prow * npcol + pcol);
}

/* Asserts the order of positions down the process columns: nodes in ascending order, and the ranks
 * of a node in ascending order. */
static void check_by_nodes(osla_grid *grid, osla_transport *t)
{
  int before = -1, seen = 0;
  for (int pcol = 0; pcol < osla_grid_npcol(grid); pcol++)
    for (int prow = 0; prow < osla_grid_nprow(grid); prow++) {
      int rank = osla_grid_rank_at(grid, prow, pcol), size = osla_transport_size(t);
      int key = osla_transport_node_of(t, rank) * size + rank;
      CU_ASSERT(key > before);
      before = key;
      seen += rank == osla_transport_rank(t);
    }
  CU_ASSERT(seen == (osla_grid_prow(grid) >= 0 ? 1 : 0));
}

/* Asserts that the ranks of each node fill a rectangle of the grid, column by column. Returns false
 * if no rectangle fits. */
static bool check_tiles(osla_grid *grid, osla_transport *t, osla_grid_order order, int p, int q)
{
  const bool across = order == OSLA_GRID_ACROSS;
  const int each = osla_transport_largest_node(t), nodes = osla_transport_n_nodes(t);
  if (each * nodes != osla_test_size() || p * q != osla_test_size() || each % p == 0) return false;
  int rows = 1;
  while (rows <= each && (each % rows || rows * rows < each || p % rows || q % (each / rows)))
    rows++;
  if (across) rows = p % each == 0 ? each : each + 1;
  if (rows > each) return false;
  int cols = each / rows;
  for (int i = 0; i < p; i++)
    for (int j = 0; j < q; j++) {
      int node = across ? i / rows * q + j : i / rows + j / cols * (p / rows);
      int rank = osla_grid_rank_at(grid, i, j), before = 0;
      CU_ASSERT(osla_transport_node_of(t, rank) == node);
      for (int other = 0; other < rank; other++)
        before += osla_transport_node_of(t, other) == node;
      CU_ASSERT(before == i % rows + j % cols * rows);
    }
  return true;
}

/* Makes grids of every shape with every value of osla_grid_order. */
static void test_orders(void)
{
  osla_transport *t = osla_test_transport();
  int n_tiled = 0, n_across = 0;
  for (int p = 1; p <= osla_test_size(); p++)
    for (int q = 1; p * q <= osla_test_size(); q++) {
      osla_grid *grid = NULL;
      if (!OSLA_ASSERT_OK(osla_grid_create_ordered(t, p, q, OSLA_GRID_ROWS, &grid))) continue;
      check_row_major(grid, t, p, q);
      osla_grid_destroy(&grid);
      if (!OSLA_ASSERT_OK(osla_grid_create_ordered(t, p, q, OSLA_GRID_COLUMNS, &grid))) continue;
      for (int i = 0; i < p * q; i++)
        CU_ASSERT(osla_grid_rank_at(grid, i % p, i / p) == i);
      osla_grid_destroy(&grid);
      if (!OSLA_ASSERT_OK(osla_grid_create_ordered(t, p, q, OSLA_GRID_NODES, &grid))) continue;
      check_by_nodes(grid, t);
      osla_grid_destroy(&grid);
      if (!OSLA_ASSERT_OK(osla_grid_create_ordered(t, p, q, OSLA_GRID_TILES, &grid))) continue;
      bool tiled = check_tiles(grid, t, OSLA_GRID_TILES, p, q),
           chosen = p >= 16 && tiled && osla_transport_largest_node(t) >= 8;
      if (!tiled) check_by_nodes(grid, t);
      n_tiled += tiled;
      CU_ASSERT(osla_grid_choose_order(t, p, q) == (chosen ? OSLA_GRID_TILES : OSLA_GRID_NODES));
      osla_grid_destroy(&grid);
      if (!OSLA_ASSERT_OK(osla_grid_create_ordered(t, p, q, OSLA_GRID_ACROSS, &grid))) continue;
      bool goes_across = check_tiles(grid, t, OSLA_GRID_ACROSS, p, q);
      if (!goes_across) check_by_nodes(grid, t);
      /* with q = 1 this order is the same as by nodes */
      n_across += goes_across && q > 1;
      osla_grid_destroy(&grid);
    }
  if (osla_test_size() == 16 && osla_transport_n_nodes(t) == 4) CU_ASSERT(n_tiled > 0);
  if (osla_test_size() >= 4 && osla_transport_n_nodes(t) == 4) CU_ASSERT(n_across > 0);
  osla_transport_destroy(&t);
}

/* Makes grids of every shape that the number of ranks allows; most of them leave ranks idle. */
static void test_all_shapes(void)
{
  osla_transport *t = osla_test_transport();
  for (int nprow = 1; nprow <= osla_test_size(); nprow++)
    for (int npcol = 1; nprow * npcol <= osla_test_size(); npcol++) {
      osla_grid *grid = NULL;
      if (!OSLA_ASSERT_OK(osla_grid_create(t, nprow, npcol, &grid))) continue;
      check_row_major(grid, t, nprow, npcol);
      osla_grid_destroy(&grid);
      CU_ASSERT_PTR_NULL(grid);
    }
  osla_grid *none = NULL;
  osla_grid_destroy(&none);
  osla_grid_destroy(NULL);
  osla_transport_destroy(&t);
}

/* Grids on 1, 2, ... ranks whose shape the library chooses. The shape uses all ranks: one process
 * row on one node, otherwise the most nearly square shape. */
static void test_chosen_shape(void)
{
  for (int members = 1; members <= osla_test_size(); members++) {
    MPI_Comm comm;
    osla_transport *t = NULL;
    osla_grid *grid = NULL;
    bool in = osla_test_rank() < members;
    MPI_Comm_split(MPI_COMM_WORLD, in ? 0 : MPI_UNDEFINED, 0, &comm);
    if (!in) continue;
    OSLA_ASSERT_OK(osla_transport_create(comm, NULL, &t));
    OSLA_ASSERT_OK(osla_grid_create(t, 0, 0, &grid));
    int nprow = osla_grid_nprow(grid), npcol = osla_grid_npcol(grid);
    CU_ASSERT(nprow * npcol == members && nprow <= npcol);
    if (osla_transport_n_nodes(t) == 1) {
      check_row_major(grid, t, 1, members);
    } else {
      for (int p = nprow + 1; p * p <= members; p++)
        CU_ASSERT(members % p != 0);
      check_by_nodes(grid, t);
    }
    osla_grid_destroy(&grid);
    osla_transport_destroy(&t);
    MPI_Comm_free(&comm);
  }
}

/* A random permutation of 0 .. n-1 that depends only on the seed. */
static void permute(uint64_t seed, int n, int *order)
{
  for (int i = 0; i < n; i++)
    order[i] = i;
  for (int i = n - 1; i > 0; i--) {
    int k = (int)osla_test_choose(seed, i, i + 1), kept = order[i];
    order[i] = order[k];
    order[k] = kept;
  }
}

/* Each rank names its own position, in an order that is not that of ranks. The last ranks in this
 * order are idle. */
static void test_create_at(void)
{
  osla_transport *t = osla_test_transport();
  int size = osla_test_size(), rank = osla_test_rank();
  int *order = malloc((size_t)size * sizeof *order);
  for (uint64_t seed = 0; seed < 6; seed++) {
    int npcol = 1 + (int)(seed % (uint64_t)size), nprow = size / npcol, mine = -1;
    permute(seed, size, order);
    for (int i = 0; i < nprow * npcol; i++)
      if (order[i] == rank) mine = i;
    int prow = mine < 0 ? -1 : mine / npcol, pcol = mine < 0 ? -1 : mine % npcol;
    osla_grid *grid = NULL;
    if (!OSLA_ASSERT_OK(osla_grid_create_at(t, nprow, npcol, prow, pcol, &grid))) continue;
    CU_ASSERT(osla_grid_prow(grid) == prow && osla_grid_pcol(grid) == pcol);
    for (int i = 0; i < nprow * npcol; i++)
      CU_ASSERT(osla_grid_rank_at(grid, i / npcol, i % npcol) == order[i]);
    osla_grid_destroy(&grid);
  }
  free(order);
  osla_transport_destroy(&t);
}

static void expect_error(osla_transport *t, int nprow, int npcol, const char *text)
{
  osla_grid *grid = (osla_grid *)t;
  OSLA_ASSERT_ERR(osla_grid_create(t, nprow, npcol, &grid), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT(text);
  OSLA_ASSERT_SAME_TEXT();
  CU_ASSERT_PTR_NULL(grid);
}

static void test_bad_shapes(void)
{
  osla_transport *t = osla_test_transport();
  expect_error(t, 0, 1, "grid 0 x 1");
  expect_error(t, 1, 0, "grid 1 x 0");
  expect_error(t, -2, 1, "grid -2 x 1");
  expect_error(t, 1, -7, "grid 1 x -7");
  expect_error(t, -2, -3, "grid -2 x -3");
  expect_error(t, 17, 1, "grid 17 x 1 needs 17 ranks, but there are");
  expect_error(t, 6, 3, "grid 6 x 3 needs 18 ranks, but there are");
  expect_error(t, 100000, 100000, "grid 100000 x 100000 needs 10000000000 ranks");
  osla_transport_destroy(&t);
}

/* Wrong values of osla_grid_order, and values that differ on the last rank. */
static void test_bad_orders(void)
{
  osla_transport *t = osla_test_transport();
  int size = osla_test_size();
  bool last = osla_test_rank() == size - 1;
  const struct {
    int order, of_last;
    const char *text;
  } bad[] = {{-1, -1, "-1 is not an order of ranks"},
             {5, 5, "5 is not an order of ranks"},
             {OSLA_GRID_NODES, INT_MAX, "order is 2 on rank 0, but 2147483647 on rank "},
             {OSLA_GRID_NODES, OSLA_GRID_ACROSS, "order is 2 on rank 0, but 4 on rank "}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    if (size == 1 && bad[i].order != bad[i].of_last) continue;
    osla_grid *grid = (osla_grid *)t;
    int order = last ? bad[i].of_last : bad[i].order;
    OSLA_ASSERT_ERR(osla_grid_create_ordered(t, 1, size, (osla_grid_order)order, &grid),
                    OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT(bad[i].text);
    OSLA_ASSERT_SAME_TEXT();
    CU_ASSERT_PTR_NULL(grid);
  }
  osla_transport_destroy(&t);
}

/* Shapes that differ between ranks are refused. */
static void test_differing_shapes(void)
{
  osla_transport *t = osla_test_transport();
  int size = osla_test_size();
  char text[80];
  bool last = osla_test_rank() == size - 1;
  if (size > 1) {
    (void)snprintf(text, sizeof text, "npcol is 1 on rank 0, but 2 on rank %d", size - 1);
    expect_error(t, 1, last ? 2 : 1, text);
    (void)snprintf(text, sizeof text, "nprow is %d on rank 0, but 1 on rank %d", size, size - 1);
    expect_error(t, last ? 1 : size, last ? size : 1, text);
    (void)snprintf(text, sizeof text, "nprow is 1 on rank 0, but -3 on rank %d", size - 1);
    expect_error(t, last ? -3 : 1, 1, text);
  }
  osla_transport_destroy(&t);
  CU_ASSERT_PTR_NULL(t);
}

static void expect_error_at(osla_transport *t, int npcol, int prow, int pcol, const char *text)
{
  osla_grid *grid = (osla_grid *)t;
  OSLA_ASSERT_ERR(osla_grid_create_at(t, 1, npcol, prow, pcol, &grid), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT(text);
  OSLA_ASSERT_SAME_TEXT();
  CU_ASSERT_PTR_NULL(grid);
}

/* In grids of one process row, rank 0 or the last rank names a wrong position. */
static void test_bad_places(void)
{
  osla_transport *t = osla_test_transport();
  int size = osla_test_size(), rank = osla_test_rank();
  bool first = rank == 0;
  expect_error_at(t, size, 0, first ? size : rank, "rank 0 names position (0, ");
  expect_error_at(t, size, 0, first ? -2 : rank, "rank 0 names position (0, -2)");
  expect_error_at(t, size, first ? 1 : 0, rank, "rank 0 names position (1, 0)");
  expect_error_at(t, size, first ? -1 : 0, rank, "rank 0 names position (-1, 0)");
  expect_error_at(t, size, first ? -1 : 0, first ? -1 : rank, "no rank names position (0, 0)");
  if (size > 1) {
    int last = size - 1;
    expect_error_at(t, size, 0, rank == last ? 0 : rank, "both name position (0, 0)");
    expect_error_at(t, size - 1, 0, rank, "which is outside the 1 x");
  }
  expect_error_at(t, size + 1, 0, rank, "ranks, but there are");
  osla_transport_destroy(&t);
}

/* Shifts the grid to every position. */
static void check_shifts(const osla_grid *grid, osla_transport *t)
{
  int p = osla_grid_nprow(grid), q = osla_grid_npcol(grid), rank = osla_transport_rank(t);
  for (int prow = 0; prow < p; prow++)
    for (int pcol = 0; pcol < q; pcol++) {
      osla_grid *shifted = NULL;
      int mine = 0, wrong = 0;
      if (!OSLA_ASSERT_OK(osla_grid_shift(grid, prow, pcol, &shifted))) continue;
      for (int i = 0; i < p; i++)
        for (int j = 0; j < q; j++) {
          int at = osla_grid_rank_at(shifted, i, j);
          wrong += at != osla_grid_rank_at(grid, (prow + i) % p, (pcol + j) % q);
          if (at == rank) {
            mine++;
            wrong += osla_grid_prow(shifted) != i || osla_grid_pcol(shifted) != j;
          }
        }
      bool idle = osla_grid_prow(grid) < 0;
      if (idle) wrong += osla_grid_prow(shifted) != -1 || osla_grid_pcol(shifted) != -1;
      wrong += osla_grid_transport(shifted) != t || osla_grid_nprow(shifted) != p ||
               osla_grid_npcol(shifted) != q;
      OSLA_ASSERT_MSG(wrong == 0 && mine == !idle,
                      "%d wrong, named %d times, %d x %d grid shifted by (%d, %d)", wrong, mine, p,
                      q, prow, pcol);
      osla_grid_destroy(&shifted);
    }
}

/* Shifts a grid, and shifts the result back. The original grid may be destroyed before the shifted
 * one. */
static void test_shift(void)
{
  osla_transport *t = osla_test_transport();
  for (int g = 0; g < osla_test_n_grids(t); g++) {
    osla_grid *grid = osla_test_grid(t, g), *once = NULL, *back = NULL;
    int p = osla_grid_nprow(grid), q = osla_grid_npcol(grid);
    check_shifts(grid, t);
    OSLA_ASSERT_OK(osla_grid_shift(grid, p - 1, q / 2, &once));
    check_shifts(once, t);
    OSLA_ASSERT_OK(osla_grid_shift(once, 1 % p, (q - q / 2) % q, &back));
    for (int i = 0; i < p * q; i++)
      CU_ASSERT(osla_grid_rank_at(back, i / q, i % q) == osla_grid_rank_at(grid, i / q, i % q));
    osla_grid_destroy(&grid);
    check_shifts(once, t);
    osla_grid_destroy(&once), osla_grid_destroy(&back);
  }
  osla_transport_destroy(&t);
}

/* The last rank alone passes a wrong shift. Only this rank gets an error, since the call is local.
 */
static void test_bad_shifts(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = osla_test_grid(t, 0);
  int p = osla_grid_nprow(grid), q = osla_grid_npcol(grid);
  const int list[][2] = {{p, 0}, {0, q}, {-1, 0}, {0, -1}, {p + 5, q + 7}, {-9, 0}};
  for (int i = 0; i < 6 && osla_test_rank() == osla_test_size() - 1; i++) {
    char text[64];
    osla_grid *out = grid;
    OSLA_ASSERT_ERR(osla_grid_shift(grid, list[i][0], list[i][1], &out), OSLA_ERR_ARG);
    (void)snprintf(text, sizeof text, "(%d, %d)", list[i][0], list[i][1]);
    OSLA_ASSERT_TEXT(text);
    (void)snprintf(text, sizeof text, "%d x %d", p, q);
    OSLA_ASSERT_TEXT(text);
    CU_ASSERT_PTR_NULL(out);
  }
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* Tests that copies in both directions between a matrix on a shifted grid and one on the original
 * grid give equal elements, and each block is on the expected rank. */
static void test_shifted_matrix(void)
{
  enum { M = 23, N = 17, MB = 3, NB = 2 };
  osla_transport *t = osla_test_transport();
  for (int g = 0; g < osla_test_n_grids(t); g++) {
    osla_grid *grid = osla_test_grid(t, g), *shifted = NULL;
    int p = osla_grid_nprow(grid), q = osla_grid_npcol(grid);
    int prow = g % p, pcol = (g + 1) % q;
    osla_matrix *x = NULL, *y = NULL;
    OSLA_ASSERT_OK(osla_grid_shift(grid, prow, pcol, &shifted));
    OSLA_ASSERT_OK(osla_matrix_create(grid, OSLA_DOUBLE, M, N, MB, NB, &x));
    OSLA_ASSERT_OK(osla_matrix_create(shifted, OSLA_DOUBLE, M, N, MB, NB, &y));
    osla_test_write_local(x);
    OSLA_ASSERT_OK(osla_matrix_copy(x, y));
    OSLA_ASSERT_MSG(osla_test_differ_local(y) == 0, "plain to shifted by (%d, %d)", prow, pcol);
    bool first = osla_grid_rank_at(grid, prow, pcol) == osla_test_rank();
    CU_ASSERT(!first || osla_test_real(OSLA_DOUBLE, osla_matrix_local(y), 0) == 1.0);
    OSLA_ASSERT_OK(osla_matrix_fill(x, OSLA_FILL_ZERO, 0));
    OSLA_ASSERT_OK(osla_matrix_copy(y, x));
    OSLA_ASSERT_MSG(osla_test_differ_local(x) == 0, "shifted by (%d, %d) to plain", prow, pcol);
    double block[M * N];
    OSLA_ASSERT_OK(osla_matrix_get_block(y, 0, 0, M, N, block, M));
    OSLA_ASSERT_MSG(osla_test_differ_block(OSLA_DOUBLE, block, 0, 0, M, N, M) == 0,
                    "got from a grid shifted by (%d, %d)", prow, pcol);
    OSLA_ASSERT_OK(osla_barrier(t)); /* after this barrier no rank reads the matrices */
    osla_matrix_destroy(&x), osla_matrix_destroy(&y);
    osla_grid_destroy(&shifted), osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"all_shapes", test_all_shapes},
  {"orders", test_orders},
  {"chosen_shape", test_chosen_shape},
  {"create_at", test_create_at},
  {"bad_shapes", test_bad_shapes},
  {"bad_orders", test_bad_orders},
  {"differing_shapes", test_differing_shapes},
  {"bad_places", test_bad_places},
  {"shift", test_shift},
  {"bad_shifts", test_bad_shifts},
  {"shifted_matrix", test_shifted_matrix},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_grid, cases);
