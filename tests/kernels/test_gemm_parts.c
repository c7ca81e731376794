/* Tests of osla_gemm with parts of matrices: parts of larger matrices, in other blocks, on other
 * grids, and several parts of one matrix. Overlapping parts and all other errors are tested,
 * too. */
#include "osla_index.h"
#include "tests/complex_help.h"
#include "tests/kernels/gemm_pool.h"
#include "tests/osla_test_help.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Checks a product chosen by a seed, or asserts its refusal if C overlaps an operand. */
static void check_product(const gemm_pool *pool, uint64_t seed)
{
  product_options options;
  product p = pool_product(pool, seed, &options);
  if (parts_overlap(&p.a, &p.c) || parts_overlap(&p.b, &p.c))
    (void)product_refused(&p, OSLA_ERR_ARG, "overlap", pool->label);
  else
    (void)product_check(&p, pool->label);
}

/* Random products on all grids; on every second grid, ranks are delayed during the products. */
static void test_random(void)
{
  osla_transport *t = osla_test_transport();
  int rounds = pool_rounds(t, 160), n_types = osla_test_size() <= 2 ? 4 : 1;
  int n_grids = kernel_n_grids(t);
  for (int g = 0; g < n_grids; g++)
    for (int type = 0; type < n_types; type++) {
      delays d;
      uint64_t seed = (uint64_t)(10 * g + type);
      gemm_pool pool = pool_make(t, g, (osla_dtype)((g + type) % 4), seed);
      if (g % 2) delays_begin(&d, t, seed);
      for (int round = 0; round < rounds; round++)
        check_product(&pool, 10000 * (seed + 1) + (uint64_t)round);
      if (g % 2) delays_end(&d);
      pool_free(&pool);
    }
  osla_transport_destroy(&t);
}

/* A part at (i, j) of a matrix, of size m x n, or n x m if the product transposes it. */
static osla_part op_at(osla_matrix *matrix, osla_trans trans, int64_t i, int64_t j, int64_t m,
                       int64_t n)
{
  return trans == OSLA_NOTRANS ? osla_part_at(matrix, i, j, m, n)
                               : osla_part_at(matrix, i, j, n, m);
}

/* C lies between A and B in one matrix, so that it touches A and B but does not overlap them. Empty
 * operands may lie inside C. */
