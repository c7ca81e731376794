/* Which process owns which indices of an update: pure index arithmetic (internal). */
#ifndef OSLA_HESSIAN_SPLIT_H
#define OSLA_HESSIAN_SPLIT_H

#include "osla_error.h"
#include "osla_types.h"

#include <stddef.h>

/* One side (rows or columns) of an update, grouped by process; inside a group ascending by global
 * index. Group p is [start[p], start[p + 1]). */
typedef struct index_split {
  int64_t *position; /* [count] position in the caller's list */
  int64_t *global;   /* [count] */
  int64_t *local;    /* [count] local index on the owner */
  int64_t *start;    /* [nprocs + 1] */
  int *used;         /* [n_used] the processes whose groups are not empty, ascending */
  int n_used;
  int64_t *sorted; /* [count] scratch */
  int64_t capacity, nprocs;
} index_split;

/* Checks a caller's list of indices below n. `name` is the argument's, for messages. Errors: ARG.
 */
osla_err osli_split_check(int64_t n, const char *name, int64_t count, const int64_t *ix);

/* Makes room; the arrays are kept between calls. Errors: MEM. */
osla_err osli_split_reserve(index_split *split, int64_t count, int nprocs);
void osli_split_free(index_split *split);

/* Bytes of such room. */
size_t osli_split_bytes(int64_t count, int nprocs);

/* Groups ix[0 .. count) by the block-cyclic owner among nprocs processes. O(count) when ix is
 * sorted, O(count log count) otherwise. */
void osli_split_indices(index_split *split, int64_t count, const int64_t *ix, int64_t nb,
                        int nprocs);

/* Bytes from the start of a column-major array to element (row, col). All indices of a matrix of
 * 5e6 x 5e6 elements are far from the limits of int64_t. */
static inline size_t element_offset(int64_t row, int64_t col, int64_t ld, size_t element)
{
  return (size_t)(row + col * ld) * element;
}

/* The bit of the stripe that guards a local column: block columns, modulo 64. */
static inline uint64_t column_stripe(int64_t local_col, int64_t nb)
{
  return UINT64_C(1) << (local_col / nb % 64);
}

/* The triangle inside a part (all of it for OSLA_GENERAL): for each of `cols` ascending column
 * indices the range [begin[c], end[c]) of the ascending row indices that belongs to it. */
void osli_split_triangle(osla_uplo uplo, int64_t rows, const int64_t *row_global, int64_t cols,
                         const int64_t *col_global, int64_t *begin, int64_t *end);

#endif
