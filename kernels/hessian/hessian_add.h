/* A piece of an update, and how it gets into H (internal). */
#ifndef OSLA_HESSIAN_ADD_H
#define OSLA_HESSIAN_ADD_H

#include "osla_hessian.h"

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

/* Adds a piece to an owner's local array, and the stripes that it touches. */
void osli_piece_add(const osla_hessian *h, const piece *p, unsigned char *local, int64_t lld);
uint64_t osli_piece_stripes(const osla_hessian *h, const piece *p);
int64_t osli_piece_elements(const piece *p);

/* Columns [from, from + cols) of a piece, as a piece; of one that is not packed. */
piece osli_piece_columns(const piece *p, int64_t from, int64_t cols, size_t element);

#endif
