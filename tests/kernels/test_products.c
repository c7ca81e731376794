/* Tests of symm, hemm, trmm, gemv, symv and hemv with parts, compared exactly with serial products
 * of whole numbers. Elements that are not stored or not in a part are NaN. Elements that are not
 * part of the result must stay unchanged. */
#include "osla_products.h"
#include "osla_random.h"
#include "osla_solve.h"
#include "tests/complex_help.h"
#include "tests/kernels/kernel_reference.h"
#include "tests/osla_test_help.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

typedef enum kind { SYMM, HEMM, TRMM, GEMV, SYMV, HEMV, KINDS } kind;
static const char *const names[KINDS] = {"symm", "hemm", "trmm", "gemv", "symv", "hemv"};

/* One product. `n` is the order of A (for gemv, its number of rows). `other` is the number of
 * columns of B, or the number of rows of B if A is on the right (for gemv, the number of columns of
 * A). */
typedef struct trial {
  kind kind;
  osla_side side;
  osla_uplo uplo;
  osla_trans trans;
  osla_diag diag;
  osla_complex alpha, beta;
  osla_dtype dtype;
  int64_t n, other;
  /* position of the part of A in its matrix; the positions of the other parts are derived from
   * it */
  int64_t i, j;
  int64_t nb;
  uint64_t seed;
} trial;

static bool is_complex(osla_dtype dtype)
{
  return dtype == OSLA_COMPLEX_FLOAT || dtype == OSLA_COMPLEX_DOUBLE;
}

static osla_complex get(const dense *d, int64_t i, int64_t j)
{
  const double *at = dense_at(d, i, j);
  return CMPLX(at[0], d->parts == 2 ? at[1] : 0.0);
}

static void put(dense *d, int64_t i, int64_t j, osla_complex x)
{
  double *at = dense_at(d, i, j);
  at[0] = creal(x);
  if (d->parts == 2) at[1] = cimag(x);
}

static osla_complex whole_number(uint64_t seed, int64_t i, int64_t j)
{
  const uint64_t bits = osla_random_bits(seed, (uint64_t)i, (uint64_t)j);
  return CMPLX((double)(bits % 9) - 4.0, (double)(bits / 9 % 9) - 4.0);
}

/* A matrix with m x n whole numbers at (i, j) and NaN elsewhere. It is larger than the part on all
 * sides, unless i or j is 0. */
static dense numbers_at(int64_t m, int64_t n, int64_t i, int64_t j, int parts, uint64_t seed)
{
  dense d = dense_make(m + i + 3, n + j + 2, parts);
  for (int64_t c = 0; c < d.n; c++)
    for (int64_t r = 0; r < d.m; r++) {
      const bool inside = r >= i && r < i + m && c >= j && c < j + n;
      put(&d, r, c, inside ? whole_number(seed, r - i, c - j) : CMPLX(NAN, NAN));
    }
  return d;
}

/* Returns A as the product uses it, n x n or n x other. In `stored`, elements that the product must
 * not read become NaN. */
static dense operand_a(const trial *t, dense *stored)
{
  const int64_t cols = t->kind == GEMV ? t->other : t->n;
  dense a = dense_make(t->n, cols, 2);
  for (int64_t j = 0; j < cols; j++)
    for (int64_t i = 0; i < t->n; i++) {
      osla_complex x = get(stored, t->i + i, t->j + j);
      const bool missing = (i > j) != (t->uplo == OSLA_LOWER) && i != j;
      if (t->kind == GEMV) {
        put(&a, i, j, x);
      } else if (t->kind == TRMM) {
        const bool one = i == j && t->diag == OSLA_UNIT;
        put(&a, i, j, missing ? 0.0 : one ? 1.0 : x);
        if (missing || one) put(stored, t->i + i, t->j + j, CMPLX(NAN, NAN));
      } else if (!missing) {
        const bool hermitian = t->kind == HEMM || t->kind == HEMV;
        if (i == j && hermitian) x = creal(x);
        put(&a, i, j, x);
        put(&a, j, i, hermitian ? conj(x) : x);
        if (i != j) put(stored, t->i + j, t->j + i, CMPLX(NAN, NAN));
      }
    }
  return a;
}

