/* Tests of star forests at their limits: many transfers under way, large indices, little memory,
 * many arrays, and ranks that wait in calls of other libraries. */
#include "tests/kernels/forest_model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const osla_unit bytes_unit = {OSLA_UNIT_BYTES, 1, 0};

/* A forest with one root on rank 0 and one leaf of this root on each rank. */
static osla_forest *one_each(osla_transport *t)
{
  const osla_root root = {0, 0};
  osla_forest *f = NULL;
  OSLA_ASSERT_OK(osla_forest_create(t, osla_test_rank() == 0, 1, NULL, &root, &f));
  return f;
}

/* A rank whose transfer has ended may wait in MPI's own calls, because other ranks then need no
 * progress steps of that rank. */
static void test_foreign_barrier(void)
{
  enum { FORESTS = 40 };
  osla_transport *t = osla_test_transport();
  osla_forest *f[FORESTS];
  int64_t value[FORESTS], leaf[FORESTS], bad = 0;
  for (int i = 0; i < FORESTS; i++)
    f[i] = one_each(t);
  for (int round = 1; round <= 3; round++) {
    for (int i = 0; i < FORESTS; i++) {
      value[i] = 100 * round + i;
      OSLA_ASSERT_OK(osla_forest_bcast(f[i], OSLA_ONE_INT64, &value[i], &leaf[i], OSLA_REPLACE));
      bad += leaf[i] != 100 * round + i;
    }
    CU_ASSERT(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
  }
  CU_ASSERT(bad == 0);
  for (int i = 0; i < FORESTS; i++)
    OSLA_ASSERT_OK(osla_forest_destroy(&f[i]));
  osla_transport_destroy(&t);
}

/* A list of leaves with the largest 32-bit index followed by 0 must not be mistaken for a list that
 * ascends by 1. */
static void test_indices_wrap(void)
{
  osla_transport *t = osla_test_transport();
  const int64_t last = UINT32_MAX, leaf[2] = {last, 0};
  const osla_root root[2] = {{0, 1}, {0, 0}};
  const unsigned char roots[2] = {7, 9};
  unsigned char *leaves = mmap(NULL, (size_t)last + 2, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  osla_forest *f = NULL;
  OSLA_ASSERT_OK(osla_forest_create(t, osla_test_rank() == 0 ? 2 : 0, 2, leaf, root, &f));
  if (OSLA_ASSERT_MSG(leaves != MAP_FAILED, "%s", "4 GiB of addresses")) {
    OSLA_ASSERT_OK(osla_forest_bcast(f, bytes_unit, roots, leaves, OSLA_REPLACE));
    CU_ASSERT(leaves[last] == 9 && leaves[0] == 7 && leaves[last + 1] == 0);
    (void)munmap(leaves, (size_t)last + 2);
  }
  OSLA_ASSERT_OK(osla_forest_destroy(&f));
  osla_transport_destroy(&t);
}

/* Some ranks have the maximum of eight transfers under way. Calls that need a transfer of their own
 * fail on all ranks, and succeed when the transfers have ended. */
static void test_no_place(void)
{
  enum { MOST = 8 };
  osla_transport *t = osla_test_transport();
  osla_forest *f = one_each(t), *split = NULL;
  osla_forest_run run[MOST], more;
  int64_t value[MOST + 1] = {0}, leaf[MOST + 1] = {0};
  bool first = osla_test_rank() == 0;
  for (int i = 0; i < MOST; i++) {
    value[i] = i + 5;
    OSLA_ASSERT_OK(
      osla_forest_bcast_begin(f, OSLA_ONE_INT64, &value[i], &leaf[i], OSLA_REPLACE, &run[i]));
  }
  if (first) OSLA_ASSERT_OK(osla_forest_end(&run[0]));
  osla_err expected = osla_test_size() > 1 ? OSLA_ERR_STATE : OSLA_OK;
  CU_ASSERT(osla_forest_split(f, &split) == expected);
  OSLA_ASSERT_OK(osla_forest_destroy(&split));
  for (int i = first; i < MOST; i++)
    OSLA_ASSERT_OK(osla_forest_end(&run[i]));
  for (int i = 0; i < MOST; i++)
    CU_ASSERT(leaf[i] == i + 5);
  OSLA_ASSERT_OK(osla_forest_split(f, &split));
  OSLA_ASSERT_OK(osla_forest_destroy(&split));
  OSLA_ASSERT_OK(
    osla_forest_bcast_begin(f, OSLA_ONE_INT64, &value[1], &leaf[0], OSLA_REPLACE, &more));
  OSLA_ASSERT_OK(osla_forest_end(&more));
  OSLA_ASSERT_OK(osla_forest_destroy(&f));
  osla_transport_destroy(&t);
}

/* Each forest is a little larger than the previous one, so that the library's memory pool needs new
 * segments. */
static void test_growth(void)
{
  osla_transport *t = osla_test_transport();
  int rank = osla_test_rank(), size = osla_test_size();
  for (int64_t n = 100000; n <= 180000; n += 20000) {
    osla_root *root = osla_test_allocate((size_t)n, sizeof *root);
    double *roots = osla_test_allocate((size_t)n, 8), *leaves = osla_test_allocate((size_t)n, 8);
    osla_forest *f = NULL, *small = one_each(t);
    int64_t bad = 0;
    for (int64_t i = 0; i < n; i++) {
      root[i] = (osla_root){(rank + 1) % size, (i * 7 + 1) % n};
      roots[i] = (double)(i + n * rank);
    }
    OSLA_ASSERT_OK(osla_forest_create(t, n, n, NULL, root, &f));
    OSLA_ASSERT_OK(osla_forest_bcast(f, OSLA_ONE_DOUBLE, roots, leaves, OSLA_REPLACE));
    for (int64_t i = 0; i < n; i++)
      bad += leaves[i] != (double)((i * 7 + 1) % n + n * ((rank + 1) % size));
    CU_ASSERT(bad == 0);
    OSLA_ASSERT_OK(osla_forest_destroy(&f));
    OSLA_ASSERT_OK(osla_forest_destroy(&small));
    free(root);
    free(roots);
    free(leaves);
  }
  osla_transport_destroy(&t);
}

/* The leaves of a fetch and the fetched values are members of one array of structs. */
static void test_record_of_fetch(void)
{
  enum { N = 9 };
  osla_transport *t = osla_test_transport();
  const osla_unit unit = {OSLA_UNIT_INT64, 1, 24};
  struct {
    int64_t leaf, before, other;
  } record[N];
  int64_t roots[3 * N] = {0};
  osla_root root[N];
  osla_forest *f = NULL;
  for (int i = 0; i < N; i++) {
    record[i].leaf = 1;
    record[i].before = record[i].other = -1;
    root[i] = (osla_root){0, i};
  }
  OSLA_ASSERT_OK(osla_forest_create(t, osla_test_rank() == 0 ? N : 0, N, NULL, root, &f));
  OSLA_ASSERT_OK(osla_forest_fetch(f, unit, roots, &record[0].leaf, &record[0].before, OSLA_SUM));
  for (int i = 0; i < N; i++) {
    CU_ASSERT(record[i].before == osla_test_rank() && record[i].leaf == 1);
    CU_ASSERT(record[i].other == -1);
    if (osla_test_rank() == 0) CU_ASSERT(roots[3 * i] == osla_test_size());
  }
  OSLA_ASSERT_OK(osla_forest_destroy(&f));
  osla_transport_destroy(&t);
}

/* number of doubles in a unit that is too large to be packed with others */
enum { LONG_UNIT = 200 };

/* Makes a broadcast twice with the same arguments, so that the second one uses cached checks of the
 * arguments. The values of each rank are derived from its number. */
static void ask_twice(osla_forest *f, int64_t count, double *x, double *leaf, double value)
{
  const int next = (osla_test_rank() + 1) % osla_test_size();
  for (int turn = 0; turn < 2; turn++) {
    int64_t bad = 0;
    for (int64_t i = 0; i < LONG_UNIT; i++) {
      x[i] = value + 10000 * turn + 1000 * osla_test_rank() + (double)i;
      leaf[i] = -1;
    }
    OSLA_ASSERT_OK(osla_forest_bcast(f, (osla_unit){OSLA_UNIT_DOUBLE, (int32_t)count, 0}, x, leaf,
                                     OSLA_REPLACE));
    for (int64_t i = 0; i < LONG_UNIT; i++)
      bad += leaf[i] != (i < count ? value + 10000 * turn + 1000 * next + (double)i : -1);
    OSLA_ASSERT_MSG(bad == 0, "%" PRId64 " values differ, count %" PRId64 ", turn %d", bad, count,
                    turn);
  }
}

/* Repeats a transfer with equal arguments after something has changed. Either the transfer's array
 * of vertices was freed, and a new array may have its address, or there was a transfer with another
 * unit or other memory, or there was a refused call. */
static void test_asked_again(void)
{
  osla_transport *t = osla_test_transport();
  const osla_root root = {(osla_test_rank() + 1) % osla_test_size(), 0};
  osla_forest *f = NULL;
  double leaf[LONG_UNIT], plain[LONG_UNIT] = {0};
  void *x = NULL;
  OSLA_ASSERT_OK(osla_forest_create(t, 1, 1, NULL, &root, &f));
  ask_twice(f, LONG_UNIT, plain, leaf, 1e5);
  OSLA_ASSERT_OK(osla_vertices_create(t, sizeof leaf, &x));
  ask_twice(f, LONG_UNIT, x, leaf, 2e5);
  ask_twice(f, 3, x, leaf, 3e5);
  ask_twice(f, LONG_UNIT, x, leaf, 4e5);
  OSLA_ASSERT_OK(osla_vertices_free(t, &x));
  ask_twice(f, LONG_UNIT, plain, leaf, 1e5);
  OSLA_ASSERT_OK(osla_vertices_create(t, sizeof leaf, &x));
  ask_twice(f, LONG_UNIT, x, leaf, 5e5);
  for (int i = 0; i < 2; i++) {
    const osla_unit wrong = {OSLA_UNIT_DOUBLE, LONG_UNIT, 4};
    CU_ASSERT(osla_forest_bcast(f, wrong, x, leaf, OSLA_REPLACE) == OSLA_ERR_ARG);
    CU_ASSERT(osla_forest_bcast(f, OSLA_ONE_DOUBLE, x, x, OSLA_REPLACE) == OSLA_ERR_ARG);
  }
  ask_twice(f, LONG_UNIT, x, leaf, 6e5);
  OSLA_ASSERT_OK(osla_vertices_free(t, &x));
  OSLA_ASSERT_OK(osla_forest_destroy(&f));
  osla_transport_destroy(&t);
}

/* ---- refused calls, and mixed-up forests ---- */

static void bcast_often(osla_forest *f)
{
  for (int64_t i = 0; i < 12; i++) {
    int64_t root = 7 * i, leaf = -1;
    OSLA_ASSERT_OK(osla_forest_bcast(f, OSLA_ONE_INT64, &root, &leaf, OSLA_REPLACE));
    CU_ASSERT(leaf == (osla_test_rank() > 0 ? 7 * i : -1));
  }
}

static void reduce_often(osla_forest *f)
{
  for (int64_t i = 0; i < 12; i++) {
    int64_t root = 1, leaf = i;
    OSLA_ASSERT_OK(osla_forest_reduce(f, OSLA_ONE_INT64, &leaf, &root, OSLA_SUM));
    CU_ASSERT(root == (osla_test_rank() == 0 ? 1 + i * (osla_test_size() - 1) : 1));
  }
}

/* Rank 0 has only roots, and each other rank has only a leaf. A rank whose call is refused can
 * continue. */
static void test_refused(void)
{
  osla_transport *t = osla_test_transport();
  const osla_root root = {0, 0};
  const bool first = osla_test_rank() == 0;
  double numbers[3] = {0};
  osla_forest *f = NULL;
  osla_forest_run run;
  OSLA_ASSERT_OK(osla_forest_create(t, first, !first, NULL, &root, &f));
  for (int turn = 0; turn < 2; turn++) {
    if (turn == 0)
      bcast_often(f);
    else
      reduce_often(f);
    OSLA_ASSERT_ERR(osla_forest_fetch_begin(f, OSLA_ONE_DOUBLE, &numbers[0], &numbers[1],
                                            &numbers[2], OSLA_SUM_ARRIVAL, &run),
                    OSLA_ERR_ARG);
    OSLA_ASSERT_ERR(osla_forest_bcast_begin(f, OSLA_ONE_DOUBLE, (char *)numbers + 1,
                                            (char *)numbers + 9, OSLA_REPLACE, &run),
                    OSLA_ERR_ARG);
    OSLA_ASSERT_ERR(osla_forest_reduce_begin(f, OSLA_ONE_DOUBLE, (char *)numbers + 1,
                                             (char *)numbers + 9, OSLA_SUM, &run),
                    OSLA_ERR_ARG);
    bcast_often(f);
    reduce_often(f);
  }
  OSLA_ASSERT_OK(osla_forest_destroy(&f));
  osla_transport_destroy(&t);
}

/* Two forests are equal, and one rank passes the wrong one to osla_forest_destroy. */
static void test_destroy_another(void)
{
  osla_transport *t = osla_test_transport();
  const int last = osla_test_size() - 1;
  osla_forest *f[2] = {one_each(t), one_each(t)};
  const int which = osla_test_rank() == last && last > 0;
  int64_t root = 3, leaf = -1;
  OSLA_ASSERT_OK(osla_forest_bcast(f[0], OSLA_ONE_INT64, &root, &leaf, OSLA_REPLACE));
  OSLA_ASSERT_OK(osla_forest_bcast(f[1], OSLA_ONE_INT64, &root, &leaf, OSLA_REPLACE));
  if (last > 0) {
    OSLA_ASSERT_ERR(osla_forest_destroy(&f[which]), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("the forest's creation index is 1 on rank 0, but 2 on rank ");
    OSLA_ASSERT_SAME_TEXT();
  }
  OSLA_ASSERT_OK(osla_forest_destroy(&f[0]));
  OSLA_ASSERT_OK(osla_forest_destroy(&f[1]));
  osla_transport_destroy(&t);
}

/* A program has more arrays of vertices than fit one block of the library's list of arrays. The
 * library must still find the last one. */
static void test_many_arrays(void)
{
  enum { MOST = 600 };
  osla_transport *t = osla_test_transport();
  osla_forest *f = one_each(t);
  const int count = osla_transport_n_nodes(t) > 1
                      ? 3
                      : MOST; /* fewer arrays on several nodes, where creating a window is slow */
  void *array[MOST];
  int bad = 0;
  for (int i = 0; i < count; i++)
    OSLA_ASSERT_OK(osla_vertices_create(t, 2 * sizeof(double), &array[i]));
  for (int i = count - 1; i >= 0; i -= 1 + i / 4) {
    double *value = array[i];
    value[0] = i + 0.5;
    OSLA_ASSERT_OK(osla_forest_bcast(f, OSLA_ONE_DOUBLE, value, value + 1, OSLA_REPLACE));
    bad += value[1] != i + 0.5;
  }
  OSLA_ASSERT_MSG(bad == 0, "%d values differ", bad);
  for (int i = 0; i < count; i++)
    OSLA_ASSERT_OK(osla_vertices_free(t, &array[i]));
  OSLA_ASSERT_OK(osla_forest_destroy(&f));
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {{"foreign_barrier", test_foreign_barrier},
                                       {"indices_wrap", test_indices_wrap},
                                       {"no_place", test_no_place},
                                       {"growth", test_growth},
                                       {"record_of_fetch", test_record_of_fetch},
                                       {"asked_again", test_asked_again},
                                       {"refused", test_refused},
                                       {"destroy_another", test_destroy_another},
                                       {"many_arrays", test_many_arrays},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_forest_limits, cases);
