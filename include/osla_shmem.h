/* OpenSHMEM as a transport (library libosla_shmem).
 *
 * It is for machines whose OpenSHMEM is native to the network, and for comparisons with MPI-3 RMA.
 * A program that may use it links -losla_shmem before -losla, and calls osla_shmem_offer once.
 * OSLA_TRANSPORT=shmem, or the option `transport` of osla_transport_create, selects it.
 *
 * Segments are in symmetric memory (shmem_malloc), which has the largest size of any rank on every
 * rank. Ranks of a node load and store there (shmem_ptr), as with the transport "mpi". Between
 * nodes data move by puts and gets of OpenSHMEM, and a put with notify is put, fence and put of the
 * word.
 *
 * Differences from the transport "mpi":
 *   - The symmetric heap must hold all segments of the job. SHMEM_SYMMETRIC_SIZE sets its size,
 *     and must be equal on all ranks (otherwise OSLA_ERR_ARG); a heap that is too small gives
 *     OSLA_ERR_MEM with the size that is needed.
 *   - Between nodes OpenSHMEM completes one get only by completing all transfers (shmem_quiet), so
 *     the test of a get waits for it, and a posted put with notify is a blocking one.
 *   - Attached memory (osla_segment_attach, osla_matrix_wrap) is reached through an MPI window, as
 *     with "mpi", and so is all memory of a transport on a part of MPI_COMM_WORLD.
 *   - osla_segment_destroy and osla_transport_destroy may be barriers on one node, too, so all
 *     ranks destroy the objects of all transports in one order.
 *   - Waits poll memory and MPI, and do not call OpenSHMEM. So OpenSHMEM must complete transfers
 *     while the target is in MPI calls; Open MPI does.
 *
 * The first transport that uses OpenSHMEM starts it, and must include all ranks of MPI_COMM_WORLD.
 * The library replaces MPI_Finalize by MPI's profiling interface: MPI_Finalize then first calls
 * shmem_finalize, which ends MPI as well in Open MPI. A program that ends MPI in another way (from
 * Fortran, or with a profiling tool of its own) calls shmem_finalize, and then MPI_Finalize only if
 * MPI_Finalized returns false. A program may destroy transports and objects by an attribute on
 * MPI_COMM_SELF, but must not use them there, because the symmetric heap is closed. OSLA sets
 * OMPI_MCA_opal_common_ucx_opal_mem_hooks=0 at the start of OpenSHMEM, unless it is set, because
 * Open MPI 4.1 crashes at its end otherwise; with pml ucx users must set it before MPI_Init.
 *
 * Threads: as osla_transport.h says, but one thread at a time may make and free objects, in one
 * order on all ranks.
 *
 * Part: stable (osla.h).
 */
#ifndef OSLA_SHMEM_H
#define OSLA_SHMEM_H

#include "osla_api.h"
#include "osla_error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes the transport "shmem" known to this program, without starting OpenSHMEM. Local. Call it
 * before the creation of transports that use OpenSHMEM; further calls do nothing. Errors:
 * UNSUPPORTED (OSLA was built without OpenSHMEM), RANGE (the program has four other transports of
 * other libraries). */
OSLA_API osla_err osla_shmem_offer(void);

#ifdef __cplusplus
}
#endif
#endif
