/* osla_trmm: B := alpha op(A) B or alpha B op(A), in place.
 *
 * op(A) is halved recursively. With op(A) = [T11 0; T21 T22], first B2 := T22 B2 + T21 B1, then B1
 * := T11 B1, because the first step needs B1 unchanged. The recursion ends at squares along the
 * diagonal. Each square is copied, with zeros outside the triangle, and multiplied by a copy of the
 * rows of B that it changes. Memory: one square and these rows (RIGHT: columns) of B, distributed
 * over all ranks. */
#include "kernels/common/local_view.h"
#include "kernels/gemm/gemm.h"
#include "kernels/products/product_check.h"
#include "kernels/products/squares.h"
#include "osla_products.h"
#include "src/base/double_bits.h"
#include "src/base/reserved.h"
#include "src/matrix/memory_kind.h"
#include "src/matrix/part_checks.h"

#include <complex.h>
#include <inttypes.h>

static const char CALL[] = "osla_trmm"; /* first word of error messages */

typedef struct trmm {
  bool left, unit;
  osla_uplo uplo;
  osla_trans trans;
  osla_complex alpha;
  osla_part a, b;
  const osla_gemm_options *options;
  int64_t order; /* largest order of a square */
  /* copy of a square of A; used for all squares but a smaller last one */
  osla_matrix *square;
  /* copy of the rows of B (with RIGHT: columns) that the square changes; used like `square` */
  osla_matrix *old;
} trmm;

/* Rows or columns [from, to) of B: rows if A is on the left, otherwise columns. */
static osla_part slice(const trmm *f, int64_t from, int64_t to)
{
  return f->left ? part_rows(f->b, from, to) : part_cols(f->b, from, to);
}

static osla_err multiply(const trmm *f, osla_part x, osla_part b, osla_complex beta, osla_part c)
{
  return f->left ? osli_gemm_for(CALL, f->trans, OSLA_NOTRANS, f->alpha, x, b, beta, c, f->options)
                 : osli_gemm_for(CALL, OSLA_NOTRANS, f->trans, f->alpha, b, x, beta, c, f->options);
}

/* True if the part of op(A) outside the diagonal squares multiplies the lower half of B and adds to
 * the upper half. */
static bool upwards(const trmm *f)
{
  return ((f->uplo == OSLA_LOWER) == f->left) == (f->trans == OSLA_NOTRANS);
}

/* Computes rows := alpha op(square) old. The product is cut into bands, which leave out parts of
 * the square that are zero. */
static osla_err multiply_bands(const trmm *f, osla_matrix *square, osla_matrix *old, osla_part rows)
{
  const int64_t n = osla_matrix_layout(square).n, bands = n >= 128 ? 4 : 1;
  const bool flip = f->left == (f->trans == OSLA_NOTRANS);
  for (int64_t k = 0; k < bands; k++) {
    /* range of rows or columns that is written */
    const int64_t from = n * k / bands, to = n * (k + 1) / bands;
    /* range of rows or columns that is read */
    const int64_t low = upwards(f) ? 0 : from, high = upwards(f) ? to : n;
    const osla_part x = flip ? osla_part_at(square, from, low, to - from, high - low)
                             : osla_part_at(square, low, from, high - low, to - from);
    const osla_part all = osla_whole(old);
    const osla_part read = f->left ? part_rows(all, low, high) : part_cols(all, low, high);
    const osla_part written = f->left ? part_rows(rows, from, to) : part_cols(rows, from, to);
    OSLA_CALL(multiply(f, x, read, 0, written));
  }
  return OSLA_OK;
}

static osla_part stored_at(const trmm *f, int64_t from, int64_t to)
{
  return osla_part_at(f->a.matrix, f->a.i + from, f->a.j + from, to - from, to - from);
}

/* Creates matrices for the copies of a square and its rows of B, with the type, grid and blocks of
 * the originals. */
static osla_err make_copies(const trmm *f, int64_t order, osla_matrix **square, osla_matrix **old)
{
  const osla_part parts[] = {stored_at(f, 0, order), slice(f, 0, order)};
  osla_matrix **const made[] = {square, old};
  for (int i = 0; i < 2; i++) {
    const osla_layout l = osla_matrix_layout(parts[i].matrix);
    OSLA_CALL(osla_matrix_create(osla_matrix_grid(parts[i].matrix),
                                 osla_matrix_dtype(parts[i].matrix), parts[i].m, parts[i].n, l.mb,
                                 l.nb, made[i]));
  }
  return OSLA_OK;
}

