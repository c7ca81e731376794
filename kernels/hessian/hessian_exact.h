/* Order-independent mode: H and the gradient are summed as whole numbers (internal).
 *
 * Between commits an owner's stripe (block columns, modulo 64) is in doubles or in fixed point.
 * The first update that adds to it turns it into fixed point, under the stripe's lock; the commit
 * turns all back. Both are exact, so that several commits give the bits of one. A matrix of zeros
 * is in fixed point from the start; who writes doubles to it before a commit gets numbers beyond
 * any bound, which the commit reports.
 */
#ifndef OSLA_HESSIAN_EXACT_H
#define OSLA_HESSIAN_EXACT_H

#include "kernels/hessian/hessian_piece.h"
#include "osla_hessian.h"

/* Local. Errors: ARG (no such bound), UNSUPPORTED (not sums into doubles). */
osla_err osli_exact_check_options(const osla_hessian_options *options);

/* The state, behind the matrix; the former is collective. */
osla_err osli_exact_create(osla_hessian *h);
void osli_exact_destroy(osla_hessian *h);

/* Brings the stripes of a piece into fixed point; the caller holds them. */
void osli_exact_prepare(const osla_hessian *h, const piece *p, unsigned char *local, int64_t lld);

/* Something in rows [begin, end) of a piece's column c was refused: finds and keeps the first. Its
 * value 0 is values[column]. */
void osli_exact_record_refused(const osla_hessian *h, const piece *p, int64_t c, int64_t begin,
                               int64_t end, int64_t column, const unsigned char *local,
                               int64_t lld);

/* Adds to the gradient, which has a bound; the caller holds the mutex of h. */
void osli_exact_add_gradient(osla_hessian *h, int64_t count, const int64_t *ix,
                             const double *values);

/* H and the gradient in doubles again. Collective; all updates are in. Errors, on all ranks
 * together: RANGE (what was kept on any rank), MEM, MPI. */
osla_err osli_exact_commit(osla_hessian *h);

/* RANGE again after a commit that failed, until a reset. Local. */
osla_err osli_exact_error(const osla_hessian *h);
void osli_exact_reset(osla_hessian *h);

/* For checkpoints, which hold whole numbers; no update is under way. */

/* RANGE if a rank has met what makes the next commit fail. Collective. */
osla_err osli_exact_agree_error(osla_hessian *h);

/* Stripes of my part that are in doubles; and such stripes of my part, or of a copy of it, to whole
 * numbers and back. Local. */
uint64_t osli_exact_doubles(const osla_hessian *h);
void osli_exact_convert(const osla_hessian *h, uint64_t stripes, bool to_fixed,
                        unsigned char *local, int64_t lld);

/* sum [n] := the gradient over all ranks, with what was committed. Collective. Errors, on all ranks
 * together: RANGE (beyond an int64_t), MEM, MPI. */
osla_err osli_exact_sum_gradient(osla_hessian *h, int64_t *sum);

/* The matrix was filled with whole numbers; gradient [n] is their sum. Collective. */
osla_err osli_exact_restored(osla_hessian *h, const int64_t *gradient);

/* hessian_chunks.c: products of G that no grid and no block size changes. */

/* A group of columns of the sorted list, and the rows that their triangle asks for. */
typedef struct chunk_group {
  int64_t row, rows, col, cols;
} chunk_group;

/* Columns [col, ...) of `sorted` ([count], ascending), as many as limit bytes allow. Pure. */
chunk_group osli_chunk_group(osla_uplo uplo, int64_t count, const int64_t *sorted, int64_t col,
                             size_t element, size_t limit);

/* The most bytes of a group's products for lists of `count`. Pure. */
size_t osli_chunk_bytes(int64_t count, size_t element, size_t limit);

/* values (rows x cols of the group, ld = rows) := products of the columns of the panel (k x count,
 * in sorted order), at least in the triangle. Local. Errors: RANGE. */
osla_err osli_chunk_products(const osla_hessian *h, int64_t count, const int64_t *sorted, int64_t k,
                             const unsigned char *panel, const chunk_group *group,
                             unsigned char *values);

#endif
