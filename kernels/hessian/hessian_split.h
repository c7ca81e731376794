/* Splits the indices of an update by owner: pure index arithmetic (internal). */
#ifndef OSLA_HESSIAN_SPLIT_H
#define OSLA_HESSIAN_SPLIT_H

#include "osla_error.h"
#include "osla_types.h"

#include <stddef.h>

/* One side (rows or columns) of an update, grouped by process row or column. Group p is [start[p],
 * start[p + 1]); within a group global indices ascend. */
typedef struct index_split {
  int64_t *position; /* [count] index in the caller's list */
  int64_t *global;   /* [count] global index */
  int64_t *local;    /* [count] local index on the owner */
  int64_t *start;    /* [nprocs + 1] first entry of each group */
  int *used;         /* [n_used] processes whose groups are not empty, ascending */
  int n_used;
  int64_t *sorted; /* [2 count] scratch: pairs of index and position */
  int64_t capacity, nprocs;
} index_split;

/* Checks that a caller's list has count >= 0 indices in [0, n). `name`: the argument's name for
 * messages. Errors: ARG. */
osla_err osli_split_check(int64_t n, const char *name, int64_t count, const int64_t *ix);

/* Allocates room for `count` indices of `nprocs` processes; larger arrays are reused. Errors: MEM.
 */
osla_err osli_split_reserve(index_split *split, int64_t count, int nprocs);
void osli_split_free(index_split *split);

/* Bytes of a split for `count` indices of `nprocs` processes. */
size_t osli_split_bytes(int64_t count, int nprocs);

/* Groups ix[0 .. count) by block-cyclic owner among nprocs processes. O(count) if ix is sorted,
 * else O(count log count). */
void osli_split_indices(index_split *split, int64_t count, const int64_t *ix, int64_t nb,
                        int nprocs);

/* Offset in bytes of element (row, col) in a column-major array. int64_t suffices: a matrix of
 * order 5e6 has 2.5e13 elements. */
static inline size_t element_offset(int64_t row, int64_t col, int64_t ld, size_t element)
{
  return (size_t)(row + col * ld) * element;
}

/* Mask with the bit of the stripe that contains a local column. A stripe is all block columns with
 * equal index modulo 64; it has one lock. */
static inline uint64_t column_stripe(int64_t local_col, int64_t nb)
{
  return UINT64_C(1) << (local_col / nb % 64);
}

/* Finds the triangle inside a part (all of it for OSLA_GENERAL): for each of `cols` ascending
 * column indices, the range [begin[c], end[c]) of the ascending row indices that belong to it. */
void osli_split_triangle(osla_uplo uplo, int64_t rows, const int64_t *row_global, int64_t cols,
                         const int64_t *col_global, int64_t *begin, int64_t *end);

#endif
