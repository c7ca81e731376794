/* ARMCI as a second transport (library libosla_armci).
 *
 * It is for machines whose ARMCI is native to the network, and for comparisons with MPI-3 RMA and
 * load/store. A program that may use it links -losla_armci before -losla, and calls
 * osla_armci_offer once. OSLA_TRANSPORT=armci, or the option `transport` of osla_transport_create,
 * selects it.
 *
 * Differences from the transport "mpi":
 *   - Every rank is a node of its own, because ARMCI gives no pointer to a neighbour's memory. All
 *     transfers between ranks are ARMCI's, and all waits make progress as between nodes.
 *   - ARMCI completes one transfer only by completing all transfers to that rank; ARMCI-MPI 0.3.1
 *     flushes every allocation. So the test of a transfer waits for it, and a posted put with
 *     notify is a blocking one. Much less communication is hidden behind computation than with
 *     "mpi".
 *   - Attached memory (osla_segment_attach, osla_matrix_wrap) is reached through an MPI window, as
 *     with "mpi", because ARMCI cannot register existing memory.
 *   - A transport on a part of MPI_COMM_WORLD has its memory in MPI windows as well.
 *
 * The first transport that uses ARMCI starts it; it must include all ranks of MPI_COMM_WORLD.
 * MPI_Finalize ends ARMCI. At its start ARMCI reads environment variables. OSLA sets two of these
 * before, unless they are set: ARMCI_USE_WIN_ALLOCATE=0 and ARMCI_RMA_ATOMICITY=1. Global Arrays
 * needs the same values; a program that starts Global Arrays before OSLA must set both variables
 * itself.
 *
 * Threads: as osla_transport.h says, but one thread at a time may make and free objects, in one
 * order on all ranks.
 *
 * Part: stable (osla.h).
 */
#ifndef OSLA_ARMCI_H
#define OSLA_ARMCI_H

#include "osla_api.h"
#include "osla_error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes the transport "armci" known to this program, without starting ARMCI. Local. Call it before
 * the creation of transports that use ARMCI; further calls do nothing. Errors: UNSUPPORTED (OSLA
 * was built without ARMCI), RANGE (the program has four other transports of other libraries). */
OSLA_API osla_err osla_armci_offer(void);

#ifdef __cplusplus
}
#endif
#endif
