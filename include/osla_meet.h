/* osla_meet, the call with which a binding for a garbage-collected language begins each collective
 * call of OSLA (layer 0).
 *
 * Destruction is collective, but garbage collectors drop objects at different times and in
 * different orders on different ranks. Therefore each object has a number from its creation, equal
 * on all ranks. A dropped object waits until all ranks enter their next collective call. Objects
 * that all ranks have dropped by then can be destroyed there in one order. PETSc does the same
 * (manual page of PetscGarbageCleanup).
 *
 * An argument may be invalid on one rank only, before any other call of the library has checked it.
 * Then osla_meet fails on all ranks, so that no rank waits for the rank with the invalid argument.
 *
 * Threads: as osla_transport.h says of collective and of local calls.
 * Part: may change in any release (osla_unstable.h).
 */
#ifndef OSLA_MEET_H
#define OSLA_MEET_H

#include "osla_api.h"
#include "osla_transport.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Enters a collective call: all ranks are about to make the same call with valid arguments.
 * Collective.
 *   local     [in]     OSLA_OK, or the error of this rank, with its text in osla_error_text
 *   call      [in]     name of the call; after a space may follow text that must be equal on all
 *                      ranks if none fails; at most 63 bytes
 *   n_dropped [in]     number of objects that this rank has dropped; may differ by rank
 *   dropped   [in,out] [n_dropped] their numbers, ascending; on success the first *n_common are
 *                      those that all ranks have dropped, ascending
 *   n_common  [out]    equal on all ranks; 0 after an error
 * It takes one allreduce of six numbers and an empty message to the next rank. If every rank has
 * dropped objects, it also takes exchanges of 64 numbers of each rank until the lists are compared.
 * Errors, on all ranks together: STATE if ranks make different calls (the text names two of the
 * calls and their ranks); otherwise the error of the lowest failing rank; MEM; MPI. */
OSLA_API osla_err osla_meet(osla_transport *transport, osla_err local, const char *call,
                            int64_t n_dropped, int64_t *dropped, int64_t *n_common);

/* For a rank that fails in a collective call and cannot tell on which transport, because the
 * invalid argument is the one that determines the transport. Waits until the transport of the other
 * ranks is known.
 *   count, transports [in]  candidates; ranks may name different ones
 *   found             [out] the transport whose other ranks wait in osla_meet; this rank must call
 *                           osla_meet there with its error. NULL if all ranks of a transport search
 *                           in the same way, so that all of them fail, or if no candidate has other
 *                           ranks.
 * A single candidate is found at once. A rank that searches more than 0.2 s before the other ranks
 * of a larger transport may get NULL for a smaller one. If ranks of two candidates wait for this
 * rank, the first one in the list is found. Other ranks' collective calls on a transport outside
 * the list wait for this rank meanwhile. Errors: MEM, MPI. */
OSLA_API osla_err osla_meet_find(int count, osla_transport *const *transports,
                                 osla_transport **found);

/* Calls osla_meet_find for all transports of this process, latest first. No thread may destroy a
 * transport meanwhile. */
OSLA_API osla_err osla_meet_find_any(osla_transport **found);

#ifdef __cplusplus
}
#endif
#endif
