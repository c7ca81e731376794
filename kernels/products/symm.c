/* osla_symm and osla_hemm: C := alpha A B + beta C, where one triangle of A is stored.
 *
 * First, each square along the diagonal is copied in full to a small matrix and multiplied; these
 * products apply beta. Then the triangle is halved recursively: the rectangle X between two halves
 * of the indices adds X B to one half of C, and X^T B to the other half. So nearly all work is in
 * few large products. Memory: one square, distributed over all ranks.
 *
 * In a triangular matrix A (osla_matrix_create_triangle), block columns have different leading
 * dimensions, which operands of osla_gemm must not have. Therefore the rows below each square are
 * copied to a full matrix, which is then the rectangle X. Memory: also the copy of about 512
 * columns. */
#include "kernels/common/local_view.h"
#include "kernels/common/part_operand.h"
#include "kernels/gemm/gemm.h"
#include "kernels/products/product_check.h"
#include "kernels/products/squares.h"
#include "osla_products.h"
#include "src/base/double_bits.h"
#include "src/base/reserved.h"
#include "src/matrix/memory_kind.h"
#include "src/matrix/part_checks.h"

#include <inttypes.h>

enum { SQUARE = 512 }; /* least order of the squares along the diagonal */

typedef struct symm {
  const char *call; /* name of the public function */
  bool left, hermitian;
  osla_side side;
  osla_uplo uplo;
  osla_complex alpha, beta;
  osla_part a, b, c;
  const osla_gemm_options *options;
  osla_matrix *square;
  int64_t order; /* largest order of a square */
} symm;

/* Rows or columns [from, to) of B or C: rows if A is on the left, otherwise columns. */
static osla_part slice(const symm *s, osla_part p, int64_t from, int64_t to)
{
  return s->left ? part_rows(p, from, to) : part_cols(p, from, to);
}

static osla_err multiply(const symm *s, osla_trans trans, osla_part x, osla_part b,
                         osla_complex beta, osla_part c)
{
  return s->left ? osli_gemm_for(s->call, trans, OSLA_NOTRANS, s->alpha, x, b, beta, c, s->options)
                 : osli_gemm_for(s->call, OSLA_NOTRANS, trans, s->alpha, b, x, beta, c, s->options);
}

static osla_err multiply_square(const symm *s, int64_t from, int64_t to)
{
  const osla_part stored =
    osla_part_at(s->a.matrix, s->a.i + from, s->a.j + from, to - from, to - from);
  osla_transport *t = osla_grid_transport(osla_matrix_grid(s->a.matrix));
  const square_rest rest = s->hermitian ? SQUARE_HERMITIAN : SQUARE_SYMMETRIC;
  const osla_layout l = osla_matrix_layout(s->a.matrix);
  osla_matrix *square = s->square;
  osla_err err;
  if (to - from < s->order) /* the last square may be smaller */
    OSLA_CALL(osla_matrix_create(osla_matrix_grid(s->a.matrix), osla_matrix_dtype(s->a.matrix),
                                 to - from, to - from, l.mb, l.nb, &square));
  OSLA_TRY(osla_agree(t, osli_square_copy(&stored, s->uplo, rest, square)));
  OSLA_TRY(multiply(s, OSLA_NOTRANS, osla_whole(square), slice(s, s->b, from, to), s->beta,
                    slice(s, s->c, from, to)));
cleanup:
  if (square != s->square) osla_matrix_destroy(&square);
  return err;
}

/* Adds the products with x, the rectangle of A between the indices [from, half) and [half, to), and
 * with the transpose of x. */
static osla_err multiply_between(const symm *s, osla_part x, int64_t from, int64_t half, int64_t to)
{
  const bool lower = s->uplo == OSLA_LOWER;
  const osla_trans transposed = s->hermitian ? OSLA_CONJTRANS : OSLA_TRANS;
  const osla_part b_low = slice(s, s->b, from, half), b_high = slice(s, s->b, half, to);
  const osla_part c_low = slice(s, s->c, from, half), c_high = slice(s, s->c, half, to);
  /* true if the rectangle X itself, not its transpose, multiplies the first half of B, and the
   * product is added to the second half of C */
  const bool straight = lower == s->left;
  OSLA_CALL(multiply(s, straight ? OSLA_NOTRANS : transposed, x, b_low, 1, c_high));
  return multiply(s, straight ? transposed : OSLA_NOTRANS, x, b_high, 1, c_low);
}

static osla_err multiply_range(const symm *s, int64_t from, int64_t to)
{
  if (to - from <= s->order) return multiply_square(s, from, to);
  const int64_t half = square_half(from, to, s->order);
  OSLA_CALL(multiply_range(s, from, half));
  OSLA_CALL(multiply_range(s, half, to));
  const osla_part x =
    s->uplo == OSLA_LOWER
      ? osla_part_at(s->a.matrix, s->a.i + half, s->a.j + from, to - half, half - from)
      : osla_part_at(s->a.matrix, s->a.i + from, s->a.j + half, half - from, to - half);
  return multiply_between(s, x, from, half, to);
}

/* Adds the products with the rectangle below the square [from, to) of a triangular matrix, and with
 * the transpose of the rectangle. */
