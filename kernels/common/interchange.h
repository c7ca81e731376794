/* Interchanges of rows or columns of a distributed matrix (internal). */
#ifndef OSLA_INTERCHANGE_H
#define OSLA_INTERCHANGE_H

#include "osla_matrix.h"
#include "osla_shape.h"

/* Gathers the pivots of a factorisation of the n x n matrix `a` on every rank, as row indices from
 * 0. ipiv is distributed as osla_getrf leaves it. *pivots is NULL if no rank passes ipiv; otherwise
 * the caller frees it. Collective. Errors, on all ranks together: ARG (only some ranks pass ipiv,
 * or a pivot is out of range), MEM. */
osla_err osli_pivots_gather(const osla_matrix *a, const int64_t *ipiv, int64_t **pivots);

/* Interchanges line i of B (a row or a column) with line pivots[i] for i = 0, 1, 2, ... in this
 * order, or in the reverse order if `backward` is true. B may have any blocks and any grid.
 *
 * osli_interchange_open allocates all memory: indices of the lines, and a few buffers. A buffer has
 * 1 MiB, or the size of one element of each moving line if this is more. `pivots` must exist until
 * osli_interchange_close, which accepts NULL. All three calls are collective. Errors, on all ranks
 * together: of osli_interchange_open MEM, MPI; of osli_interchange_run MPI, those of a device. */
typedef enum osla_lines { OSLA_ROWS, OSLA_COLUMNS } osla_lines;
typedef struct osla_interchange osla_interchange;
osla_err osli_interchange_open(osla_matrix *b, osla_lines lines, const int64_t *pivots,
                               bool backward, osla_interchange **out);
osla_err osli_interchange_run(osla_interchange *x);
void osli_interchange_close(osla_interchange *x);

/* Bytes that interchanges need on a rank, for any pivots. Pure.
 *   length [in] local length of a line (row or column) on the rank that has the longest */
uint64_t osli_interchange_memory(const osla_shape *shape, osla_lines lines, int64_t length);

#endif
