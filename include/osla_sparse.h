/* Sparse matrices distributed by rows, and their products with vectors (layer 3).
 *
 * A matrix is distributed over the ranks in blocks of consecutive rows; vectors are distributed in
 * blocks of rows (result of A x) or of columns (x). Rank p owns the rows row_start[p] ..
 * row_start[p + 1] - 1, and the columns likewise; for a square matrix both are usually equal. Each
 * rank stores its rows in two parts, each in compressed rows (CSR). The *diagonal part* has this
 * rank's columns. The columns of the other part are *ghosts*: values of other ranks, which a
 * product fetches through a star forest (osla_forest.h) while it multiplies the diagonal part. Each
 * ghost is fetched once. Values are doubles.
 *
 * A vector is an array of this rank's values in any memory. Memory of osla_vertices_create can be
 * read in place by other ranks of the node, and is faster for the vector that a product reads: x in
 * A x.
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

/* Divides n items into blocks for all ranks whose sizes differ by at most 1: rank p gets start[p]
 * .. start[p + 1] - 1. Local.
 *   n     [in]  >= 0
 *   ranks [in]  >= 1
 *   start [out] [ranks + 1] */
OSLA_API void osla_even_blocks(int64_t n, int ranks, int64_t *start);

/* Creates a matrix from the rows of each rank. Collective.
 *   row_start    [in]  [size + 1] first row of each rank, ascending from 0; equal on all ranks
 *   column_start [in]  [size + 1] first column of each rank, ascending from 0; equal on all ranks
 *   first        [in]  [rows + 1] entries of this rank's row i are first[i] .. first[i + 1] - 1;
 *                      first[0] = 0
 *   column       [in]  [first[rows]] global indices in any order; repeated entries of a row are
 *                      added
 *   value        [in]  [first[rows]] values of the entries
 *   out          [out] owned by the caller
 * The lists are copied. Memory: 12 bytes per entry, 20 per row and 24 per ghost, and that of a star
 * forest. Errors, on all ranks together: ARG (blocks or row pointers that do not ascend; a column
 * outside the matrix, with row, column and rank), RANGE (2^31 columns or ghosts on a rank), MEM,
 * MPI. */
OSLA_API osla_err osla_csr_create(osla_transport *transport, const int64_t *row_start,
                                  const int64_t *column_start, const int64_t *first,
                                  const int64_t *column, const double *value, osla_csr **out);

/* Destroys the matrix and sets the handle to NULL. Accepts NULL. Collective. Errors, on all ranks
 * together: STATE if a transfer of any forest of the transport is in flight; the matrix then
 * remains valid. */
OSLA_API osla_err osla_csr_destroy(osla_csr **matrix);

/* Local queries. row_start and column_start have size + 1 elements, and are borrowed. */
/* transport of the matrix; borrowed */
OSLA_API osla_transport *osla_csr_transport(const osla_csr *matrix);
OSLA_API const int64_t *osla_csr_row_start(const osla_csr *matrix);
OSLA_API const int64_t *osla_csr_column_start(const osla_csr *matrix);
OSLA_API int64_t osla_csr_rows(const osla_csr *matrix);    /* number of this rank's rows */
OSLA_API int64_t osla_csr_columns(const osla_csr *matrix); /* number of this rank's columns */
/* number of entries in this rank's rows */
OSLA_API int64_t osla_csr_entries(const osla_csr *matrix);
OSLA_API int64_t osla_csr_ghosts(const osla_csr *matrix); /* number of ghosts of this rank */

/* Returns the number of entries of this rank's row `row`, and its entries in ascending global
 * columns. Local.
 *   row           [in]  0 .. rows - 1
 *   column, value [out] room for all entries; may be NULL */
OSLA_API int64_t osla_csr_row(const osla_csr *matrix, int64_t row, int64_t *column, double *value);

/* Renumbers rows and columns: element (i, j) becomes element (number of i, number of j) of the new
 * matrix. Collective.
 *   number [in]  [rows] new numbers of this rank's rows (and columns), each given once
 *   start  [in]  [size + 1] first new number of each rank
 *   out    [out] owned by the caller; the old matrix stays
 * Errors, on all ranks together: ARG (a number out of range or given twice; different blocks of
 * rows and columns; blocks that do not end with the number of rows), MEM, MPI, RANGE. */
OSLA_API osla_err osla_csr_renumber(osla_csr *matrix, const int64_t *number, const int64_t *start,
                                    osla_csr **out);

/* Replaces the values of the entries; the pattern stays. Local. Objects that were made from the
 * matrix before the call (preconditioners, splittings, products, transposes, submatrices) keep the
 * old values.
 *   value [in] [osla_csr_entries] new values, row by row, each row in the order of osla_csr_row
 * Errors, on this rank: ARG (the matrix has a copy on a device; value is NULL). */
OSLA_API osla_err osla_csr_set_values(osla_csr *matrix, const double *value);

