/* Tests of osla_syrk and osla_herk, compared with a serial product, for both triangles. Elements
 * outside the triangle stay unchanged. */
#include "tests/kernels/gemm_pool.h"
#include "tests/osla_test_help.h"

#include "tests/complex_help.h"

static const double factors[][2] = {{1, 0}, {2, 1}, {-1, 3}, {1, -2}, {0, 2}, {0, 0}, {3, 1}};

enum { N_FACTORS = sizeof factors / sizeof factors[0] };

/* A part at (i, j) of a matrix, of size n x k, or k x n if the product transposes it. */
static osla_part op_at(osla_matrix *matrix, osla_trans trans, int64_t i, int64_t j, int64_t n,
                       int64_t k)
{
  return trans == OSLA_NOTRANS ? osla_part_at(matrix, i, j, n, k)
                               : osla_part_at(matrix, i, j, k, n);
}

/* Makes a product by osla_herk in odd turns, and by osla_syrk in even turns, with complex alpha and
 * beta for complex types. */
static product product_by_turns(int turn, osla_uplo uplo, osla_trans trans, const double *factor,
                                osla_part a, osla_part c)
{
  if (turn % 2) return product_of_herk(uplo, trans, factor[0], a, factor[1], c);
  return product_of_syrk(uplo, trans, CMPLX(factor[0], factor[1]), a, CMPLX(factor[1], factor[0]),
                         c);
}

/* Products of whole matrices on all grids, with C in square blocks, in blocks that are not square,
 * and in blocks larger than C. */