static osla_complex op(osla_trans trans, const dense *a, int64_t i, int64_t j)
{
  if (trans == OSLA_NOTRANS) return get(a, i, j);
  const osla_complex x = get(a, j, i);
  return trans == OSLA_CONJTRANS ? conj(x) : x;
}

/* The part of B, C, x or y that a product reads or writes, and the position of the part. */
typedef struct window {
  dense all; /* copy of the matrix that contains the part */
  int64_t i, j, m, n;
} window;

static osla_complex see(const window *w, int64_t i, int64_t j)
{
  return get(&w->all, w->i + i, w->j + j);
}

/* Computes out := alpha op(A) in + beta out, or alpha in op(A) + beta out for A on the right. */
static void expect(const trial *t, const dense *a, const window *in, window *out)
{
  const bool left = t->side == OSLA_LEFT;
  dense result = dense_make(out->m, out->n, 2);
  for (int64_t j = 0; j < out->n; j++)
    for (int64_t i = 0; i < out->m; i++) {
      osla_complex sum = 0;
      for (int64_t k = 0; k < (left ? in->m : in->n); k++)
        sum += left ? op(t->trans, a, i, k) * see(in, k, j) : see(in, i, k) * op(t->trans, a, k, j);
      put(&result, i, j, t->alpha * sum + (t->beta == 0 ? 0 : t->beta * see(out, i, j)));
    }
  for (int64_t j = 0; j < out->n; j++)
    for (int64_t i = 0; i < out->m; i++)
      put(&out->all, out->i + i, out->j + j, get(&result, i, j));
  dense_free(&result);
}

static window window_at(const trial *t, int64_t m, int64_t n, int64_t i, int64_t j, uint64_t seed)
{
  const int parts = is_complex(t->dtype) ? 2 : 1;
  return (window){numbers_at(m, n, i, j, parts, seed), i, j, m, n};
}

static kernel_matrix matrix_of(osla_grid *grid, const trial *t, const dense *d, int64_t nb)
{
  kernel_matrix k = kernel_make(grid, t->dtype, d->m, d->n, nb, nb, (t->seed / 2) % 3 == 0);
  dense_scatter(d, k.a);
  return k;
}

static osla_part part_of(const kernel_matrix *k, const window *w)
{
  return osla_part_at(k->a, w->i, w->j, w->m, w->n);
}

static osla_err run(const trial *t, osla_part a, osla_part in, osla_part out)
{
  switch (t->kind) {
    case SYMM: return osla_symm(t->side, t->uplo, t->alpha, a, in, t->beta, out, NULL);
    case HEMM: return osla_hemm(t->side, t->uplo, t->alpha, a, in, t->beta, out, NULL);
    case TRMM: return osla_trmm(t->side, t->uplo, t->trans, t->diag, t->alpha, a, out, NULL);
    case GEMV: return osla_gemv(t->trans, t->alpha, a, in, t->beta, out);
    case SYMV: return osla_symv(t->uplo, t->alpha, a, in, t->beta, out);
    default: return osla_hemv(t->uplo, t->alpha, a, in, t->beta, out);
  }
}

/* Sets the sizes of the operand (in) and of the result (out), each as rows and columns. */
static void shape(const trial *t, int64_t in[2], int64_t out[2])
{
  const bool vector = t->kind >= GEMV, left = t->side == OSLA_LEFT;
  const bool turned = t->kind == GEMV && t->trans != OSLA_NOTRANS;
  in[0] = left ? t->n : t->other, in[1] = vector ? 1 : left ? t->other : t->n;
  out[0] = in[0], out[1] = in[1];
  if (t->kind != GEMV) return;
  in[0] = turned ? t->n : t->other;
  out[0] = turned ? t->other : t->n;
}

/* Makes a triangular matrix whose part at (t->i, t->i) has the elements of the lower triangle of
 * `a`; all other elements are NaN. */
