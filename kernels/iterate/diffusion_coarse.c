/* Coarse level of the diffusion problem: a correction adds one number to all points of a rank. */
#include "osla_coarse.h"
#include "src/blas/work.h"

/* Returns the sum of b - A x over this rank's box of points. The sum contains each difference
 * between two points of the box twice, with opposite signs. So it equals the sum, over all faces
 * of the box, of the differences between a point outside and its neighbour inside. */
static double restrict_residual(void *arg, bool homogeneous, const double *x)
{
  const osla_diffusion *d = arg;
  int64_t first[3], n[3], stride[3] = {1, 0, 0};
  double sum = 0.0;
  (void)homogeneous; /* b is always 0, because x contains the boundary values */
  osla_diffusion_own(d, first, n);
  stride[1] = n[0] + 2;
  stride[2] = stride[1] * (n[1] + 2);
  for (int k = 0; k < 3; k++) {
    const int u = k == 0, v = k == 2 ? 1 : 2; /* the dimensions other than k */
    for (int64_t j = 1; j <= n[v]; j++)
      for (int64_t i = 1; i <= n[u]; i++) {
        const double *low = x + i * stride[u] + j * stride[v], *high = low + n[k] * stride[k];
        sum += low[0] - low[stride[k]] + high[stride[k]] - high[0];
      }
    work_charge(OSLA_WORK_SWEEP, OSLA_DOUBLE, 1, 2 * n[u] * n[v], 1);
  }
  return sum;
}

static void prolong(void *arg, double c, double *x)
{
  const osla_diffusion *d = arg;
  int64_t first[3], n[3];
  osla_diffusion_own(d, first, n);
  const int64_t row = n[0] + 2, plane = row * (n[1] + 2);
  for (int64_t k = 1; k <= n[2]; k++)
    for (int64_t j = 1; j <= n[1]; j++)
      for (int64_t i = 1; i <= n[0]; i++)
        x[i + j * row + k * plane] += c;
  work_charge(OSLA_WORK_SWEEP, OSLA_DOUBLE, 1, n[0] * n[1] * n[2], 1);
}

osla_coarse osla_diffusion_coarse(osla_diffusion *d)
{
  return (osla_coarse){.arg = d, .restrict_residual = restrict_residual, .prolong = prolong};
}
