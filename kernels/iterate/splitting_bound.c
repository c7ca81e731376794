/* Bounds of splittings: checks |M| v <= alpha v for M = -B^-1 (A - B), by computing |B^-1| |A - B|
 * v row by row.
 *
 * For Jacobi's method this product is |M| v itself. For larger blocks |B^-1| is computed by
 * columns, each by a solve with a unit vector, which has rounding errors. The computed inverse X
 * satisfies |B^-1| <= |X| (I - F)^-1 with F = gamma |L| |U| |X|, where L and U are the computed
 * factors (Higham, Accuracy and Stability of Numerical Algorithms, theorems 9.4 and 10.4). So
 * |B^-1| g <= |X| g + |X| 1 max(g) f / (1 - f), where f = max(F 1) < 1. Cost of a step: as many
 * solves with each block as it has rows. Memory: 24 bytes per row. */
#include "kernels/iterate/splitting.h"

#include <float.h>
#include <math.h>

static void jacobi_step(const osla_splitting *s, double *y)
{
  for (int64_t i = 0; i < s->n; i++)
    y[i] = s->step[i] * fabs(s->inverse[i]);
}

/* y := |X| g and ones := |X| 1, where X is the computed inverse of the diagonal blocks. Column j of
 * all blocks is computed together. */
static void times_inverse(const osla_splitting *s, const double *g, double *y, double *ones)
{
  const diagonal_blocks *b = &s->blocks;
  double *unit = s->residual, *column = s->bound;
  for (int64_t i = 0; i < s->n; i++)
    y[i] = ones[i] = 0.0;
  for (int64_t j = 0; j < b->block; j++) {
    for (int64_t i = 0; i < s->n; i++)
      unit[i] = i % b->block == j;
    /* cannot fail, because the blocks have been factored */
    (void)osli_diagonal_blocks_solve(b, unit, column);
    for (int64_t from = 0; from + j < s->n; from += b->block)
      for (int64_t i = from; i < from + diagonal_block_size(b, from); i++) {
        y[i] += fabs(column[i]) * g[from + j];
        ones[i] += fabs(column[i]);
      }
  }
}

static void block_step(const osla_splitting *s, double *y)
{
  const diagonal_blocks *b = &s->blocks;
  /* covers also the rounding errors of the sums below, and the allowed asymmetry of the blocks */
  const double terms = (double)(3 * b->block + 4 + SYMMETRIC) * DBL_EPSILON;
  double *ones = s->bound + s->n, *product = ones + s->n;
  times_inverse(s, s->step, y, ones);
  osli_diagonal_blocks_magnitude(b, ones, product);
  for (int64_t from = 0; from < s->n; from += b->block) {
    const int64_t to = from + diagonal_block_size(b, from);
    double f = 0.0, largest = 0.0;
    for (int64_t i = from; i < to; i++) {
      f = fmax(f, terms * product[i]);
      largest = fmax(largest, s->step[i]);
    }
    const double more = f < 1.0 ? largest * f / (1.0 - f) : INFINITY;
    for (int64_t i = from; i < to; i++)
      y[i] = (1.0 + terms) * (y[i] + (largest > 0.0 ? more * ones[i] : 0.0));
  }
}

double osli_splitting_bound_sweep(void *arg, double *x, double *y)
{
  const osla_splitting *s = arg;
  double largest = 0.0;
  s->kind->absolute(s, s->inverse ? 1 : s->blocks.block, x);
  if (s->inverse)
    jacobi_step(s, y);
  else
    block_step(s, y);
  for (int64_t i = 0; i < s->n; i++)
    /* written so that the comparison is true for a NaN, which is then kept */
    if (!(y[i] / x[i] <= largest)) largest = y[i] / x[i];
  return largest;
}

double osli_splitting_distance(void *arg, const double *x, const double *y, const double *v)
{
  const osla_splitting *s = arg;
  double largest = 0.0;
  for (int64_t i = 0; i < s->n; i++)
    largest = fmax(largest, fabs(x[i] - y[i]) / v[i]);
  return largest;
}