static osla_err multiply_below(const symm *s, int64_t from, int64_t to)
{
  const int64_t n = s->a.m;
  const osla_part below = osla_part_at(s->a.matrix, s->a.i + to, s->a.j + from, n - to, to - from);
  part_operand copy;
  OSLA_CALL(osli_part_open(&below, NULL, &copy));
  return osli_part_close(&copy, false, multiply_between(s, osla_whole(copy.at), from, to, n));
}

/* Multiplies by a symmetric matrix that is stored as its lower triangle: first by the diagonal
 * blocks, which also scales C by beta, then by the rectangles below the diagonal blocks, whose
 * products are added to C. */
static osla_err multiply_triangle(const symm *s)
{
  const int64_t n = s->a.m;
  for (int64_t from = 0; from < n; from += s->order)
    OSLA_CALL(multiply_square(s, from, n - from < s->order ? n : from + s->order));
  for (int64_t from = 0; from + s->order < n; from += s->order)
    OSLA_CALL(multiply_below(s, from, from + s->order));
  return OSLA_OK;
}

static osla_err check(const symm *s)
{
  const int64_t order = s->left ? s->b.m : s->b.n;
  const product_operand operands[] = {{"A", &s->a, true}, {"B", &s->b, false}, {"C", &s->c, false}};
  OSLA_CALL(OSLA_RESERVED(osla_gemm_options, s->options));
  OSLA_NEEDS_FULL(s->call, s->b.matrix, s->c.matrix);
  OSLA_CALL(osli_product_check(s->call, operands, 3));
  OSLA_CALL(osli_check_side(s->call, s->side));
  OSLA_CALL(osli_check_uplo(s->call, s->uplo, s->a.matrix));
  OSLA_CHECK(
    s->a.m == order && s->a.n == order && s->c.m == s->b.m && s->c.n == s->b.n, OSLA_ERR_ARG,
    "%s: A is %" PRId64 " x %" PRId64 ", B %" PRId64 " x %" PRId64 ", C %" PRId64 " x %" PRId64,
    s->call, s->a.m, s->a.n, s->b.m, s->b.n, s->c.m, s->c.n);
  return osli_gemm_layers_check(s->call, &s->c, true, s->options);
}

static osla_err agree(const symm *s)
{
  OSLA_NEEDS_HOST(s->call, s->a.matrix, s->b.matrix, s->c.matrix);
  const osla_argument same[] = {{"side", (int)s->side},
                                {"uplo", (int)s->uplo},
                                {"Hermitian A", s->hermitian},
                                OSLA_FACTOR_ARGUMENTS("alpha", s->alpha),
                                OSLA_FACTOR_ARGUMENTS("beta", s->beta),
                                OSLA_PART_ARGUMENTS("a", s->a),
                                OSLA_PART_ARGUMENTS("b", s->b),
                                OSLA_PART_ARGUMENTS("c", s->c),
                                {"memory", s->options ? (int64_t)s->options->memory : 0},
                                {"layers", s->options ? s->options->layers : 0}};
  return osla_agree_same(osla_grid_transport(osla_matrix_grid(s->c.matrix)), check(s), s->call,
                         same, (int)(sizeof same / sizeof *same));
}

static osla_err multiply_checked(symm s)
{
  const osla_dtype dtype = osla_matrix_dtype(s.c.matrix);
  osla_err err;
  if (dtype == OSLA_FLOAT || dtype == OSLA_DOUBLE) s.alpha = creal(s.alpha), s.beta = creal(s.beta);
  OSLA_CALL(agree(&s));
  if (s.c.m == 0 || s.c.n == 0) return OSLA_OK;
  s.order = osli_square_order(&s.a, SQUARE);
  if (s.order > s.a.m) s.order = s.a.m;
  const osla_layout l = osla_matrix_layout(s.a.matrix);
  OSLA_TRY(osla_matrix_create(osla_matrix_grid(s.a.matrix), osla_matrix_dtype(s.a.matrix), s.order,
                              s.order, l.mb, l.nb, &s.square));
  OSLA_TRY(osla_matrix_is_triangle(s.a.matrix) ? multiply_triangle(&s)
                                               : multiply_range(&s, 0, s.a.m));
cleanup:
  osla_matrix_destroy(&s.square);
  return err;
}

osla_err osla_symm(osla_side side, osla_uplo uplo, osla_complex alpha, osla_part a, osla_part b,
                   osla_complex beta, osla_part c, const osla_gemm_options *options)
{
  return multiply_checked((symm){.call = "osla_symm",
                                 .side = side,
                                 .left = side == OSLA_LEFT,
                                 .uplo = uplo,
                                 .alpha = alpha,
                                 .beta = beta,
                                 .a = a,
                                 .b = b,
                                 .c = c,
                                 .options = options});
}

osla_err osla_hemm(osla_side side, osla_uplo uplo, osla_complex alpha, osla_part a, osla_part b,
                   osla_complex beta, osla_part c, const osla_gemm_options *options)
{
  return multiply_checked((symm){.call = "osla_hemm",
                                 .side = side,
                                 .left = side == OSLA_LEFT,
                                 .hermitian = true,
                                 .uplo = uplo,
                                 .alpha = alpha,
                                 .beta = beta,
                                 .a = a,
                                 .b = b,
                                 .c = c,
                                 .options = options});
}
