/* Segments: memory that every rank of a transport can reach, with notify slots (floor 1).
 *
 * A segment is a piece of memory of each rank. Node neighbours reach it by load and store
 * (osla_segment_peer), other nodes by contiguous get and put.
 *
 * Notify: each rank's segment holds one 64-bit slot for each (origin, purpose), of all ranks or of
 * those that the creator names. A slot has a single writer, its origin, and its value only grows.
 * A rank that sees a slot's value also sees everything that the origin stored to this node, or put
 * to this segment in the same call, before it. This is the Put + Put_Notify of Krishnan et al.,
 * section III.B.
 *
 * Threads: as osla_transport.h says of collective and of local calls.
 * Part: stable (osla.h).
 */
#ifndef OSLA_SEGMENT_H
#define OSLA_SEGMENT_H

#include "osla_api.h"
#include "osla_transport.h"
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct osla_segment osla_segment;

/* A nonblocking transfer. Must be waited for exactly once. */
typedef struct osla_transfer {
  int32_t id;
  bool is_put;  /* this and the rest are for the trace */
  double since; /* when it was started; negative: not traced, or complete */
  size_t bytes;
} osla_transfer;

/* One that is complete: it may be waited for, and nothing happens. */
#define OSLA_TRANSFER_NONE ((osla_transfer){.id = -1, .since = -1.0})

/* A put with notify that is under way. {0}: none, may be waited for. */
typedef struct osla_posted {
  struct osla_post *post;
  double since; /* these are for the trace */
  size_t bytes;
} osla_posted;

/* Makes a segment. Collective.
 *   bytes      [in]  size of this rank's data area; may differ by rank, may be 0
 *   n_purposes [in]  notify slots for each origin; 0 or more, the same on all ranks
 *   out        [out] owned by the caller; the data area is zeroed and page-aligned
 * Errors, on all ranks together: MEM (checked before allocation, with the bytes needed and
 * available), MPI. */
OSLA_API osla_err osla_segment_create(osla_transport *transport, size_t bytes, int n_purposes,
                                      osla_segment **out);

/* The table of origins and targets: 64 bytes for each of 10,000 ranks, in a segment of every rank,
 * would be 80 MB on a node of 128. n_origins  in the table of each rank, the same on all ranks
 *   index_of   the index of `origin` in the table of `target`, from 0 to n_origins - 1, another one
 *              for each origin; -1: it never notifies that target. Gives the same on all ranks;
 * part of each notify, so it must be quick arg        for index_of; borrowed as long as the segment
 * lives */
typedef struct osla_notifiers {
  int n_origins;
  int (*index_of)(const void *arg, int origin, int target);
  const void *arg;
} osla_notifiers;

/* As osla_segment_create, with slots for those origins only: others' notifies are errors (ARG), and
 * their slots are read as 0. For a process row and column see osla_grid_notifiers. */
OSLA_API osla_err osla_segment_create_for(osla_transport *transport, size_t bytes, int n_purposes,
                                          const osla_notifiers *notifiers, osla_segment **out);

/* Bytes of each rank's memory for a segment with a data area of `bytes`: notify slots, padding and
 * data. Pass the number of ranks as n_origins if the creator names no origins. Local, pure. */
OSLA_API uint64_t osla_segment_footprint(uint64_t bytes, int n_purposes, int n_origins);

/* Exposes the caller's memory. Collective. No notify slots; only its owner has a pointer, all
 * others use get and put, on the node too. The memory stays the caller's and must outlive the
 * segment; nothing else may use its first 16 bytes during the call (a mark is written there and
 * taken back, to see that others reach it). Parts of it may be attached elsewhere, too, or belong
 * to a window of the caller's. Errors as above, and ARG for base == NULL with bytes > 0. */
OSLA_API osla_err osla_segment_attach(osla_transport *transport, void *base, size_t bytes,
                                      osla_segment **out);

/* Collective. Accepts NULL and nulls the handle. A barrier where there are several nodes, for
 * attached memory, and where node memory comes from MPI; else it does not wait for other ranks,
 * which may still use what they reach of the segment. */
OSLA_API void osla_segment_destroy(osla_segment **segment);

/* My data area, and a rank's data area or NULL when it is not mapped here. Local. Loads and stores
 * there are ordered by notify or by a collective of osla_transport.h. */
OSLA_API void *osla_segment_local(const osla_segment *segment);
OSLA_API void *osla_segment_peer(const osla_segment *segment, int rank);
OSLA_API size_t osla_segment_bytes(const osla_segment *segment);
OSLA_API osla_transport *osla_segment_transport(
  const osla_segment *segment); /* its object keeps it */

/* All that it holds steers (heads, indices), and moves even where work is only modelled, as opposed
 * to elements of matrices and panels (src/blas/work.h). Local; before the first transfer. */
OSLA_API void osla_segment_steers(osla_segment *segment);

