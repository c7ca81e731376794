/* Tests of star forests of common patterns, of concatenated forests, and of forests whose vertices
 * are widened to several. Each is compared with a formula. */
#include "osla_forest.h"
#include "tests/osla_test_help.h"

#include <stdlib.h>

/* Function that gives the root that a leaf should be joined to; rank is -1 if the leaf has no edge.
 */
typedef osla_root expected_root(int64_t leaf, const void *what);

/* Checks the root of each leaf with an index below `space`, in the list of edges and by a broadcast
 * in which each root sends its rank and index. */
static void check(const char *name, osla_forest *f, int64_t n_roots, int64_t space,
                  expected_root *expected, const void *what)
{
  const osla_unit pair = {OSLA_UNIT_INT64, 2, 0};
  const int64_t n = osla_forest_n_edges(f), most = space + osla_forest_leaf_space(f);
  int64_t(*roots)[2] = osla_test_allocate((size_t)n_roots + 1, sizeof *roots);
  int64_t(*leaves)[2] = osla_test_allocate((size_t)most + 1, sizeof *leaves);
  int64_t *leaf = osla_test_allocate((size_t)n + 1, sizeof *leaf), bad = 0, edges = 0;
  osla_root *root = osla_test_allocate((size_t)n + 1, sizeof *root);
  CU_ASSERT(osla_forest_n_roots(f) == n_roots);
  for (int64_t i = 0; i < n_roots; i++)
    roots[i][0] = osla_test_rank(), roots[i][1] = i;
  for (int64_t i = 0; i < most; i++)
    leaves[i][0] = leaves[i][1] = -1;
  OSLA_ASSERT_OK(osla_forest_bcast(f, pair, roots, leaves, OSLA_REPLACE));
  for (int64_t i = 0; i < space; i++) {
    const osla_root r = expected(i, what);
    bad += leaves[i][0] != r.rank || leaves[i][1] != r.index;
    edges += r.rank >= 0;
  }
  osla_forest_edges(f, leaf, root);
  for (int64_t e = 0; e < n; e++)
    bad += root[e].rank != leaves[leaf[e]][0] || root[e].index != leaves[leaf[e]][1];
  OSLA_ASSERT_MSG(bad == 0 && edges == n, "%s: %d of %d edges differ", name, (int)bad, (int)n);
  free(roots);
  free(leaves);
  free(leaf);
  free(root);
  OSLA_ASSERT_OK(osla_forest_destroy(&f));
}

/* Number of roots of a rank. */
static int64_t roots_of(int rank)
{
  return 2 * rank + 1;
}

static osla_root by_rank(int64_t leaf, const void *what)
{
  int rank = 0;
  (void)what;
  while (leaf >= roots_of(rank))
    leaf -= roots_of(rank++);
  return (osla_root){rank, leaf};
}

static osla_root by_pair(int64_t leaf, const void *what)
{
  const int64_t n = *(const int64_t *)what;
  return (osla_root){(int32_t)(leaf / n), osla_test_rank() * n + leaf % n};
}

