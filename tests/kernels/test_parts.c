/* Tests of calls on parts of matrices: copies, transposes, norms, multiples, contents and views of
 * parts, and the errors of all these calls. */
#include "osla_index.h"
#include "src/matrix/part_view.h"
#include "tests/complex_help.h"
#include "tests/kernels/parts_reference.h"
#include "tests/osla_test_help.h"

#include <math.h>
#include <string.h>

/* Runs check(grid, dtype, position) for all grids and all positions of parts. On one or two ranks
 * it runs all types, otherwise one type for each pair in turn. */
static void for_all(void (*check)(osla_grid *grid, osla_dtype dtype, part_position p))
{
  osla_transport *t = osla_test_transport();
  const int n_types = osla_test_size() <= 2 ? 4 : 1;
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g++) {
    part_position p;
    for (int which = 0; parts_position(which, false, &p); which++)
      for (int type = 0; type < n_types && kernel_turn(g, which); type++)
        check(grid, (osla_dtype)((g + which + type) % 4), p);
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* ---- copies of parts ---- */

/* Copies a part to another position of a matrix in other blocks, and to another position of the
 * same matrix. */
static void check_copy(osla_grid *grid, osla_dtype dtype, part_position p)
{
  osla_matrix *a = parts_make(grid, dtype, PARTS_M, PARTS_N, 4, 4, OSLA_FILL_UNIFORM, 1);
  osla_matrix *b = parts_make(grid, dtype, PARTS_M + 3, PARTS_N + 1, 3, 5, OSLA_FILL_UNIFORM, 2);
  osla_matrix *alone = parts_alone(a, p);
  for (int64_t k = 0; k < 2; k++) {
    const part_position to = {p.i > 0 ? p.i - k : 3 * k, p.j > 0 ? p.j - k : k, p.m, p.n};
    dense before = dense_gather(b);
    OSLA_ASSERT_OK(osla_matrix_copy_part(parts_at(a, p), parts_at(b, to)));
    parts_expect(b, &before, to, PARTS_ALL, alone, 0, "copy");
    dense_free(&before);
  }
  osla_matrix_destroy(&alone), osla_matrix_destroy(&b), osla_matrix_destroy(&a);
}

static void test_copy(void)
{
  for_all(check_copy);
}

/* Copies a part to another position of the same matrix, in all directions and also to an adjacent
 * position. */
static void test_copy_inside(void)
{
  static const part_position from[] = {
    {0, 0, 10, 26}, {3, 2, 17, 11}, {13, 0, 10, 26}, {5, 13, 1, 1}};
  static const part_position to[] = {
    {13, 0, 10, 26}, {4, 13, 17, 11}, {3, 0, 10, 26}, {5, 14, 1, 1}};
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g++) {
    osla_matrix *a =
      parts_make(grid, (osla_dtype)(g % 4), PARTS_M, PARTS_N, 4, 4, OSLA_FILL_UNIFORM, 1);
    for (int k = 0; k < 4; k++) {
      dense before = dense_gather(a);
      osla_matrix *alone = parts_alone(a, from[k]);
      OSLA_ASSERT_OK(osla_matrix_copy_part(parts_at(a, from[k]), parts_at(a, to[k])));
      parts_expect(a, &before, to[k], PARTS_ALL, alone, 0, "copy inside");
      osla_matrix_destroy(&alone);
      dense_free(&before);
    }
    osla_matrix_destroy(&a);
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

static void check_transpose(osla_grid *grid, osla_dtype dtype, part_position p)
{
  const osla_trans trans = p.i % 2 ? OSLA_TRANS : OSLA_CONJTRANS;
  const part_position to = {p.j > 0 ? p.j - 1 : 0, p.i, p.n, p.m};
  osla_matrix *a = parts_make(grid, dtype, PARTS_M, PARTS_N, 4, 4, OSLA_FILL_UNIFORM, 1);
  osla_matrix *b = parts_make(grid, dtype, PARTS_N, PARTS_M, 5, 3, OSLA_FILL_UNIFORM, 2);
  osla_matrix *alone = parts_alone(a, p), *turned = NULL;
  dense before = dense_gather(b);
  OSLA_ASSERT_OK(osla_matrix_create(grid, dtype, p.n, p.m, 5, 3, &turned));
  OSLA_ASSERT_OK(osla_matrix_transpose(trans, alone, turned));
  OSLA_ASSERT_OK(osla_matrix_transpose_part(trans, parts_at(a, p), parts_at(b, to)));
  parts_expect(b, &before, to, PARTS_ALL, turned, 0, "transpose");
  dense_free(&before);
  osla_matrix_destroy(&turned), osla_matrix_destroy(&alone);
  osla_matrix_destroy(&b), osla_matrix_destroy(&a);
}

static void test_transpose(void)
{
  for_all(check_transpose);
}

/* ---- norms, multiples and contents of parts ---- */

/* Norms of a part must not depend on elements outside the part, which are NaN or very large. */
static void check_norms(osla_grid *grid, osla_dtype dtype, part_position p)
{
  osla_matrix *a = parts_make(grid, dtype, PARTS_M, PARTS_N, 4, 4, OSLA_FILL_UNIFORM, 1);
  osla_matrix *alone = parts_alone(a, p);
  dense all = dense_gather(a), inside = parts_dense(&all, p);
  const double loud[2] = {(double)NAN, 1e20};
  int64_t k = 0;
  for (int64_t j = 0; j < PARTS_N; j++)
    for (int64_t i = 0; i < PARTS_M; i++)
      if (i < p.i || i >= p.i + p.m || j < p.j || j >= p.j + p.n)
        *dense_at(&all, i, j) = loud[k++ % 2];
  dense_scatter(&all, a);
  for (int norm = OSLA_NORM_MAX; norm <= OSLA_NORM_FRO; norm++) {
    double right = -1, value = -2;
    OSLA_ASSERT_OK(osla_matrix_norm(alone, (osla_norm)norm, &right));
    OSLA_ASSERT_OK(osla_matrix_norm_part(parts_at(a, p), (osla_norm)norm, &value));
    OSLA_ASSERT_CLOSE(value, right, norm == OSLA_NORM_MAX ? 0 : 1e-14 * (right + 1));
    if (p.m > 0 && p.n > 0) CU_ASSERT(right > 0);
  }
  dense_free(&all), dense_free(&inside);
  osla_matrix_destroy(&alone), osla_matrix_destroy(&a);
}

static void test_norms(void)
{
  for_all(check_norms);
}

static void check_contents(osla_grid *grid, osla_dtype dtype, part_position p)
{
  osla_matrix *a = parts_make(grid, dtype, PARTS_M, PARTS_N, 4, 4, OSLA_FILL_UNIFORM, 1);
  osla_matrix *alone = parts_alone(a, p);
  dense before = dense_gather(a);
  for (int k = 0; k < 2; k++) {
    const osla_complex alpha = k ? 0 : CMPLX(-2, 0.5);
    OSLA_ASSERT_OK(osla_matrix_scale(alpha, alone));
    OSLA_ASSERT_OK(osla_matrix_scale_part(alpha, parts_at(a, p)));
    parts_expect(a, &before, p, PARTS_ALL, alone, 0, "scale");
  }
  for (int fill = OSLA_FILL_ZERO; fill <= OSLA_FILL_INTEGER; fill++) {
    OSLA_ASSERT_OK(osla_matrix_fill(alone, (osla_fill)fill, 7));
    OSLA_ASSERT_OK(osla_matrix_fill_part(parts_at(a, p), (osla_fill)fill, 7));
    parts_expect(a, &before, p, PARTS_ALL, alone, 0, "fill");
  }
  dense_free(&before);
  osla_matrix_destroy(&alone), osla_matrix_destroy(&a);
}

static void test_contents(void)
{
  for_all(check_contents);
}

/* ---- views of parts ---- */

/* Every rank reads the whole part through its own view, which uses the memory of the matrix. */
static void check_view(osla_grid *grid, osla_dtype dtype, part_position p)
{
  osla_matrix *a = parts_make(grid, dtype, PARTS_M, PARTS_N, 4, 4, OSLA_FILL_UNIFORM, 1), *v;
  const osla_part part = parts_at(a, p);
  const osla_layout l = osla_matrix_layout(a);
  const bool rows = l.nprow == 1 || p.i % 4 == 0 || p.i % 4 + p.m <= 4;
  const bool cols = l.npcol == 1 || p.j % 4 == 0 || p.j % 4 + p.n <= 4;
  CU_ASSERT_EQUAL(osli_part_has_view(&part), rows && cols);
  if (rows && cols) {
    dense all = dense_gather(a), right = parts_dense(&all, p);
    OSLA_ASSERT_OK(osli_part_view(&part, &v));
    kernel_expect(v, &right, "view");
    const unsigned char *from = osla_matrix_local(a), *at = osla_matrix_local(v);
    const size_t bytes = osla_segment_bytes(osla_matrix_segment(a));
    if (osla_matrix_local_rows(v) > 0 && osla_matrix_local_cols(v) > 0)
      CU_ASSERT(at >= from && at < from + bytes);
    OSLA_ASSERT_OK(osla_barrier(osla_grid_transport(grid)));
    osla_matrix_destroy(&v);
    dense_free(&all), dense_free(&right);
  }
  osla_matrix_destroy(&a);
}

static void test_view(void)
{
  for_all(check_view);
}

/* ---- errors of calls on parts ---- */

static void test_errors(void)
{
  osla_transport *t = osla_test_transport(), *other = osla_test_transport();
  osla_grid *grid = kernel_grid(t, 0), *far = kernel_grid(other, 0);
  osla_matrix *a = parts_make(grid, OSLA_DOUBLE, 9, 9, 2, 2, OSLA_FILL_UNIFORM, 1);
  osla_matrix *s = parts_make(grid, OSLA_FLOAT, 9, 9, 2, 2, OSLA_FILL_UNIFORM, 1);
  osla_matrix *z = parts_make(far, OSLA_DOUBLE, 9, 9, 2, 2, OSLA_FILL_UNIFORM, 1);
  const osla_part good = osla_part_at(a, 0, 0, 4, 4), bad = osla_part_at(a, 6, 1, 4, 4);
  double value;
  OSLA_ASSERT_ERR(osla_matrix_copy_part(bad, good), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("copy: part of 4 x 4 at (6, 1) is not inside the 9 x 9 matrix source");
  OSLA_ASSERT_ERR(osla_matrix_copy_part(good, bad), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("matrix destination");
  OSLA_ASSERT_ERR(osla_matrix_copy_part(good, osla_part_at(a, 3, 3, 4, 4)), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("overlap in one matrix");
  OSLA_ASSERT_ERR(osla_matrix_copy_part(good, osla_part_at(a, 4, 4, 4, 5)), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("source is 4 x 4, destination 4 x 5");
  OSLA_ASSERT_ERR(osla_matrix_copy_part(good, osla_part_at(s, 0, 0, 4, 4)), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("type 'd', destination 's'");
  OSLA_ASSERT_ERR(osla_matrix_copy_part(osla_part_at(z, 0, 0, 4, 4), good), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("transports");
  OSLA_ASSERT_ERR(osla_matrix_transpose_part(OSLA_TRANS, good, bad), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("transpose: part of 4 x 4 at (6, 1)");
  OSLA_ASSERT_ERR(osla_matrix_transpose_part(OSLA_TRANS, good, good), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("overlap");
  OSLA_ASSERT_ERR(osla_matrix_transpose_part(OSLA_NOTRANS, good, osla_part_at(a, 4, 4, 4, 4)),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("neither TRANS nor CONJTRANS");
  OSLA_ASSERT_ERR(osla_matrix_norm_part(bad, OSLA_NORM_ONE, &value), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("norm: part of 4 x 4 at (6, 1)");
  OSLA_ASSERT_ERR(osla_matrix_norm_part(good, (osla_norm)9, &value), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("norm = 9");
  OSLA_ASSERT_ERR(osla_matrix_fill_part(bad, OSLA_FILL_ZERO, 1), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("fill: part of 4 x 4 at (6, 1)");
  OSLA_ASSERT_ERR(osla_matrix_fill_part(good, (osla_fill)77, 1), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("fill = 77");
  OSLA_ASSERT_ERR(osla_matrix_scale_part(2, bad), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("scale: part of 4 x 4 at (6, 1)");
  osla_matrix_destroy(&a), osla_matrix_destroy(&s), osla_matrix_destroy(&z);
  osla_grid_destroy(&grid), osla_grid_destroy(&far);
  osla_transport_destroy(&other), osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"copy", test_copy},           {"copy_inside", test_copy_inside},
  {"transpose", test_transpose}, {"norms", test_norms},
  {"contents", test_contents},   {"view", test_view},
  {"errors", test_errors},       {NULL, NULL},
};
OSLA_TEST_SUITE(test_parts, cases);