static osla_err multiply_square(const trmm *f, int64_t from, int64_t to)
{
  const osla_part stored = stored_at(f, from, to), rows = slice(f, from, to);
  const bool own = to - from < f->order; /* the last square may be smaller */
  osla_transport *t = osla_grid_transport(osla_matrix_grid(f->a.matrix));
  osla_matrix *square = own ? NULL : f->square, *old = own ? NULL : f->old;
  osla_err err;
  if (own) OSLA_TRY(make_copies(f, to - from, &square, &old));
  err = osli_square_copy(&stored, f->uplo, f->unit ? SQUARE_ZERO_UNIT : SQUARE_ZERO, square);
  if (err == OSLA_OK) err = osli_square_copy(&rows, f->uplo, SQUARE_ANY, old);
  /* this call is also a barrier: after it no rank reads these rows of B */
  OSLA_TRY(osla_agree(t, err));
  OSLA_TRY(multiply_bands(f, square, old, rows));
cleanup:
  if (own) {
    osla_matrix_destroy(&old);
    osla_matrix_destroy(&square);
  }
  return err;
}

static osla_err multiply_range(const trmm *f, int64_t from, int64_t to)
{
  if (to - from <= f->order) return multiply_square(f, from, to);
  const int64_t half = square_half(from, to, f->order);
  const bool lower = f->uplo == OSLA_LOWER;
  const osla_part x =
    lower ? osla_part_at(f->a.matrix, f->a.i + half, f->a.j + from, to - half, half - from)
          : osla_part_at(f->a.matrix, f->a.i + from, f->a.j + half, half - from, to - half);
  if (upwards(f)) {
    OSLA_CALL(multiply_range(f, half, to));
    OSLA_CALL(multiply(f, x, slice(f, from, half), 1, slice(f, half, to)));
    return multiply_range(f, from, half);
  }
  OSLA_CALL(multiply_range(f, from, half));
  OSLA_CALL(multiply(f, x, slice(f, half, to), 1, slice(f, from, half)));
  return multiply_range(f, half, to);
}

static osla_err check(const trmm *f, osla_side side, osla_diag diag)
{
  const int64_t order = f->left ? f->b.m : f->b.n;
  const product_operand operands[] = {{"A", &f->a, false}, {"B", &f->b, false}};
  OSLA_CALL(OSLA_RESERVED(osla_gemm_options, f->options));
  OSLA_CALL(osli_product_check(CALL, operands, 2));
  OSLA_CALL(osli_check_side(CALL, side));
  OSLA_CALL(osli_check_trans(CALL, f->trans));
  OSLA_CALL(osli_check_diag(CALL, diag));
  OSLA_CALL(osli_check_uplo(CALL, f->uplo, f->a.matrix));
  OSLA_CHECK(f->a.m == order && f->a.n == order, OSLA_ERR_ARG,
             "%s: A is %" PRId64 " x %" PRId64 ", B %" PRId64 " x %" PRId64, CALL, f->a.m, f->a.n,
             f->b.m, f->b.n);
  return osli_gemm_layers_check(CALL, &f->b, true, f->options);
}

static osla_err agree(const trmm *f, osla_side side, osla_diag diag)
{
  const osla_argument same[] = {{"side", (int)side},
                                {"uplo", (int)f->uplo},
                                {"trans", (int)f->trans},
                                {"diag", (int)diag},
                                OSLA_FACTOR_ARGUMENTS("alpha", f->alpha),
                                OSLA_PART_ARGUMENTS("a", f->a),
                                OSLA_PART_ARGUMENTS("b", f->b),
                                {"memory", f->options ? (int64_t)f->options->memory : 0},
                                {"layers", f->options ? f->options->layers : 0}};
  return osla_agree_same(osla_grid_transport(osla_matrix_grid(f->b.matrix)), check(f, side, diag),
                         CALL, same, (int)(sizeof same / sizeof *same));
}

/* Least order of a square. A square's product includes zeros, so squares should be small beside the
 * matrix; but products with few rows are slow. */
static int64_t least_order(int64_t n)
{
  return n < 16 * 128 ? 128 : n < 16 * 512 ? n / 16 : 512;
}

osla_err osla_trmm(osla_side side, osla_uplo uplo, osla_trans trans, osla_diag diag,
                   osla_complex alpha, osla_part a, osla_part b, const osla_gemm_options *options)
{
  OSLA_NEEDS_HOST(CALL, a.matrix, b.matrix);
  OSLA_NEEDS_FULL(CALL, a.matrix, b.matrix);
  trmm f = {.left = side == OSLA_LEFT,
            .unit = diag == OSLA_UNIT,
            .uplo = uplo,
            .trans = trans,
            .alpha = alpha,
            .a = a,
            .b = b,
            .options = options};
  const osla_dtype dtype = osla_matrix_dtype(b.matrix);
  if (dtype == OSLA_FLOAT || dtype == OSLA_DOUBLE) f.alpha = creal(alpha);
  OSLA_CALL(agree(&f, side, diag));
  f.order = osli_square_order(&a, least_order(a.m));
  if (f.order > a.m) f.order = a.m;
  if (b.m == 0 || b.n == 0) return OSLA_OK;
  osla_err err = make_copies(&f, f.order, &f.square, &f.old);
  if (err == OSLA_OK) err = multiply_range(&f, 0, a.m);
  osla_matrix_destroy(&f.old);
  osla_matrix_destroy(&f.square);
  return err;
}