/* Computes C := A B. C has the distribution of the rows of A and of the columns of B (Gustavson,
 * ACM TOMS 4 (1978)). Collective; *out is owned by the caller. An entry whose products cancel
 * remains in C with the value 0. The bits of C depend only on the matrices and on the
 * distribution of their rows and columns. Each rank copies the rows of B that it needs from
 * their owners once; meanwhile it computes the rows of C that need no copied row. When the call
 * returns, the caller may change or destroy A and B. C stays valid, and may be a factor of a
 * further product. C holds the data that osla_csr_multiply_numeric needs. These data need, on a
 * rank: 12 bytes for each copied entry of B, 8 for each entry of B that other ranks copy from
 * this rank, 8 for each row of B, 8 for each column of B and ghost of C, 4 for each ghost of B,
 * 8 for each ghost of A, and a star forest and a segment for the copied entries. Errors, on all
 * ranks together: ARG (columns of A and rows of B are distributed differently), MEM, MPI, RANGE
 * (as osla_csr_create; or the number of columns of C on this rank, plus ghosts of B, plus other
 * columns of copied entries, is 2^31 or more). */
OSLA_API osla_err osla_csr_multiply(osla_csr *a, osla_csr *b, osla_csr **out);

/* Computes the values of C := A B again, after osla_csr_set_values has changed the values of A or
 * B. The bits of C are those that osla_csr_multiply would give. Collective.
 *   a, b [in]      the matrices from which osla_csr_multiply computed C
 *   c    [in, out] matrix from osla_csr_multiply, without a copy on a device
 * Errors, on all ranks together: ARG (C was not computed from a and b, or has a copy on a
 * device), and the errors of osla_spmv. */
OSLA_API osla_err osla_csr_multiply_numeric(osla_csr *a, osla_csr *b, osla_csr *c);

/* Computes the transpose A^T, whose rows are distributed like the columns of A. Collective; *out
 * is owned by the caller. Errors: as osla_csr_multiply. */
OSLA_API osla_err osla_csr_transpose(osla_csr *a, osla_csr **out);

/* Computes C := P^T (A P), the matrix A on the coarse grid of a multigrid method with
 * prolongation P. The rows and the columns of C are distributed like the columns of P.
 * Collective; *out is owned by the caller. Order of additions, lifetime of C and errors are as
 * in osla_csr_multiply. C holds the product A P, and memory for osla_csr_galerkin_numeric: that
 * of osla_csr_multiply for A P, 20 bytes for each entry of P, 12 for each entry of C that this
 * rank computes for another rank or receives, 8 for each row of P, 24 for each column of P, 28
 * for each ghost of P and for each row of contributions that this rank receives, and a second
 * star forest and segment. Source: Zhang et al., The PetscSF Scalable Communication Layer, IEEE
 * TPDS 2022, section 6.4. */
OSLA_API osla_err osla_csr_galerkin(osla_csr *a, osla_csr *p, osla_csr **out);

/* Computes the values of C := P^T (A P) again, after osla_csr_set_values has changed the values of
 * A or P. The bits of C are those that osla_csr_galerkin would give. Collective.
 *   a, p [in]      the matrices from which osla_csr_galerkin computed C
 *   c    [in, out] matrix from osla_csr_galerkin, without a copy on a device
 * Errors, on all ranks together: ARG (C was not computed from a and p, or has a copy on a
 * device), and the errors of osla_spmv. */
OSLA_API osla_err osla_csr_galerkin_numeric(osla_csr *a, osla_csr *p, osla_csr *c);

/* Extracts chosen rows and columns of A in the given order: each rank gets the n_rows rows that it
 * names, and its n_columns columns form its block of the columns of the result. Collective; *out is
 * owned by the caller.
 *   row    [in] [n_rows] global row numbers of A, of any rank, in any order; may be repeated
 *   column [in] [n_columns] global column numbers of A, each at most once on all ranks
 * Errors, on all ranks together: ARG (a row or column outside A; a repeated column), and the
 * errors of osla_csr_multiply. */
OSLA_API osla_err osla_csr_submatrix(osla_csr *a, int64_t n_rows, const int64_t *row,
                                     int64_t n_columns, const int64_t *column, osla_csr **out);

/* y := op(A) x + beta y. Collective like the transfers of forests: a rank waits only for ranks
 * whose values it needs, and until ranks that need its values have read them.
 *   op   [in]  OSLA_NOTRANS or OSLA_TRANS (OSLA_CONJTRANS has the same effect)
 *   x    [in]  [columns]; transposed: [rows]
 *   beta [in]  0: y is not read
 *   y    [out] [rows]; transposed: [columns]; must not be x
 * The bits of y depend only on the matrix and the blocks. Errors: those of the forest's
 * transfers. */
OSLA_API osla_err osla_spmv(osla_trans op, osla_csr *matrix, const double *x, double beta,
                            double *y);

/* d[j] := sum of the squares of column j, for this rank's columns [columns]; the diagonal of A^T A.
 * Collective. Errors: as osla_spmv. */
OSLA_API osla_err osla_csr_column_squares(osla_csr *matrix, double *d);

/* d[j] := 2-norm of column j, for this rank's columns [columns]. No square leaves the range of
 * double, so 1 / d[j] can serve as `scale` of osla_lsqr if d[j] > 0. Collective. Memory: 8 bytes
 * per column. Errors, on all ranks together: MEM; those of osla_spmv. */
OSLA_API osla_err osla_csr_column_norms(osla_csr *matrix, double *d);

/* d[i] := element (i, i) for this rank's rows [rows]; 0 if there is no entry. Local. Errors: ARG
 * (different blocks of rows and columns). */
OSLA_API osla_err osla_csr_diagonal(const osla_csr *matrix, double *d);

#ifdef __cplusplus
}
#endif
#endif
