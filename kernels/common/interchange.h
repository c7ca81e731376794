/* Interchanges of rows or columns of a distributed matrix (internal). */
#ifndef OSLA_INTERCHANGE_H
#define OSLA_INTERCHANGE_H

#include "osla_matrix.h"
#include "osla_shape.h"

/* All pivots of a factorisation on every rank, from 0, of the n x n matrix `a` whose ranks hold
 * them as osla_getrf leaves them; *pivots is NULL if no rank gives any. Collective. The caller
 * frees them. Errors, on all ranks together: ARG (some ranks without, or a pivot outside), MEM. */
osla_err osli_pivots_gather(const osla_matrix *a, const int64_t *ipiv, int64_t **pivots);

/* Exchanges line i of B, a row or a column, with line pivots[i], for i = 0, 1, 2, ... in this
 * order, or in the opposite one; B has any blocks and any grid. Opening gets all memory, above the
 * indices of the lines a few times 1 MiB, or a part of one element of all lines that move; closing
 * accepts NULL. Collective, all three. Errors of opening, on all ranks together: MEM, MPI; of the
 * run: MPI. */
typedef enum osla_lines { OSLA_ROWS, OSLA_COLUMNS } osla_lines;
typedef struct osla_interchange osla_interchange;
osla_err osli_interchange_open(osla_matrix *b, osla_lines lines, const int64_t *pivots,
                               bool backward, osla_interchange **out);
osla_err osli_interchange_run(osla_interchange *x);
void osli_interchange_close(osla_interchange *x);

/* What it takes of a rank, whatever the pivots. Pure.
 *   length [in] of the lines, on the rank where they are longest */
uint64_t osli_interchange_memory(const osla_shape *shape, osla_lines lines, int64_t length);

#endif
