/* Columns (vectors) of a product whose matrix stays where it is (internal).
 *
 * Each rank has both columns whole: of x what it needs in the order of its own part of A, of y what
 * it adds, which is summed up over the ranks.
 */
#ifndef PRODUCTS_COLUMNS_H
#define PRODUCTS_COLUMNS_H

#include "kernels/common/local_view.h"
#include "osla_part.h"

/* This rank's piece of a part of A. */
typedef struct local_piece {
  local_view v;
  int64_t i, j;       /* of the part in its matrix */
  int64_t row, col;   /* first local row, column */
  int64_t rows, cols; /* how many */
} local_piece;

local_piece osli_local_piece_of(const osla_part *a);

/* Index in the part of the piece's row or column l; number of the piece's rows before index i. */
int64_t osli_piece_row(const local_piece *a, int64_t l);
int64_t osli_piece_col(const local_piece *a, int64_t l);
int64_t osli_piece_rows_before(const local_piece *a, int64_t i);

static inline unsigned char *piece_at(const local_piece *a, int64_t row, int64_t col)
{
  return local_at(&a->v, a->row + row, a->col + col);
}

/* Values by the piece's rows (or columns) out of a whole column, or added to one. */
typedef enum piece_axis { PIECE_ROWS, PIECE_COLS } piece_axis;
void osli_columns_gather(const local_piece *a, piece_axis axis, const void *whole, void *local);
void osli_columns_add(const local_piece *a, piece_axis axis, const void *local, void *whole);

/* All of column x. Local, one-sided. Errors: MEM, MPI. */
osla_err osli_column_get(const osla_part *x, void *whole);

/* y := the sum of all ranks' `whole` + beta y; `whole` is overwritten. Collective. Errors: MPI. */
osla_err osli_column_sum(void *whole, osla_complex beta, const osla_part *y);

#endif
