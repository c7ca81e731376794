/* Messages at the end of a job that prevent MPI_Finalize from hanging (layer 0).
 *
 * MPICH before 4.2.0 over UCX can hang in MPI_Finalize if four or more ranks on several hosts
 * communicate by sockets. A rank that has closed its connections waits in the barrier of the
 * process manager, which makes no progress, while another rank's connection waits for its reply.
 * The hanging connections are those that one side has opened and both sides have never used.
 * Therefore every rank sends an empty message to every other rank before it ends, and then sleeps
 * without calling MPI.
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

/* Makes MPI_Finalize first exchange an empty message between all pairs of ranks of comm, if MPI
 * is MPICH before 4.2.0 and the ranks are on several hosts, unless OSLA_FAREWELL is "off" on a
 * rank (the head of this file gives the reason). MPI_Finalize then takes 0.3 s longer. Every
 * transport makes this call; a program that uses MPI without a transport may make it. A call for
 * ranks that an earlier call covers changes nothing. The first 64 sets of ranks that no earlier
 * call covers hold one communicator each until MPI_Finalize. Later sets use MPI_COMM_WORLD with
 * the tag 32749 in MPI_Finalize; a program with more than 64 sets must not have a receive with
 * MPI_ANY_TAG pending there. Collective over comm, blocking. Errors, on all ranks together: MPI,
 * MEM. */
OSLA_API osla_err osla_farewell_arrange(MPI_Comm comm);

#ifdef __cplusplus
}
#endif
#endif
