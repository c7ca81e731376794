/* Tests of triangular matrices in files: packed files, which are read into triangular and full
 * matrices, and full files that are read into triangular matrices. */
#include "tests/file_help.h"

#include <complex.h>
#include <inttypes.h>
#include <stdlib.h>

enum { RAW_TRAILER = 64 /* bytes behind the data of a raw file */ };

/* Element (i, j) of a symmetric matrix, or of a Hermitian one with imaginary parts. */
static osla_complex element_of(osla_dtype dtype, int64_t i, int64_t j)
{
  const bool real = dtype == OSLA_FLOAT || dtype == OSLA_DOUBLE;
  const int64_t high = i > j ? i : j, low = i > j ? j : i;
  const double imaginary = real || i == j ? 0.0 : i > j ? 1.0 : -1.0;
  return CMPLX((double)(1000 * high + low), imaginary);
}

/* Sets a matrix by one rank that puts all of its elements. Collective. */
static void write_all(osla_matrix *a)
{
  const osla_dtype dtype = osla_matrix_dtype(a);
  const int64_t n = osla_matrix_layout(a).n;
  void *all = osla_test_allocate((size_t)(n * n), osla_dtype_size(dtype));
  for (int64_t at = 0; at < n * n; at++)
    osla_test_store(dtype, all, at, element_of(dtype, at % n, at / n));
  if (osla_test_rank() == 0)
    OSLA_ASSERT_OK(osla_matrix_put_block(a, 0, 0, n, n, all, n > 0 ? n : 1));
  free(all);
  OSLA_ASSERT_OK(osla_barrier(osla_grid_transport(osla_matrix_grid(a))));
}

/* Returns how many elements differ on and below the diagonal, and if `whole` above it, too. */
static int64_t differ(const osla_matrix *a, bool whole)
{
  const osla_dtype dtype = osla_matrix_dtype(a);
  const int64_t n = osla_matrix_layout(a).n;
  void *all = osla_test_allocate((size_t)(n * n), osla_dtype_size(dtype));
  int64_t wrong = 0;
  OSLA_ASSERT_OK(osla_matrix_get_block(a, 0, 0, n, n, all, n > 0 ? n : 1));
  for (int64_t at = 0; at < n * n; at++)
    if (at % n >= at / n || whole)
      wrong += osla_test_load(dtype, all, at) != element_of(dtype, at % n, at / n);
  free(all);
  return wrong;
}

/* A triangular matrix with the elements of element_of, and another grid on which tests load it. */
typedef struct saved {
  osla_grid *grid, *other;
  osla_matrix *a;
} saved;

/* Creates the matrix on grid number `turn`; `other` is the grid after it. Collective. */
static saved make_saved(osla_transport *t, osla_dtype dtype, int64_t n, int64_t nb, int turn)
{
  const int grids = osla_test_n_grids(t);
  saved s = {.grid = osla_test_grid(t, turn % grids),
             .other = osla_test_grid(t, (turn + 1) % grids)};
  OSLA_ASSERT_OK(osla_matrix_create_triangle(s.grid, dtype, n, nb, &s.a));
  write_all(s.a);
  return s;
}

static void free_saved(saved *s)
{
  osla_matrix_destroy(&s->a);
  osla_grid_destroy(&s->grid);
  osla_grid_destroy(&s->other);
}

/* Checks all elements of a loaded matrix, and destroys it. Collective. */
static void check_loaded(osla_transport *t, osla_matrix *b)
{
  const int64_t n = osla_matrix_layout(b).n, wrong = differ(b, true);
  OSLA_ASSERT_MSG(wrong == 0, "n = %" PRId64 ": %" PRId64 " elements differ", n, wrong);
  OSLA_ASSERT_OK(osla_barrier(t));
  osla_matrix_destroy(&b);
}

