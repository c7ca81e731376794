/* Puts with notify that travel as messages (layer 0, internal to the MPI backend).
 *
 * If MPI serves RMA only inside calls of the target, a put with notify takes three round trips
 * between hosts: the data, an empty fetch, and the word. The target must make progress in any case.
 * Therefore data and word are sent as one message, and a progress step of the target stores both.
 * Larger data are a second message, which is received at its final address. The words of one rank
 * to another arrive in the order of sending, whatever the size of their data.
 *
 * Messages are used between nodes, on allocated regions (attached regions have no words), as
 * OSLA_MESSAGES says: "on", "off", or "auto", which means on if a get from a computing rank waits
 * for that rank. */
#ifndef OSLA_EAGER_MPI_H
#define OSLA_EAGER_MPI_H

#include "src/transport/mpi/region_mpi.h"

/* Data and word of one put with notify. */
typedef struct osla_eager_put {
  size_t offset, /* offset in bytes of the data in the target's memory */
    bytes;       /* number of data bytes, may be 0 */
  const void *source;
  size_t word_offset;
  uint64_t word;
} osla_eager_put;

/* Assigns a region its id in messages, before its first use. The first region of a transport
 * decides whether messages are used. Collective, except that the caller must agree on the result
 * before any rank sends. Errors: MEM, MPI. */
osla_err osli_eager_add_region(osla_region *region);
/* Removes the id of a region, which another region may then get. Does nothing if the region has no
 * id. */
void osli_eager_remove_region(osla_region *region);

/* Frees the state of puts as messages, after all regions have been freed. Does nothing if the
 * transport has no such state. Local.
 */
void osli_eager_stop(osla_transport *t);

/* osli_eager_is_used: do puts with notify to this region travel as messages to other nodes?
 * osli_eager_max_bytes: largest number of data bytes in the message that carries the word. Local.
 */
bool osli_eager_is_used(const osla_region *region);
size_t osli_eager_max_bytes(const osla_region *region);

/* Sends a put with at most 1 GiB of data to `rank` as messages. This rank's earlier RMA puts to
 * `rank` must be flushed. The caller holds the mutex.
 *   sent [out] false if there is no room for the message now; progress steps make room
 *   data [out] request that must complete before the source may be reused; MPI_REQUEST_NULL if
 *   none. The caller tests it.
 * Errors: MPI. */
osla_err osli_eager_send(osla_region *region, int rank, const osla_eager_put *put, bool *sent,
                         MPI_Request *data);

/* Starts a get of at most 1 GiB that a progress step of the owner serves; the owner must not be
 * blocked in an MPI call of its own. The caller holds the mutex. sent, data [out]: as in
 * osli_eager_send. Errors: MPI. */
osla_err osli_eager_fetch(osla_region *region, int rank, size_t offset, void *dest, size_t bytes,
                          bool *sent, MPI_Request *data);

/* RMA may overtake a message that its target has not applied yet. osli_eager_bytes_confirmed
 * returns whether the target has confirmed all messages of this rank with data for these bytes. If
 * not, it requests a confirmation. Its caller holds the mutex. osli_eager_wait_bytes waits for the
 * confirmation; its caller does not hold the mutex. */
bool osli_eager_bytes_confirmed(osla_region *region, int rank, size_t offset, size_t bytes);
void osli_eager_wait_bytes(osla_region *region, int rank, size_t offset, size_t bytes);

/* osli_eager_wait_rank waits until `rank` has applied all messages of this rank in the region;
 * osli_eager_wait_all waits until all ranks have applied all messages of this rank. The receiving
 * ranks must make progress. Local. */
void osli_eager_wait_rank(osla_region *region, int rank);
void osli_eager_wait_all(osla_transport *t);

/* A progress step: applies one message that has arrived, and returns whether there was one. The
 * caller holds the mutex. */
bool osli_eager_progress(osla_transport *t);

#endif
