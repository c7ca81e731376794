/* Segments: memory that every rank of a transport can reach, with notify slots (layer 1).
 *
 * A segment is a piece of memory on each rank. Ranks of one node reach it by load and store
 * (osla_segment_peer), ranks of other nodes by contiguous get and put.
 *
 * Notify: each rank's memory holds one 64-bit slot for each origin and purpose. The origins are all
 * ranks, or those that the creator names. A slot is written by its origin only, and its value only
 * grows. A rank that sees a value also sees everything that the origin stored on this node, or put
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

/* A nonblocking transfer. It must be waited for exactly once. */
typedef struct osla_transfer {
  int32_t id;
  bool is_put;  /* this member and all later ones serve the trace (osla_trace.h) */
  double since; /* start time; negative if the transfer is complete or is not traced */
  size_t bytes;
} osla_transfer;

/* A complete transfer; a wait for it returns at once. */
#define OSLA_TRANSFER_NONE ((osla_transfer){.id = -1, .since = -1.0})

/* A put with notify that is under way. The value {0} means no put, and a wait for it returns at
 * once. */
typedef struct osla_posted {
  struct osla_post *post;
  double since; /* this member and the next one serve the trace (osla_trace.h) */
  size_t bytes;
} osla_posted;

/* Makes a segment. Collective.
 *   bytes      [in]  size of this rank's data area; may differ by rank, may be 0
 *   n_purposes [in]  number of notify slots for each origin; 0 or more, the same on all ranks
 *   out        [out] owned by the caller; the data area is zeroed and aligned to pages
 * Errors, on all ranks together: MEM (checked before the allocation, with the bytes that are needed
 * and available), MPI. */
OSLA_API osla_err osla_segment_create(osla_transport *transport, size_t bytes, int n_purposes,
                                      osla_segment **out);

/* The origins that may notify each target. Slots for all ranks would be too large: with 10,000
 * ranks and 64 bytes for each, a segment takes 80 MB on a node of 128 ranks.
 *   n_origins [in] number of origins in the table of each target; the same on all ranks
 *   index_of  [in] returns the index of `origin` in the table of `target`, from 0 to n_origins - 1,
 *                  different for each origin; -1 if it never notifies that target. The result is
 *                  the same on all ranks. It is called in each notify, so it must be fast.
 *   arg       [in] for index_of; borrowed during the lifetime of the segment */
typedef struct osla_notifiers {
  int n_origins;
  int (*index_of)(const void *arg, int origin, int target);
  const void *arg;
} osla_notifiers;

/* Creates a segment with slots for the named origins only. A notify of another origin is an error
 * (ARG), and its slot is read as 0. osla_grid_notifiers names the ranks of a process row and
 * column. Otherwise as osla_segment_create. */
OSLA_API osla_err osla_segment_create_for(osla_transport *transport, size_t bytes, int n_purposes,
                                          const osla_notifiers *notifiers, osla_segment **out);

/* Bytes of each rank's memory for a segment with a data area of `bytes`: notify slots, padding and
 * data. Pass the number of ranks as n_origins if the creator names no origins. Local, pure. */
OSLA_API uint64_t osla_segment_footprint(uint64_t bytes, int n_purposes, int n_origins);

/* Exposes the caller's memory as a segment. It has no notify slots. Only its owner has a pointer to
 * it; all other ranks use get and put, on the same node as well. The memory belongs to the caller
 * and must outlive the segment. Nothing else may use its first 16 bytes during the call, because a
 * test pattern is written there and removed. Parts of the memory may be attached to other segments,
 * or belong to a window of the caller. Collective.
 * Errors, on all ranks together: as osla_segment_create, and ARG for memory that is not mapped for
 * writing, and for base == NULL with bytes > 0.
 */
OSLA_API osla_err osla_segment_attach(osla_transport *transport, void *base, size_t bytes,
                                      osla_segment **out);

/* Destroys a segment. Accepts NULL and nulls the handle. Collective. The call is a barrier if the
 * job has several nodes, if the memory is attached, or if MPI allocated the memory of the node; on
 * the transport "shmem" it may be one in all other cases, too. Otherwise it does not wait for other
 * ranks, which may go on to use the segment's memory. */
OSLA_API void osla_segment_destroy(osla_segment **segment);

/* Address of this rank's data area, or of the data area of `rank`, which is NULL if that area is
 * not mapped in this process. A notify, or a collective of osla_transport.h, orders loads and
 * stores in data areas. Local.
 */
OSLA_API void *osla_segment_local(const osla_segment *segment);
OSLA_API void *osla_segment_peer(const osla_segment *segment, int rank);
OSLA_API size_t osla_segment_bytes(const osla_segment *segment);
/* The transport of the segment, which the segment does not own. */
OSLA_API osla_transport *osla_segment_transport(const osla_segment *segment);

/* Declares that the contents of the segment control the program (heads, indices), in contrast to
 * elements of matrices and panels. Simulations that only model work (src/blas/work.h) then move the
 * contents nevertheless. Local; must be called before the first transfer. */
OSLA_API void osla_segment_steers(osla_segment *segment);

/* Contiguous nonblocking transfers from and to the data area of a rank; `offset` and `bytes` in
 * bytes. On the node they are complete on return. osla_transfer_wait completes a get when the data
 * have arrived, and a put when the source may be reused. Local, thread-safe. Errors: MPI, MEM. */
