/* Index arithmetic of the triangular layout, by pure functions without MPI (internal).
 *
 * The lower triangle of an n x n matrix in blocks of nb x nb has the owners, the local rows and the
 * local columns of the block-cyclic layout. A process stores of each local block column the rows at
 * or below the diagonal block, as one column-major array whose leading dimension is the number of
 * these rows. The arrays of the local block columns follow one another without a gap. Diagonal
 * blocks are stored whole.
 *
 * Requirements: 0 <= n <= TRIANGLE_LARGEST, nb >= 1, and a position (prow, pcol) in the grid of
 * nprow x npcol processes, or prow = pcol = -1 for a process that owns nothing. */
#ifndef TRIANGLE_H
#define TRIANGLE_H

#include "osla_index.h"

#include <stddef.h>

/* Largest order n for which n * n fits an int64_t. */
#define TRIANGLE_LARGEST INT64_C(3037000499)

/* The share of the process at position (prow, pcol) of the triangle of an n x n matrix. */
typedef struct triangle_share {
  int64_t n, /* order of the matrix */
    nb;      /* block size; at most max(n, 1), since larger blocks give the same distribution */
  int nprow, npcol, prow, pcol;
  int64_t rows, /* number of local rows, as if the process stored the whole matrix */
    cols;       /* number of local columns */
} triangle_share;

/* One local block column. The element in local row r >= first and in column c of the block column
 * (from 0) has the index offset + (r - first) + c * height in the local array. */
typedef struct triangle_column {
  int64_t first;  /* first stored local row; equal to `rows` of the share if no row is stored */
  int64_t height; /* number of stored rows; also the leading dimension */
  int64_t offset; /* number of elements before the block column in the local array */
} triangle_column;

static inline triangle_share triangle_share_of(int64_t n, int64_t nb, int nprow, int npcol,
                                               int prow, int pcol)
{
  if (nb > n) nb = n > 1 ? n : 1;
  return (triangle_share){.n = n,
                          .nb = nb,
                          .nprow = nprow,
                          .npcol = npcol,
                          .prow = prow,
                          .pcol = pcol,
                          .rows = osla_index_count(n, nb, prow, nprow),
                          .cols = osla_index_count(n, nb, pcol, npcol)};
}

/* Returns the sum of floor((start + k * step) / divisor) over k = 0 .. count - 1. No argument may
 * be negative, and divisor >= 1. The sum counts the points with integer coordinates below a line.
 * An exchange of the two axes swaps step and divisor, so that the loop has as many rounds as
 * Euclid's algorithm for step and divisor. Source: Graham, Knuth, Patashnik, Concrete Mathematics
 * (Addison-Wesley 1994), section 3.5. */
static inline int64_t triangle_floor_sum(int64_t count, int64_t start, int64_t step,
                                         int64_t divisor)
{
  int64_t sum = 0;
  while (count > 0) {
    sum += count * (count - 1) / 2 * (step / divisor) + count * (start / divisor);
    step %= divisor;
    const int64_t end = start % divisor + count * step, old = divisor;
    count = end / divisor;
    start = end % divisor;
    divisor = step;
    step = old;
  }
  return sum;
}

/* Returns local block column c (from 0) of a share. Requires c * nb < cols. */
static inline triangle_column triangle_column_at(const triangle_share *s, int64_t c)
{
  const int64_t first =
    osla_index_count((c * s->npcol + s->pcol) * s->nb, s->nb, s->prow, s->nprow);
  /* Local block column k begins at block k * npcol + pcol of the diagonal. The process owns
   * floor((k * npcol + pcol - prow + nprow - 1) / nprow) block rows above this block. `above` is
   * the sum of these numbers over k = 0 .. c - 1. */
  const int64_t above = triangle_floor_sum(c, s->pcol - s->prow + s->nprow - 1, s->npcol, s->nprow);
  return (triangle_column){
    .first = first, .height = s->rows - first, .offset = (c * s->rows - above * s->nb) * s->nb};
}

/* Returns the index in the local array of the element with local indices (row, col), which the
 * process must store. */
static inline int64_t triangle_offset(const triangle_share *s, int64_t row, int64_t col)
{
  const triangle_column c = triangle_column_at(s, col / s->nb);
  return c.offset + row - c.first + col % s->nb * c.height;
}

/* Returns the number of elements that the process stores. */
static inline int64_t triangle_elements(const triangle_share *s)
{
  if (s->rows == 0 || s->cols == 0) return 0;
  const triangle_column last = triangle_column_at(s, (s->cols - 1) / s->nb);
  return last.offset + ((s->cols - 1) % s->nb + 1) * last.height;
}

/* Returns the number of bytes that the process stores if an element has `element` bytes. Returns
 * SIZE_MAX, which every memory check refuses, if the order is above TRIANGLE_LARGEST or the bytes
 * exceed any memory. */
static inline size_t triangle_bytes(const triangle_share *s, size_t element)
{
  size_t bytes;
  if (s->n > TRIANGLE_LARGEST) return SIZE_MAX;
  return __builtin_mul_overflow((size_t)triangle_elements(s), element, &bytes) ? SIZE_MAX : bytes;
}

#endif
