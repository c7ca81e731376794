/* Norms and scaling near the ends of the range of double. Multiplying by a power of two changes no
 * digit of a result that stays inside the range.
 *
 * Norms: J. L. Blue, A Portable Fortran Program to Find the Euclidean Norm of a Vector, ACM TOMS
 * 4(1), 1978. Squares of small, medium and large elements are summed separately; small elements are
 * first multiplied by 2^600, and large elements by 2^-600. Each of the three sums can be added up
 * over all ranks. */
#include "kernels/sparse/krylov.h"

#include <math.h>

enum { SMALL, MEDIUM, LARGE, N_SUMS };
enum { SHIFT = 600 };
static const double SMALL_BELOW = 0x1p-480, LARGE_ABOVE = 0x1p480, UP = 0x1p600, DOWN = 0x1p-600;
static const double LEAST_SUM = 0x1p-900, LARGEST_SUM = 0x1p1000;

static bool is_zero(int64_t n, const double *x)
{
  for (int64_t i = 0; i < n; i++)
    if (x[i] != 0.0) return false;
  return true;
}

/* Computes the sums of the squares of small, medium and large elements. One pass with a plain sum
 * of squares suffices if the sum lies between the two limits. In this case no square has
 * overflowed, and squares that underflowed are less than 2^-120 times the sum. */
static void sum_squares(int64_t n, const double *x, double sum[N_SUMS])
{
  sum[MEDIUM] = osla_dot_local(n, x, x);
  sum[SMALL] = sum[LARGE] = 0.0;
  if (sum[MEDIUM] >= LEAST_SUM && sum[MEDIUM] <= LARGEST_SUM) return;
  if (sum[MEDIUM] == 0.0 && is_zero(n, x)) return;
  sum[MEDIUM] = 0.0;
  for (int64_t i = 0; i < n; i++) {
    const double size = fabs(x[i]);
    const int kind = size > LARGE_ABOVE ? LARGE : size < SMALL_BELOW ? SMALL : MEDIUM;
    const double scaled = kind == LARGE ? size * DOWN : kind == SMALL ? size * UP : size;
    sum[kind] += scaled * scaled;
  }
}

/* Computes the norm from the sums of small, medium and large squares over all ranks. Sums of small
 * squares may be negligible beside a medium sum, because one rank may have only small elements and
 * another rank larger ones. */
static void take_root(const double sum[N_SUMS], double *value, int *exponent)
{
  double square = sum[MEDIUM];
  int shift = 0, e;
  if (sum[LARGE] > 0.0) {
    shift = SHIFT;
    square = sum[LARGE] + ldexp(sum[MEDIUM], -2 * SHIFT);
  } else if (sum[SMALL] > 0.0 && sum[MEDIUM] < LEAST_SUM) {
    shift = -SHIFT;
    square = sum[SMALL] + ldexp(sum[MEDIUM], 2 * SHIFT);
  }
  *value = frexp(sqrt(square), &e);
  *exponent = isfinite(*value) && *value > 0.0 ? e + shift : 0;
}

osla_err osli_krylov_norm(krylov *k, int64_t n, const double *x, double *value, int *exponent)
{
  double sum[N_SUMS];
  sum_squares(n, x, sum);
  OSLA_CALL(osli_krylov_sum(k, N_SUMS, sum));
  take_root(sum, value, exponent);
  return OSLA_OK;
}

static void multiply_by(int64_t n, double *x, double factor)
{
  for (int64_t i = 0; factor != 1.0 && i < n; i++)
    x[i] *= factor;
}

void osli_krylov_scale(int64_t n, double *x, double factor, int exponent)
{
  const int half = exponent < -900 || exponent > 900 ? exponent / 2 : 0;
  multiply_by(n, x, ldexp(1.0, half));
  multiply_by(n, x, ldexp(factor, exponent - half));
}

double osli_krylov_unit(double size)
{
  return !(size < 0x1p500) ? 0x1p-400 : size < 0x1p-500 ? 0x1p400 : 1.0;
}

osla_err osli_krylov_check_range(krylov *k, int64_t n, const double *x)
{
  /* exponent that frexp returns for the smallest normal number, 2^-1022 = 1/2 2^-1021 */
  enum { LEAST_NORMAL = -1021 };
  double value;
  int exponent;
  OSLA_CALL(osli_krylov_norm(k, n, x, &value, &exponent));
  const bool is_too_small = k->result->iterations > 0 && (value == 0.0 || exponent < LEAST_NORMAL);
  if (!isfinite(value) || is_too_small) k->result->end = OSLA_KRYLOV_NOT_FINITE;
  return OSLA_OK;
}
