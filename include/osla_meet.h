/* The door to collective calls for languages that collect garbage (floor 0).
 *
 * Destruction is collective, and when a garbage collector drops an object is not: ranks drop at
 * different times and in different orders. So what is dropped waits, under a number that it got
 * when it was made (the same on all ranks), until all ranks meet at their next collective call.
 * What all of them have dropped by then can be destroyed there, in one order. (As in PETSc: manual
 * page of PetscGarbageCleanup.)
 *
 * An argument may be wrong on one rank alone, before any call of ours has seen it: it is refused on
 * all ranks here, so that nobody waits for that rank.
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

/* All ranks are about to make the same call, with arguments that are fit. Collective.
 *   local     [in]     OSLA_OK, or what is wrong on this rank, its text in osla_error_text
 *   call      [in]     the name of the call, and behind a space what must be the same on all ranks,
 *                      where none fails; at most 63 bytes
 *   n_dropped [in]     numbers of what this rank has dropped; may differ by rank
 *   dropped   [in,out] [n_dropped] the numbers, ascending; on success the first *n_common of them
 *                      are those that all ranks have dropped, ascending
 *   n_common  [out]    the same on all ranks; 0 after an error
 * One allreduce of six numbers and an empty message to the next rank; where every rank has dropped
 * something, as many exchanges as it takes to compare the lists, 64 numbers of each rank at a time.
 * Errors, on all ranks together: STATE where ranks make different calls, with the two and their
 * ranks; else the failure of the lowest rank that has one; MEM; MPI. */
OSLA_API osla_err osla_meet(osla_transport *transport, osla_err local, const char *call,
                            int64_t n_dropped, int64_t *dropped, int64_t *n_common);

/* This rank fails in a call and cannot tell which transport that is on, since the argument that
 * would say so is what is wrong. Waits until it is known where the other ranks meet.
 *   count, transports [in]  those that it may be; ranks may name different ones
 *   found             [out] the transport: its ranks wait in osla_meet for this one to come there
 *                           with its failure. NULL: all ranks of one transport look like this one,
 *                           and so all of them fail; or none of the transports has other ranks
 * One transport is found at once. Ranks that look more than 0.2 s before the others of a larger
 * transport come may get NULL for a smaller one. Where ranks of two of them wait for this one,
 * the first in the list is taken. Collective calls that ranks make meanwhile on a transport that is
 * not in the list wait for this rank, as they do for one that does not come. Errors: MEM, MPI. */
OSLA_API osla_err osla_meet_find(int count, osla_transport *const *transports,
                                 osla_transport **found);

/* The same among all transports that this process has, the newest first; none may be destroyed
 * meanwhile. */
OSLA_API osla_err osla_meet_find_any(osla_transport **found);

#ifdef __cplusplus
}
#endif
#endif
