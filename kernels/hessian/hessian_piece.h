/* A piece of an update (internal, pure). */
#ifndef OSLA_HESSIAN_PIECE_H
#define OSLA_HESSIAN_PIECE_H

#include <stddef.h>
#include <stdint.h>

/* A rectangle of an update's part for one owner, restricted to the triangle. Both lists ascend by
 * global index, so that begin and end never fall. Column c holds rows [begin[c], end[c]) of the row
 * list; its values start at values + offset(c), one after the other. */
typedef struct piece {
  int64_t rows, cols;
  const int64_t *row;          /* [rows] local row index on the owner */
  const int64_t *col;          /* [cols] local column index */
  const int64_t *begin, *end;  /* [cols] */
  const unsigned char *values; /* element (r, c) at r + c * ld; or, ld = 0, packed by columns */
  int64_t ld;
  /* ld > 0: element (r, c) is at row_position[r] + col_position[c] * ld; NULL: at r, at c */
  const int64_t *row_position, *col_position;
} piece;

/* Number of elements of a piece. */
int64_t osli_piece_elements(const piece *p);

/* Mask of the stripes that a piece touches; nb: block size of H. */
uint64_t osli_piece_stripes(const piece *p, int64_t nb);

/* Columns [from, from + cols) of a piece whose values are not packed, as a piece. */
piece osli_piece_columns(const piece *p, int64_t from, int64_t cols, size_t element);

#endif
