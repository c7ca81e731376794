/* Row interchanges of a distributed matrix (internal). */
#ifndef OSLA_ROW_SWAP_H
#define OSLA_ROW_SWAP_H

#include "osla_matrix.h"
#include "osla_shape.h"

/* All pivots of a factorisation on every rank, from 0, of the n x n matrix `a` whose ranks hold
 * them as osla_getrf leaves them; *pivots is NULL if no rank gives any. Collective. The caller
 * frees them. Errors, on all ranks together: ARG (some ranks without, or a pivot outside), MEM. */
osla_err osla_pivots_gather(const osla_matrix *a, const int64_t *ipiv, int64_t **pivots);

/* Exchanges row i of B (m x nrhs, in any blocks and any grid) with row pivots[i], for i = 0 .. m -
 * 1 in this order, or in the opposite one. Opening gets all memory, above the m indices a few times
 * 1 MiB, or one column of the rows that move; closing accepts NULL. Collective, all three. Errors
 * of opening, on all ranks together: MEM, MPI; of the run: MPI. */
typedef struct osla_row_swap osla_row_swap;
osla_err osla_row_swap_open(osla_matrix *b, const int64_t *pivots, bool backward,
                            osla_row_swap **out);
osla_err osla_row_swap_run(osla_row_swap *x);
void osla_row_swap_close(osla_row_swap *x);

/* What it takes of a rank, whatever the pivots. Pure.
 *   widest [in] columns of the right-hand sides on the process column that has most */
uint64_t osla_row_swap_memory(const osla_shape *shape, int64_t widest);

#endif
