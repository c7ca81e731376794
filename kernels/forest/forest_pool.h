/* Memory and state that all forests of a transport share (private to forests): segments that every
 * rank can access, the arrays that ranks of a node read in place, and the list of forests with
 * transfers in progress.
 *
 * The memory comes in segments of at least 1 MiB on each rank. Each forest has a piece of one
 * segment. If a piece does not fit on some rank, all ranks create another segment. */
#ifndef FOREST_POOL_H
#define FOREST_POOL_H

#include "osla_forest.h"

#include "src/base/futex.h"
#include "src/memory/segment.h"

#include <stdatomic.h>

enum { CACHE_LINE = 64 };

/* A piece of memory, within this rank's part of a segment. */
typedef struct pool_piece {
  osla_segment *segment;
  /* offset of the piece in bytes, from the start of the segment's data area */
  size_t offset;
  size_t bytes; /* size of the piece in bytes */
  void *memory; /* address of the piece on this rank; its content is undefined */
  /* number of the piece, 0 .. POOL_PIECE_NUMBERS - 1, unique in the segment and equal on all ranks;
   * -1 if all numbers are in use */
  int number;
} pool_piece;

enum { POOL_PIECE_NUMBERS = 256 };

/* A free range in a segment. */
typedef struct pool_hole {
  struct pool_hole *next; /* free range with the next higher offset */
  size_t offset, bytes;
} pool_hole;

typedef struct pool_segment {
  struct pool_segment *next;
  osla_segment *segment;
  pool_hole *holes;
  int n_pieces; /* number of allocated pieces of the segment */
  bool number_in_use[POOL_PIECE_NUMBERS];
} pool_segment;

/* Table of arrays that ranks of the same node read in place. Entries never move, because other
 * threads read them without the pool's lock. */
enum { POOL_ARRAYS = 65536 };
typedef struct pool_array {
  osla_segment *segment; /* segment that holds the array; NULL if this table entry is free */
  unsigned char *base;   /* address of the array in this rank's memory */
  size_t bytes;
} pool_array;

/* Location of a rank's vertices in an array of the pool. */
typedef struct value_location {
  int64_t array;  /* index of the array in the pool; -1 if no array of the pool holds the values */
  int64_t offset; /* offset of vertex 0 in the array, in bytes */
  int64_t stride; /* bytes from one vertex to the next */
} value_location;

typedef struct forest_pool {
  osla_transport *t;
  pool_segment *segments;  /* list of all segments; all waits of forests use the first one */
  pool_segment **last;     /* address of the member `next` of the last segment */
  int n_arrays;            /* number of table entries that have ever been used */
  uint64_t array_changes;  /* number that grows whenever an array is added or removed; at least 1 */
  uint64_t arrays_removed; /* number of arrays removed so far */
  atomic_flag is_locked;   /* spin lock for the state of all forests */
  struct osla_forest *active; /* list of forests that have values to read or to send */
  /* list of forests with two-level transfers whose next part may start */
  struct osla_forest *pending;
  uint64_t far_bytes;  /* bytes of values sent to other nodes so far */
  bool verifies;       /* OSLA_VERIFY: true if values are checked after osla_forest_end_read */
  int n_forests;       /* number of forests that callers have created so far */
  int64_t n_under_way; /* number of transfers that have begun and have not ended */

  /* Set when the first forest is created. `progress` is a progress hook of the transport and runs
   * one progress step for all forests. `advance_pending` starts parts of two-level transfers, and
   * returns true if it started any. */
  void (*progress)(void *pool);
  bool (*advance_pending)(struct forest_pool *pool);
  /* table of arrays; unused entries occupy no memory pages */
  pool_array array[POOL_ARRAYS];
} forest_pool;

/* Sets *out to the pool of the transport. The first call creates the pool; if any rank then passes
 * an error as `local`, all ranks return this error. Later calls ignore `local` and do not
 * communicate. Collective. Errors, on all ranks together: MEM, `local` of a rank, those of
 * osla_agree. */
osla_err osli_forest_pool(osla_transport *t, osla_err local, forest_pool **out);

/* Registers the pool's progress step with the transport, unless it is already registered.
 * Collective. Errors, on all ranks together: RANGE (all progress hooks are in use). */
osla_err osli_pool_set_progress(forest_pool *pool, void (*progress)(void *pool),
                                bool (*advance_pending)(forest_pool *pool));

/* Allocates a piece of at least `bytes` bytes on this rank. Ranks may pass different sizes. If any
 * rank passes an error as `local`, nothing is allocated, and all ranks return this error.
 * Collective. Errors, on all ranks together: MEM, `local` of a rank, those of osla_agree. */
osla_err osli_pool_allocate(forest_pool *pool, osla_err local, size_t bytes, pool_piece *out);
/* Frees a piece that no rank uses any more. All ranks free pieces in the same order. Collective. */
void osli_pool_release(forest_pool *pool, pool_piece *piece);

/* Index of the array that holds bytes [from, from + bytes); -1 if none does. Local. */
int osli_pool_find_array(const forest_pool *pool, const void *from, size_t bytes);

/* Acquires or releases the pool's lock. It is a spin lock because a mutex takes three times as
 * long, in calls that last about 100 ns. */
static inline bool osli_pool_try_lock(forest_pool *pool)
{
  return !atomic_flag_test_and_set_explicit(&pool->is_locked, memory_order_acquire);
}
static inline void osli_pool_lock(forest_pool *pool)
{
  while (!osli_pool_try_lock(pool))
    osli_nap(1);
}
static inline void osli_pool_unlock(forest_pool *pool)
{
  atomic_flag_clear_explicit(&pool->is_locked, memory_order_release);
}

/* Wakes a rank of this node that waits for transfers. Local. */
static inline void osli_pool_wake_rank(forest_pool *pool, int rank)
{
  osli_segment_wake_at_once(pool->segments->segment, rank);
}

#endif
