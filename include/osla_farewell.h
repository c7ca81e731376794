/* An MPI_Finalize that ends (floor 0).
 *
 * MPICH before 4.2.0 over UCX can hang in MPI_Finalize where 4 or more ranks on several hosts talk
 * through sockets: a rank whose own connections are closed waits in the process manager's barrier,
 * which makes no progress, while another's connection to it waits for its answer. It is those
 * connections that hang which were opened by one side and never used by both. So before it ends
 * every rank sends every other one an empty message, and then all rest without calling MPI.
 *
 * Threads: as osla_transport.h says of collective and of local calls.
 * Part: may change in any release (osla_unstable.h).
 */
#ifndef OSLA_FAREWELL_H
#define OSLA_FAREWELL_H

#include <mpi.h>

#include "osla_api.h"
#include "osla_error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes MPI_Finalize begin with this, on the ranks of comm, where it is needed: an MPICH before
 * 4.2.0, several hosts, OSLA_FAREWELL not "off" on any rank. It takes 0.3 s there, else nothing.
 * Every transport calls it; a program that uses MPI without one may. Calls for ranks that an
 * earlier one covers change nothing. The first 64 sets of ranks that are not covered keep a
 * communicator each until MPI_Finalize; later ones use MPI_COMM_WORLD with the tag 32749 inside
 * MPI_Finalize: with so many sets the program may have no receive with MPI_ANY_TAG pending there.
 * Collective over comm, blocking. Errors, on all ranks together: MPI, MEM. */
OSLA_API osla_err osla_farewell_arrange(MPI_Comm comm);

#ifdef __cplusplus
}
#endif
#endif