static kernel_matrix triangle_of(osla_grid *grid, const trial *t, const window *a)
{
  const int64_t order = t->i + t->n + 3;
  dense d = dense_make(order, order, a->all.parts);
  for (int64_t j = 0; j < order; j++)
    for (int64_t i = 0; i < order; i++) {
      const bool inside = j >= t->i && i >= j && i < t->i + t->n;
      put(&d, i, j, inside ? see(a, i - t->i, j - t->i) : CMPLX(NAN, NAN));
    }
  kernel_matrix k = kernel_make_triangle(grid, t->dtype, order, t->nb);
  dense_scatter(&d, k.a);
  dense_free(&d);
  return k;
}

/* Runs a product whose symmetric operand `a` lies in a triangular matrix. `before` and `after` are
 * the expected contents, before and after the product, of the matrix that holds the result. */
static void check_triangle(osla_grid *grid, const trial *t, const window *a, osla_part in,
                           const dense *before, const window *after)
{
  kernel_matrix ka = triangle_of(grid, t, a), ky = matrix_of(grid, t, before, t->nb);
  OSLA_ASSERT_OK(run(t, osla_part_at(ka.a, t->i, t->i, t->n, t->n), in, part_of(&ky, after)));
  kernel_expect(ky.a, &after->all,
                "%s '%c' %s, triangular matrix, n %" PRId64 ", %" PRId64 ", at %" PRId64
                ", nb %" PRId64 ", seed %" PRIu64,
                names[t->kind], osla_dtype_letter(t->dtype),
                t->side == OSLA_LEFT ? "left" : "right", t->n, t->other, t->i, t->nb, t->seed);
  kernel_free(&ka), kernel_free(&ky);
}

static void check(osla_grid *grid, trial t)
{
  int64_t in[2], out[2];
  if (t.kind >= GEMV) t.side = OSLA_LEFT;
  if (t.kind != TRMM && t.kind != GEMV) t.trans = OSLA_NOTRANS;
  if (t.kind == TRMM) t.beta = 0;
  if (!is_complex(t.dtype)) t.alpha = creal(t.alpha), t.beta = creal(t.beta);
  shape(&t, in, out);
  window a = window_at(&t, t.n, t.kind == GEMV ? t.other : t.n, t.i, t.j, 4 * t.seed);
  window x = window_at(&t, in[0], in[1], t.j, 1, 4 * t.seed + 1);
  window y = window_at(&t, out[0], out[1], t.i / 2, t.j, 4 * t.seed + 2);
  dense operand = operand_a(&t, &a.all);
  kernel_matrix ka = matrix_of(grid, &t, &a.all, t.nb);
  kernel_matrix kx = matrix_of(grid, &t, &x.all, t.nb + 1);
  kernel_matrix ky = matrix_of(grid, &t, &y.all, t.nb);
  window before = window_at(&t, out[0], out[1], t.i / 2, t.j, 4 * t.seed + 2);
  expect(&t, &operand, t.kind == TRMM ? &y : &x, &y);
  OSLA_ASSERT_OK(run(&t, part_of(&ka, &a), part_of(&kx, &x), part_of(&ky, &y)));
  kernel_expect(ky.a, &y.all,
                "%s '%c' %s %s trans %d diag %d, n %" PRId64 ", %" PRId64 ", at (%" PRId64
                ", %" PRId64 "), nb %" PRId64 ", seed %" PRIu64,
                names[t.kind], osla_dtype_letter(t.dtype), t.side == OSLA_LEFT ? "left" : "right",
                t.uplo == OSLA_LOWER ? "lower" : "upper", (int)t.trans, (int)t.diag, t.n, t.other,
                t.i, t.j, t.nb, t.seed);
  kernel_expect(ka.a, &a.all, "A of %s", names[t.kind]);
  if (t.kind != TRMM && t.kind != GEMV && t.uplo == OSLA_LOWER)
    check_triangle(grid, &t, &a, part_of(&kx, &x), &before.all, &y);
  kernel_free(&ka), kernel_free(&kx), kernel_free(&ky);
  dense_free(&a.all), dense_free(&x.all), dense_free(&y.all), dense_free(&operand);
  dense_free(&before.all);
}

