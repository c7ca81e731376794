/* What all forests of a transport share (private to forests): memory that every rank reaches, the
 * arrays that are read in place, and the transfers that are under way.
 *
 * The memory comes in segments of at least POOL_BYTES, of which each rank gives pieces to forests;
 * one that does not fit on some rank makes all ranks make another segment. */
#ifndef FOREST_POOL_H
#define FOREST_POOL_H

#include "osla_forest.h"

#include "src/base/futex.h"

#include <stdatomic.h>

/* A piece of my part of a segment. */
typedef struct pool_piece {
  osla_segment *segment;
  size_t offset, bytes; /* of the data area */
  void *memory;         /* mine, of any content */
  int number;           /* among those of the segment, the same on all ranks; -1: too many */
} pool_piece;

enum { POOL_NUMBERS = 256 };

typedef struct pool_hole {
  struct pool_hole *next; /* ascending */
  size_t offset, bytes;
} pool_hole;

typedef struct pool_segment {
  struct pool_segment *next;
  osla_segment *segment;
  pool_hole *holes;
  int pieces; /* that are taken */
  bool numbered[POOL_NUMBERS];
} pool_segment;

/* Memory that is read in place. Arrays stay where they are: others read them without a lock. */
enum { POOL_ARRAYS = 256, POOL_BLOCKS = 256 }; /* arrays of a block, blocks */
typedef struct pool_array {
  osla_segment *segment; /* NULL: free */
  bool is_mine;          /* made by osla_vertices_create */
  unsigned char *base;   /* mine */
  size_t bytes;
} pool_array;

typedef struct forest_pool {
  osla_transport *t;
  pool_segment *segments, **last; /* the first one's bells are those that all waits sleep on */
  pool_array *array[POOL_BLOCKS]; /* NULL: not needed yet */
  int n_arrays;                   /* up to the last one that was there */
  uint64_t array_changes;         /* arrays that came or went, from 1 */
  uint64_t arrays_gone;           /* of these */
  atomic_flag busy;               /* one thread at a time, for so short that others nap */
  struct osla_forest *active;     /* that have something to read or to send */
  struct osla_forest *sharing;    /* that wait for values of other nodes, see forest_share.h */
  uint64_t far_bytes;             /* of values that were sent to other nodes, of all time */
  bool verifies;                  /* see osli_forest_lend */
  int forests;                    /* of all time */
  int64_t under_way;              /* transfers that were begun and have not ended */
  void *scratch;                  /* see osli_pool_scratch */
  size_t scratch_bytes;
} forest_pool;

/* The transport's; made by the first that asks. Collective. Errors, on all ranks together: MEM. */
osla_err osli_forest_pool(osla_transport *t, forest_pool **out);

/* Collective, with different sizes. Errors, on all ranks together: MEM. */
osla_err osli_pool_take(forest_pool *pool, size_t bytes, pool_piece *out);
void osli_pool_give(forest_pool *pool, pool_piece *piece); /* collective, when nobody uses it */

/* Memory of any content for a set-up, until osli_pool_scratch_done; NULL: there is none. Up to 4
 * MiB are kept for the next one: to fault new pages in takes time
 * (results/2026-11-25-star-forests-4). Local. */
void *osli_pool_scratch(forest_pool *pool, size_t bytes);
void osli_pool_scratch_done(forest_pool *pool);

/* The i-th array, below n_arrays. Local. */
static inline pool_array *osla_pool_array(const forest_pool *pool, int64_t i)
{
  return &pool->array[i / POOL_ARRAYS][i % POOL_ARRAYS];
}

/* The array that holds bytes [from, from + bytes); -1: none. Local. */
int osli_pool_find(const forest_pool *pool, const void *from, size_t bytes);

/* A third of what a mutex takes, in calls of some 100 ns. */
static inline bool osla_pool_try(forest_pool *pool)
{
  return !atomic_flag_test_and_set_explicit(&pool->busy, memory_order_acquire);
}
static inline void osla_pool_enter(forest_pool *pool)
{
  while (!osla_pool_try(pool))
    osli_nap(1);
}
static inline void osla_pool_leave(forest_pool *pool)
{
  atomic_flag_clear_explicit(&pool->busy, memory_order_release);
}

/* This line is written next: other cores may let it go meanwhile. */
static inline void osla_own_soon(const void *line)
{
#if defined(__x86_64__)
  __asm__ volatile("prefetchw %0" : : "m"(*(const char *)line));
#else
  __builtin_prefetch(line, 1);
#endif
}

/* Wakes a neighbour that waits for transfers. Local. */
static inline void osla_pool_wake(forest_pool *pool, int rank)
{
  osla_segment_wake(pool->segments->segment, rank);
}

#endif
