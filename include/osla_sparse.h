/* Sparse matrices by rows, and their products with vectors (floor 3).
 *
 * A matrix is distributed over the ranks by blocks of consecutive rows, and vectors by blocks: of
 * the rows (what A x gives) and of the columns (x). Rank p owns the rows row_start[p] ..
 * row_start[p + 1] - 1 and the columns likewise; of a square matrix both are the same, as a rule.
 * Each rank keeps its rows in two parts, compressed by rows (CSR): the *diagonal part*, whose
 * columns are its own, and the rest, whose columns are *ghosts*: values of other ranks that a
 * product brings here through a star forest (osla_forest.h), each once, while the diagonal part is
 * multiplied. Values are doubles.
 *
 * A vector is an array of this rank's values, in any memory. One of osla_vertices_create is read in
 * place by the ranks of the node, and is the faster one for what a product reads: x in A x.
 *
 * Threads: as osla_transport.h says of collective and of local calls.
 * Part: stable (osla.h).
 */
#ifndef OSLA_SPARSE_H
#define OSLA_SPARSE_H

#include "osla_api.h"
#include "osla_forest.h"
#include "osla_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct osla_csr osla_csr;

/* Blocks of n things for all ranks that differ by one at most: start[p] .. start[p + 1] - 1 are
 * those of rank p. Local.
 *   n     [in]  >= 0
 *   ranks [in]  >= 1
 *   start [out] [ranks + 1] */
OSLA_API void osla_even_blocks(int64_t n, int ranks, int64_t *start);

/* Makes a matrix of rows that every rank has for itself. Collective.
 *   row_start    [in]  [size + 1] from 0, none less than the one before; the same on all ranks
 *   column_start [in]  the same of the columns
 *   first        [in]  [rows + 1] where the entries of this rank's i-th row begin, from
 *                      first[0] = 0 on; they end before first[i + 1]
 *   column       [in]  [first[rows]] global indices, in any order; one that comes again in a row is
 *                      added to it
 *   value        [in]  [first[rows]]
 *   out          [out] owned by the caller
 * The lists are copied. Memory: 12 bytes an entry, 20 a row and 24 a ghost, and those of a forest.
 * Errors, on all ranks together: ARG (blocks that do not ascend; a list that falls; a column that
 * the matrix has not: row, column and rank named), RANGE (2^31 columns or ghosts on a rank), MEM,
 * MPI. */
OSLA_API osla_err osla_csr_create(osla_transport *transport, const int64_t *row_start,
                                  const int64_t *column_start, const int64_t *first,
                                  const int64_t *column, const double *value, osla_csr **out);

/* Collective. Accepts NULL and nulls the handle. On all ranks, and the matrix stays: STATE, where a
 * transfer of any forest of the transport is under way. */
OSLA_API osla_err osla_csr_destroy(osla_csr **matrix);

/* Local queries. Starts: [size + 1], borrowed. */
OSLA_API osla_transport *osla_csr_transport(const osla_csr *matrix); /* its object keeps it */
OSLA_API const int64_t *osla_csr_row_start(const osla_csr *matrix);
OSLA_API const int64_t *osla_csr_column_start(const osla_csr *matrix);
OSLA_API int64_t osla_csr_rows(const osla_csr *matrix);    /* of this rank */
OSLA_API int64_t osla_csr_columns(const osla_csr *matrix); /* of this rank */
OSLA_API int64_t osla_csr_entries(const osla_csr *matrix); /* of this rank */
OSLA_API int64_t osla_csr_ghosts(const osla_csr *matrix);  /* of this rank */

/* The entries of this rank's row-th row, their global columns ascending; returns how many. Local.
 *   row           [in]  0 .. rows - 1
 *   column, value [out] room for as many; or NULL */
OSLA_API int64_t osla_csr_row(const osla_csr *matrix, int64_t row, int64_t *column, double *value);

/* The same matrix under other numbers: element (i, j) becomes (number of i, number of j).
 * Collective.
 *   number [in]  [rows] of this rank's rows (which are its columns, too), each number given once
 *   start  [in]  [size + 1] blocks of the new numbers
 *   out    [out] owned by the caller; the matrix stays
 * Errors, on all ranks together: ARG (a number that there is not, or is given twice; rows and
 * columns in different blocks; blocks that end elsewhere), MEM, MPI, RANGE. */
OSLA_API osla_err osla_csr_renumber(osla_csr *matrix, const int64_t *number, const int64_t *start,
                                    osla_csr **out);

/* Matrices from matrices. Collective; *out is owned by the caller, those that it is made of stay.
 * The bits depend on the matrices and their blocks alone. Errors, on all ranks together: ARG (as
 * said), MEM, MPI, RANGE (as osla_csr_create).
 *
 * C := A B, rows distributed as A's, columns as B's. An entry that cancels stays, as 0. Memory: a
 * copy of this rank's rows of B while others fetch theirs; the rows of B that A's ghosts name,
 * twice. ARG: the columns of A are not distributed as the rows of B. */
OSLA_API osla_err osla_csr_multiply(osla_csr *a, osla_csr *b, osla_csr **out);

/* A^T, rows distributed as A's columns. */
OSLA_API osla_err osla_csr_transpose(osla_csr *a, osla_csr **out);

/* P^T (A P): A on the coarse space of a multigrid method whose prolongation is P. */
OSLA_API osla_err osla_csr_galerkin(osla_csr *a, osla_csr *p, osla_csr **out);

/* The rows and columns that are chosen, in that order: each rank gets the n_rows rows that it
 * names, and its n_columns columns are this rank's block of the new ones.
 *   row    [in] [n_rows] global numbers of A's, on any rank, any order, also again
 *   column [in] [n_columns] likewise, none twice on all ranks
 * ARG: a row or a column that A has not; a column that is named twice. */
OSLA_API osla_err osla_csr_submatrix(osla_csr *a, int64_t n_rows, const int64_t *row,
                                     int64_t n_columns, const int64_t *column, osla_csr **out);

/* y := op(A) x + beta y. Collective in the sense of the forests: a rank waits for the ranks alone
 * whose values it needs, and until those that need its own have read them.
 *   op   [in]  OSLA_NOTRANS, or OSLA_TRANS (OSLA_CONJTRANS is the same)
 *   x    [in]  [columns], of the transposed [rows]
 *   beta [in]  0: y is not read
 *   y    [out] [rows], of the transposed [columns]; not x
 * The bits depend on the matrix and the blocks alone. Errors: those of the forest's transfers. */
OSLA_API osla_err osla_spmv(osla_trans op, osla_csr *matrix, const double *x, double beta,
                            double *y);

/* d[j] := the sum of the squares in column j, of this rank's columns [columns]: the diagonal of
 * A^T A. Collective. Errors: as osla_spmv. */
OSLA_API osla_err osla_csr_column_squares(osla_csr *matrix, double *d);

/* d[j] := the 2-norm of column j, of this rank's columns [columns]. No square leaves the range of
 * double, so that 1 / d[j] can serve as `scale` of osla_lsqr where d[j] > 0. Collective. Memory: 8
 * bytes a column. Errors, on all ranks together: MEM; those of osla_spmv. */
OSLA_API osla_err osla_csr_column_norms(osla_csr *matrix, double *d);

/* d[i] := the element (i, i), of this rank's rows [rows]; 0 where there is none. Local. Errors: ARG
 * (blocks of rows and columns that differ). */
OSLA_API osla_err osla_csr_diagonal(const osla_csr *matrix, double *d);

#ifdef __cplusplus
}
#endif
#endif
