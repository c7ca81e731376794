/* Tests of how the index list of an update is grouped by owner, and of the triangle within the part
 * of an owner. Both are compared with a plain search. */
#include "kernels/hessian/hessian_split.h"
#include "osla_index.h"
#include "tests/osla_test_help.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 60 };

/* Fills an index list that is sorted, descending, with repetitions, constant, or random. */
static void pick(uint64_t seed, int64_t count, int64_t n, int64_t *ix)
{
  int64_t how = osla_test_choose(seed, -1, 5);
  for (int64_t i = 0; i < count; i++) {
    switch (how) {
      case 0: ix[i] = i * n / count; break;
      case 1: ix[i] = n - 1 - i * n / count; break;
      case 2: ix[i] = osla_test_choose(seed, i, n < 4 ? n : 4); break;
      case 3: ix[i] = n - 1; break;
      default: ix[i] = osla_test_choose(seed, i, n);
    }
  }
}

/* Returns the number of errors after the index list ix was grouped by owner. */
static int64_t wrong_split(const index_split *s, int64_t count, const int64_t *ix, int64_t nb,
                           int nprocs)
{
  int64_t wrong = s->start[0] != 0 || s->start[nprocs] != count;
  bool *met = calloc((size_t)count + 1, sizeof *met);
  for (int p = 0; p < nprocs; p++) {
    int64_t owned = 0;
    for (int64_t i = 0; i < count; i++)
      if ((ix[i] / nb) % nprocs == p) owned++;
    wrong += s->start[p + 1] - s->start[p] != owned;
    for (int64_t at = s->start[p]; at < s->start[p + 1] && at < count; at++) {
      int64_t position = s->position[at];
      if (position < 0 || position >= count || met[position]) {
        wrong++;
        continue;
      }
      met[position] = true;
      wrong += s->global[at] != ix[position];
      wrong += osla_index_global(s->local[at], nb, p, nprocs) != s->global[at];
      if (at == s->start[p]) continue;
      wrong += s->global[at] < s->global[at - 1];
      wrong += s->global[at] == s->global[at - 1] && position < s->position[at - 1];
    }
  }
  free(met);
  return wrong;
}

static void test_indices(void)
{
  static const int64_t blocks[] = {1, 2, 3, 16, 1000};
  index_split s = {0};
  int64_t ix[MOST];
  for (int nprocs = 1; nprocs <= 7; nprocs++)
    for (int b = 0; b < 5; b++)
      for (int round = 0; round < 40; round++) {
        uint64_t seed = (uint64_t)((nprocs * 10 + b) * 1000 + round);
        int64_t count = round < 3 ? round : osla_test_choose(seed, -2, MOST + 1);
        int64_t n = 1 + osla_test_choose(seed, -3, 200);
        pick(seed, count, n, ix);
        /* one index_split object is used for lists of all sizes */
        OSLA_ASSERT_OK(osli_split_reserve(&s, count, nprocs));
        osli_split_indices(&s, count, ix, blocks[b], nprocs);
        int64_t wrong = wrong_split(&s, count, ix, blocks[b], nprocs);
        OSLA_ASSERT_MSG(wrong == 0, "%" PRId64 " errors: seed %" PRIu64 ", %" PRId64 " of %" PRId64,
                        wrong, seed, count, n);
      }
  osli_split_free(&s);
  CU_ASSERT(s.start == NULL && s.capacity == 0);
  osli_split_free(&s);
}

/* Index lists of a matrix with far more than 2^32 rows. */
static void test_large_indices(void)
{
  index_split s = {0};
  const int64_t far = INT64_C(820000000000);
  const int64_t ix[] = {far + 700, 5, far, INT64_MAX / 2, 5, far + 1};
  OSLA_ASSERT_OK(osli_split_reserve(&s, 6, 11));
  osli_split_indices(&s, 6, ix, 128, 11);
  CU_ASSERT(wrong_split(&s, 6, ix, 128, 11) == 0);
  osli_split_free(&s);
}

static void test_impossible_size(void)
{
  index_split s = {0};
  OSLA_ASSERT_ERR(osli_split_reserve(&s, INT64_C(1) << 55, 3), OSLA_ERR_MEM);
  /* the index_split object can be used after a failed call */
  OSLA_ASSERT_OK(osli_split_reserve(&s, 4, 3));
  const int64_t ix[] = {9, 1, 4, 1};
  osli_split_indices(&s, 4, ix, 2, 3);
  CU_ASSERT(wrong_split(&s, 4, ix, 2, 3) == 0);
  osli_split_free(&s);
}

static int compare_indices(const void *x, const void *y)
{
  int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
  return (a > b) - (a < b);
}

static void test_triangle(void)
{
  int64_t row[MOST], col[MOST], begin[MOST], end[MOST];
  for (int round = 0; round < 2000; round++) {
    uint64_t seed = 77 + (uint64_t)round;
    osla_uplo uplo = round % 2 ? OSLA_UPPER : OSLA_LOWER;
    int64_t rows = osla_test_choose(seed, -2, 20), cols = osla_test_choose(seed, -3, 20);
    int64_t n = 1 + osla_test_choose(seed, -4, 40);
    pick(seed, rows, n, row);
    pick(seed + 5000, cols, n, col);
    qsort(row, (size_t)rows, sizeof *row, compare_indices);
    qsort(col, (size_t)cols, sizeof *col, compare_indices);
    osli_split_triangle(uplo, rows, row, cols, col, begin, end);
    int64_t wrong = 0;
    for (int64_t c = 0; c < cols; c++) {
      wrong += begin[c] < 0 || end[c] > rows || begin[c] > end[c];
      for (int64_t r = 0; r < rows; r++) {
        bool stored = uplo == OSLA_LOWER ? row[r] >= col[c] : row[r] <= col[c];
        wrong += stored != (r >= begin[c] && r < end[c]);
      }
    }
    OSLA_ASSERT_MSG(wrong == 0, "round %d: %" PRId64 " errors", round, wrong);
  }
}

static const osla_test_case cases[] = {
  {"indices", test_indices},
  {"large_indices", test_large_indices},
  {"impossible_size", test_impossible_size},
  {"triangle", test_triangle},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_hessian_split, cases);
