/* Tests of the index arithmetic of the triangular layout. Offsets must equal those of a plain
 * enumeration of all elements, the arithmetic must hold for matrices that are larger than any
 * memory, and the layout must store little more than half of the elements. */
#include "src/matrix/triangle.h"
#include "tests/osla_test_help.h"

#include <inttypes.h>

/* Compares the layout with values computed by hand for order n = 10 and block size nb = 3 on a grid
 * of two by two ranks. Rows and columns have the blocks 0 1 2 | 3 4 5 | 6 7 8 | 9. */
static void test_by_hand(void)
{
  static const struct {
    int prow, pcol;
    int64_t c, first, height, offset, elements;
  } list[] = {{0, 0, 0, 0, 6, 0, 27},  {0, 0, 1, 3, 3, 18, 27}, {1, 0, 0, 0, 4, 0, 15},
              {1, 0, 1, 3, 1, 12, 15}, {0, 1, 0, 3, 3, 0, 9},   {0, 1, 1, 6, 0, 9, 9},
              {1, 1, 0, 0, 4, 0, 13},  {1, 1, 1, 3, 1, 12, 13}};
  for (size_t k = 0; k < sizeof list / sizeof list[0]; k++) {
    const triangle_share s = triangle_share_of(10, 3, 2, 2, list[k].prow, list[k].pcol);
    const triangle_column c = triangle_column_at(&s, list[k].c);
    CU_ASSERT(c.first == list[k].first && c.height == list[k].height);
    CU_ASSERT(c.offset == list[k].offset);
    CU_ASSERT(triangle_elements(&s) == list[k].elements);
  }
  const triangle_share s = triangle_share_of(10, 3, 2, 2, 0, 0);
  CU_ASSERT(triangle_offset(&s, 5, 4) == 18 + 2 + 3); /* element with global indices (8, 7) */
}

/* Counts the elements of one rank's share whose offset differs from a plain enumeration, which
 * visits the elements of blocks at or below the diagonal by local column, and in a column by local
 * row. */
static int64_t differ_share(const triangle_share *s)
{
  int64_t next = 0, wrong = 0;
  for (int64_t j = 0; j < s->n; j++) {
    if (osla_index_owner(j, s->nb, s->npcol) != s->pcol) continue;
    for (int64_t i = j / s->nb * s->nb; i < s->n; i++) {
      if (osla_index_owner(i, s->nb, s->nprow) != s->prow) continue;
      const int64_t row = osla_index_local(i, s->nb, s->nprow),
                    col = osla_index_local(j, s->nb, s->npcol);
      if (triangle_offset(s, row, col) != next++) wrong++;
    }
  }
  return wrong + (triangle_elements(s) != next);
}

static void test_small(void)
{
  for (int64_t n = 0; n <= 40; n++)
    for (int64_t nb = 1; nb <= n + 2; nb++)
      for (int p = 1; p <= 5; p++)
        for (int q = 1; q <= 5; q++) {
          int64_t wrong = 0;
          for (int k = 0; k < p * q; k++) {
            const triangle_share s = triangle_share_of(n, nb, p, q, k / q, k % q);
            wrong += differ_share(&s);
          }
          OSLA_ASSERT_MSG(wrong == 0, "%" PRId64 " for n = %" PRId64 ", nb = %" PRId64 ", %d x %d",
                          wrong, n, nb, p, q);
        }
}

/* Number of elements of the blocks at or below the diagonal of a matrix of order n. */
static int64_t count_stored(int64_t n, int64_t nb)
{
  const int64_t whole = n / nb, rest = n - whole * nb;
  return whole * nb * n - whole * (whole - 1) / 2 * nb * nb + rest * rest;
}

/* Checks a few block columns of each share: the next block column must begin behind the last
 * element of a block column. All shares together must have all stored elements. */
static void check_large(int64_t n, int64_t nb, int p, int q)
{
  int64_t wrong = 0, sum = 0;
  for (int k = 0; k < p * q; k++) {
    const triangle_share s = triangle_share_of(n, nb, p, q, k / q, k % q);
    const int64_t columns = (s.cols + s.nb - 1) / s.nb;
    sum += triangle_elements(&s);
    for (int64_t test = 0; test < 20 && columns > 1; test++) {
      const int64_t at = test == 0 ? columns - 2 : osla_test_choose(9, test, columns - 1);
      const triangle_column c = triangle_column_at(&s, at), next = triangle_column_at(&s, at + 1);
      if (next.offset - c.offset != s.nb * c.height) wrong++;
      if (c.height < next.height || c.first + c.height != s.rows) wrong++;
      /* c.first must be the first local row that is not above the diagonal block */
      const int64_t start = (at * q + s.pcol) * s.nb;
      if (c.height > 0 && osla_index_global(c.first, s.nb, s.prow, p) < start) wrong++;
      if (c.first > 0 && osla_index_global(c.first - 1, s.nb, s.prow, p) >= start) wrong++;
    }
  }
  OSLA_ASSERT_MSG(wrong == 0 && sum == count_stored(n, nb < n ? nb : n),
                  "%" PRId64 " columns, %" PRId64 " elements for n = %" PRId64 ", nb = %" PRId64
                  ", %d x %d",
                  wrong, sum, n, nb, p, q);
}

static void test_large(void)
{
  static const int64_t n[] = {60000, 820000, 2147483648, TRIANGLE_LARGEST};
  static const int64_t nb[] = {1, 96, 128, 1000003, TRIANGLE_LARGEST, INT64_MAX};
  static const int grid[][2] = {{1, 1}, {1, 6}, {6, 1}, {2, 3}, {32, 24}, {7, 1000}};
  for (size_t a = 0; a < sizeof n / sizeof n[0]; a++)
    for (size_t b = 0; b < sizeof nb / sizeof nb[0]; b++)
      for (size_t g = 0; g < sizeof grid / sizeof grid[0]; g++)
        check_large(n[a], nb[b], grid[g][0], grid[g][1]);
}

static void test_idle(void)
{
  const triangle_share s = triangle_share_of(100, 7, 2, 2, -1, -1);
  CU_ASSERT(s.rows == 0 && s.cols == 0 && triangle_elements(&s) == 0);
}

/* Checks that the layout stores at most 0.53 n^2 elements for n >= 4096, and that for n >= 8192 no
 * rank stores more than 1.1 times the mean of all ranks. */
static void test_memory(void)
{
  for (int64_t n = 4096; n <= 16384; n += 2048)
    for (int64_t nb = 32; nb <= 128; nb += 32)
      for (int p = 1; p <= 6; p++)
        for (int q = 1; p * q <= 6; q++) {
          int64_t sum = 0, most = 0;
          for (int k = 0; k < p * q; k++) {
            const triangle_share s = triangle_share_of(n, nb, p, q, k / q, k % q);
            const int64_t elements = triangle_elements(&s);
            sum += elements;
            if (elements > most) most = elements;
          }
          const double part = (double)sum / (double)(n * n),
                       uneven = (double)(most * p * q) / (double)sum;
          OSLA_ASSERT_MSG(part <= 0.53 && (n < 8192 || uneven <= 1.1),
                          "%.4f of the matrix, %.3f of the mean for n = %" PRId64 ", nb = %" PRId64
                          ", %d x %d",
                          part, uneven, n, nb, p, q);
        }
}

static const osla_test_case cases[] = {
  {"by_hand", test_by_hand}, {"small", test_small},   {"large", test_large},
  {"idle", test_idle},       {"memory", test_memory}, {NULL, NULL},
};
OSLA_TEST_SUITE(test_triangle_index, cases);
