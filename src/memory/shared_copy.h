/* A copy that two ranks of a node carry out together (layer 1, internal).
 *
 * The reader needs values that their owner has just written. One core alone fetches cache lines of
 * another core slowly, so the owner copies a part if it has nothing else to do. The copy is divided
 * into chunks. The reader opens the copy, and both ranks claim chunks until none is left: the
 * reader from the first chunk upward, the owner from the last one downward. So each rank copies as
 * much as it can, and an owner that is busy elsewhere copies nothing. The reader may use the data
 * when shared_copy_is_complete returns true.
 *
 * The structure lies in memory of the node, and begins as zeros. Each copy has an id, other than 0
 * and different from the id of the copy before it. */
#ifndef OSLA_SHARED_COPY_H
#define OSLA_SHARED_COPY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { SHARED_COPY_CHUNKS = 65535 }; /* greatest number of chunks of a copy */

typedef struct shared_copy {
  /* bits 0 .. 15: number of chunks that the reader has claimed; bits 16 .. 31: number of chunks
   * that the owner has claimed; bits 32 .. 63: id of the copy */
  _Alignas(64) _Atomic uint64_t claims;
  /* bits 0 .. 31: number of chunks that the owner has copied; bits 32 .. 63: id of the copy */
  _Alignas(64) _Atomic uint64_t pushed;
} shared_copy;

/* The reader opens a copy. From now on the owner may write to the destination. */
static inline void shared_copy_open(shared_copy *c, uint32_t id)
{
  atomic_store_explicit(&c->claims, (uint64_t)id << 32, memory_order_release);
}

/* Claims a chunk of n for the reader, or for the owner. Returns the index of the chunk; -1 if all
 * chunks are claimed, or if the copy is not open. */
static inline int64_t shared_copy_claim(shared_copy *c, uint32_t id, int64_t n, bool is_owner)
{
  const uint64_t claim = is_owner ? 1 << 16 : 1;
  uint64_t now = atomic_load_explicit(&c->claims, memory_order_acquire);
  for (;;) {
    const int64_t front = now & 0xffff, back = now >> 16 & 0xffff;
    if ((uint32_t)(now >> 32) != id || front + back >= n) return -1;
    if (atomic_compare_exchange_weak_explicit(&c->claims, &now, now + claim, memory_order_acq_rel,
                                              memory_order_acquire))
      return is_owner ? n - 1 - back : front;
  }
}

/* The owner has copied the chunk of n that it claimed last. */
static inline void shared_copy_push(shared_copy *c, uint32_t id, int64_t n, int64_t chunk)
{
  atomic_store_explicit(&c->pushed, (uint64_t)id << 32 | (uint64_t)(n - chunk),
                        memory_order_release);
}

/* Has the owner copied all chunks that it has claimed? The reader asks when no chunk is left. */
static inline bool shared_copy_is_complete(shared_copy *c)
{
  const uint64_t now = atomic_load_explicit(&c->claims, memory_order_relaxed);
  const uint64_t back = now >> 16 & 0xffff;
  return back == 0 ||
         atomic_load_explicit(&c->pushed, memory_order_acquire) == (now >> 32 << 32 | back);
}

#endif
