/* Memory that the ranks of a node share, without MPI (floor 0, internal).
 *
 * Each rank makes an anonymous file (memfd_create) and maps it; its neighbours open it through
 * /proc/PID/fd and map it, too. Compared with MPI_Win_allocate_shared: the pages do not count
 * against the size of /dev/shm (64 MiB in many containers), a lack of memory is an error code at
 * once and no bus error later, nothing has a name that a killed job could leave behind, and no rank
 * spins in a blocking call while the others arrive.
 */
#ifndef OSLA_SHARED_MEMORY_H
#define OSLA_SHARED_MEMORY_H

#include "src/transport/transport_ops.h"

/* Can all ranks of all nodes do this? False for ranks in different PID name spaces, on systems
 * without memfd_create, or when OSLA_SHARED_MEMORY=mpi asks for MPI's own. The same answer on all
 * ranks. Collective. */
osla_err osli_shared_memory_probe(osla_transport *t, bool *works);

/* Zeroed, page-aligned memory of `bytes` (> 0, may differ by rank) on each rank, mapped by its
 * node; in huge pages where they are offered (pages.h). Collective.
 *   peer   [out] [ranks of the node] addresses
 *   mapped [out] [ranks of the node] bytes mapped, for the unmapping
 * Errors, on all ranks together: MEM, UNSUPPORTED. On an error nothing stays mapped. */
osla_err osli_shared_memory_map(osla_transport *t, size_t bytes, unsigned char **peer,
                                size_t *mapped);
void osli_shared_memory_unmap(const osla_transport *t, unsigned char **peer, size_t *mapped);

#endif
