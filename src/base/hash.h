/* FNV-1a (Fowler, Noll, Vo; draft-eastlake-fnv), 64 bits: for comparisons, not against an adversary
 * (floor 0, internal). */
#ifndef HASH_H
#define HASH_H

#include <stddef.h>
#include <stdint.h>

#define OSLA_HASH_OF_NOTHING UINT64_C(0xcbf29ce484222325)

/* Of what `hash` is of, and these bytes behind it. */
static inline uint64_t osla_hash(uint64_t hash, const void *bytes, size_t n)
{
  const unsigned char *at = bytes;
  for (size_t i = 0; i < n; i++)
    hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
  return hash;
}

/* Of the first numbers of all ranks and the end of the last one's; a multiplication for each. */
static inline int64_t osla_hash_of_starts(const int64_t *start, int size)
{
  uint64_t hash = OSLA_HASH_OF_NOTHING;
  for (int p = 0; p <= size; p++)
    hash = (hash ^ (uint64_t)start[p]) * UINT64_C(0x100000001b3);
  return (int64_t)hash;
}

#endif
