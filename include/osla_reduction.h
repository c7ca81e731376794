/* Sums and maxima over all ranks that go on while one computes (floor 1).
 *
 * A round is started by each rank when it has its values, and is over when all have. The ranks of a
 * node form a tree, and the first ranks of the nodes another one; values go up, and the result
 * comes down, one tree level at most with each step of a rank. All ranks get the same bits, and get
 * them again for the same values, since the order of sums is fixed. (Bethune et al., Int. J. High
 * Perf. Comput. Appl. 28(1), 2014, section 3.1.2, reduce in this way; what they do by messages is
 * done here by posted words.)
 *
 * Threads: as osla_transport.h says of collective and of local calls.
 * Part: may change in any release (osla_unstable.h).
 */
#ifndef OSLA_REDUCTION_H
#define OSLA_REDUCTION_H

#include "osla_api.h"
#include "osla_transport.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct osla_reduction osla_reduction;
enum { OSLA_REDUCTION_MOST = 32 };

/* Collective. Owned by the caller. Errors, on all ranks together: MEM, MPI. */
OSLA_API osla_err osla_reduction_create(osla_transport *transport, osla_reduction **out);

/* Collective, and not before the latest round is over everywhere that started it, or all have given
 * it up. Accepts NULL and nulls the handle. */
OSLA_API void osla_reduction_destroy(osla_reduction **reduction);

/* Starts a round with the values of this rank. Local; all ranks start the same rounds.
 *   values        [in] [n_sums + n_maxima], copied
 *   n_sums        [in] the first values are summed over the ranks, the others' maxima are taken (a
 *                      NaN is larger than all numbers); together at most OSLA_REDUCTION_MOST
 * Errors: ARG, STATE (the round before is not over), MPI. */
OSLA_API osla_err osla_reduction_start(osla_reduction *reduction, const double *values, int n_sums,
                                       int n_maxima);

/* One step. Local, does not wait.
 *   result [out] [n_sums + n_maxima], valid until the next start; NULL: the round is not over, or
 *                none was started
 * Errors: MPI. */
OSLA_API osla_err osla_reduction_test(osla_reduction *reduction, const double **result);

/* Sleeps until the round is over, and what others need of this rank has left it. Errors: MPI. */
OSLA_API osla_err osla_reduction_wait(osla_reduction *reduction, const double **result);

/* The same, or until stop(arg) is true: then *result is NULL, and the round goes on. Asked again
 * after each message to this rank, and at least some times a second. */
OSLA_API osla_err osla_reduction_wait_or(osla_reduction *reduction, bool (*stop)(void *arg),
                                         void *arg, const double **result);

/* With which ranks this one exchanges values: its neighbours in the tree. Local.
 *   out [out] [OSLA_REDUCTION_NEIGHBOURS]
 * Returns how many there are. */
enum { OSLA_REDUCTION_NEIGHBOURS = 17 };
OSLA_API int osla_reduction_neighbours(const osla_reduction *reduction, int *out);

#ifdef __cplusplus
}
#endif
#endif
