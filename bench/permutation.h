/* A seeded random permutation, for programs that visit owners in random order. */
#ifndef OSLA_BENCH_PERMUTATION_H
#define OSLA_BENCH_PERMUTATION_H

#include "osla_random.h"

/* order := a random permutation of 0 to count - 1, by the method of Fisher and Yates. The numbers
 * `rank` and `update` are the seed. */
static inline void bench_permute(int count, uint64_t rank, uint64_t update, int *order)
{
  for (int i = 0; i < count; i++) {
    const int other = (int)(osla_random_bits(rank, update, (uint64_t)i) % (uint64_t)(i + 1));
    order[i] = i;
    order[i] = order[other];
    order[other] = i;
  }
}

#endif
