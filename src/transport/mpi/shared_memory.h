/* Node memory that the ranks map themselves, without MPI (layer 0, internal).
 *
 * Each rank makes an anonymous file (memfd_create) and maps it; the other ranks of the node open it
 * by /proc/PID/fd and map it, too. Compared with MPI_Win_allocate_shared, the memory is not limited
 * by the size of /dev/shm (64 MiB in many containers), a lack of memory is an error code instead of
 * a later bus error, no name remains after a killed job, and no rank spins in a blocking call while
 * others arrive.
 *
 * Each rank of a node maps the memory of all ranks. With pages of 4 KiB the page tables of each
 * rank take 1/512 of that memory, so those of 128 ranks take a quarter of the node's memory.
 * Therefore large memory uses huge pages (2 MiB) if the system allows them for anonymous files
 * (/sys/kernel/mm/transparent_hugepage/shmem_enabled is advise, within_size, always or force; the
 * default is never). */
#ifndef OSLA_SHARED_MEMORY_H
#define OSLA_SHARED_MEMORY_H

#include "src/transport/transport_ops.h"

/* Tests whether the ranks of all nodes can map one another's memory. They cannot in different PID
 * name spaces, and on systems without memfd_create; OSLA_SHARED_MEMORY=mpi makes the result false.
 * Equal on all ranks. Collective. */
osla_err osli_shared_memory_probe(osla_transport *t, bool *works);

/* Allocates `bytes` (> 0, may differ by rank) bytes of zeroed, page-aligned memory on each rank,
 * and maps them on all ranks of its node; in huge pages if the system allows them.
 * Collective.
 *   peer   [out] [node_size] addresses
 *   mapped [out] [node_size] mapped bytes, for osli_shared_memory_unmap
 * Errors, on all ranks together: MEM, UNSUPPORTED; then nothing remains mapped. */
osla_err osli_shared_memory_map(osla_transport *t, size_t bytes, unsigned char **peer,
                                size_t *mapped);
void osli_shared_memory_unmap(const osla_transport *t, unsigned char **peer, size_t *mapped);

/* ---- pages of node memory, declared here for tests ---- */

/* Does this content of shmem_enabled ("always within_size [advise] never ...") allow huge pages
 * after madvise? Pure. */
bool osli_pages_offered(const char *setting);

/* Maps a file of `bytes` bytes. Local. Errors: MEM; the error text says whether the limit
 * vm.max_map_count is the cause. */
osla_err osli_pages_map(int file, size_t bytes, unsigned char **at);

/* Allocates all pages of a mapped file now, near this rank's core, so that a lack of memory is an
 * error here and not a fault at the first access. huge: use huge pages if possible. Returns 0 or an
 * errno. Local. */
int osli_pages_allocate(int file, unsigned char *at, size_t bytes, bool huge);

#endif
