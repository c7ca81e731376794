/* OpenSHMEM as a transport (library libosla_shmem).
 *
 * It is for machines whose OpenSHMEM is native to the network, and for comparisons with MPI-3 RMA.
 * A program that may use it links -losla_shmem before -losla, and calls osla_shmem_offer once.
 * OSLA_TRANSPORT=shmem, or the option `transport` of osla_transport_create, selects it.
 *
 * Segments are in symmetric memory (shmem_align), where each takes an equal number of bytes on all
 * ranks: as many as on the rank that needs most. Ranks of one node load and store there
 * (shmem_ptr), as with the transport "mpi". Between nodes data move by puts and gets of OpenSHMEM,
 * and a put with notify is a put of the data, a fence, and a put of the word.
 *
 * Differences from the transport "mpi":
 *   - The symmetric heap must hold all segments of the job. SHMEM_SYMMETRIC_SIZE sets its size,
 *     and must be equal on all ranks (otherwise OSLA_ERR_ARG); a heap that is too small gives
 *     OSLA_ERR_MEM with the size that is needed.
 *   - Between nodes a wait for one get, or a test of it, waits for all transfers of the rank
 *     (shmem_quiet), because OpenSHMEM has no test of a get. A posted put with notify is blocking.
 *   - Attached memory (osla_segment_attach, osla_matrix_wrap) is reached through an MPI window, as
 *     with "mpi", and so is all memory of a transport on a part of MPI_COMM_WORLD.
 *   - osla_segment_destroy and osla_transport_destroy may contain barriers, even on one node. So
 *     all ranks must destroy the objects of all transports in one order.
 *   - A rank that waits polls memory and MPI, and does not call OpenSHMEM. So OpenSHMEM must
 *     complete transfers to a rank that is in a call of MPI; that of Open MPI does.
 *
 * The first transport that uses OpenSHMEM starts it, and must include all ranks of MPI_COMM_WORLD.
 * The library defines an MPI_Finalize of its own, which first calls shmem_finalize. With Open MPI,
 * shmem_finalize also ends MPI. A program that ends MPI in another way (from Fortran, or with a
 * profiling tool of its own) must call shmem_finalize, and then MPI_Finalize only if MPI_Finalized
 * returns false. A callback that deletes an attribute of MPI_COMM_SELF may destroy transports and
 * objects, but must not use them, because the symmetric heap is then closed.
 *
 * Open MPI 4.1 crashes at its end unless OMPI_MCA_opal_common_ucx_opal_mem_hooks is 0. OSLA sets
 * this variable to 0 when it starts OpenSHMEM, unless it has a value. If MPI itself uses UCX (pml
 * ucx), this is too late, and users must set the variable before MPI_Init.
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
 * UNSUPPORTED (OSLA was built without OpenSHMEM), RANGE (the program has offered four other
 * transports already). */
OSLA_API osla_err osla_shmem_offer(void);

#ifdef __cplusplus
}
#endif
#endif