/* Saves a triangle, and loads it on another grid with other blocks. */
static void round_trip(osla_transport *t, osla_dtype dtype, int64_t n, int64_t nb, int turn)
{
  saved s = make_saved(t, dtype, n, nb, turn);
  osla_matrix *b = NULL;
  osla_stored stored = OSLA_STORED_WHOLE;
  const osla_load_options load = {.mb = 8, .nb = turn % 2 ? 11 : 0};
  const char *path = scratch_path("triangle.h5");
  OSLA_ASSERT_OK(osla_matrix_save(s.a, path, NULL));
  if (OSLA_ASSERT_OK(osla_matrix_load(s.other, path, &load, &stored, &b))) {
    CU_ASSERT(osla_matrix_is_triangle(b) && stored == OSLA_STORED_LOWER);
    CU_ASSERT(osla_matrix_layout(b).n == n && osla_matrix_layout(b).nb == (turn % 2 ? 11 : 8));
    CU_ASSERT(osla_matrix_dtype(b) == dtype);
    check_loaded(t, b);
  }
  free_saved(&s);
}

/* Returns how many elements of a raw file differ from those of element_of; -1 if the file has
 * another length. */
static int64_t differ_in_file(const char *path, osla_dtype dtype, int64_t n)
{
  size_t bytes = 0;
  unsigned char *all = scratch_read(path, &bytes);
  int64_t wrong = -1;
  if (bytes == (size_t)(n * n) * osla_dtype_size(dtype) + RAW_TRAILER) {
    wrong = 0;
    for (int64_t at = 0; at < n * n; at++)
      wrong += osla_test_load(dtype, all, at) != element_of(dtype, at % n, at / n);
  }
  free(all);
  return wrong;
}

/* Saves both triangles of a triangle, and loads them as a full matrix on another grid. */
static void save_both(osla_transport *t, osla_dtype dtype, int64_t n, int64_t nb, int turn)
{
  saved s = make_saved(t, dtype, n, nb, turn);
  osla_matrix *b = NULL;
  osla_stored stored = OSLA_STORED_UPPER;
  const osla_save_options full = {.stored = OSLA_STORED_FULL};
  for (int raw = 0; raw < 2; raw++) {
    const char *path = scratch_path(raw ? "both" : "both.h5");
    OSLA_ASSERT_OK(osla_matrix_save(s.a, path, &full));
    if (raw) CU_ASSERT(differ_in_file(path, dtype, n) == 0);
    if (OSLA_ASSERT_OK(osla_matrix_load(s.other, path, NULL, &stored, &b))) {
      CU_ASSERT(!osla_matrix_is_triangle(b) && stored == OSLA_STORED_WHOLE);
      CU_ASSERT(osla_matrix_layout(b).n == n);
      check_loaded(t, b);
    }
  }
  free_saved(&s);
}

static void test_both_triangles(void)
{
  static const int64_t orders[] = {0, 1, 2, 37, 64, 130};
  osla_transport *t = osla_test_transport();
  scratch_create();
  for (int i = 0; i < 6; i++)
    save_both(t, (osla_dtype)(i % 4), orders[i], i % 2 ? 5 : 16, i);
  /* The file is written in pieces of several block columns, of one block column, and of half a
   * block column. The size of a piece is no multiple of a memory page. */
  save_both(t, OSLA_DOUBLE, 1101, 96, 1);
  save_both(t, OSLA_DOUBLE, 1401, 900, 2);
  if (osla_test_size() <= 2) save_both(t, OSLA_DOUBLE, 2901, 2901, 3);
  scratch_remove(2);
  osla_transport_destroy(&t);
}

