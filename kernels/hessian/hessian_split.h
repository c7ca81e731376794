/* Divides the indices of an update among the owners, and describes the pieces of an owner's part.
 * Contains only index arithmetic (internal). */
#ifndef OSLA_HESSIAN_SPLIT_H
#define OSLA_HESSIAN_SPLIT_H

#include "osla_error.h"
#include "osla_types.h"

#include <stddef.h>

/* The row indices or the column indices of an update, grouped by process row or process column.
 * Group p has the entries start[p] .. start[p + 1] - 1; within a group, global indices ascend. */
typedef struct index_split {
  int64_t *position; /* [count] position in the caller's list */
  int64_t *global;   /* [count] global index of each entry */
  int64_t *local;    /* [count] local index of each entry on its owner */
  int64_t *start;    /* [nprocs + 1] index of the first entry of each group */
  int *used;         /* [n_used] processes whose groups are not empty, ascending */
  int n_used;
  int64_t *sorted; /* [2 count] scratch: pairs (index, position) */
  int64_t capacity, nprocs;
} index_split;

/* Checks that a list passed by the caller has count >= 0 indices in [0, n). `name`: the argument's
 * name in error messages. Errors: ARG. */
osla_err osli_split_check(int64_t n, const char *name, int64_t count, const int64_t *ix);

/* Allocates memory to divide `count` indices among `nprocs` processes. Arrays that are large enough
 * are reused. Errors: MEM. */
osla_err osli_split_reserve(index_split *split, int64_t count, int nprocs);
void osli_split_free(index_split *split);

/* Bytes of an index_split for `count` indices and `nprocs` processes. */
size_t osli_split_bytes(int64_t count, int nprocs);

/* Groups the indices ix[0 .. count) by their owner among nprocs processes (block-cyclic). Takes
 * O(count) operations if ix is sorted, otherwise O(count log count). */
void osli_split_indices(index_split *split, int64_t count, const int64_t *ix, int64_t nb,
                        int nprocs);

/* Offset in bytes of element (row, col) in a column-major array. An int64_t suffices: a matrix of
 * order 5e6 has 2.5e13 elements. */
static inline size_t element_offset(int64_t row, int64_t col, int64_t ld, size_t element)
{
  return (size_t)(row + col * ld) * element;
}

/* Mask with the bit of the stripe that contains a local column. A stripe consists of all local
 * block columns with equal index modulo 64, which have one lock. */
static inline uint64_t column_stripe(int64_t local_col, int64_t nb)
{
  return UINT64_C(1) << (local_col / nb % 64);
}

/* Finds the part of the stored triangle in a rectangle. For each of `cols` ascending column
 * indices, [begin[c], end[c]) is the range of the ascending row indices that belong to the
 * triangle. OSLA_GENERAL: all rows belong to it. */
void osli_split_triangle(osla_uplo uplo, int64_t rows, const int64_t *row_global, int64_t cols,
                         const int64_t *col_global, int64_t *begin, int64_t *end);

/* A rectangle of the part of an update that belongs to one owner, restricted to the stored
 * triangle. Both index lists ascend by global index, so `begin` and `end` never decrease. Column c
 * holds rows [begin[c], end[c]) of the row list. */
typedef struct piece {
  int64_t rows, cols;
  const int64_t *row; /* [rows] local row index on the owner */
  const int64_t *col; /* [cols] local column index on the owner */
  /* [cols] column c of the piece contains the rows begin[c] to end[c] - 1 of the row list */
  const int64_t *begin, *end;
  /* If ld = 0, the columns of values are packed one after another. If ld > 0, element (r, c) has
   * index row_position[r] + col_position[c] * ld in `values`; a position list that is NULL stands
   * for 0, 1, 2, ... */
  const unsigned char *values;
  int64_t ld;
  const int64_t *row_position, *col_position;
} piece;

/* Returns the index in `values` of row 0 of column c. This value need not exist, because a packed
 * column begins with row begin[c]. If the piece is packed, `packed` is the number of values in all
 * columns before column c. */
static inline int64_t piece_column_start(const piece *p, int64_t c, int64_t packed)
{
  if (p->ld == 0) return packed - p->begin[c];
  return (p->col_position ? p->col_position[c] : c) * p->ld;
}

/* Returns the number of elements of a piece that lie in the stored triangle. */
int64_t osli_piece_elements(const piece *p);

/* Returns the mask of the stripes that a piece touches. nb: block size of H. */
uint64_t osli_piece_stripes(const piece *p, int64_t nb);

/* Returns the columns [from, from + cols) of a piece as a piece of their own. The values must not
 * be packed. */
piece osli_piece_columns(const piece *p, int64_t from, int64_t cols, size_t element);

#endif
