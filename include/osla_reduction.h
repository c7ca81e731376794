/* Sums and maxima over all ranks, computed while the ranks do other work (layer 1).
 *
 * Each rank starts a round when it has its values; the round is complete when all ranks have
 * started it. The ranks of a node form a tree, and the first ranks of the nodes form another one.
 * Values move up and the result moves down, at most one level with each step of a rank. All ranks
 * get bitwise equal results, which are reproducible for equal values, because the order of the sums
 * is fixed. Bethune et al., Int. J. High Perf. Comput. Appl. 28(1), 2014, section 3.1.2, reduce in
 * this way by messages; this implementation stores words in the memory of other ranks.
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
enum { OSLA_REDUCTION_MOST = 32, OSLA_REDUCTION_WIDEST = 1 << 16 };

/* Makes a reduction, which the caller owns. Collective. Errors, on all ranks together: MEM, MPI. */
OSLA_API osla_err osla_reduction_create(osla_transport *transport, osla_reduction **out);

/* Creates a reduction of up to `most` values. `most` is from 1 to OSLA_REDUCTION_WIDEST and
 * equal on all ranks. (osla_reduction_create creates a reduction of up to OSLA_REDUCTION_MOST
 * values.) Memory of a rank: 24 * most bytes, and 8 * most bytes for each neighbour in the tree
 * of ranks. Collective. Errors, on all ranks together: ARG, MEM, MPI. */
OSLA_API osla_err osla_reduction_create_wide(osla_transport *transport, int most,
                                             osla_reduction **out);

/* Creates reductions of disjoint sets of ranks; all other calls then concern only the ranks of this
 * rank's set, except osla_reduction_destroy, which is collective. Memory of a rank as for
 * osla_reduction_create_wide. Collective: all ranks of the transport call it together.
 *   n, ranks [in]  [n] the ranks of this rank's set, in ascending order, equal on all ranks of the
 *                  set; only read during the call. n = 0: this rank is in no set, and may only
 *                  destroy the reduction
 *   most     [in]  as for osla_reduction_create_wide
 * Errors, on all ranks together: ARG (most; the ranks are not in ascending order, or this rank is
 * not among them), MEM, MPI. That all ranks of a set pass the same set is not checked. */
OSLA_API osla_err osla_reduction_create_among(osla_transport *transport, int n, const int *ranks,
                                              int most, osla_reduction **out);

/* Destroys a reduction. Collective. The latest round must be complete on all ranks that started it,
 * or all ranks must have given it up. Accepts NULL and nulls the handle. */
OSLA_API void osla_reduction_destroy(osla_reduction **reduction);

/* Starts a round with the values of this rank. All ranks must start the same rounds. Local.
 *   values   [in] [n_sums + n_maxima], copied
 *   n_sums   [in] number of leading values that are summed over the ranks
 *   n_maxima [in] number of further values whose maximum over the ranks is taken (a NaN is larger
 *                 than all numbers); n_sums + n_maxima is at most the number of values for which
 *                 the reduction was created
 * Errors: ARG, STATE (the previous round is not complete), MPI. */
OSLA_API osla_err osla_reduction_start(osla_reduction *reduction, const double *values, int n_sums,
                                       int n_maxima);

/* Makes one step without waiting. Local.
 *   result [out] [n_sums + n_maxima], valid until the next start; NULL if the round is not
 *                complete, or none was started
 * Errors: MPI. */
OSLA_API osla_err osla_reduction_test(osla_reduction *reduction, const double **result);

/* Sleeps until the round is complete and this rank's messages to other ranks have left. Local.
 * Errors: MPI. */
OSLA_API osla_err osla_reduction_wait(osla_reduction *reduction, const double **result);

/* Works as osla_reduction_wait, but also returns when stop(arg) is true; then *result is NULL and
 * the round continues. stop is called after each message to this rank, and at least several times a
 * second. */
OSLA_API osla_err osla_reduction_wait_or(osla_reduction *reduction, bool (*stop)(void *arg),
                                         void *arg, const double **result);

/* Finds the ranks that this rank exchanges values with: its neighbours in the tree. Local.
 *   out [out] [OSLA_REDUCTION_NEIGHBOURS] ranks
 * Returns their number. */
enum { OSLA_REDUCTION_NEIGHBOURS = 17 };
OSLA_API int osla_reduction_neighbours(const osla_reduction *reduction, int *out);

#ifdef __cplusplus
}
#endif
#endif
