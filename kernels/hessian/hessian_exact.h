/* Order-independent mode: H and the gradient are summed as fixed-point numbers (internal).
 *
 * Between commits each stripe of an owner (block columns with equal index modulo 64) is stored in
 * doubles or in fixed point. The first update that adds to a stripe converts it to fixed point
 * under the stripe's lock; the commit converts all stripes back. Both conversions are exact, so
 * several commits give the same bits as one. A matrix of zeros counts as fixed point from the
 * start; a program that writes doubles to it before a commit creates numbers beyond any bound,
 * which the commit reports. */
#ifndef OSLA_HESSIAN_EXACT_H
#define OSLA_HESSIAN_EXACT_H

#include "kernels/hessian/hessian_piece.h"
#include "osla_hessian.h"

/* Checks the options of order-independent mode. Local. Errors: ARG (bound out of range),
 * UNSUPPORTED (anything but sums into doubles). */
osla_err osli_exact_check_options(const osla_hessian_options *options);

/* Makes and frees the state of the mode; the matrix must exist. osli_exact_create is collective. */
osla_err osli_exact_create(osla_hessian *h);
void osli_exact_destroy(osla_hessian *h);

/* Converts the stripes of a piece to fixed point. The caller holds their locks. */
void osli_exact_prepare(const osla_hessian *h, const piece *p, unsigned char *local, int64_t lld);

/* Records the first refused element among rows [begin, end) of a piece's column c. `column`: index
 * of the value of row 0. */
void osli_exact_record_refused(const osla_hessian *h, const piece *p, int64_t c, int64_t begin,
                               int64_t end, int64_t column, const unsigned char *local,
                               int64_t lld);

/* Adds to the gradient, for which a bound was given. The caller holds h->mutex. */
void osli_exact_add_gradient(osla_hessian *h, int64_t count, const int64_t *ix,
                             const double *values);

/* Converts H and the gradient back to doubles. Collective; all updates are complete. Errors, on all
 * ranks together: RANGE (an offence was recorded on some rank), MEM, MPI. */
osla_err osli_exact_commit(osla_hessian *h);

/* Returns the RANGE error of a failed commit until the next reset, else OK. Local. */
osla_err osli_exact_error(const osla_hessian *h);
void osli_exact_reset(osla_hessian *h);

/* The calls below serve checkpoints, which store fixed-point numbers. No update is running. */

/* Returns RANGE if any rank has recorded an offence that makes the next commit fail. Collective. */
osla_err osli_exact_agree_error(osla_hessian *h);

/* osli_exact_doubles returns the stripes of this rank's part that are in doubles.
 * osli_exact_convert converts stripes of this rank's part, or of a copy, to fixed point or back.
 * Local. */
uint64_t osli_exact_doubles(const osla_hessian *h);
void osli_exact_convert(const osla_hessian *h, uint64_t stripes, bool to_fixed,
                        unsigned char *local, int64_t lld);

/* sum [n] := gradient over all ranks, committed and pending, in fixed point. Collective. Errors, on
 * all ranks together: RANGE (beyond an int64_t), MEM, MPI. */
osla_err osli_exact_sum_gradient(osla_hessian *h, int64_t *sum);

/* Takes over a restored state: the matrix holds fixed-point numbers, and gradient [n] is the sum
 * over the ranks. Collective. */
osla_err osli_exact_restored(osla_hessian *h, const int64_t *gradient);

/* Products whose bits do not depend on grid and block size (hessian_chunks.c). */

/* A group of columns of the sorted list, and the rows of their triangle. */
typedef struct chunk_group {
  int64_t row, rows, col, cols;
} chunk_group;

/* Makes the group of as many columns from `col` on as `limit` bytes allow. `sorted`: [count]
 * indices, ascending. Pure. */
chunk_group osli_chunk_group(osla_uplo uplo, int64_t count, const int64_t *sorted, int64_t col,
                             size_t element, size_t limit);

/* Returns the largest number of bytes of a group's products for `count` indices. Pure. */
size_t osli_chunk_bytes(int64_t count, size_t element, size_t limit);

/* values (rows x cols of the group, ld = rows) := products of the columns of the panel (k x count,
 * in sorted order), at least in the triangle. Local. Errors: RANGE. */
osla_err osli_chunk_products(const osla_hessian *h, int64_t count, const int64_t *sorted, int64_t k,
                             const unsigned char *panel, const chunk_group *group,
                             unsigned char *values);

#endif
