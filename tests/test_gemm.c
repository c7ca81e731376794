/* Distributed multiplication against a replicated one: bitwise where the numbers are whole, else
 * element by element against the usual bound of rounding errors. */
#include "kernel_reference.h"
#include "osla_gemm.h"
#include "osla_test_help.h"

#include <math.h>
#include <stdio.h>

typedef struct shape {
  int64_t m, n, k, mb, nb, kb;
} shape;

static const osla_gemm_options option_list[] = {
  {.blocking = false, .copy = false},
  {.blocking = true, .copy = false},
  {.blocking = false, .copy = true},
  {.blocking = true, .copy = true},
};

static const struct {
  double alpha, beta;
} factors[] = {{1, 0}, {2, 1}, {-1, 3}, {1, -2}, {0, 2}, {0, 0}};

static double not_a_number(int64_t i, int64_t j, void *arg)
{
  (void)i, (void)j, (void)arg;
  return (double)NAN;
}

/* C := beta C in place, and without reading it if beta is 0. */
static void scale(dense *c, double beta)
{
  for (int64_t i = 0; i < c->m * c->n * c->parts; i++)
    c->at[i] = beta == 0.0 ? 0.0 : beta * c->at[i];
}

static void fill_c(osla_matrix *c, osla_fill fill, double beta)
{
  if (beta == 0.0)
    OSLA_ASSERT_OK(osla_matrix_fill_with(c, not_a_number, NULL));
  else
    OSLA_ASSERT_OK(osla_matrix_fill(c, fill, 3));
}

/* Whole numbers: the product is exact in all four types. */
static void check_exact(double alpha, osla_matrix *a, osla_matrix *b, double beta, osla_matrix *c,
                        const osla_gemm_options *options, const char *label)
{
  OSLA_ASSERT_OK(osla_matrix_fill(a, OSLA_FILL_INTEGER, 1));
  OSLA_ASSERT_OK(osla_matrix_fill(b, OSLA_FILL_INTEGER, 2));
  fill_c(c, OSLA_FILL_INTEGER, beta);
  dense da = dense_gather(a), db = dense_gather(b), dc = dense_gather(c);
  OSLA_ASSERT_OK(osla_gemm(alpha, a, b, beta, c, options));
  scale(&dc, beta);
  dense_multiply(alpha, &da, &db, &dc, 0, 1);
  kernel_expect(c, &dc, "gemm alpha %g beta %g%s%s, C %s", alpha, beta,
                options && options->blocking ? " blocking" : "",
                options && options->copy ? " copy" : "", label);
  kernel_expect(a, &da, "gemm leaves A, C %s", label);
  kernel_expect(b, &db, "gemm leaves B, C %s", label);
  dense_free(&da), dense_free(&db), dense_free(&dc);
}

/* |C - R| <= 2 (k + 2) eps (|alpha| |A| |B| + |beta| |C|), element by element. */
static void check_rounding(double alpha, osla_matrix *a, osla_matrix *b, double beta,
                           osla_matrix *c, const osla_gemm_options *options, const char *label)
{
  int64_t first = osla_test_rank(), stride = osla_test_size();
  OSLA_ASSERT_OK(osla_matrix_fill(a, OSLA_FILL_UNIFORM, 1));
  OSLA_ASSERT_OK(osla_matrix_fill(b, OSLA_FILL_UNIFORM, 2));
  fill_c(c, OSLA_FILL_UNIFORM, beta);
  dense da = dense_gather(a), db = dense_gather(b), dc = dense_gather(c);
  scale(&dc, beta);
  dense aa = dense_absolute(&da), ab = dense_absolute(&db), ac = dense_absolute(&dc);
  OSLA_ASSERT_OK(osla_gemm(alpha, a, b, beta, c, options));
  dense got = dense_gather(c);
  dense_multiply(alpha, &da, &db, &dc, first, stride);
  dense_multiply(fabs(alpha), &aa, &ab, &ac, first, stride);
  double worst = 0.0, unit = 2.0 * (double)(da.n + 2) * kernel_eps(osla_matrix_dtype(c));
  for (int64_t j = first; j < dc.n; j += stride)
    for (int64_t i = 0; i < dc.m * dc.parts; i++) {
      double distance = fabs(dense_at(&got, 0, j)[i] - dense_at(&dc, 0, j)[i]);
      double ratio = distance == 0.0 ? 0.0 : distance / (unit * *dense_at(&ac, i / dc.parts, j));
      if (!(ratio <= worst)) worst = ratio;
    }
  OSLA_ASSERT_MSG(worst <= 1.0,
                  "C %s: max |C - R| / (2 (k + 2) eps (|alpha| |A| |B| + |beta| |C|)) = %.3g",
                  label, worst);
  dense_free(&da), dense_free(&db), dense_free(&dc), dense_free(&got);
  dense_free(&aa), dense_free(&ab), dense_free(&ac);
}

