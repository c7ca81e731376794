/* Node memory that the ranks map themselves, without MPI (layer 0, internal).
 *
 * Each rank makes an anonymous file (memfd_create) and maps it; the other ranks of the node open it
 * by /proc/PID/fd and map it, too. Compared with MPI_Win_allocate_shared, the memory is not limited
 * by the size of /dev/shm (64 MiB in many containers), a lack of memory is an error code instead of
 * a later bus error, no name remains after a killed job, and no rank spins in a blocking call while
 * others arrive. */
#ifndef OSLA_SHARED_MEMORY_H
#define OSLA_SHARED_MEMORY_H

#include "src/transport/transport_ops.h"

/* Tests whether the ranks of all nodes can map one another's memory. They cannot in different PID
 * name spaces, and on systems without memfd_create; OSLA_SHARED_MEMORY=mpi makes the result false.
 * Equal on all ranks. Collective. */
osla_err osli_shared_memory_probe(osla_transport *t, bool *works);

/* Allocates `bytes` (> 0, may differ by rank) bytes of zeroed, page-aligned memory on each rank,
 * and maps them on all ranks of its node; in huge pages if the system allows them (pages.h).
 * Collective.
 *   peer   [out] [node_size] addresses
 *   mapped [out] [node_size] mapped bytes, for osli_shared_memory_unmap
 * Errors, on all ranks together: MEM, UNSUPPORTED; then nothing remains mapped. */
osla_err osli_shared_memory_map(osla_transport *t, size_t bytes, unsigned char **peer,
                                size_t *mapped);
void osli_shared_memory_unmap(const osla_transport *t, unsigned char **peer, size_t *mapped);

#endif
