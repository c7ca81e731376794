/* A piece of an update (internal, pure). */
#ifndef OSLA_HESSIAN_PIECE_H
#define OSLA_HESSIAN_PIECE_H

#include <stddef.h>
#include <stdint.h>

/* A rectangle of the part of an update that belongs to one owner, restricted to the stored
 * triangle. Both index lists ascend by global index, so `begin` and `end` never decrease. Column c
 * holds rows [begin[c], end[c]) of the row list. */
typedef struct piece {
  int64_t rows, cols;
  const int64_t *row;         /* [rows] local row index on the owner */
  const int64_t *col;         /* [cols] local column index on the owner */
  const int64_t *begin, *end; /* [cols] range of rows that each column holds */
  /* If ld = 0, the columns of values are packed one after another. If ld > 0, element (r, c) has
   * index row_position[r] + col_position[c] * ld in `values`; a position list that is NULL stands
   * for 0, 1, 2, ... */
  const unsigned char *values;
  int64_t ld;
  const int64_t *row_position, *col_position;
} piece;

/* Returns the number of elements of a piece that lie in the stored triangle. */
int64_t osli_piece_elements(const piece *p);

/* Returns the mask of the stripes that a piece touches. nb: block size of H. */
uint64_t osli_piece_stripes(const piece *p, int64_t nb);

/* Returns the columns [from, from + cols) of a piece as a piece of their own. The values must not
 * be packed. */
piece osli_piece_columns(const piece *p, int64_t from, int64_t cols, size_t element);

#endif
