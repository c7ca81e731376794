/* osla_gemv, osla_symv and osla_hemv: the matrix stays in place, the vectors are moved.
 *
 * Each rank multiplies its own piece of A. For a triangle, local rows and columns keep the global
 * order, so the diagonal is a staircase in the local array. For a range of columns, rows completely
 * inside the triangle are used twice, once as they are and once transposed. The other rows are
 * halved recursively down to a small square, which is copied with zeros outside the triangle.
 * Ranges of columns are so narrow that the second product finds the elements in the cache.
 *
 * Memory per rank: all of x and y, and copies of their elements for the local rows and columns.
 * Messages: each rank gets x one-sided; y is summed over all ranks. */
#include "kernels/common/local_view.h"
#include "kernels/products/columns.h"
#include "kernels/products/product_check.h"
#include "osla_blas.h"
#include "osla_products.h"
#include "src/base/double_bits.h"
#include "src/matrix/memory_kind.h"
#include "src/matrix/part_checks.h"
#include "src/matrix/part_local.h"

#include <complex.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
  STRIP = 32, /* number of columns of a range */
  EDGE = 16   /* largest order of a square at the diagonal that is copied */
};

typedef struct product {
  const char *call; /* name of the public function */
  bool triangle, hermitian;
  osla_uplo uplo;
  osla_trans trans;
  osla_complex alpha, beta;
  osla_part a, x, y;
  local_piece piece;
  unsigned char *whole_x; /* all elements of x, on each rank */
  unsigned char *whole_y; /* this rank's contribution to all elements of y */
  /* elements of x at the global indices of the piece's rows (PIECE_ROWS) and columns
   * (PIECE_COLS) */
  unsigned char *x_of[2];
  /* elements of y at the global indices of the piece's rows (PIECE_ROWS) and columns
   * (PIECE_COLS) */
  unsigned char *y_of[2];
} product;

/* Adds alpha op(M) x to y, where M is the rows x cols matrix at address `m`, which begins at
 * element (row, col) of the piece. x and y have one element for each row or each column of the
 * piece, as op requires. */
static osla_err multiply(const product *p, osla_trans trans, int64_t row, int64_t rows, int64_t col,
                         int64_t cols, const void *m, int64_t ld)
{
  const size_t e = p->piece.v.element;
  const bool plain = trans == OSLA_NOTRANS;
  const unsigned char *x =
    plain ? p->x_of[PIECE_COLS] + (size_t)col * e : p->x_of[PIECE_ROWS] + (size_t)row * e;
  unsigned char *y =
    plain ? p->y_of[PIECE_ROWS] + (size_t)row * e : p->y_of[PIECE_COLS] + (size_t)col * e;
  if (rows == 0 || cols == 0) return OSLA_OK;
  const int64_t out = plain ? rows : cols, in = plain ? cols : rows;
  return osla_blas_gemm(p->piece.v.dtype, trans, OSLA_NOTRANS, out, 1, in, p->alpha, m, ld, x, in,
                        1, y, out);
}

/* Multiplies by M and by its transpose, because an element outside the diagonal represents two
 * elements. */
static osla_err multiply_twice(const product *p, int64_t row, int64_t rows, int64_t col,
                               int64_t cols, const void *m, int64_t ld)
{
  OSLA_CALL(multiply(p, OSLA_NOTRANS, row, rows, col, cols, m, ld));
  return multiply(p, p->hermitian ? OSLA_CONJTRANS : OSLA_TRANS, row, rows, col, cols, m, ld);
}

/* Copies the triangle's elements of a rectangle with at most EDGE rows and columns to `square`,
 * with zeros outside the triangle.
 *   diagonal [out] for each column the row with the diagonal element of the matrix, or -1 */
static void copy_edge(const product *p, int64_t row, int64_t rows, int64_t col, int64_t cols,
                      unsigned char *square, int *diagonal)
{
  const local_piece *a = &p->piece;
  const size_t e = a->v.element;
  int64_t index[EDGE];
  for (int64_t r = 0; r < rows; r++)
    index[r] = osli_piece_row(a, row + r);
  memset(square, 0, EDGE * (size_t)cols * e);
  for (int64_t c = 0; c < cols; c++) {
    const int64_t j = osli_piece_col(a, col + c);
    /* number of rows of the rectangle that precede the diagonal element of this column */
    int64_t above = 0;
    while (above < rows && index[above] < j)
      above++;
    const bool crosses = above < rows && index[above] == j;
    const int64_t from = p->uplo == OSLA_LOWER ? above : 0;
    const int64_t to = p->uplo == OSLA_LOWER ? rows : above + crosses;
    unsigned char *column = square + EDGE * (size_t)c * e;
    if (from < to)
      memcpy(column + (size_t)from * e, piece_operand(a, row + from, col + c).at,
             (size_t)(to - from) * e);
    diagonal[c] = crosses ? (int)above : -1;
    if (crosses && p->hermitian) clear_imaginary(a->v.dtype, column + (size_t)above * e);
  }
}

