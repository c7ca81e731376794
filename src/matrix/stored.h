/* Where the elements of a matrix lie in the local arrays, for full and for triangular matrices
 * (internal).
 *
 * A full matrix has one leading dimension for all local columns of a rank, and a triangular matrix
 * has one for each local block column. Code that goes through the columns by runs of equal leading
 * dimension serves both:
 *
 *   for (int64_t c = from; c < to;) {
 *     const stored_columns s = osli_stored_columns(a, rank, c);
 *     const int64_t end = c + stored_rest(&s, c, to);
 *     // work on columns [c, end) from row s.first_row on; osli_stored_at gives addresses
 *     c = end;
 *   }
 */
#ifndef STORED_H
#define STORED_H

#include "osla_matrix.h"

/* A run of local columns of a rank that have one leading dimension. The element in local row
 * `row` >= first_row and local column c, first <= c < first + count, has the index
 * offset + row + (c - first) * ld in the local array of the rank. */
typedef struct stored_columns {
  int64_t first;     /* first local column of the run */
  int64_t count;     /* number of local columns */
  int64_t ld;        /* leading dimension; may be 0 if the rank stores no element of the run */
  int64_t offset;    /* index that local row 0 of column `first` would have; may be negative */
  int64_t first_row; /* first local row that is stored */
} stored_columns;

/* Returns the longest run that contains local column `col` of a rank, which is below the number of
 * local columns of the rank. Local, no communication. */
stored_columns osli_stored_columns(const osla_matrix *a, int rank, int64_t col);

/* Returns the number of columns in [col, to) that belong to the run. Column `col` must belong to
 * it. */
static inline int64_t stored_rest(const stored_columns *s, int64_t col, int64_t to)
{
  const int64_t end = s->first + s->count;
  return (end < to ? end : to) - col;
}

/* Returns the run for a part that begins at local row `row` and local column `col` of the matrix:
 * rows and columns of the result are counted from there. */
static inline stored_columns stored_shift(stored_columns s, int64_t row, int64_t col)
{
  s.first -= col;
  s.first_row -= row;
  s.offset += row;
  return s;
}

/* Index of a stored element in the local array. */
static inline int64_t stored_index(const stored_columns *s, int64_t row, int64_t col)
{
  return s->offset + row + (col - s->first) * s->ld;
}

/* Address of a stored element, of `element` bytes, in the local array that begins at `base`. */
unsigned char *osli_stored_at(void *base, const stored_columns *s, int64_t row, int64_t col,
                              size_t element);

#endif
