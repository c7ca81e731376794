/* Tests of copies from and to triangular matrices: whole matrices and parts, between grids and
 * block sizes. Every element identifies its position, so that a misplaced one is detected. */
#include "tests/matrix/triangle_help.h"
#include "tests/osla_test_help.h"

#include <inttypes.h>

/* Orders and block sizes: orders 0 and 1, orders that blocks do not divide, a block larger than the
 * matrix, and blocks larger than the tiles in which elements above the diagonal are read. */
static const struct shape {
  int64_t n, nb;
} shapes[] = {{61, 7}, {0, 3}, {150, 70}, {1, 1}, {50, 64}, {33, 1}, {101, 96}};
enum { N_SHAPES = sizeof shapes / sizeof shapes[0] };

static osla_matrix *make_triangle(osla_transport *t, int which, osla_dtype dtype, int64_t n,
                                  int64_t nb)
{
  osla_matrix *a = NULL;
  osla_grid *grid = osla_test_grid(t, which % osla_test_n_grids(t));
  if (!OSLA_ASSERT_OK(osla_matrix_create_triangle(grid, dtype, n, nb, &a)))
    osla_grid_destroy(&grid);
  return a;
}

static osla_matrix *make_full(osla_transport *t, int which, osla_dtype dtype, int64_t n, int64_t nb)
{
  return osla_test_make(t, which % osla_test_n_grids(t), dtype, n, n, nb, nb > 3 ? nb - 3 : 5);
}

/* Copies a full matrix to a triangular one, this one to two more triangular matrices, and one of
 * these to another full matrix. */
static void check_whole(osla_transport *t, int which, osla_dtype dtype, const struct shape *s)
{
  const osla_part none = {0};
  osla_matrix *full = make_full(t, which, dtype, s->n, s->nb);
  osla_matrix *a = make_triangle(t, which + 1, dtype, s->n, s->nb);
  osla_matrix *b = make_triangle(t, which, dtype, s->n, s->nb % 5 + 4);
  osla_matrix *c = make_triangle(t, which, dtype, s->n, s->nb);
  osla_matrix *back = make_full(t, which + 2, dtype, s->n, s->nb + 2);
  /* No barrier is needed after the stores, because the copy waits until its source is complete. */
  osla_test_write_mirrored(full, false);
  OSLA_ASSERT_OK(osla_matrix_copy(full, a));
  OSLA_ASSERT_OK(osla_matrix_copy(a, b));
  OSLA_ASSERT_OK(osla_matrix_copy(a, c));
  OSLA_ASSERT_OK(osla_matrix_copy(b, back));
  osla_matrix *all[] = {a, b, c, back};
  for (int k = 0; k < 4; k++) {
    const int64_t wrong = osla_test_differ_mirrored(all[k], &none, 0, 0);
    OSLA_ASSERT_MSG(wrong == 0, "matrix %d, %" PRId64 " elements, n = %" PRId64 ", grid %d", k,
                    wrong, s->n, which);
  }
  OSLA_ASSERT_OK(osla_barrier(t));
  for (int k = 0; k < 4; k++)
    osla_test_destroy(all[k]);
  osla_test_destroy(full);
}

static void test_whole(void)
{
  osla_transport *t = osla_test_transport();
  const int n_grids = osla_test_n_grids(t);
  const int step = osla_test_size() >= FEW_RANKS ? n_grids : 3;
  for (int which = 0; which < n_grids; which++)
    for (int k = which; k < N_SHAPES; k += step)
      check_whole(t, which, (osla_dtype)((k + which) % 4), &shapes[k]);
  osla_transport_destroy(&t);
}

/* ---- parts ---- */

/* Returns a random part that copies may write in a triangular matrix: a part that begins and ends
 * on the diagonal if `diagonal` is true, otherwise a part below the diagonal. */
static osla_part choose_part(osla_matrix *a, bool diagonal, uint64_t seed)
{
  const int64_t n = osla_matrix_layout(a).n;
  const int64_t j = osla_test_choose(seed, 0, n / 2), cols = osla_test_choose(seed, 1, n - j + 1);
  if (diagonal) return osla_part_at(a, j, j, cols, cols);
  const int64_t i = j + cols + osla_test_choose(seed, 2, n - j - cols + 1);
  return osla_part_at(a, i, j, osla_test_choose(seed, 3, n - i + 1), cols);
}

/* Tests osla_matrix_copy_part from a random part of `source` to a random part of `dest`: the part of
 * `dest` gets the elements of `source`, and the elements of `dest` outside it do not change. If
 * `diagonal` is true, the part of `dest` lies on the diagonal, otherwise below it. */