/* Multiplies a rectangle of at most EDGE columns that the diagonal crosses. Diagonal elements are
 * used once. */
static osla_err multiply_edge(const product *p, int64_t row, int64_t end, int64_t col, int64_t cols)
{
  const size_t e = p->piece.v.element;
  _Alignas(osla_complex) unsigned char square[EDGE * EDGE * sizeof(osla_complex)];
  int diagonal[EDGE];
  for (int64_t first = row; first < end; first += EDGE) {
    const int64_t rows = end - first < EDGE ? end - first : EDGE;
    copy_edge(p, first, rows, col, cols, square, diagonal);
    OSLA_CALL(multiply(p, OSLA_NOTRANS, first, rows, col, cols, square, EDGE));
    for (int64_t c = 0; c < cols; c++)
      if (diagonal[c] >= 0) memset(square + (size_t)(diagonal[c] + c * EDGE) * e, 0, e);
    const osla_trans transposed = p->hermitian ? OSLA_CONJTRANS : OSLA_TRANS;
    OSLA_CALL(multiply(p, transposed, first, rows, col, cols, square, EDGE));
  }
  return OSLA_OK;
}

/* Multiplies the triangle's elements in columns [col, col + cols) of rows [low, high). */
static osla_err multiply_columns(const product *p, int64_t low, int64_t high, int64_t col,
                                 int64_t cols)
{
  const local_piece *a = &p->piece;
  const int64_t first = osli_piece_col(a, col), last = osli_piece_col(a, col + cols - 1);
  int64_t edge_from = osli_piece_rows_before(a, first);
  int64_t edge_to = osli_piece_rows_before(a, last + 1);
  const bool lower = p->uplo == OSLA_LOWER;
  int64_t whole_from = lower ? edge_to : low, whole_to = lower ? high : edge_from;
  if (whole_from < low) whole_from = low;
  if (whole_to > high) whole_to = high;
  if (whole_from < whole_to) {
    const operand m = piece_operand(a, whole_from, col);
    OSLA_CALL(multiply_twice(p, whole_from, whole_to - whole_from, col, cols, m.at, m.ld));
  }
  if (edge_from < low) edge_from = low;
  if (edge_to > high) edge_to = high;
  if (edge_from >= edge_to) return OSLA_OK;
  if (cols <= EDGE) return multiply_edge(p, edge_from, edge_to, col, cols);
  OSLA_CALL(multiply_columns(p, edge_from, edge_to, col, cols / 2));
  return multiply_columns(p, edge_from, edge_to, col + cols / 2, cols - cols / 2);
}

static osla_err multiply_piece(const product *p)
{
  const local_piece *a = &p->piece;
  if (a->rows == 0 || a->cols == 0) return OSLA_OK;
  for (int64_t col = 0, cols; col < a->cols; col += cols) {
    cols = osli_piece_run(a, col);
    if (p->triangle) {
      if (cols > STRIP) cols = STRIP;
      OSLA_CALL(multiply_columns(p, 0, a->rows, col, cols));
    } else {
      const operand m = piece_operand(a, 0, col);
      OSLA_CALL(multiply(p, p->trans, 0, a->rows, col, cols, m.at, m.ld));
    }
  }
  return OSLA_OK;
}

/* Multiplies this rank's piece: gets x, gathers its elements, and adds the contribution to
 * whole_y. */
static osla_err multiply_mine(product *p)
{
  const size_t e = p->piece.v.element;
  const int64_t local[2] = {p->piece.rows, p->piece.cols};
  p->whole_x = malloc((size_t)p->x.m * e + 1);
  p->whole_y = calloc((size_t)p->y.m + 1, e);
  bool made = p->whole_x && p->whole_y;
  for (int axis = 0; axis < 2; axis++) {
    p->x_of[axis] = malloc((size_t)local[axis] * e + 1);
    p->y_of[axis] = calloc((size_t)local[axis] + 1, e);
    made = made && p->x_of[axis] && p->y_of[axis];
  }
  OSLA_CHECK(made, OSLA_ERR_MEM, "%s: columns of %" PRId64 " and %" PRId64 " elements", p->call,
             p->x.m, p->y.m);
  if (p->alpha == 0) return OSLA_OK; /* if alpha = 0, A and x are not read, as in BLAS */
  OSLA_CALL(osli_column_get(&p->x, p->whole_x));
  /* true if the rows of the piece need elements of x */
  const bool by_rows = p->triangle || p->trans != OSLA_NOTRANS;
  const bool by_cols = p->triangle || p->trans == OSLA_NOTRANS;
  if (by_rows) osli_columns_gather(&p->piece, PIECE_ROWS, p->whole_x, p->x_of[PIECE_ROWS]);
  if (by_cols) osli_columns_gather(&p->piece, PIECE_COLS, p->whole_x, p->x_of[PIECE_COLS]);
  OSLA_CALL(multiply_piece(p));
  if (by_cols) osli_columns_add(&p->piece, PIECE_ROWS, p->y_of[PIECE_ROWS], p->whole_y);
  if (by_rows) osli_columns_add(&p->piece, PIECE_COLS, p->y_of[PIECE_COLS], p->whole_y);
  return OSLA_OK;
}