/* Contiguous nonblocking transfers to and from the data area of a rank; `offset` and `bytes` in
 * bytes. Local, thread-safe. On the node they are complete on return. osla_transfer_wait completes
 * a get when the data has arrived, a put when the source may be reused. Errors: MPI, MEM. */
OSLA_API osla_err osla_segment_get(osla_segment *segment, int rank, size_t offset, void *dest,
                                   size_t bytes, osla_transfer *transfer);
OSLA_API osla_err osla_segment_put(osla_segment *segment, int rank, size_t offset,
                                   const void *source, size_t bytes, osla_transfer *transfer);
/* As osla_segment_get, but it may need progress steps of `rank` (osla_progress, a wait on this
 * transport): not where that rank may wait in the program's own MPI calls for what the caller does
 * next. Faster where MPI has no remote DMA: over TCP two to four times for 64 KiB and more. */
OSLA_API osla_err osla_segment_fetch(osla_segment *segment, int rank, size_t offset, void *dest,
                                     size_t bytes, osla_transfer *transfer);
OSLA_API osla_err osla_transfer_wait(osla_segment *segment, osla_transfer *transfer);

/* A get and its end. */
OSLA_API osla_err osla_segment_read(osla_segment *segment, int rank, size_t offset, void *dest,
                                    size_t bytes);
OSLA_API osla_err osla_transfer_test(osla_segment *segment, osla_transfer *transfer, bool *done);

/* Orders my earlier puts to `rank`, also those with notify: on return they are visible there. It
 * may need progress steps of `rank`. Local. Errors: MPI. */
OSLA_API osla_err osla_segment_flush(osla_segment *segment, int rank);

/* Raises my slot `purpose` at `rank` to `value`, after everything I stored or put there before.
 * osla_put_notify also puts data first; the source may be reused on return, the rest may come later
 * (osla_segment_flush waits for it). What a rank is notified of before it next makes progress has a
 * limit (OSLA_MESSAGES in osla(1)); beyond that the call waits. Local, thread-safe for different
 * (rank, purpose). Errors: ARG (no such purpose: attached memory has none), MPI. */
OSLA_API osla_err osla_notify(osla_segment *segment, int rank, int purpose, uint64_t value);
OSLA_API osla_err osla_put_notify(osla_segment *segment, int rank, size_t offset,
                                  const void *source, size_t bytes, int purpose, uint64_t value);

/* As osla_put_notify, but does not wait for the target: the rest happens in this rank's progress
 * steps (every wait on this transport makes some). The source must stay as it is until
 * osla_posted_wait has been called, exactly once. On the node it is complete on return. What a rank
 * posts to another for one purpose is seen there in that order. Local. Errors: as osla_put_notify,
 * and MEM. The target may also get what I stored in my own data area before. _test is true when
 * _wait would not wait, and then stands for it. */
OSLA_API osla_err osla_put_notify_post(osla_segment *segment, int rank, size_t offset,
                                       const void *source, size_t bytes, int purpose,
                                       uint64_t value, osla_posted *posted);
OSLA_API osla_err osla_posted_wait(osla_segment *segment, osla_posted *posted);
OSLA_API osla_err osla_posted_test(osla_segment *segment, osla_posted *posted, bool *done);

/* A notify alone, which nobody has to wait for; if it fails later, that ends all ranks. */
OSLA_API osla_err osla_notify_post(osla_segment *segment, int rank, int purpose, uint64_t value);

/* The same for a word of the data area in place of a slot: 8 bytes at a multiple of 8, which are
 * written in this way alone and read by acquiring loads. Several ranks may post to one word; only
 * what each of them posts arrives there in its order. With n_purposes = 0, too. */
OSLA_API osla_err osla_word_post(osla_segment *segment, int rank, size_t offset, uint64_t value,
                                 osla_posted *posted);

/* And data before the word: who sees the word sees the data, which lie at `offset`. Else as
 * osla_put_notify_post. */
OSLA_API osla_err osla_put_word_post(osla_segment *segment, int rank, size_t offset,
                                     const void *source, size_t bytes, size_t word_offset,
                                     uint64_t value, osla_posted *posted);

/* Wakes a rank of my node that sleeps in osla_segment_wait on this segment, after a store of mine
 * that its test reads. Local, quick where nobody sleeps. */
OSLA_API void osla_segment_wake(osla_segment *segment, int rank);

/* The value of the slot that `origin` writes here (acquire), and a wait until it is at least
 * `value`. For segments made by osla_segment_create with more than `purpose` slots. The wait sleeps
 * and makes progress. Local. */
OSLA_API uint64_t osla_notify_read(const osla_segment *segment, int origin, int purpose);
OSLA_API void osla_notify_wait(osla_segment *segment, int origin, int purpose, uint64_t value);

/* Waits until test(arg) is true; test is called again after every notify to this rank's segment
 * and after each nap. Local. */
OSLA_API void osla_segment_wait(osla_segment *segment, bool (*test)(void *arg), void *arg);

#ifdef __cplusplus
}
#endif
#endif
