/* Row interchanges of a distributed matrix (internal). */
#ifndef OSLA_ROW_SWAP_H
#define OSLA_ROW_SWAP_H

#include "osla_matrix.h"

/* All pivots of a factorisation on every rank, from 0, of the n x n matrix `a` whose ranks hold
 * them as osla_getrf leaves them; *pivots is NULL if no rank gives any. Collective. The caller
 * frees them. Errors, on all ranks together: ARG (some ranks without, or a pivot outside), MEM. */
osla_err osla_pivots_gather(osla_matrix *a, const int64_t *ipiv, int64_t **pivots);

/* Exchanges row i of B (m x nrhs, in any blocks and any grid) with row pivots[i], for i = 0 .. m -
 * 1 in this order, or in the opposite one. Collective. Memory above the m indices: a few times 1
 * MiB, or one column of the rows that move. Errors, on all ranks together: MEM, MPI. */
osla_err osla_rows_swap(osla_matrix *b, const int64_t *pivots, bool backward);

#endif