static trial trial_of(uint64_t seed, kind k)
{
  static const double factors[] = {1, -1, 2, 0, -3};
  const int64_t r[] = {osla_test_choose(seed, 0, 2), osla_test_choose(seed, 1, 2),
                       osla_test_choose(seed, 2, 3), osla_test_choose(seed, 3, 2),
                       osla_test_choose(seed, 4, 4), osla_test_choose(seed, 5, 25)};
  return (trial){.kind = k,
                 .side = r[0] ? OSLA_RIGHT : OSLA_LEFT,
                 .uplo = r[1] ? OSLA_UPPER : OSLA_LOWER,
                 .trans = (osla_trans)r[2],
                 .diag = r[3] ? OSLA_UNIT : OSLA_NONUNIT,
                 .dtype = (osla_dtype)r[4],
                 .alpha = CMPLX(factors[r[5] % 5], factors[r[5] / 5]),
                 .beta = CMPLX(factors[r[5] / 5], factors[r[5] % 5]),
                 .n = osla_test_choose(seed, 6, 50),
                 .other = osla_test_choose(seed, 7, 40),
                 .i = osla_test_choose(seed, 8, 3) * 3,
                 .j = osla_test_choose(seed, 9, 3) * 4,
                 .nb = 1 + osla_test_choose(seed, 10, 9),
                 .seed = seed};
}

/* Tests every kind of product on all grids, with sizes from 0 on, odd positions of the parts and
 * other arguments chosen by a seed. All products are so small that A is not cut into several
 * squares. */