OSLA_API osla_err osla_segment_get(osla_segment *segment, int rank, size_t offset, void *dest,
                                   size_t bytes, osla_transfer *transfer);
OSLA_API osla_err osla_segment_put(osla_segment *segment, int rank, size_t offset,
                                   const void *source, size_t bytes, osla_transfer *transfer);
/* Works as osla_segment_get, but may need progress steps of `rank` (osla_progress, or a wait on
 * this transport). Do not use it if that rank may block in MPI calls of the program until the
 * caller has continued. It is faster if MPI has no remote DMA: over TCP two to four times for
 * 64 KiB and more. */
OSLA_API osla_err osla_segment_fetch(osla_segment *segment, int rank, size_t offset, void *dest,
                                     size_t bytes, osla_transfer *transfer);
OSLA_API osla_err osla_transfer_wait(osla_segment *segment, osla_transfer *transfer);

/* Gets data from the data area of a rank, and waits until they have arrived. */
OSLA_API osla_err osla_segment_read(osla_segment *segment, int rank, size_t offset, void *dest,
                                    size_t bytes);
OSLA_API osla_err osla_transfer_test(osla_segment *segment, osla_transfer *transfer, bool *done);

/* Completes this rank's earlier puts to `rank`, with or without notify: on return they are visible
 * there. The call may need progress steps of `rank`. Local. Errors: MPI. */
OSLA_API osla_err osla_segment_flush(osla_segment *segment, int rank);

/* Raises this rank's slot `purpose` at `rank` to `value`, after everything that this rank stored
 * there, and everything that it put there in this segment, before. osla_put_notify puts data first.
 * The source may be reused on return, but data and value may arrive later (osla_segment_flush waits
 * for them). If a device fails to copy the data, the value arrives without them, and the call
 * returns the device's error. The number of notifies that `rank` has not processed is limited
 * (OSLA_MESSAGES in osla(1)); beyond it the call waits. Local, thread-safe for different (rank,
 * purpose). Errors: ARG (no such purpose; attached memory has none), MPI, those of a device. */
OSLA_API osla_err osla_notify(osla_segment *segment, int rank, int purpose, uint64_t value);
OSLA_API osla_err osla_put_notify(osla_segment *segment, int rank, size_t offset,
                                  const void *source, size_t bytes, int purpose, uint64_t value);

/* Starts osla_put_notify and returns at once; the transfer continues in this rank's progress steps,
 * which every wait on this transport makes. The source must stay unchanged until
 * osla_posted_wait, which must be called exactly once. On the node the transfer is complete on
 * return. Posts of one rank to another for one purpose are seen there in their order. After it has
 * seen the value, the target may also get data that this rank stored in its own data area before
 * the call. osla_posted_test sets *done if osla_posted_wait would not wait; osla_posted_wait need
 * not be called then. Local. Errors: as osla_put_notify, and MEM. */
OSLA_API osla_err osla_put_notify_post(osla_segment *segment, int rank, size_t offset,
                                       const void *source, size_t bytes, int purpose,
                                       uint64_t value, osla_posted *posted);
OSLA_API osla_err osla_posted_wait(osla_segment *segment, osla_posted *posted);
OSLA_API osla_err osla_posted_test(osla_segment *segment, osla_posted *posted, bool *done);

/* Posts a notify without data. No wait is needed; a later failure ends all ranks. */
OSLA_API osla_err osla_notify_post(osla_segment *segment, int rank, int purpose, uint64_t value);

/* Posts a value without data to a word of the data area instead of a slot: 8 bytes at a multiple of
 * 8, which are written only by posts and read by acquire loads. Several ranks may post to one word;
 * the posts of each rank arrive in their order. It works with n_purposes = 0. Otherwise as
 * osla_put_notify_post. */
OSLA_API osla_err osla_word_post(osla_segment *segment, int rank, size_t offset, uint64_t value,
                                 osla_posted *posted);

/* Puts data at `offset`, then posts the word: a rank that sees the word sees the data. Otherwise as
 * osla_word_post. */
OSLA_API osla_err osla_put_word_post(osla_segment *segment, int rank, size_t offset,
                                     const void *source, size_t bytes, size_t word_offset,
                                     uint64_t value, osla_posted *posted);

/* Wakes a rank of this node that sleeps in osla_segment_wait on this segment, after a store that
 * the test of the sleeping rank reads. Local, fast if the rank does not sleep. */
OSLA_API void osla_segment_wake(osla_segment *segment, int rank);

/* osla_notify_read returns the value of the slot of `origin` on this rank (acquire).
 * osla_notify_wait sleeps, and makes progress, until this value is at least `value`. The segment
 * must have more than `purpose` purposes. Local. */
OSLA_API uint64_t osla_notify_read(const osla_segment *segment, int origin, int purpose);
OSLA_API void osla_notify_wait(osla_segment *segment, int origin, int purpose, uint64_t value);

/* Waits until test(arg) is true. The test is called again after every notify to this rank's
 * segment, and repeatedly in between. Local. */
OSLA_API void osla_segment_wait(osla_segment *segment, bool (*test)(void *arg), void *arg);

#ifdef __cplusplus
}
#endif
#endif