static osla_err check(const product *p)
{
  const bool plain = p->trans == OSLA_NOTRANS;
  const product_operand operands[] = {
    {"x", &p->x, false}, {"A", &p->a, p->triangle}, {"y", &p->y, false}};
  const bool shared = p->x.matrix == p->y.matrix; /* y may be the same column as x */
  OSLA_NEEDS_FULL(p->call, p->x.matrix, p->y.matrix);
  if (!p->triangle)
    OSLA_CALL(osli_part_check_rectangle(p->call, &p->a, "A", "call osla_symv or osla_hemv"));
  OSLA_CALL(osli_product_check(p->call, operands + shared, 3 - shared));
  /* x is checked separately from y, because x and y may overlap */
  if (shared) OSLA_CALL(osli_product_check(p->call, operands, 1));
  OSLA_CALL(osli_check_trans(p->call, p->trans));
  if (p->triangle) OSLA_CALL(osli_check_uplo(p->call, p->uplo, p->a.matrix));
  OSLA_CHECK(!p->triangle || p->a.m == p->a.n, OSLA_ERR_ARG,
             "%s: A is %" PRId64 " x %" PRId64 ", not square", p->call, p->a.m, p->a.n);
  OSLA_CHECK(p->x.n == 1 && p->y.n == 1 && p->x.m == (plain ? p->a.n : p->a.m) &&
               p->y.m == (plain ? p->a.m : p->a.n),
             OSLA_ERR_ARG,
             "%s: A is %" PRId64 " x %" PRId64 ", x %" PRId64 " x %" PRId64 ", y %" PRId64
             " x %" PRId64,
             p->call, p->a.m, p->a.n, p->x.m, p->x.n, p->y.m, p->y.n);
  return OSLA_OK;
}

static osla_err agree(const product *p)
{
  OSLA_NEEDS_HOST(p->call, p->a.matrix, p->x.matrix, p->y.matrix);
  const osla_argument same[] = {{"product with a triangle of A", p->triangle},
                                {"Hermitian A", p->hermitian},
                                {"uplo", (int)p->uplo},
                                {"trans", (int)p->trans},
                                OSLA_FACTOR_ARGUMENTS("alpha", p->alpha),
                                OSLA_FACTOR_ARGUMENTS("beta", p->beta),
                                OSLA_PART_ARGUMENTS("a", p->a),
                                OSLA_PART_ARGUMENTS("x", p->x),
                                OSLA_PART_ARGUMENTS("y", p->y)};
  return osla_agree_same(osla_grid_transport(osla_matrix_grid(p->y.matrix)), check(p), p->call,
                         same, (int)(sizeof same / sizeof *same));
}

static osla_err multiply_checked(product p)
{
  const osla_dtype dtype = osla_matrix_dtype(p.y.matrix);
  osla_transport *t = osla_grid_transport(osla_matrix_grid(p.y.matrix));
  if (dtype == OSLA_FLOAT || dtype == OSLA_DOUBLE) p.alpha = creal(p.alpha), p.beta = creal(p.beta);
  /* this call is also a barrier: after it the operands are complete on all ranks */
  OSLA_CALL(agree(&p));
  p.piece = osli_local_piece_of(&p.a);
  /* this call is also a barrier: after it no rank reads x */
  osla_err err = osla_agree(t, multiply_mine(&p));
  if (err == OSLA_OK) err = osli_column_sum(p.whole_y, p.beta, &p.y);
  free(p.whole_x);
  free(p.whole_y);
  for (int axis = 0; axis < 2; axis++) {
    free(p.x_of[axis]);
    free(p.y_of[axis]);
  }
  return err;
}

osla_err osla_gemv(osla_trans trans, osla_complex alpha, osla_part a, osla_part x,
                   osla_complex beta, osla_part y)
{
  return multiply_checked((product){
    .call = "osla_gemv", .trans = trans, .alpha = alpha, .beta = beta, .a = a, .x = x, .y = y});
}

osla_err osla_symv(osla_uplo uplo, osla_complex alpha, osla_part a, osla_part x, osla_complex beta,
                   osla_part y)
{
  return multiply_checked((product){.call = "osla_symv",
                                    .triangle = true,
                                    .uplo = uplo,
                                    .alpha = alpha,
                                    .beta = beta,
                                    .a = a,
                                    .x = x,
                                    .y = y});
}

osla_err osla_hemv(osla_uplo uplo, osla_complex alpha, osla_part a, osla_part x, osla_complex beta,
                   osla_part y)
{
  return multiply_checked((product){.call = "osla_hemv",
                                    .triangle = true,
                                    .hermitian = true,
                                    .uplo = uplo,
                                    .alpha = alpha,
                                    .beta = beta,
                                    .a = a,
                                    .x = x,
                                    .y = y});
}
