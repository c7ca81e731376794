/* Full copies of diagonal squares of a triangular or symmetric matrix. Each rank gets the elements
 * of its own blocks of the copy from the stored triangle. Memory: two blocks of the copy. */
#include "kernels/products/squares.h"
#include "kernels/common/local_view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Largest unit of which the order of a square is made a multiple, so that squares match the
 * distribution of the blocks. */
enum { MOST = 1024 };

static int64_t common_multiple(int64_t a, int64_t b)
{
  int64_t x = a, y = b;
  while (y) {
    const int64_t rest = x % y;
    x = y;
    y = rest;
  }
  return a / x > MOST / b ? MOST + 1 : a / x * b;
}

int64_t osli_square_order(const osla_part *a, int64_t least)
{
  const osla_layout l = osla_matrix_layout(a->matrix);
  int64_t step = MOST + 1;
  if (l.mb <= MOST && l.nb <= MOST) step = common_multiple(l.mb * l.nprow, l.nb * l.npcol);
  if (step > MOST) step = l.mb <= MOST ? l.mb : 1;
  return (least + step - 1) / step * step;
}

/* A block of the copy: rows [i, i + m) and columns [j, j + n) of the square. */
typedef struct block {
  int64_t i, j, m, n;
  unsigned char *at; /* address in this rank's part of the copy */
  int64_t ld;
} block;

typedef struct square_copy {
  const osla_part *from;
  osla_uplo uplo;
  square_rest rest;
  osla_dtype dtype;
  size_t element;
  unsigned char *mirror; /* room for the transpose of a block */
} square_copy;

static void set_one(osla_dtype dtype, unsigned char *element)
{
  memset(element, 0, osla_dtype_size(dtype));
  if (dtype == OSLA_FLOAT || dtype == OSLA_COMPLEX_FLOAT)
    *(float *)element = 1;
  else
    *(double *)element = 1;
}

static void conjugate(osla_dtype dtype, unsigned char *element)
{
  if (dtype == OSLA_COMPLEX_FLOAT) ((float *)element)[1] *= -1;
  if (dtype == OSLA_COMPLEX_DOUBLE) ((double *)element)[1] *= -1;
}

/* Fills those elements of a block of the copy that are not stored in the triangle, and corrects the
 * diagonal. */
static void fill_unstored(const square_copy *p, const block *b)
{
  for (int64_t c = 0; c < b->n; c++)
    for (int64_t r = 0; r < b->m; r++) {
      const int64_t below = b->i + r - (b->j + c);
      unsigned char *element = b->at + (size_t)(r + c * b->ld) * p->element;
      if (below == 0) {
        if (p->rest == SQUARE_ZERO_UNIT) set_one(p->dtype, element);
        if (p->rest == SQUARE_HERMITIAN) clear_imaginary(p->dtype, element);
      } else if ((below > 0) != (p->uplo == OSLA_LOWER)) {
        if (p->rest >= SQUARE_ZERO) {
          memset(element, 0, p->element);
        } else {
          memcpy(element, p->mirror + (size_t)(c + r * b->n) * p->element, p->element);
          if (p->rest == SQUARE_HERMITIAN) conjugate(p->dtype, element);
        }
      }
    }
}

static osla_err copy_square_block(const square_copy *p, const block *b)
{
  const osla_part *from = p->from;
  const int64_t most_below = b->i + b->m - 1 - b->j, least_below = b->i - (b->j + b->n - 1);
  const bool lower = p->uplo == OSLA_LOWER, whole = p->rest == SQUARE_ANY;
  const bool stored = whole || (lower ? most_below >= 0 : least_below <= 0);
  const bool missing = !whole && (lower ? least_below < 0 : most_below > 0);
  if (stored)
    OSLA_CALL(osla_matrix_get_block(from->matrix, from->i + b->i, from->j + b->j, b->m, b->n, b->at,
                                    b->ld));
  if (missing && p->rest < SQUARE_ZERO)
    OSLA_CALL(osla_matrix_get_block(from->matrix, from->i + b->j, from->j + b->i, b->n, b->m,
                                    p->mirror, b->n));
  if (!whole) fill_unstored(p, b);
  return OSLA_OK;
}

osla_err osli_square_copy(const osla_part *from, osla_uplo uplo, square_rest rest, osla_matrix *to)
{
  local_view v = view_of(to);
  trim_blocks(&v);
  square_copy p = {
    .from = from, .uplo = uplo, .rest = rest, .dtype = v.dtype, .element = v.element};
  if (v.rows == 0 || v.cols == 0) return OSLA_OK;
  if (rest == SQUARE_SYMMETRIC || rest == SQUARE_HERMITIAN) {
    p.mirror = malloc((size_t)(v.mb * v.nb) * v.element);
    OSLA_CHECK(p.mirror, OSLA_ERR_MEM, "a block of %" PRId64 " x %" PRId64 " elements", v.mb, v.nb);
  }
  osla_err err = OSLA_OK;
  for (int64_t c = 0, n; c < v.cols && err == OSLA_OK; c += n) {
    n = osla_index_run(c, v.cols, v.nb);
    for (int64_t r = 0, m; r < v.rows && err == OSLA_OK; r += m) {
      m = osla_index_run(r, v.rows, v.mb);
      const block b = {.i = osla_index_global(r, v.mb, v.prow, v.p),
                       .j = osla_index_global(c, v.nb, v.pcol, v.q),
                       .m = m,
                       .n = n,
                       .at = local_at(&v, r, c),
                       .ld = v.lld};
      err = copy_square_block(&p, &b);
    }
  }
  free(p.mirror);
  return err;
}
