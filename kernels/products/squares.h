/* Full copies of the squares along the diagonal of a triangle, for products that halve the triangle
 * recursively (internal). */
#ifndef PRODUCTS_SQUARES_H
#define PRODUCTS_SQUARES_H

#include "osla_part.h"

/* Values of the elements outside the stored triangle. */
typedef enum square_rest {
  SQUARE_ANY,       /* all elements are stored */
  SQUARE_SYMMETRIC, /* transpose of the stored triangle */
  SQUARE_HERMITIAN, /* conjugate transpose; the diagonal is real */
  SQUARE_ZERO,
  SQUARE_ZERO_UNIT /* zeros, and the diagonal is 1 */
} square_rest;

/* Copies this rank's part of the full square: to := `from`, where `uplo` is the stored triangle and
 * `rest` defines the other elements. `to` is a whole matrix of the size and type of `from`. Local,
 * one-sided; the caller must synchronise the ranks. Errors: ARG, MEM, MPI. */
osla_err osli_square_copy(const osla_part *from, osla_uplo uplo, square_rest rest, osla_matrix *to);

/* Order of the squares along the diagonal of a part: at least `least`, a multiple of the block
 * size, and if possible such that most squares are copied without communication. Local. */
int64_t osli_square_order(const osla_part *a, int64_t least);

/* Index at which a range [from, to) of more than one square is halved. Its distance from the
 * beginning of the range is a multiple of the order of a square. Local. */
static inline int64_t square_half(int64_t from, int64_t to, int64_t order)
{
  const int64_t squares = (to - from + order - 1) / order;
  return from + (squares + 1) / 2 * order;
}

/* Returns rows, or columns, [from, to) of a part. Local. */
static inline osla_part part_rows(osla_part p, int64_t from, int64_t to)
{
  return osla_part_at(p.matrix, p.i + from, p.j, to - from, p.n);
}

static inline osla_part part_cols(osla_part p, int64_t from, int64_t to)
{
  return osla_part_at(p.matrix, p.i, p.j + from, p.m, to - from);
}

#endif
