/* Coarse level of a splitting: a correction adds one number to all elements of x on a rank. */
#include "kernels/iterate/splitting.h"
#include "osla_coarse.h"
#include "src/blas/work.h"

static double restrict_residual(void *arg, bool homogeneous, const double *x)
{
  osla_splitting with = *(const osla_splitting *)arg;
  double sum = 0.0;
  if (homogeneous) {
    for (int64_t i = 0; i < with.n; i++)
      with.step[i] = 0.0;
    with.b = with.step;
  }
  with.kind->residual(&with, x);
  for (int64_t i = 0; i < with.n; i++)
    sum += with.residual[i];
  return sum;
}

static void prolong(void *arg, double c, double *x)
{
  const osla_splitting *s = arg;
  for (int64_t i = 0; i < s->n; i++)
    x[i] += c;
  work_charge(OSLA_WORK_VECTOR, OSLA_DOUBLE, 1, s->n, 1);
}

osla_coarse osla_splitting_coarse(osla_splitting *s)
{
  return (osla_coarse){.arg = s, .restrict_residual = restrict_residual, .prolong = prolong};
}