static void test_patterns(void)
{
  osla_transport *t = osla_test_transport();
  const int size = osla_test_size(), me = osla_test_rank();
  const int64_t all = (int64_t)size * size, mine = roots_of(me);
  osla_forest *f;
  if (OSLA_ASSERT_OK(osla_forest_allgather(t, mine, &f)))
    check("all-gather", f, mine, all, by_rank, NULL);
  for (int rank = 0; rank < size; rank++)
    if (OSLA_ASSERT_OK(osla_forest_gather(t, mine, rank, &f)))
      check("gather", f, mine, me == rank ? all : 0, by_rank, NULL);
  for (int64_t n = 0; n <= 300; n += 100)
    if (OSLA_ASSERT_OK(osla_forest_alltoall(t, n, &f)))
      check("all-to-all", f, n * size, n * size, by_pair, &n);
  OSLA_ASSERT_ERR(osla_forest_gather(t, 1, size, &f), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("is outside 0 .. ");
  OSLA_ASSERT_ERR(osla_forest_allgather(t, me == size - 1 ? -1 : 1, &f), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("n_roots = -1");
  OSLA_ASSERT_ERR(osla_forest_alltoall(t, -3, &f), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("n = -3");
  OSLA_ASSERT_ERR(osla_forest_alltoall(t, (int64_t)1 << 59, &f), OSLA_ERR_RANGE);
  OSLA_ASSERT_ERR(osla_forest_allgather(t, me == 0 ? (int64_t)1 << 61 : 1, &f), OSLA_ERR_RANGE);
  if (size > 1) OSLA_ASSERT_ERR(osla_forest_gather(t, UINT32_MAX, 0, &f), OSLA_ERR_RANGE);
  osla_transport_destroy(&t);
}

/* ---- concatenated forests ---- */

/* Concatenation of an all-gather and an all-to-all of one value. If same_roots is true, both use
 * the same roots; otherwise the roots of the all-to-all follow those of the all-gather. */
typedef struct side_by_side {
  int64_t second; /* leaf index at which the leaves of the second forest begin */
  bool same_roots;
} side_by_side;

static osla_root both(int64_t leaf, const void *what)
{
  const side_by_side *s = what;
  const int64_t one = 1;
  if (leaf < s->second) return s->same_roots ? by_pair(leaf, &one) : by_rank(leaf, NULL);
  osla_root r = by_pair(leaf - s->second, &one);
  if (!s->same_roots) r.index += roots_of(r.rank);
  return r;
}

static void test_concatenate(void)
{
  osla_transport *t = osla_test_transport();
  const int64_t size = osla_test_size(), mine = roots_of(osla_test_rank());
  osla_forest *of[2], *f;
  OSLA_ASSERT_OK(osla_forest_allgather(t, mine, &of[0]));
  OSLA_ASSERT_OK(osla_forest_alltoall(t, 1, &of[1]));
  const side_by_side apart = {size * size, false}, same = {size, true};
  if (OSLA_ASSERT_OK(osla_forest_concatenate(2, of, false, &f)))
    check("side by side", f, mine + size, size * size + size, both, &apart);
  osla_forest *twice[2] = {of[1], of[1]};
  if (OSLA_ASSERT_OK(osla_forest_concatenate(2, twice, true, &f)))
    check("same roots", f, size, 2 * size, both, &same);
  if (OSLA_ASSERT_OK(osla_forest_concatenate(1, of, true, &f)))
    check("one", f, mine, size * size, by_rank, NULL);
  OSLA_ASSERT_ERR(osla_forest_concatenate(0, of, true, &f), OSLA_ERR_ARG);
  if (size > 1) { /* rank 0 has one root in the first forest and `size` roots in the second */
    OSLA_ASSERT_ERR(osla_forest_concatenate(2, of, true, &f), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("forest 1 has");
    const bool last = osla_test_rank() == size - 1;
    OSLA_ASSERT_ERR(osla_forest_concatenate(last ? 1 : 2, twice, true, &f), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("osla_forest_concatenate: n is 2 on rank 0, but 1 on rank ");
  }
  OSLA_ASSERT_OK(osla_forest_destroy(&of[0]));
  OSLA_ASSERT_OK(osla_forest_destroy(&of[1]));
  osla_transport_destroy(&t);
}

/* ---- widened forests ---- */

enum { COUNT = 2, ROOT_STRIDE = 3 };

static osla_root widened(int64_t leaf, const void *what)
{
  const int64_t stride = *(const int64_t *)what;
  if (leaf % stride >= COUNT) return (osla_root){-1, -1};
  osla_root r = by_rank(leaf / stride, NULL);
  r.index = r.index * ROOT_STRIDE + leaf % stride;
  return r;
}

static void test_strided(void)
{
  osla_transport *t = osla_test_transport();
  const int64_t size = osla_test_size(), mine = roots_of(osla_test_rank());
  const int64_t leaf_stride = COUNT + osla_test_rank() % 3;
  osla_forest *f, *wide;
  OSLA_ASSERT_OK(osla_forest_allgather(t, mine, &f));
  if (OSLA_ASSERT_OK(osla_forest_strided(f, COUNT, ROOT_STRIDE, leaf_stride, &wide)))
    check("strided", wide, mine * ROOT_STRIDE, size * size * leaf_stride, widened, &leaf_stride);
  OSLA_ASSERT_ERR(osla_forest_strided(f, 4, 3, 4, &wide), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("count = 4, root_stride = 3, leaf_stride = 4");
  OSLA_ASSERT_ERR(osla_forest_strided(f, 2, (int64_t)1 << 33, 2, &wide), OSLA_ERR_RANGE);
  if (size > 1)
    OSLA_ASSERT_ERR(osla_forest_strided(f, 1 + osla_test_rank(), 9, 9, &wide), OSLA_ERR_ARG);
  OSLA_ASSERT_OK(osla_forest_destroy(&f));
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {{"patterns", test_patterns},
                                       {"concatenate", test_concatenate},
                                       {"strided", test_strided},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_forest_pattern, cases);
