/* Counter-based random numbers: a pure function of a seed and two indices (layer 0).
 *
 * Matrices, noise and test data are computed from (seed, i, j), so that they are identical for
 * every rank count, grid, block size and order of evaluation.
 * Source of the mixing function: Steele, Lea, Flood, "Fast splittable pseudorandom number
 * generators" (OOPSLA 2014), the SplitMix64 finaliser.
 *
 * Threads: any thread may call these, at any time.
 * Part: stable (osla.h).
 */
#ifndef OSLA_RANDOM_H
#define OSLA_RANDOM_H

#include "osla_api.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 64 well-mixed bits from (seed, i, j). Local, thread-safe. */
OSLA_API uint64_t osla_random_bits(uint64_t seed, uint64_t i, uint64_t j);

/* Uniformly distributed in [-1/2, 1/2), with 53 random bits. Local, thread-safe. */
OSLA_API double osla_random_uniform(uint64_t seed, uint64_t i, uint64_t j);

/* Standard normal distribution, by Box and Muller (Ann. Math. Stat. 29, 1958). Local,
 * thread-safe. */
OSLA_API double osla_random_normal(uint64_t seed, uint64_t i, uint64_t j);

#ifdef __cplusplus
}
#endif
#endif
