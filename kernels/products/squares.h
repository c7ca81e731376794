/* What the products by halves share: the squares along the diagonal of a triangle, made whole
 * (internal). */
#ifndef PRODUCTS_SQUARES_H
#define PRODUCTS_SQUARES_H

#include "osla_part.h"

/* What stands where the triangle has nothing stored. */
typedef enum square_rest {
  SQUARE_ANY,       /* the matrix is not a triangle: it is taken as it is */
  SQUARE_SYMMETRIC, /* the mirror image */
  SQUARE_HERMITIAN, /* its conjugate; the diagonal is real */
  SQUARE_ZERO,
  SQUARE_ZERO_UNIT /* and the diagonal is 1 */
} square_rest;

/* to := `from`, whose rule is `rest` beside triangle `uplo`. `to` is a whole matrix of from's size
 * and type, which this rank fills its own part of, one-sided. Local; nothing orders the ranks.
 * Errors: ARG, MEM, MPI. */
osla_err osli_square_copy(const osla_part *from, osla_uplo uplo, square_rest rest, osla_matrix *to);

/* The order of the squares along the diagonal of a part: at least `least`, a multiple of its
 * blocks, and such that most of them lie on the ranks that have their elements, if that is not too
 * much. Local. */
int64_t osli_square_order(const osla_part *a, int64_t least);

/* Where a range [from, to) of more than one square is halved: at a multiple of the square's order
 * from the part's first row. Local. */
static inline int64_t square_half(int64_t from, int64_t to, int64_t order)
{
  const int64_t squares = (to - from + order - 1) / order;
  return from + (squares + 1) / 2 * order;
}

/* Rows [from, to) of a part, or columns. Local. */
static inline osla_part part_rows(osla_part p, int64_t from, int64_t to)
{
  return osla_part_at(p.matrix, p.i + from, p.j, to - from, p.n);
}

static inline osla_part part_cols(osla_part p, int64_t from, int64_t to)
{
  return osla_part_at(p.matrix, p.i, p.j + from, p.m, to - from);
}

#endif
