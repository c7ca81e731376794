#include "tests/kernels/parts_reference.h"
#include "tests/osla_test_help.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

bool parts_position(int which, bool square, part_position *p)
{
  static const part_position places[] = {
    {4, 8, 9, 7},
    {3, 5, 11, 9},
    {0, 0, PARTS_M, PARTS_N},
    {8, 4, PARTS_M - 8, PARTS_N - 4},
    {9, 8, 13, 14},
    {22, 25, 1, 1},
    {5, 5, 2, 3},
    {4, 8, 0, 0},
    {7, 11, 0, 4},
    {16, 3, 7, 7},
    {PARTS_M, PARTS_N, 0, 0},
    {12, 12, 1, 1},
  };
  if (which >= (int)(sizeof places / sizeof *places)) return false;
  *p = places[which];
  if (square) p->m = p->n = p->m < p->n ? p->m : p->n;
  return true;
}

osla_part parts_at(osla_matrix *a, part_position p)
{
  return osla_part_at(a, p.i, p.j, p.m, p.n);
}

osla_matrix *parts_make(osla_grid *grid, osla_dtype dtype, int64_t m, int64_t n, int64_t mb,
                        int64_t nb, osla_fill fill, uint64_t seed)
{
  osla_matrix *a = NULL;
  OSLA_ASSERT_OK(osla_matrix_create(grid, dtype, m, n, mb, nb, &a));
  OSLA_ASSERT_OK(osla_matrix_fill(a, fill, seed));
  return a;
}

dense parts_dense(const dense *whole, part_position p)
{
  dense d = dense_make(p.m, p.n, whole->parts);
  for (int64_t j = 0; j < p.n; j++)
    for (int64_t i = 0; i < p.m; i++)
      memcpy(dense_at(&d, i, j), dense_at(whole, p.i + i, p.j + j),
             (size_t)d.parts * sizeof(double));
  return d;
}

osla_matrix *parts_alone(const osla_matrix *a, part_position p)
{
  const osla_layout l = osla_matrix_layout(a);
  dense all = dense_gather(a), mine = parts_dense(&all, p);
  osla_matrix *alone = NULL;
  OSLA_ASSERT_OK(
    osla_matrix_create(osla_matrix_grid(a), osla_matrix_dtype(a), p.m, p.n, l.mb, l.nb, &alone));
  dense_scatter(&mine, alone);
  dense_free(&all), dense_free(&mine);
  return alone;
}

static bool is_written(parts_written written, int64_t i, int64_t j)
{
  return written == PARTS_ALL || (written == PARTS_LOWER ? i >= j : i <= j);
}

void parts_expect(const osla_matrix *a, const dense *before, part_position p, parts_written written,
                  const osla_matrix *alone, double tol, const char *what)
{
  dense after = dense_gather(a), right = dense_gather(alone);
  int64_t outside = 0, wrong = 0;
  for (int64_t j = 0; j < after.n; j++)
    for (int64_t i = 0; i < after.m; i++) {
      const int64_t x = i - p.i, y = j - p.j;
      const bool in = x >= 0 && x < p.m && y >= 0 && y < p.n && is_written(written, x, y);
      const double *is = dense_at(&after, i, j);
      for (int c = 0; c < after.parts; c++)
        if (in && !(fabs(is[c] - dense_at(&right, x, y)[c]) <= tol)) wrong++;
      if (!in && memcmp(is, dense_at(before, i, j), (size_t)after.parts * sizeof(double)) != 0)
        outside++;
    }
  OSLA_ASSERT_MSG(outside == 0 && wrong == 0,
                  "%s: part of %" PRId64 " x %" PRId64 " at (%" PRId64 ", %" PRId64
                  "), %s: %" PRId64 " elements outside changed, %" PRId64 " inside are wrong",
                  what, p.m, p.n, p.i, p.j, kernel_label(a, false), outside, wrong);
  dense_free(&after), dense_free(&right);
}
