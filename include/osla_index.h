/* Block-cyclic index arithmetic in one dimension: pure functions (layer 2).
 *
 * Indices 0 .. n-1 are cut into blocks of nb (the last may be short). Blocks are distributed
 * cyclically over processes 0 .. nprocs-1, the first block to process 0. This is ScaLAPACK's
 * distribution with source process 0; all indices count from 0.
 * Source: Blackford et al., ScaLAPACK Users' Guide (SIAM 1997), chapter 4; NUMROC, INDXG2P,
 * INDXG2L, INDXL2G of ScaLAPACK's tools. Requirements: n >= 0, nb >= 1, nprocs >= 1, 0 <= iproc <
 * nprocs (or iproc < 0 for a process outside the grid, which owns nothing).
 *
 * Threads: any thread may call these, at any time.
 * Part: stable (osla.h).
 */
#ifndef OSLA_INDEX_H
#define OSLA_INDEX_H

#include "osla_api.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Number of indices below n that process iproc owns (NUMROC). It is also the local index of the
 * first owned index that is at least n. */
OSLA_API int64_t osla_index_count(int64_t n, int64_t nb, int iproc, int nprocs);

/* Owner of global index i (INDXG2P). */
static inline int osla_index_owner(int64_t i, int64_t nb, int nprocs)
{
  return (int)((i / nb) % nprocs);
}

/* Local index of global index i on its owner (INDXG2L). */
static inline int64_t osla_index_local(int64_t i, int64_t nb, int nprocs)
{
  /* two divisions, because nb * nprocs could overflow an int64_t */
  return i / nb / nprocs * nb + i % nb;
}

/* Global index of local index l on process iproc (INDXL2G). */
static inline int64_t osla_index_global(int64_t l, int64_t nb, int iproc, int nprocs)
{
  return (l / nb * nprocs + iproc) * nb + l % nb;
}

/* Number of indices from i to the end of its block, but not beyond n. The elements with these
 * indices are contiguous on their owner. */
static inline int64_t osla_index_run(int64_t i, int64_t n, int64_t nb)
{
  int64_t left = nb - i % nb;
  return left < n - i ? left : n - i;
}

#ifdef __cplusplus
}
#endif
#endif