static void test_grids_and_blocks(void)
{
  static const struct {
    int64_t n, k, mb, nb, kb;
  } shapes[] = {{1, 1, 1, 1, 1},    {7, 3, 2, 2, 2},   {9, 8, 1, 1, 3},   {37, 41, 8, 8, 5},
                {48, 32, 8, 8, 16}, {31, 20, 5, 3, 4}, {30, 12, 2, 7, 7}, {20, 50, 50, 64, 9}};
  osla_transport *t = osla_test_transport();
  for (int g = 0; g < kernel_n_grids(t); g++) {
    osla_grid *grid = kernel_grid(t, g);
    for (int s = 0; s < (int)(sizeof shapes / sizeof shapes[0]); s++) {
      if (!kernel_turn(g, s)) continue;
      osla_dtype dtype = (osla_dtype)((g + s) % 4);
      osla_trans trans = (g + s / 2) % 2 ? OSLA_TRANS : OSLA_NOTRANS;
      int64_t n = shapes[s].n, k = shapes[s].k, mb = shapes[s].mb, kb = shapes[s].kb;
      bool as_is = trans == OSLA_NOTRANS, wrapped = (g + s) % 3 == 0;
      kernel_matrix a = kernel_make(grid, dtype, as_is ? n : k, as_is ? k : n, as_is ? mb : kb,
                                    as_is ? kb : mb, g % 2);
      kernel_matrix c = kernel_make(grid, dtype, n, n, mb, shapes[s].nb, wrapped);
      for (int f = 0; f < 2 * N_FACTORS; f++) {
        product_options options = pool_options((uint64_t)(g + s + f));
        product p = product_by_turns(f / 2, f % 2 ? OSLA_UPPER : OSLA_LOWER, trans,
                                     factors[f % N_FACTORS], osla_whole(a.a), osla_whole(c.a));
        p.seed = (uint64_t)f, p.rounding = f >= N_FACTORS;
        p.options = f % 3 ? &options : NULL;
        (void)product_check(&p, wrapped ? "whole, C wrapped" : "whole");
      }
      kernel_free(&a), kernel_free(&c);
    }
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

static void check_product(const gemm_pool *pool, uint64_t seed)
{
  int64_t r[7];
  for (int i = 0; i < 7; i++)
    r[i] = osla_test_choose(seed, i, i < 2 ? 49 : 420);
  int64_t n = r[2] % 12 < 2 ? r[2] % 12 : r[0], k = r[3] % 12 < 2 ? r[3] % 12 : r[1];
  int count = r[4] % 2 ? POOL_EQUAL : POOL_SIZE;
  osla_trans trans = r[5] % 2 ? OSLA_TRANS : OSLA_NOTRANS;
  bool as_is = trans == OSLA_NOTRANS;
  product_options options = pool_options(seed);
  osla_part a = pool_part(pool, 4 * seed, count, as_is ? n : k, as_is ? k : n);
  osla_part c = pool_part(pool, 4 * seed + 1, count, n, n);
  for (uint64_t more = 0; more < 4 && r[6] % 6 > 0 && parts_overlap(&a, &c); more++)
    c = pool_part(pool, 4 * seed + 2 + 1000 * more, count, n, n);
  product p = product_by_turns((int)(r[4] / 2), r[6] % 2 ? OSLA_UPPER : OSLA_LOWER, trans,
                               factors[r[5] % N_FACTORS], a, c);
  p.seed = seed, p.rounding = r[4] % 5 == 0;
  p.options = r[3] % 3 ? &options : NULL;
  if (parts_overlap(&a, &c))
    (void)product_refused(&p, OSLA_ERR_ARG, "overlap", pool->label);
  else
    (void)product_check(&p, pool->label);
}

/* Products of parts chosen by a seed, on all grids; on every second grid, ranks are delayed during
 * the products. */
static void test_random(void)
{
  osla_transport *t = osla_test_transport();
  int rounds = pool_rounds(t, 120), n_types = osla_test_size() <= 2 ? 2 : 1;
  for (int g = 0; g < kernel_n_grids(t); g++)
    for (int type = 0; type < n_types; type++) {
      delays d;
      uint64_t seed = (uint64_t)(500 + 10 * g + type);
      gemm_pool pool = pool_make(t, g, (osla_dtype)((g / 2 + 2 * type + g % 2) % 4), seed);
      if (g % 2) delays_begin(&d, t, seed);
      for (int round = 0; round < rounds; round++)
        check_product(&pool, 10000 * seed + (uint64_t)round);
      if (g % 2) delays_end(&d);
      pool_free(&pool);
    }
  osla_transport_destroy(&t);
}

/* Tests products with n = 0, with k = 0, and with n = k = 0, and products in which A and C are in
 * one matrix. */
static void test_edges(void)
{
  static const int64_t sizes[][2] = {{0, 5}, {6, 0}, {0, 0}, {1, 7}, {7, 1}, {13, 13}};
  osla_transport *t = osla_test_transport();
  osla_grid *grid = kernel_grid(t, 0);
  kernel_matrix x = kernel_make(grid, OSLA_DOUBLE, 29, 29, 4, 4, false);
  for (int s = 0; s < (int)(sizeof sizes / sizeof sizes[0]); s++)
    for (int f = 0; f < 4 * N_FACTORS; f++) {
      int64_t n = sizes[s][0], k = sizes[s][1];
      osla_trans trans = f & 2 ? OSLA_TRANS : OSLA_NOTRANS;
      osla_part a = op_at(x.a, trans, 1, 2, n, k);
      osla_part c = f & 1 ? osla_part_at(x.a, 29 - n, 2, n, n) : osla_part_at(x.a, 1, 29 - n, n, n);
      product p = product_of_syrk(f & 1 ? OSLA_UPPER : OSLA_LOWER, trans, factors[f % N_FACTORS][0],
                                  a, factors[f % N_FACTORS][1], c);
      p.seed = (uint64_t)f;
      (void)product_check(&p, "edge");
    }
  kernel_free(&x);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static void expect_good(osla_matrix *a, osla_matrix *c)
{
  product p = product_of_syrk(OSLA_LOWER, OSLA_NOTRANS, 1, osla_whole(a), 1, osla_whole(c));
  (void)product_check(&p, "after an error");
}

static void test_errors(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = kernel_grid(t, 0);
  kernel_matrix a = kernel_make(grid, OSLA_DOUBLE, 8, 5, 2, 2, false);
  kernel_matrix c = kernel_make(grid, OSLA_DOUBLE, 8, 8, 2, 2, false);
  kernel_matrix f = kernel_make(grid, OSLA_FLOAT, 8, 5, 2, 2, false);
  osla_part all = osla_whole(a.a), square = osla_whole(c.a);
  product p = product_of_syrk(OSLA_LOWER, OSLA_NOTRANS, 1, all, 1, osla_part_at(c.a, 0, 0, 8, 7));
  (void)product_refused(&p, OSLA_ERR_ARG, "8 x 7", "C not square");
  expect_good(a.a, c.a);
  p = product_of_syrk(OSLA_UPPER, OSLA_TRANS, 1, all, 1, square);
  (void)product_refused(&p, OSLA_ERR_ARG, "8 x 8", "A does not fit");
  OSLA_ASSERT_TEXT("5 x 8");
  p = product_of_syrk(OSLA_LOWER, OSLA_NOTRANS, 1, osla_whole(f.a), 1, square);
  (void)product_refused(&p, OSLA_ERR_ARG, "'s'", "types differ");
  p = product_of_syrk(OSLA_LOWER, OSLA_NOTRANS, 1, osla_part_at(a.a, 3, 0, 8, 5), 1, square);
  (void)product_refused(&p, OSLA_ERR_ARG, "8 x 5", "A outside its matrix");
  OSLA_ASSERT_TEXT("3");
  p = product_of_syrk(OSLA_LOWER, OSLA_NOTRANS, 1, all, 1, osla_part_at(c.a, 0, -1, 8, 8));
  (void)product_refused(&p, OSLA_ERR_ARG, "-1", "C outside its matrix");
  for (int uplo = 0; uplo < 2; uplo++) {
    p = product_of_syrk(uplo ? OSLA_UPPER : OSLA_LOWER, OSLA_NOTRANS, 1,
                        osla_part_at(c.a, 0, 0, 4, 5), 1, osla_part_at(c.a, 3, 4, 4, 4));
    (void)product_refused(&p, OSLA_ERR_ARG, "overlap", "one element shared");
  }
  product_options options = {.panel = -2};
  p = product_of_syrk(OSLA_LOWER, OSLA_NOTRANS, 1, all, 1, square);
  p.options = &options;
  (void)product_refused(&p, OSLA_ERR_ARG, "-2", "negative panel");
  expect_good(a.a, c.a);
  kernel_free(&a), kernel_free(&c), kernel_free(&f);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"grids_and_blocks", test_grids_and_blocks},
  {"random", test_random},
  {"edges", test_edges},
  {"errors", test_errors},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_syrk, cases);
