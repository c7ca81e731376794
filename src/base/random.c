#include "osla_random.h"

#include <math.h>

static uint64_t mix(uint64_t z)
{
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

uint64_t osla_random_bits(uint64_t seed, uint64_t i, uint64_t j)
{
  const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
  uint64_t z = mix(seed + golden);
  z = mix(z + golden * (i + 1));
  return mix(z + golden * (j + 1));
}

double osla_random_uniform(uint64_t seed, uint64_t i, uint64_t j)
{
  return (double)(osla_random_bits(seed, i, j) >> 11) * 0x1p-53 - 0.5;
}

double osla_random_normal(uint64_t seed, uint64_t i, uint64_t j)
{
  const double two_pi = 6.283185307179586;
  double u = osla_random_uniform(seed, i, 2 * j) + 0.5 + 0x1p-54; /* uniform in (0, 1) */
  double v = osla_random_uniform(seed, i, 2 * j + 1);
  return sqrt(-2.0 * log(u)) * cos(two_pi * v);
}
