/* Tests of block-cyclic index arithmetic: comparison with a plain distribution of all indices one
 * by one, and sizes that no memory holds. */
#include "osla_index.h"
#include "tests/osla_test_help.h"

#include <inttypes.h>
#include <stdint.h>

enum { MAX_N = 64 };

/* Computes the owner and the local index of each index below n by distributing blocks to the
 * processes one by one. */
static void distribute(int64_t n, int64_t nb, int nprocs, int *owner, int64_t *local)
{
  int64_t held[16] = {0};
  int player = 0;
  for (int64_t i = 0, in_block = 0; i < n; i++) {
    owner[i] = player;
    local[i] = held[player]++;
    if (++in_block == nb) {
      in_block = 0;
      player = (player + 1) % nprocs;
    }
  }
}

/* Returns the number of differences between the library's functions and the plain distribution. */
static int compare_with_dealing(int64_t n, int64_t nb, int nprocs)
{
  int owner[MAX_N], wrong = 0;
  int64_t local[MAX_N], held[16] = {0};
  distribute(n, nb, nprocs, owner, local);
  for (int64_t i = 0; i < n; i++) {
    for (int p = 0; p < nprocs; p++)
      if (osla_index_count(i, nb, p, nprocs) != held[p]) wrong++;
    held[owner[i]]++;
    if (osla_index_owner(i, nb, nprocs) != owner[i]) wrong++;
    if (osla_index_local(i, nb, nprocs) != local[i]) wrong++;
    if (osla_index_global(local[i], nb, owner[i], nprocs) != i) wrong++;
    int64_t run = 1;
    while (i + run < n && (i + run) % nb != 0)
      run++;
    if (osla_index_run(i, n, nb) != run) wrong++;
  }
  for (int p = 0; p < nprocs; p++)
    if (osla_index_count(n, nb, p, nprocs) != held[p]) wrong++;
  if (osla_index_count(n, nb, -1, nprocs) != 0) wrong++;
  return wrong;
}

static void test_small(void)
{
  for (int64_t n = 0; n <= MAX_N; n = n < 20 ? n + 1 : n + 11)
    for (int64_t nb = 1; nb <= MAX_N + 3; nb += nb < 9 ? 1 : 8)
      for (int nprocs = 1; nprocs <= 9; nprocs++) {
        int wrong = compare_with_dealing(n, nb, nprocs);
        OSLA_ASSERT_MSG(wrong == 0, "%d for n = %" PRId64 ", nb = %" PRId64 ", %d processes", wrong,
                        n, nb, nprocs);
      }
}

/* Checks the relations between the library's functions that hold for any index and any size. */
static bool holds_at(int64_t i, int64_t n, int64_t nb, int nprocs)
{
  int owner = osla_index_owner(i, nb, nprocs);
  int64_t local = osla_index_local(i, nb, nprocs), run = osla_index_run(i, n, nb);
  bool good = owner >= 0 && owner < nprocs && local >= 0;
  good = good && osla_index_global(local, nb, owner, nprocs) == i;
  /* the number of owned indices below i is the local index of i */
  good = good && osla_index_count(i, nb, owner, nprocs) == local;
  good = good && osla_index_count(i + 1, nb, owner, nprocs) == local + 1;
  good = good && run >= 1 && run <= nb && i + run <= n;
  good = good && osla_index_owner(i + run - 1, nb, nprocs) == owner;
  good = good && osla_index_local(i + run - 1, nb, nprocs) == local + run - 1;
  return good && (i + run == n || (i + run) % nb == 0);
}

static void check_size(int64_t n, int64_t nb, int nprocs)
{
  int64_t sum = 0, wrong = 0;
  for (int p = 0; p < nprocs; p++)
    sum += osla_index_count(n, nb, p, nprocs);
  OSLA_ASSERT_MSG(sum == n, "counts sum to %" PRId64 " for n = %" PRId64 ", nb = %" PRId64, sum, n,
                  nb);
  for (int64_t k = 0; k < 200; k++) {
    int64_t i = k == 0 ? 0 : k == 1 ? n - 1 : osla_test_choose(7, k, n);
    if (!holds_at(i, n, nb, nprocs)) wrong++;
    int p = (int)osla_test_choose(8, k, nprocs);
    /* local index of the first index >= i that process p owns */
    int64_t below = osla_index_count(i, nb, p, nprocs);
    if (below > 0 && osla_index_global(below - 1, nb, p, nprocs) >= i) wrong++;
    if (below < osla_index_count(n, nb, p, nprocs) && osla_index_global(below, nb, p, nprocs) < i)
      wrong++;
  }
  OSLA_ASSERT_MSG(wrong == 0, "%" PRId64 " for n = %" PRId64 ", nb = %" PRId64 ", %d processes",
                  wrong, n, nb, nprocs);
}

static const int process_counts[] = {1, 2, 3, 7, 64, 1000, 100000};
enum { N_PROCESS_COUNTS = sizeof process_counts / sizeof process_counts[0] };

static void test_huge(void)
{
  const int64_t n[] = {820000, 2147483648, 672400000000, 1000000000000, INT64_MAX};
  const int64_t nb[] = {1, 64, 100, 192, 1000003, 820000, 1000000000001};
  for (size_t a = 0; a < sizeof n / sizeof n[0]; a++)
    for (size_t b = 0; b < sizeof nb / sizeof nb[0]; b++)
      for (int c = 0; c < N_PROCESS_COUNTS; c++)
        check_size(n[a], nb[b], process_counts[c]);
}

/* A block far larger than n assigns all indices to process 0. nb * nprocs may exceed the range of
 * int64_t. */
static void test_block_above_everything(void)
{
  for (int c = 0; c < N_PROCESS_COUNTS; c++) {
    int nprocs = process_counts[c];
    check_size(820000, INT64_MAX, nprocs);
    check_size(1, INT64_MAX / 2 + 1, nprocs);
    check_size(INT64_MAX, INT64_MAX, nprocs);
    CU_ASSERT(osla_index_count(5, INT64_MAX, 0, nprocs) == 5);
    if (nprocs > 1) CU_ASSERT(osla_index_count(5, INT64_MAX, nprocs - 1, nprocs) == 0);
  }
}

/* Values computed by hand for n = 10, nb = 3, two processes. Blocks 0 1 2 | 3 4 5 | 6 7 8 | 9
 * belong to processes 0, 1, 0, 1. */
static void test_by_hand(void)
{
  CU_ASSERT(osla_index_count(10, 3, 0, 2) == 6);
  CU_ASSERT(osla_index_count(10, 3, 1, 2) == 4);
  CU_ASSERT(osla_index_owner(9, 3, 2) == 1);
  CU_ASSERT(osla_index_local(9, 3, 2) == 3);
  CU_ASSERT(osla_index_global(4, 3, 0, 2) == 7);
  CU_ASSERT(osla_index_run(7, 10, 3) == 2);
  CU_ASSERT(osla_index_run(9, 10, 3) == 1);
}

static const osla_test_case cases[] = {
  {"by_hand", test_by_hand},
  {"small", test_small},
  {"huge", test_huge},
  {"block_above_everything", test_block_above_everything},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_index, cases);