static void test_grids_and_blocks(void)
{
  static const shape shapes[] = {
    {1, 1, 1, 1, 1, 1},       {2, 3, 5, 2, 2, 2},
    {9, 7, 8, 1, 1, 1},       {37, 29, 41, 8, 5, 7},
    {64, 48, 32, 16, 16, 16}, {20, 31, 3, 50, INT64_C(1) << 40, INT64_C(1) << 40},
    {3, 90, 70, 4, 16, 9},    {80, 2, 101, 7, 3, 16},
  };
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g++) {
    for (int s = 0; s < (int)(sizeof shapes / sizeof shapes[0]); s++) {
      if (!kernel_turn(g, s)) continue;
      shape h = shapes[s];
      osla_dtype dtype = (osla_dtype)((g / 4 + s) % 4);
      int w = (g + 3 * s) % 8, f = (g + 2 * s) % 6;
      kernel_matrix a = kernel_make(grid, dtype, h.m, h.k, h.mb, h.kb, w & 1);
      kernel_matrix b = kernel_make(grid, dtype, h.k, h.n, h.kb, h.nb, w & 2);
      kernel_matrix c = kernel_make(grid, dtype, h.m, h.n, h.mb, h.nb, w & 4);
      char label[128];
      (void)snprintf(label, sizeof label, "%s", kernel_label(c.a, w & 4));
      check_exact(factors[f].alpha, a.a, b.a, factors[f].beta, c.a, NULL, label);
      f = (f + 1) % 6;
      check_rounding(factors[f].alpha, a.a, b.a, factors[f].beta, c.a, &option_list[s % 4], label);
      kernel_free(&a), kernel_free(&b), kernel_free(&c);
    }
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* Every type with every option and pair of factors, on one grid. */
static void test_options(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = kernel_grid(t, osla_test_size() > 3 ? 1 : 0);
  for (int dtype = OSLA_FLOAT; dtype <= OSLA_COMPLEX_DOUBLE; dtype++) {
    kernel_matrix a = kernel_make(grid, (osla_dtype)dtype, 21, 34, 4, 3, false);
    kernel_matrix b = kernel_make(grid, (osla_dtype)dtype, 34, 18, 3, 5, false);
    kernel_matrix c = kernel_make(grid, (osla_dtype)dtype, 21, 18, 4, 5, false);
    for (int i = 0; i < 12; i++)
      check_exact(factors[i % 6].alpha, a.a, b.a, factors[i % 6].beta, c.a, &option_list[i % 4],
                  kernel_label(c.a, false));
    kernel_free(&a), kernel_free(&b), kernel_free(&c);
  }
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static void test_empty(void)
{
  static const shape shapes[] = {
    {6, 5, 0, 2, 2, 2}, {0, 5, 4, 2, 2, 2}, {6, 0, 4, 2, 2, 2}, {0, 0, 0, 1, 1, 1}};
  osla_transport *t = osla_test_transport();
  osla_grid *grid = kernel_grid(t, 0);
  for (int s = 0; s < 4; s++)
    for (int f = 0; f < 6; f++) {
      if (!kernel_turn(s, f)) continue;
      shape h = shapes[s];
      osla_dtype dtype = (osla_dtype)((s + f) % 4);
      kernel_matrix a = kernel_make(grid, dtype, h.m, h.k, h.mb, h.kb, f & 1);
      kernel_matrix b = kernel_make(grid, dtype, h.k, h.n, h.kb, h.nb, f & 1);
      kernel_matrix c = kernel_make(grid, dtype, h.m, h.n, h.mb, h.nb, f & 1);
      check_exact(factors[f].alpha, a.a, b.a, factors[f].beta, c.a, &option_list[f % 4],
                  kernel_label(c.a, f & 1));
      kernel_free(&a), kernel_free(&b), kernel_free(&c);
    }
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* Operands on other grids and in other blocks are redistributed. */
static void test_operands_that_do_not_fit(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid_a, *grid_b, *grid_c;
  for (int g = 0; (grid_c = kernel_grid(t, g)) != NULL; g += osla_test_size() > 2 ? 2 : 1) {
    grid_a = kernel_grid(t, g + 1);
    if (!grid_a) grid_a = kernel_grid(t, 0);
    grid_b = kernel_grid(t, g / 2);
    bool wrapped = g % 2 == 0;
    kernel_matrix a = kernel_make(grid_a, OSLA_DOUBLE, 33, 47, 5, 8, wrapped);
    kernel_matrix b = kernel_make(grid_b, OSLA_DOUBLE, 47, 26, 9, 50, !wrapped);
    kernel_matrix c = kernel_make(grid_c, OSLA_DOUBLE, 33, 26, 6, 4, wrapped);
    check_exact(1.0, a.a, b.a, 2.0, c.a, &option_list[g % 4], kernel_label(c.a, wrapped));
    check_rounding(0.7, a.a, b.a, 0.0, c.a, NULL, kernel_label(c.a, wrapped));
    kernel_free(&a), kernel_free(&b), kernel_free(&c);
    osla_grid_destroy(&grid_a), osla_grid_destroy(&grid_b), osla_grid_destroy(&grid_c);
  }
  osla_transport_destroy(&t);
}

static void test_errors(void)
{
  osla_transport *t = osla_test_transport(), *other = osla_test_transport();
  osla_grid *grid = kernel_grid(t, 0), *foreign = kernel_grid(other, 0);
  kernel_matrix a = kernel_make(grid, OSLA_DOUBLE, 4, 6, 2, 2, false);
  kernel_matrix b = kernel_make(grid, OSLA_DOUBLE, 6, 3, 2, 2, false);
  kernel_matrix c = kernel_make(grid, OSLA_DOUBLE, 4, 3, 2, 2, false);
  kernel_matrix f = kernel_make(grid, OSLA_FLOAT, 4, 6, 2, 2, false);
  kernel_matrix s = kernel_make(grid, OSLA_DOUBLE, 6, 6, 2, 2, false);
  kernel_matrix x = kernel_make(foreign, OSLA_DOUBLE, 4, 6, 2, 2, false);
  OSLA_ASSERT_ERR(osla_gemm(1.0, b.a, a.a, 0.0, c.a, NULL), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("A is 6 x 3, B 4 x 6, C 4 x 3");
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_ERR(osla_gemm(1.0, a.a, s.a, 0.0, c.a, NULL), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("A is 4 x 6, B 6 x 6, C 4 x 3");
  OSLA_ASSERT_ERR(osla_gemm(1.0, f.a, b.a, 0.0, c.a, NULL), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("'s', 'd', 'd'");
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_ERR(osla_gemm(1.0, s.a, s.a, 0.0, s.a, NULL), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("C is also an operand");
  OSLA_ASSERT_ERR(osla_gemm(1.0, x.a, b.a, 0.0, c.a, NULL), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("different transports");
  OSLA_ASSERT_SAME_TEXT();
  check_exact(1.0, a.a, b.a, 1.0, c.a, NULL, "after the errors"); /* nothing is left behind */
  kernel_free(&a), kernel_free(&b), kernel_free(&c), kernel_free(&f), kernel_free(&s);
  kernel_free(&x);
  osla_grid_destroy(&grid), osla_grid_destroy(&foreign);
  osla_transport_destroy(&other), osla_transport_destroy(&t);
}

/* B := A A, C := B A, B := C A, ... without a pause: what one rank has not read yet no other rank
 * may overwrite, and no state is left from call to call. */
static void test_back_to_back(void)
{
  enum { N = 24, PRODUCTS = 6 }; /* 4^7 24^6 < 2^53: exact */
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g += osla_test_size() > 2 ? 3 : 1) {
    delays d;
    kernel_matrix a = kernel_make(grid, OSLA_DOUBLE, N, N, 3, 3, false);
    kernel_matrix b[2] = {kernel_make(grid, OSLA_DOUBLE, N, N, 3, 3, g % 2),
                          kernel_make(grid, OSLA_DOUBLE, N, N, 3, 3, false)};
    dense da = exact_whole(N, N, (uint64_t)g), db = dense_product(&da, &da);
    dense_scatter(&da, a.a);
    delays_begin(&d, t, (uint64_t)g);
    OSLA_ASSERT_OK(osla_gemm(1.0, a.a, a.a, 0.0, b[0].a, NULL));
    for (int i = 1; i < PRODUCTS; i++) {
      OSLA_ASSERT_OK(osla_gemm(1.0, b[1 - i % 2].a, a.a, 0.0, b[i % 2].a, &option_list[i % 4]));
      dense next = dense_product(&db, &da);
      dense_free(&db);
      db = next;
    }
    delays_end(&d);
    kernel_expect(b[(PRODUCTS - 1) % 2].a, &db, "A^%d, %s", PRODUCTS + 1, kernel_label(a.a, false));
    dense_free(&da), dense_free(&db);
    kernel_free(&a), kernel_free(&b[0]), kernel_free(&b[1]);
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

static int64_t choose(uint64_t seed, int64_t i, int64_t below)
{
  return osla_test_choose(seed, i, below);
}

/* Sizes, blocks, grids and options by seed, with delays in the midst of the products. */
static void test_stress(void)
{
  osla_transport *t = osla_test_transport();
  int n_grids = 0, rounds = kernel_rounds(4);
  osla_grid *grids[32], *grid;
  while ((grid = kernel_grid(t, n_grids)) != NULL)
    grids[n_grids++] = grid;
  for (int round = 0; round < rounds; round++) {
    uint64_t seed = 1000 + (uint64_t)round;
    shape h = {choose(seed, 0, 60),    choose(seed, 1, 60),    choose(seed, 2, 60),
               1 + choose(seed, 3, 9), 1 + choose(seed, 4, 9), 1 + choose(seed, 5, 9)};
    osla_dtype dtype = (osla_dtype)choose(seed, 6, 4);
    int64_t w = choose(seed, 7, 8);
    grid = grids[choose(seed, 8, n_grids)];
    osla_grid *grid_b = choose(seed, 9, 3) == 0 ? grids[choose(seed, 10, n_grids)] : grid;
    delays d;
    delays_begin(&d, t, seed);
    kernel_matrix a = kernel_make(grid, dtype, h.m, h.k, h.mb, h.kb, w & 1);
    kernel_matrix b = kernel_make(grid_b, dtype, h.k, h.n, h.kb, h.nb, w & 2);
    kernel_matrix c = kernel_make(grid, dtype, h.m, h.n, h.mb, h.nb, w & 4);
    char label[160];
    (void)snprintf(label, sizeof label, "round %d, %s", round, kernel_label(c.a, w & 4));
    for (int i = 0; i < 3; i++)
      check_exact(factors[(round + i) % 6].alpha, a.a, b.a, factors[(round + i) % 6].beta, c.a,
                  &option_list[choose(seed, 11 + i, 4)], label);
    delays_end(&d);
    kernel_free(&a), kernel_free(&b), kernel_free(&c);
  }
  for (int g = 0; g < n_grids; g++)
    osla_grid_destroy(&grids[g]);
  osla_transport_destroy(&t);
}

int main(int argc, char **argv)
{
  static const osla_test_case cases[] = {
    {"grids_and_blocks", test_grids_and_blocks},
    {"options", test_options},
    {"empty", test_empty},
    {"operands_that_do_not_fit", test_operands_that_do_not_fit},
    {"errors", test_errors},
    {"back_to_back", test_back_to_back},
    {"stress", test_stress},
    {NULL, NULL},
  };
  return osla_test_main(argc, argv, cases);
}
