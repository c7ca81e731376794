/* A piece of an update (internal, pure). */
#ifndef OSLA_HESSIAN_PIECE_H
#define OSLA_HESSIAN_PIECE_H

#include <stddef.h>
#include <stdint.h>

/* A rectangle of an update's part for one owner, restricted to the stored triangle. Both index
 * lists ascend by global index, so begin and end never decrease with the column. Column c holds
 * rows [begin[c], end[c]) of the row list. */
typedef struct piece {
  int64_t rows, cols;
  const int64_t *row;          /* [rows] local row index on the owner */
  const int64_t *col;          /* [cols] local column index on the owner */
  const int64_t *begin, *end;  /* [cols] range of each column in the row list */
  const unsigned char *values; /* element (r, c) at index r + c * ld; if ld = 0, columns are packed
                                * one after another */
  int64_t ld;
  /* ld > 0: element (r, c) is at row_position[r] + col_position[c] * ld; NULL: at r, at c */
  const int64_t *row_position, *col_position;
} piece;

/* For ld > 0: element (r, c) is at index row_position[r] + col_position[c] * ld. NULL stands for
 * the identity. */
int64_t osli_piece_elements(const piece *p);

/* Mask of the stripes that a piece touches; nb: block size of H. */
uint64_t osli_piece_stripes(const piece *p, int64_t nb);

/* Columns [from, from + cols) of a piece whose values are not packed, as a piece. */
piece osli_piece_columns(const piece *p, int64_t from, int64_t cols, size_t element);

#endif