static void check_part(osla_matrix *source, osla_matrix *dest, bool diagonal, uint64_t seed)
{
  const int64_t n = osla_matrix_layout(dest).n;
  const osla_part to = choose_part(dest, diagonal, seed);
  const int64_t si = osla_test_choose(seed, 4, n - to.m + 1),
                sj = osla_test_choose(seed, 5, n - to.n + 1);
  osla_transport *t = osla_grid_transport(osla_matrix_grid(dest));
  osla_test_write_mirrored(source, true);
  osla_test_write_mirrored(dest, true);
  OSLA_ASSERT_OK(osla_matrix_copy_part(osla_part_at(source, si, sj, to.m, to.n), to));
  const int64_t wrong = osla_test_differ_mirrored(dest, &to, si, sj);
  OSLA_ASSERT_MSG(wrong == 0,
                  "%" PRId64 " elements, %" PRId64 " x %" PRId64 " at (%" PRId64 ", %" PRId64
                  ") from (%" PRId64 ", %" PRId64 "), triangles: %d to %d",
                  wrong, to.m, to.n, to.i, to.j, si, sj, osla_matrix_is_triangle(source),
                  osla_matrix_is_triangle(dest));
  OSLA_ASSERT_OK(osla_barrier(t));
}

static void test_parts(void)
{
  osla_transport *t = osla_test_transport();
  static const int64_t blocks[] = {7, 1, 70, 20};
  for (int k = 0; k < (osla_test_size() >= FEW_RANKS ? 2 : 4); k++) {
    const osla_dtype dtype = (osla_dtype)((k + osla_test_size()) % 4);
    const int64_t n = 83;
    osla_matrix *full = make_full(t, k, dtype, n, blocks[k]);
    osla_matrix *a = make_triangle(t, k + 1, dtype, n, blocks[k]);
    osla_matrix *b = make_triangle(t, k + 2, dtype, n, 9);
    osla_matrix *const pairs[3][2] = {{full, a}, {a, full}, {a, b}};
    for (uint64_t seed = 0; seed < 10; seed++)
      for (int p = 0; p < 3; p++)
        check_part(pairs[p][0], pairs[p][1], seed % 2 == 0, 100 * (uint64_t)k + seed);
    osla_test_destroy(full);
    osla_test_destroy(a);
    osla_test_destroy(b);
  }
  osla_transport_destroy(&t);
}

/* Copies between parts of one triangular matrix. Parts that share an element must be refused, also
 * if one of them contains (i, j) and the other contains (j, i). */
static void test_one_matrix(void)
{
  osla_transport *t = osla_test_transport();
  osla_matrix *a = make_triangle(t, 0, OSLA_COMPLEX_DOUBLE, 60, 8);
  const osla_part first = osla_part_at(a, 3, 3, 20, 20), second = osla_part_at(a, 30, 30, 20, 20);
  const osla_part below = osla_part_at(a, 30, 3, 20, 20), above = osla_part_at(a, 3, 30, 20, 20);
  osla_test_write_mirrored(a, true);
  OSLA_ASSERT_OK(osla_matrix_copy_part(first, second));
  CU_ASSERT(osla_test_differ_mirrored(a, &second, 3, 3) == 0);
  OSLA_ASSERT_OK(osla_barrier(t));
  OSLA_ASSERT_ERR(osla_matrix_copy_part(above, below), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("overlap in one matrix");
  OSLA_ASSERT_ERR(osla_matrix_copy_part(osla_part_at(a, 31, 31, 20, 20), second), OSLA_ERR_ARG);
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_ERR(osla_matrix_copy_part(second, above), OSLA_ERR_UNSUPPORTED);
  OSLA_ASSERT_TEXT("copy: destination is the 20 x 20 part at (3, 30) of a triangular matrix");
  OSLA_ASSERT_ERR(osla_matrix_copy_part(second, osla_part_at(a, 5, 3, 20, 20)),
                  OSLA_ERR_UNSUPPORTED);
  OSLA_ASSERT_SAME_TEXT();
  osla_test_destroy(a);
  osla_transport_destroy(&t);
}

/* Copies of a matrix to itself, between matrices of different sizes, and to a full matrix on one
 * rank and a triangular one on the others must be refused. */
static void test_errors(void)
{
  osla_transport *t = osla_test_transport();
  osla_matrix *full = osla_test_make(t, 0, OSLA_DOUBLE, 9, 9, 4, 4);
  osla_matrix *other = osla_test_make(t, 0, OSLA_DOUBLE, 9, 9, 4, 4);
  osla_matrix *a = make_triangle(t, 0, OSLA_DOUBLE, 9, 4);
  osla_matrix *b = make_triangle(t, 0, OSLA_DOUBLE, 10, 4);
  OSLA_ASSERT_ERR(osla_matrix_copy(a, a), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_matrix_copy(a, b), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("source is 9 x 9, destination 10 x 10");
  if (osla_test_size() > 1) {
    OSLA_ASSERT_ERR(osla_matrix_copy(other, osla_test_rank() == 1 ? full : a), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("layout of dest (1: triangular) is ");
    OSLA_ASSERT_SAME_TEXT();
  }
  osla_test_destroy(full);
  osla_test_destroy(other);
  osla_test_destroy(a);
  osla_test_destroy(b);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {{"whole", test_whole},
                                       {"parts", test_parts},
                                       {"one_matrix", test_one_matrix},
                                       {"errors", test_errors},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_triangle_copy, cases);
