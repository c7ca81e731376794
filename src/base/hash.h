/* FNV-1a hash of 64 bits (Fowler, Noll, Vo; draft-eastlake-fnv). It serves comparisons and does not
 * protect against an adversary (layer 0, internal). */
#ifndef HASH_H
#define HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_OF_NO_BYTES UINT64_C(0xcbf29ce484222325)

/* Extends a hash by n bytes. The hash of no bytes is HASH_OF_NO_BYTES. */
static inline uint64_t hash_extend(uint64_t hash, const void *bytes, size_t n)
{
  const unsigned char *at = bytes;
  for (size_t i = 0; i < n; i++)
    hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
  return hash;
}

/* Hash of the size + 1 boundaries of a distribution over `size` ranks: start[p] is the first index
 * of rank p, start[size] the end. One multiplication for each boundary. */
static inline int64_t hash_starts(const int64_t *start, int size)
{
  uint64_t hash = HASH_OF_NO_BYTES;
  for (int p = 0; p <= size; p++)
    hash = (hash ^ (uint64_t)start[p]) * UINT64_C(0x100000001b3);
  return (int64_t)hash;
}

#endif
