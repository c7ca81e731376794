/* Order-independent mode: H and the gradient are summed as fixed-point numbers (internal).
 *
 * A stripe is the set of an owner's block columns with equal index modulo 64. Between commits each
 * stripe is stored in doubles or in fixed point. The first update that adds to a stripe converts it
 * to fixed point while the stripe is locked; the commit converts all stripes back. Both conversions
 * are exact, so several commits give the same bits as one commit. A matrix of zeros counts as fixed
 * point from the start. If a program writes doubles into such a matrix before a commit, their bits
 * are read as fixed-point numbers beyond any bound, and the commit reports them. */
#ifndef OSLA_HESSIAN_EXACT_H
#define OSLA_HESSIAN_EXACT_H

#include "kernels/hessian/hessian_array.h"
#include "kernels/hessian/hessian_split.h"
#include "osla_hessian.h"

/* Checks the options of order-independent mode. Local. Errors: ARG (bound out of range),
 * UNSUPPORTED (any operation but a sum, or any type but double). */
osla_err osli_exact_check_options(const osla_hessian_options *options);

/* These functions create and free the state of order-independent mode. The matrix H must exist.
 * osli_exact_create is collective. */
osla_err osli_exact_create(osla_hessian *h);
void osli_exact_destroy(osla_hessian *h);

/* Converts the present contents of the matrix to fixed point, before the first update. Collective.
 * Errors, on all ranks together: RANGE (an element is beyond the bound; then the matrix is
 * unchanged). */
osla_err osli_exact_begin(osla_hessian *h);

/* Converts the stripes of an owner's part that a piece touches to fixed point. The caller holds the
 * locks of these stripes. Errors: those of work on the device of H. */
osla_err osli_exact_prepare(const osla_hessian *h, const piece *p, const owner_array *array);

/* Records as an offence the first refused element among rows [begin, end) of column c of a piece.
 * `column` is the index in `values` of the column's value in row 0. `sums` are the fixed-point
 * numbers in the column of the owner's part to which the piece was added. `values` and `sums` lie
 * in host memory. */
void osli_exact_record_refused(const osla_hessian *h, const piece *p, int64_t c, int64_t begin,
                               int64_t end, const unsigned char *values, int64_t column, int owner,
                               const int64_t *sums);

/* Adds an update to the gradient. The options must contain a bound for the gradient, and the caller
 * holds h->mutex. */
void osli_exact_add_gradient(osla_hessian *h, int64_t count, const int64_t *ix,
                             const double *values);

/* Converts H and the gradient back to doubles. Collective; all updates are complete. Errors, on all
 * ranks together: RANGE (an offence was recorded on some rank), MEM, MPI. */
osla_err osli_exact_commit(osla_hessian *h);

/* Returns OK, or, from a failed commit to the next reset, the error RANGE of that commit. Local. */
osla_err osli_exact_error(const osla_hessian *h);
void osli_exact_reset(osla_hessian *h);

/* The functions below are used by checkpoints, which store fixed-point numbers. No update may be
 * running. */

/* Returns RANGE if any rank has recorded an offence that makes the next commit fail. Collective. */
osla_err osli_exact_agree_error(osla_hessian *h);

/* osli_exact_doubles returns the mask of the stripes of this rank's part of H that are in doubles.
 * osli_exact_convert converts stripes of this rank's part, or of a copy of it, to fixed point or
 * back. Local. Errors: those of work on a device. */
uint64_t osli_exact_doubles(const osla_hessian *h);
osla_err osli_exact_convert(const osla_hessian *h, uint64_t stripes, bool to_fixed,
                            const owner_array *array);

/* sum [n] becomes the gradient in fixed point, summed over all ranks, with its committed and its
 * pending updates. Collective. Errors, on all ranks together: RANGE (a sum exceeds the range of
 * int64_t), MEM, MPI. */
osla_err osli_exact_sum_gradient(osla_hessian *h, int64_t *sum);

/* Sets the state after a restore: the matrix holds fixed-point numbers, and gradient [n] is the sum
 * over the ranks. Collective. */
osla_err osli_exact_restored(osla_hessian *h, const int64_t *gradient);

/* Products whose bits do not depend on grid and block size (hessian_chunks.c). */

/* A group of columns in the sorted list of indices, and the rows that belong to the triangle in
 * these columns. */
typedef struct chunk_group {
  int64_t row, rows, col, cols;
} chunk_group;

/* Makes the group that begins at column `col` and has as many columns as `limit` bytes allow.
 * `sorted`: [count] indices in ascending order. Pure. */
chunk_group osli_chunk_group(osla_uplo uplo, int64_t count, const int64_t *sorted, int64_t col,
                             size_t element, size_t limit);

/* Returns the largest number of bytes that a group's products take for `count` indices. Pure. */
size_t osli_chunk_bytes(int64_t count, size_t element, size_t limit);

/* Sets values (rows x cols of the group, leading dimension rows) to the products of the columns of
 * the panel (k x count, columns in sorted order). At least the elements in the triangle are set.
 * Local. Errors: RANGE. */
osla_err osli_chunk_products(const osla_hessian *h, int64_t count, const int64_t *sorted, int64_t k,
                             const unsigned char *panel, const chunk_group *group,
                             unsigned char *values);

#endif