static void test_round_trips(void)
{
  static const int64_t orders[] = {0, 1, 2, 37, 64, 130};
  osla_transport *t = osla_test_transport();
  scratch_create();
  for (int i = 0; i < 6; i++)
    round_trip(t, (osla_dtype)(i % 4), orders[i], i % 2 ? 5 : 16, i);
  round_trip(t, OSLA_DOUBLE, 1100, 96, 1); /* more than one piece of 4 MiB */
  size_t bytes = 0;
  free(scratch_read(scratch_path("triangle.h5"), &bytes));
  if (osla_test_rank() == 0) CU_ASSERT(bytes > 4 * 1100 * 1101 && bytes < 4.1 * 1100 * 1101);
  scratch_remove(1);
  osla_transport_destroy(&t);
}

/* A packed file sets the lower triangle of a full matrix; a full file sets a triangle. */
static void test_layouts(void)
{
  enum { N = 45 };
  osla_transport *t = osla_test_transport();
  osla_grid *grid = osla_test_square_grid(t);
  osla_matrix *half = NULL, *full = NULL;
  osla_file *f = NULL;
  scratch_create();
  const char *path = scratch_path("layouts.h5");
  OSLA_ASSERT_OK(osla_matrix_create_triangle(grid, OSLA_COMPLEX_DOUBLE, N, 7, &half));
  OSLA_ASSERT_OK(osla_matrix_create(grid, OSLA_COMPLEX_DOUBLE, N, N, 9, 9, &full));
  write_all(half);
  write_all(full);
  OSLA_ASSERT_OK(osla_file_create(t, path, &f));
  OSLA_ASSERT_OK(osla_file_put_matrix(f, "half", half, OSLA_STORED_LOWER));
  OSLA_ASSERT_OK(osla_file_put_matrix(f, "full", full, OSLA_STORED_WHOLE));
  OSLA_ASSERT_OK(osla_file_put_matrix(f, "upper", full, OSLA_STORED_UPPER));
  OSLA_ASSERT_OK(osla_file_put_matrix(f, "both", half, OSLA_STORED_FULL));
  OSLA_ASSERT_OK(osla_file_put_matrix(f, "all", full, OSLA_STORED_FULL));
  OSLA_ASSERT_OK(osla_file_commit(&f));
  OSLA_ASSERT_OK(osla_file_open(t, path, &f));
  OSLA_ASSERT_OK(osla_matrix_fill(full, OSLA_FILL_ZERO, 0));
  OSLA_ASSERT_OK(osla_file_get_matrix(f, "half", full));
  CU_ASSERT(differ(full, false) == 0 && differ(full, true) == N * (N - 1) / 2);
  for (int k = 0; k < 2; k++) {
    OSLA_ASSERT_OK(osla_barrier(t));
    OSLA_ASSERT_OK(osla_matrix_fill(full, OSLA_FILL_ZERO, 0));
    OSLA_ASSERT_OK(osla_file_get_matrix(f, k ? "all" : "both", full));
    CU_ASSERT(differ(full, true) == 0);
  }
  osla_matrix_destroy(&half);
  OSLA_ASSERT_OK(osla_matrix_create_triangle(grid, OSLA_COMPLEX_DOUBLE, N, 4, &half));
  OSLA_ASSERT_OK(osla_file_get_matrix(f, "full", half));
  CU_ASSERT(differ(half, true) == 0);
  OSLA_ASSERT_ERR(osla_file_get_matrix(f, "upper", half), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("upper holds the upper triangle");
  OSLA_ASSERT_SAME_TEXT();
  CU_ASSERT(differ(half, true) == 0);
  osla_file_close(&f);
  OSLA_ASSERT_ERR(osla_matrix_save(half, scratch_path("raw"), NULL), OSLA_ERR_UNSUPPORTED);
  OSLA_ASSERT_TEXT("no triangular matrices");
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_ERR(osla_matrix_save(half, path, &(osla_save_options){.stored = OSLA_STORED_UPPER}),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("the matrix has the lower one");
  scratch_remove(1);
  osla_matrix_destroy(&half);
  osla_matrix_destroy(&full);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"round_trips", test_round_trips},
  {"both_triangles", test_both_triangles},
  {"layouts", test_layouts},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_file_triangle, cases);