static void test_small(void)
{
  osla_transport *t = osla_test_transport();
  for (int g = 0; g < kernel_n_grids(t); g++) {
    osla_grid *grid = kernel_grid(t, g);
    for (int k = 0; k < KINDS; k++)
      for (int round = 0; round < (osla_test_size() > 2 ? 3 : 6); round++)
        if (kernel_turn(g, k + round))
          check(grid, trial_of((uint64_t)(1000 * g + 100 * k + round), (kind)k));
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* Tests products so large that A is cut into several squares along the diagonal, the last one of
 * which is smaller. Some of the block sizes allow equal halves, others do not. */
static void test_halves(void)
{
  static const int64_t sizes[][2] = {{600, 16}, {700, 600}, {1100, 64}, {513, 7}};
  osla_transport *t = osla_test_transport();
  for (int g = 0; g < 2 && g < kernel_n_grids(t); g++) {
    osla_grid *grid = kernel_grid(t, g);
    for (int k = SYMM; k <= TRMM; k++)
      for (int which = 0; which < 8; which++) {
        trial one = trial_of((uint64_t)(9000 + 100 * g + 10 * k + which), (kind)k);
        one.side = which % 2 ? OSLA_RIGHT : OSLA_LEFT;
        one.uplo = which / 2 % 2 ? OSLA_UPPER : OSLA_LOWER;
        one.n = sizes[which / 2][0], one.nb = sizes[which / 2][1];
        one.other = 3;
        if (k == TRMM) one.trans = (osla_trans)(which % 3);
        if (kernel_turn(g, k + which)) check(grid, one);
      }
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

static void test_errors(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = kernel_grid(t, 0);
  kernel_matrix a = kernel_make(grid, OSLA_DOUBLE, 8, 8, 2, 2, false);
  kernel_matrix b = kernel_make(grid, OSLA_DOUBLE, 8, 5, 2, 2, false);
  kernel_matrix f = kernel_make(grid, OSLA_FLOAT, 8, 5, 2, 2, false);
  const osla_part square = osla_whole(a.a), tall = osla_whole(b.a);
  OSLA_ASSERT_ERR(osla_symm(OSLA_RIGHT, OSLA_LOWER, 1, square, tall, 0, osla_whole(f.a), NULL),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("'s'");
  OSLA_ASSERT_ERR(osla_symm(OSLA_LEFT, OSLA_LOWER, 1, square, tall, 0, tall, NULL), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("C overlaps B");
  OSLA_ASSERT_ERR(osla_trmm(OSLA_RIGHT, OSLA_LOWER, OSLA_NOTRANS, OSLA_UNIT, 1, square, tall, NULL),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("B 8 x 5");
  OSLA_ASSERT_ERR(
    osla_trmm(OSLA_LEFT, OSLA_GENERAL, OSLA_NOTRANS, OSLA_UNIT, 1, square, tall, NULL),
    OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("uplo = 2");
  OSLA_ASSERT_ERR(osla_symm((osla_side)5, OSLA_LOWER, 1, square, osla_part_at(b.a, 0, 0, 8, 2), 0,
                            osla_part_at(b.a, 0, 2, 8, 2), NULL),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("symm: side = 5");
  OSLA_ASSERT_ERR(
    osla_trmm((osla_side)5, OSLA_LOWER, OSLA_NOTRANS, OSLA_UNIT, 1, square, tall, NULL),
    OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("osla_trmm: side = 5");
  OSLA_ASSERT_ERR(osla_trmm(OSLA_LEFT, OSLA_LOWER, (osla_trans)7, OSLA_UNIT, 1, square, tall, NULL),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("osla_trmm: trans = 7");
  OSLA_ASSERT_ERR(
    osla_trmm(OSLA_LEFT, OSLA_LOWER, OSLA_NOTRANS, (osla_diag)3, 1, square, tall, NULL),
    OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("osla_trmm: diag = 3");
  OSLA_ASSERT_ERR(osla_gemv((osla_trans)7, 1, square, osla_part_at(b.a, 0, 0, 8, 1), 0,
                            osla_part_at(b.a, 0, 1, 8, 1)),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("gemv: trans = 7");
  OSLA_ASSERT_ERR(osla_gemm((osla_trans)7, OSLA_NOTRANS, 1, square, square, 0, tall, NULL),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("gemm: trans = 7");
  OSLA_ASSERT_ERR(osla_syrk(OSLA_LOWER, (osla_trans)7, 1, tall, 0, square, NULL), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("syrk: trans = 7");
  OSLA_ASSERT_ERR(osla_trsm(OSLA_LEFT, OSLA_LOWER, OSLA_NOTRANS, (osla_diag)3, 1, a.a, b.a),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("trsm: diag = 3");
  OSLA_ASSERT_ERR(osla_getrs((osla_trans)7, a.a, NULL, b.a), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("solve: trans = 7");
  OSLA_ASSERT_ERR(osla_gemv(OSLA_NOTRANS, 1, tall, osla_part_at(b.a, 0, 0, 4, 1), 0,
                            osla_part_at(a.a, 0, 0, 8, 1)),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("x 4 x 1");
  OSLA_ASSERT_ERR(
    osla_symv(OSLA_UPPER, 1, tall, osla_part_at(a.a, 0, 0, 8, 1), 0, osla_part_at(a.a, 0, 1, 8, 1)),
    OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("not square");
  OSLA_ASSERT_ERR(osla_gemv(OSLA_TRANS, 1, osla_part_at(b.a, 0, 3, 8, 5),
                            osla_part_at(a.a, 0, 0, 8, 1), 0, osla_part_at(a.a, 0, 1, 5, 1)),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("matrix A");
  OSLA_ASSERT_SAME_TEXT();
  kernel_free(&a), kernel_free(&b), kernel_free(&f);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* osla_symm, osla_hemm and osla_trmm refuse wrong layers before the result changes. The sizes are
 * such that osla_trmm makes several products. */
static void test_layers_refused(void)
{
  enum { N = 200, COLS = 5 };
  osla_transport *t = osla_test_transport();
  const int size = osla_test_size();
  osla_grid *grid;
  OSLA_ASSERT_OK(osla_grid_create(t, 1, size, &grid));
  kernel_matrix a = kernel_make(grid, OSLA_DOUBLE, N, N, 8, 8, false);
  kernel_matrix b = kernel_make(grid, OSLA_DOUBLE, N, COLS * size, 8, COLS, false);
  kernel_matrix c = kernel_make(grid, OSLA_DOUBLE, N, COLS * size, 8, COLS, false);
  const osla_part x = osla_whole(a.a), y = osla_whole(b.a), z = osla_whole(c.a);
  OSLA_ASSERT_OK(osla_matrix_fill(a.a, OSLA_FILL_INTEGER, 1));
  OSLA_ASSERT_OK(osla_matrix_fill(b.a, OSLA_FILL_INTEGER, 2));
  OSLA_ASSERT_OK(osla_matrix_fill(c.a, OSLA_FILL_INTEGER, 3));
  dense before = dense_gather(c.a);
  const uint64_t sums = (uint64_t)(2 * (size - 1) * N * COLS) * sizeof(double);
  const osla_gemm_options wrong[] = {{.layers = -1}, {.layers = size, .memory = sums}};
  const osla_err codes[] = {OSLA_ERR_ARG, OSLA_ERR_MEM};
  for (int i = 0; i < (size > 1 ? 2 : 1); i++) {
    OSLA_ASSERT_ERR(osla_symm(OSLA_LEFT, OSLA_LOWER, 1, x, y, 0, z, &wrong[i]), codes[i]);
    OSLA_ASSERT_TEXT(i == 0 ? "osla_symm: layers = -1" : "osla_symm: the option memory is ");
    OSLA_ASSERT_ERR(osla_hemm(OSLA_LEFT, OSLA_LOWER, 1, x, y, 0, z, &wrong[i]), codes[i]);
    OSLA_ASSERT_TEXT(i == 0 ? "osla_hemm: layers = -1" : "osla_hemm: the option memory is ");
    OSLA_ASSERT_ERR(
      osla_trmm(OSLA_LEFT, OSLA_LOWER, OSLA_NOTRANS, OSLA_NONUNIT, 1, x, z, &wrong[i]), codes[i]);
    OSLA_ASSERT_TEXT(i == 0 ? "osla_trmm: layers = -1" : "osla_trmm: the option memory is ");
    OSLA_ASSERT_SAME_TEXT();
    kernel_expect(c.a, &before, "refused layers, case %d", i);
  }
  dense_free(&before);
  kernel_free(&a), kernel_free(&b), kernel_free(&c);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static void test_triangle_errors(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = kernel_grid(t, 0);
  kernel_matrix a = kernel_make_triangle(grid, OSLA_DOUBLE, 8, 3);
  kernel_matrix b = kernel_make(grid, OSLA_DOUBLE, 8, 4, 3, 3, false);
  const osla_part whole = osla_whole(a.a), x = osla_part_at(b.a, 0, 0, 8, 1),
                  y = osla_part_at(b.a, 0, 1, 8, 1);
  OSLA_ASSERT_ERR(osla_symm(OSLA_LEFT, OSLA_UPPER, 1, whole, x, 0, y, NULL), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("pass OSLA_LOWER");
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_ERR(osla_hemv(OSLA_UPPER, 1, whole, x, 0, y), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("pass OSLA_LOWER");
  OSLA_ASSERT_ERR(osla_symv(OSLA_LOWER, 1, osla_part_at(a.a, 1, 0, 7, 7),
                            osla_part_at(b.a, 0, 0, 7, 1), 0, osla_part_at(b.a, 0, 1, 7, 1)),
                  OSLA_ERR_UNSUPPORTED);
  OSLA_ASSERT_TEXT("begins at (1, 0), not on the diagonal");
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_ERR(osla_symv(OSLA_LOWER, 1, osla_part_at(a.a, 2, 2, 7, 7),
                            osla_part_at(b.a, 0, 0, 7, 1), 0, osla_part_at(b.a, 0, 1, 7, 1)),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("part of 7 x 7 at (2, 2) is not inside the 8 x 8 matrix A");
  kernel_free(&a), kernel_free(&b);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"small", test_small},
  {"halves", test_halves},
  {"errors", test_errors},
  {"layers_refused", test_layers_refused},
  {"triangle_errors", test_triangle_errors},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_products, cases);
