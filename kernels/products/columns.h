/* Column vectors of a product whose matrix is not moved (internal).
 *
 * Each rank has copies of both whole vectors. It uses the elements of x that belong to its part of
 * A. It adds its contributions to its copy of y, and the copies are summed over the ranks. */
#ifndef PRODUCTS_COLUMNS_H
#define PRODUCTS_COLUMNS_H

#include "kernels/common/local_view.h"
#include "osla_part.h"

/* The elements of a part of A that this rank owns, called a piece. */
typedef struct local_piece {
  local_view v;
  int64_t i;    /* row of the matrix at which the part begins */
  int64_t j;    /* column of the matrix at which the part begins */
  int64_t row;  /* first local row of the piece */
  int64_t col;  /* first local column of the piece */
  int64_t rows; /* number of local rows of the piece */
  int64_t cols; /* number of local columns of the piece */
} local_piece;

local_piece osli_local_piece_of(const osla_part *a);

/* These functions return the index, within the part, of row l of the piece or of column l of the
 * piece. osli_piece_rows_before returns the number of rows of the piece that precede index i of the
 * part. */
int64_t osli_piece_row(const local_piece *a, int64_t l);
int64_t osli_piece_col(const local_piece *a, int64_t l);
int64_t osli_piece_rows_before(const local_piece *a, int64_t i);

/* Operand that begins with element (row, col) of the piece. It must not extend beyond the columns
 * that osli_piece_run counts, and in a triangular matrix not above the diagonal block. */
static inline operand piece_operand(const local_piece *a, int64_t row, int64_t col)
{
  return local_operand(&a->v, a->row + row, a->col + col);
}

/* Returns the number of columns of the piece, from column `col` on, that have one leading
 * dimension. */
int64_t osli_piece_run(const local_piece *a, int64_t col);

/* Either copies the elements of a whole column that correspond to the rows (or columns) of the
 * piece to `local`, or adds `local` to these elements. */
typedef enum piece_axis { PIECE_ROWS, PIECE_COLS } piece_axis;
void osli_columns_gather(const local_piece *a, piece_axis axis, const void *whole, void *local);
void osli_columns_add(const local_piece *a, piece_axis axis, const void *local, void *whole);

/* Gets all elements of column x. Local, one-sided. Errors: MEM, MPI. */
osla_err osli_column_get(const osla_part *x, void *whole);

/* y := (sum of `whole` over all ranks) + beta y. Overwrites `whole`. Collective. Errors: MPI. */
osla_err osli_column_sum(void *whole, osla_complex beta, const osla_part *y);

#endif
