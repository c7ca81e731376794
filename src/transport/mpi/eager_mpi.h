/* Puts with notify that travel as messages (floor 0, internal to the MPI backend).
 *
 * Where MPI serves RMA inside the target's calls, a put with notify costs three turns between
 * hosts: the data, a fetch there and back, the word. The target's progress is needed anyway, so
 * there a rank sends data and word as one message, and the target's progress step puts both where
 * they belong; much data is a message of its own, which is received in its place. The words of one
 * rank to another arrive in the order in which they were sent, whatever their size.
 *
 * Used between nodes, on allocated regions (attached ones have no words), as OSLA_MESSAGES
 * says: "on", "off", or "auto": where a get from a computing rank waits for it.
 */
#ifndef OSLA_EAGER_MPI_H
#define OSLA_EAGER_MPI_H

#include "src/transport/mpi/region_mpi.h"

/* What a message carries. */
typedef struct osla_eager_put {
  size_t offset, bytes; /* of the data; bytes may be 0 */
  const void *source;
  size_t word_offset;
  uint64_t word;
} osla_eager_put;

/* Before a region's first use: decides, at the first region of a transport, whether there are
 * messages, and gives the region its number. Collective; the caller agrees on the result before
 * anyone sends. Errors: MEM, MPI. */
osla_err osli_eager_add_region(osla_region *region);
void osli_eager_remove_region(osla_region *region); /* also one without a number */

/* All regions are gone. Takes a transport without messages, too. Local. */
void osli_eager_stop(osla_transport *t);

/* Do puts with notify of this region travel as messages to ranks of other nodes, and how much data
 * fits beside a word? Local. */
bool osli_eager_is_used(const osla_region *region);
size_t osli_eager_max_bytes(const osla_region *region);

/* Sends one of at most 1 GiB; my puts to that rank must be flushed. *sent: false when there is no
 * room now, which progress makes. *data: null, or what must be complete before the source may be
 * reused, the caller's to test. The mutex is held. Errors: MPI. */
osla_err osli_eager_send(osla_region *region, int rank, const osla_eager_put *put, bool *sent,
                         MPI_Request *data);

/* Starts to get bytes, at most 1 GiB, with the help of a progress step of their owner, who may be
 * in no call of MPI's alone. *sent, *data as above. The mutex is held. Errors: MPI. */
osla_err osli_eager_fetch(osla_region *region, int rank, size_t offset, void *dest, size_t bytes,
                          bool *sent, MPI_Request *data);

/* osli_eager_send for little data, but waits for room. No mutex is held. */
osla_err osli_eager_send_wait(osla_region *region, int rank, const osla_eager_put *put);

/* RMA may overtake a message that its target has not seen yet. Is all data of my messages to these
 * bytes in its place? False: the target has been asked to say so. The mutex is held. _settle waits
 * for it, without the mutex. */
bool osli_eager_bytes_confirmed(osla_region *region, int rank, size_t offset, size_t bytes);
void osli_eager_wait_bytes(osla_region *region, int rank, size_t offset, size_t bytes);

/* Waits until all my messages to that rank in this region, words alone, too, are in their places,
 * for which the target must make progress; _all: those of all regions to all ranks. Local. */
void osli_eager_wait_rank(osla_region *region, int rank);
void osli_eager_wait_all(osla_transport *t);

/* A step of progress where there are messages: takes one that is here. False: none is. The mutex is
 * held. */
bool osli_eager_progress(osla_transport *t);

#endif