static void test_parts_of_one(void)
{
  enum { N = 30, H = 13 };
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g += osla_test_size() > 2 ? 3 : 1) {
    for (int wrapped = 0; wrapped < 2; wrapped++) {
      kernel_matrix x = kernel_make(grid, (osla_dtype)(g % 4), N, N, 4, wrapped ? 3 : 4, wrapped);
      for (int ops = 0; ops < 9; ops++) {
        osla_trans ta = (osla_trans)(ops % 3), tb = (osla_trans)(ops / 3);
        product p = {.transa = ta, .transb = tb, .alpha = CMPLX(1, 1), .seed = (uint64_t)ops};
        p.beta = ops % 2;
        p.a = op_at(x.a, ta, 0, 0, H, H), p.b = op_at(x.a, tb, H, 0, H, H);
        p.c = osla_part_at(x.a, 0, H, H, H);
        (void)product_check(&p, "touching");
        p.b = p.a;
        p.c = osla_part_at(x.a, H, H, H, H);
        (void)product_check(&p, "A is B, C touches its corner");
        p.b = op_at(x.a, tb, 4, 3, H, H);
        p.c = osla_part_at(x.a, N - H, N - H, H, H);
        (void)product_check(&p, "A overlaps B");
        p.a = op_at(x.a, ta, 5, 6, H, 0), p.b = op_at(x.a, tb, 7, 8, 0, H);
        p.c = osla_part_at(x.a, 3, 2, H, H);
        (void)product_check(&p, "empty operands in C");
        p.a = op_at(x.a, ta, 5, 6, 0, H), p.b = op_at(x.a, tb, 7, 8, H, H);
        p.c = osla_part_at(x.a, 10, 9, 0, H);
        (void)product_check(&p, "empty C in B");
      }
      kernel_free(&x);
    }
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* C overlaps A or B by one element at each corner, or completely. */
static void test_overlap(void)
{
  enum { H = 9, AT = 11 };
  static const int64_t far = H - 1;
  osla_transport *t = osla_test_transport();
  gemm_pool pool = pool_make(t, 0, OSLA_COMPLEX_FLOAT, 5);
  osla_matrix *x = pool.slot[0].a, *y = pool.slot[1].a;
  for (int corner = 0; corner < 5; corner++) {
    int64_t i = AT + (corner == 4 ? 0 : corner & 1 ? far : -far);
    int64_t j = AT + (corner == 4 ? 0 : corner & 2 ? far : -far);
    product p = {.alpha = 1, .beta = 1, .seed = (uint64_t)corner, .c = osla_part_at(x, i, j, H, H)};
    p.a = osla_part_at(x, AT, AT, H, H), p.b = osla_part_at(y, 0, 0, H, H);
    p.transb = OSLA_TRANS;
    (void)product_refused(&p, OSLA_ERR_ARG, "overlap", "A and C");
    osla_part kept = p.a;
    p.a = p.b, p.b = kept;
    p.beta = 0;
    (void)product_refused(&p, OSLA_ERR_ARG, "overlap", "B and C");
    p.a = p.b;
    (void)product_refused(&p, OSLA_ERR_ARG, "overlap", "A, B and C");
    p.c = osla_part_at(y, i, j, H, H);
    (void)product_check(&p, "after an overlap");
  }
  pool_free(&pool);
  osla_transport_destroy(&t);
}

/* ---- several matrices that wrap one array ---- */

typedef struct array {
  /* shape of one wrapped matrix; the array has room for two of them in each direction */
  int64_t rows, cols, lld;
  size_t e;
  unsigned char *at;
} array;

static array array_make(osla_grid *grid, osla_dtype dtype, int64_t m, int64_t n, int64_t mb,
                        int64_t nb)
{
  array x = {.rows = osla_index_count(m, mb, osla_grid_prow(grid), osla_grid_nprow(grid)),
             .cols = osla_index_count(n, nb, osla_grid_pcol(grid), osla_grid_npcol(grid)),
             .e = osla_dtype_size(dtype)};
  x.lld = 2 * x.rows + 1;
  x.at = osla_test_allocate(1, (size_t)(2 * x.lld * (x.cols + 1)) * x.e);
  return x;
}

/* A or B wraps the beginning of an array, and C the same array from (row, col) on. Checks the
 * product, or asserts its refusal if `refused`. */
static void check_shared(osla_grid *grid, int role, array *x, int64_t row, int64_t col,
                         bool refused, const char *label)
{
  enum { N = 20, B = 3 };
  osla_matrix *m[3] = {NULL, NULL, NULL};
  unsigned char *second = x->at + (size_t)(row + col * x->lld) * x->e;
  kernel_matrix other = kernel_make(grid, OSLA_DOUBLE, N, N, B, B, false);
  OSLA_ASSERT_OK(osla_matrix_wrap(grid, OSLA_DOUBLE, N, N, B, B, x->at, x->lld, &m[role]));
  OSLA_ASSERT_OK(osla_matrix_wrap(grid, OSLA_DOUBLE, N, N, B, B, second, x->lld, &m[2]));
  m[1 - role] = other.a;
  product p = {.alpha = 2, .beta = 1, .transa = OSLA_TRANS, .transb = OSLA_NOTRANS};
  p.a = osla_whole(m[0]), p.b = osla_whole(m[1]), p.c = osla_whole(m[2]);
  if (refused)
    (void)product_refused(&p, OSLA_ERR_ARG, NULL, label);
  else
    (void)product_check(&p, label);
  osla_matrix_destroy(&m[role]);
  osla_matrix_destroy(&m[2]);
  kernel_free(&other);
}

/* A product with C in the memory of an operand, completely, partially, or on one rank only, is
 * refused. C may lie beside the operand, or in the padding between the operand's columns. */
static void test_shared_memory(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = kernel_grid(t, 0);
  array x = array_make(grid, OSLA_DOUBLE, 20, 20, 3, 3);
  bool last = osla_test_rank() == osla_test_size() - 1;
  for (int role = 0; role < 2; role++) {
    const char *name = role == 0 ? "C on A" : "C on B";
    check_shared(grid, role, &x, 0, 0, true, name);
    check_shared(grid, role, &x, 0, x.cols - 1, true, "C from the last column on");
    check_shared(grid, role, &x, x.rows - 1, 0, true, "C from the last row on");
    check_shared(grid, role, &x, 0, last ? 0 : x.cols, true, "C on an operand on one rank");
    check_shared(grid, role, &x, 0, x.cols, false, "C after an operand");
    check_shared(grid, role, &x, x.rows, 0, false, "C between an operand's columns");
  }
  free(x.at);
  kernel_matrix owned = kernel_make(grid, OSLA_DOUBLE, 20, 20, 3, 3, false);
  osla_matrix *twin = NULL;
  OSLA_ASSERT_OK(osla_matrix_wrap(grid, OSLA_DOUBLE, 20, 20, 3, 3, osla_matrix_local(owned.a),
                                  osla_matrix_lld(owned.a, osla_test_rank()), &twin));
  product p = {.alpha = 1, .a = osla_whole(owned.a), .b = osla_whole(owned.a)};
  p.c = osla_whole(twin);
  (void)product_refused(&p, OSLA_ERR_ARG, NULL, "C wrapped on the library's memory");
  osla_matrix_destroy(&twin);
  kernel_free(&owned);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* ---- errors of products of parts ---- */

typedef struct operands {
  osla_grid *grid;
  kernel_matrix a, b, c; /* 4 x 6, 6 x 3, 4 x 3 */
} operands;

static operands operands_make(osla_transport *t)
{
  operands x = {.grid = kernel_grid(t, 0)};
  x.a = kernel_make(x.grid, OSLA_DOUBLE, 4, 6, 2, 2, false);
  x.b = kernel_make(x.grid, OSLA_DOUBLE, 6, 3, 2, 2, false);
  x.c = kernel_make(x.grid, OSLA_DOUBLE, 4, 3, 2, 2, false);
  return x;
}

static product good_product(const operands *x)
{
  return (product){.alpha = 1,
                   .beta = 1,
                   .a = osla_whole(x->a.a),
                   .b = osla_whole(x->b.a),
                   .c = osla_whole(x->c.a)};
}

static void operands_free(operands *x)
{
  kernel_free(&x->a), kernel_free(&x->b), kernel_free(&x->c);
  osla_grid_destroy(&x->grid);
}

/* Asserts that the product is refused with these texts in the message, and that a correct product
 * works afterwards. */
static void refuse(const operands *x, const product *p, const char *const text[], const char *label)
{
  (void)product_refused(p, OSLA_ERR_ARG, text[0], label);
  for (int i = 1; text[i]; i++)
    OSLA_ASSERT_TEXT(text[i]);
  product good = good_product(x);
  (void)product_check(&good, "after an error");
}

#define TEXTS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Tests operands whose sizes do not match. The message must name the sizes of op(A), op(B) and
 * C. */
static void test_bad_sizes(void)
{
  osla_transport *t = osla_test_transport();
  operands x = operands_make(t);
  product p = good_product(&x);
  p.transa = OSLA_TRANS;
  refuse(&x, &p, TEXTS("6 x 4", "6 x 3", "4 x 3"), "A transposed");
  p = good_product(&x);
  p.transb = OSLA_CONJTRANS;
  refuse(&x, &p, TEXTS("4 x 6", "3 x 6", "4 x 3"), "B transposed");
  p = good_product(&x);
  p.a.n = 5;
  refuse(&x, &p, TEXTS("4 x 5", "6 x 3", "4 x 3"), "k of A");
  p = good_product(&x);
  p.b.m = 0;
  refuse(&x, &p, TEXTS("4 x 6", "0 x 3", "4 x 3"), "k of B");
  p = good_product(&x);
  p.c.m = 3;
  refuse(&x, &p, TEXTS("4 x 6", "6 x 3", "3 x 3"), "m of C");
  p = good_product(&x);
  p.c.n = 2;
  refuse(&x, &p, TEXTS("4 x 6", "6 x 3", "4 x 2"), "n of C");
  operands_free(&x);
  osla_transport_destroy(&t);
}

/* Tests parts that reach beyond their matrix. The message must name the wrong values. Parts that
 * end exactly at the matrix's edge are accepted. */
static void test_outside(void)
{
  static const struct {
    int64_t i, j, m, n;
    const char *text[4];
  } list[] = {
    {1, 0, 4, 6, {"4 x 6", "1", "0"}},
    {0, 1, 4, 6, {"4 x 6", "0", "1"}},
    {-1, 0, 4, 6, {"4 x 6", "-1", "0"}},
    {0, -7, 4, 6, {"4 x 6", "0", "-7"}},
    {INT64_MAX - 1, 0, 4, 6, {"9223372036854775806", "4 x 6"}},
    {0, INT64_MAX - 5, 4, 6, {"9223372036854775802", "4 x 6"}},
    {0, 0, -4, 6, {"-4 x 6"}},
    {0, 0, 4, -6, {"4 x -6"}},
    {5, 0, 0, 6, {"0 x 6"}},
    {0, 0, 5, 6, {"5 x 6"}},
    {0, 0, 4, 17, {"4 x 17"}},
    {0, 3, 4, INT64_MAX, {"4 x 9223372036854775807"}},
  };
  osla_transport *t = osla_test_transport();
  operands x = operands_make(t);
  kernel_matrix y = kernel_make(x.grid, OSLA_DOUBLE, 9, 9, 2, 2, false);
  kernel_matrix z = kernel_make(x.grid, OSLA_DOUBLE, 9, 9, 2, 2, false);
  for (int k = 0; k < (int)(sizeof list / sizeof list[0]); k++) {
    osla_part bad = osla_part_at(x.a.a, list[k].i, list[k].j, list[k].m, list[k].n);
    product p = {.alpha = 1, .beta = 1, .a = bad};
    p.b = osla_part_at(y.a, 0, 0, 6, 3), p.c = osla_part_at(z.a, 0, 0, 4, 3);
    refuse(&x, &p, list[k].text, "A outside");
    p.a = osla_part_at(y.a, 0, 0, 3, 4), p.b = bad, p.c = osla_part_at(z.a, 0, 0, 3, 6);
    refuse(&x, &p, list[k].text, "B outside");
    p.a = osla_part_at(y.a, 0, 0, 4, 5), p.b = osla_part_at(z.a, 0, 0, 5, 6), p.c = bad;
    refuse(&x, &p, list[k].text, "C outside");
  }
  kernel_free(&y), kernel_free(&z);
  operands_free(&x);
  osla_transport_destroy(&t);
}

static void test_other_errors(void)
{
  osla_transport *t = osla_test_transport(), *other = osla_test_transport();
  operands x = operands_make(t), y = operands_make(other);
  kernel_matrix f = kernel_make(x.grid, OSLA_FLOAT, 4, 6, 2, 2, false);
  kernel_matrix z = kernel_make(x.grid, OSLA_COMPLEX_DOUBLE, 6, 3, 2, 2, false);
  product p = good_product(&x);
  p.a.matrix = f.a;
  refuse(&x, &p, TEXTS("'s'", "'d'"), "type of A");
  p = good_product(&x);
  p.b.matrix = z.a;
  refuse(&x, &p, TEXTS("'z'", "'d'"), "type of B");
  p = good_product(&x);
  p.a.matrix = y.a.a;
  refuse(&x, &p, TEXTS("transport"), "transport of A");
  p = good_product(&x);
  p.b.matrix = y.b.a;
  refuse(&x, &p, TEXTS("transport"), "transport of B");
  p = good_product(&x);
  p.c.matrix = y.c.a;
  refuse(&x, &p, TEXTS("transport"), "transport of C");
  product_options options = {.panel = -3};
  p = good_product(&x);
  p.options = &options;
  refuse(&x, &p, TEXTS("-3"), "negative panel");
  options.panel = INT64_MAX;
  (void)product_check(&p, "huge panel");
  kernel_free(&f), kernel_free(&z);
  operands_free(&x), operands_free(&y);
  osla_transport_destroy(&other), osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"random", test_random},
  {"parts_of_one", test_parts_of_one},
  {"overlap", test_overlap},
  {"shared_memory", test_shared_memory},
  {"bad_sizes", test_bad_sizes},
  {"outside", test_outside},
  {"other_errors", test_other_errors},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_gemm_parts, cases);
