/* ARMCI as a second transport (library libosla_armci).
 *
 * For sites whose ARMCI is native to their network, and for measuring what MPI-3 RMA and load/store
 * gain. A program that may use it links -losla_armci before -losla, and calls osla_armci_offer
 * once. OSLA_TRANSPORT=armci, or the option `transport` of osla_transport_create, then chooses it.
 *
 * What is different there:
 *   - Every rank is a node of its own: ARMCI gives no pointer to a neighbour's memory. All
 * transfers between ranks are ARMCI's, all waits for them make progress as between nodes.
 *   - ARMCI can wait for one transfer only by waiting for all to that rank, on ARMCI-MPI 0.3.1 by
 *     flushing every allocation. So a test of a transfer waits for it, and a posted put with notify
 *     is one that is not: transfers are hidden behind work much less than with "mpi".
 *   - Attached memory (osla_segment_attach, osla_matrix_wrap) is reached through an MPI window, as
 *     with "mpi": ARMCI has no call that registers memory.
 *   - A transport on a part of MPI_COMM_WORLD has its memory in MPI windows, too.
 *
 * ARMCI is started by the first transport that uses it, which must be on all ranks of
 * MPI_COMM_WORLD, and ended by MPI_Finalize. It reads its environment when it is started. Where
 * these are not set, they are set then: ARMCI_USE_WIN_ALLOCATE=0, ARMCI_RMA_ATOMICITY=1. Global
 * Arrays needs the same; a program that starts it first sets them before.
 *
 * Threads: as osla_transport.h says, but one at a time may make and free objects, in one order on
 * all ranks.
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

/* Makes the transport "armci" known to this program. Starts nothing. Local; before the transports
 * that use it; again: nothing happens. Errors: UNSUPPORTED (OSLA was built without ARMCI). */
OSLA_API osla_err osla_armci_offer(void);

#ifdef __cplusplus
}
#endif
#endif
