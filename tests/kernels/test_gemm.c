/* Tests of osla_gemm, compared with a serial product: bitwise for whole numbers, otherwise element
 * by element with the usual bound of rounding errors. The tests vary shapes, grids and options. */
#include "tests/complex_help.h"
#include "tests/kernels/gemm_pool.h"
#include "tests/osla_test_help.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct shape {
  int64_t m, n, k, mb, nb, kb;
} shape;

enum { N_FACTORS = 9, N_OPTIONS = 13 };

static osla_complex alpha_of(int i)
{
  static const double list[N_FACTORS][2] = {{1, 0}, {2, 0},  {-1, 0}, {1, -2}, {0, 1},
                                            {0, 0}, {-2, 1}, {1, 0},  {0, 0}};
  return CMPLX(list[i % N_FACTORS][0], list[i % N_FACTORS][1]);
}

static osla_complex beta_of(int i)
{
  static const double list[N_FACTORS][2] = {{0, 0}, {1, 0},  {3, 0}, {-2, 0}, {1, 1},
                                            {0, 2}, {-1, 3}, {0, 0}, {0, 0}};
  return CMPLX(list[i % N_FACTORS][0], list[i % N_FACTORS][1]);
}

static const product_options option_list[N_OPTIONS] = {
  {.panel = 0},
  {.blocking = true},
  {.copy = true},
  {.unaware = true},
  {.unordered = true},
  {.unshifted = true},
  {.narrow = true},
  {.panel = 1},
  {.panel = 3, .copy = true},
  {.panel = 7, .unaware = true, .blocking = true},
  {.memory = 1},
  {.memory = 2000, .copy = true, .narrow = true},
  {.memory = 1, .unaware = true, .blocking = true, .unordered = true, .narrow = true},
};

/* Three matrices A, B and C, and the product C := alpha op(A) op(B) + beta C of the whole matrices.
 */
typedef struct triple {
  kernel_matrix a, b, c;
  product p;
} triple;

static triple triple_make(osla_grid *grid, osla_dtype dtype, const shape *h, int wrapped,
                          osla_trans transa, osla_trans transb)
{
  triple x;
  bool a = transa == OSLA_NOTRANS, b = transb == OSLA_NOTRANS;
  x.a = kernel_make(grid, dtype, a ? h->m : h->k, a ? h->k : h->m, a ? h->mb : h->kb,
                    a ? h->kb : h->mb, wrapped & 1);
  x.b = kernel_make(grid, dtype, b ? h->k : h->n, b ? h->n : h->k, b ? h->kb : h->nb,
                    b ? h->nb : h->kb, wrapped & 2);
  x.c = kernel_make(grid, dtype, h->m, h->n, h->mb, h->nb, wrapped & 4);
  x.p = (product){.transa = transa,
                  .transb = transb,
                  .a = osla_whole(x.a.a),
                  .b = osla_whole(x.b.a),
                  .c = osla_whole(x.c.a)};
  return x;
}

static void triple_free(triple *x)
{
  kernel_free(&x->a), kernel_free(&x->b), kernel_free(&x->c);
}

/* Checks the product twice: with whole numbers exactly, and with other alpha and beta and uniform
 * numbers within the bound of rounding errors. */
static void check_both(triple *x, int which, const product_options *options, const char *label)
{
  for (int i = 0; i < 2; i++) {
    x->p.seed = (uint64_t)(which + i);
    x->p.alpha = alpha_of(which + i), x->p.beta = beta_of(which + i);
    x->p.options = options;
    x->p.rounding = i == 1;
    (void)product_check(&x->p, label);
  }
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
      int ops = (g + 2 * s) % 9, w = (g + 3 * s) % 8;
      char label[64];
      triple x = triple_make(grid, (osla_dtype)((g / 4 + s) % 4), &shapes[s], w,
                             (osla_trans)(ops % 3), (osla_trans)(ops / 3));
      (void)snprintf(label, sizeof label, "grid %d, shape %d, wrapped %d", g, s, w);
      check_both(&x, g + 2 * s, s % 2 ? NULL : &option_list[(g + s) % N_OPTIONS], label);
      triple_free(&x);
    }
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* Tests every type and pair of transposes with every option and several pairs of alpha and beta, on
 * two grids. The operands are parts of three matrices, which have equal blocks for half of the
 * types. */
static void test_options(void)
{
  enum { SIDE = 34, M = 21, N = 18, K = 34 };
  osla_transport *t = osla_test_transport();
  int n = 0, step = osla_test_size() <= 2 ? 1 : 5;
  if (osla_transport_n_nodes(t) > 1) step += 6;
  for (int dtype = OSLA_FLOAT; dtype <= OSLA_COMPLEX_DOUBLE; dtype++) {
    osla_grid *grid = kernel_grid(t, osla_test_size() > 3 ? 1 + dtype / 2 : 0);
    const shape h = {SIDE, SIDE, SIDE, 4, dtype % 2 ? 4 : 5, dtype % 2 ? 4 : 3};
    triple x = triple_make(grid, (osla_dtype)dtype, &h, 0, OSLA_NOTRANS, OSLA_NOTRANS);
    x.p.c = osla_part_at(x.c.a, 4, 5, M, N);
    for (int ops = 0; ops < 9; ops++) {
      x.p.transa = (osla_trans)(ops % 3), x.p.transb = (osla_trans)(ops / 3);
      x.p.a = x.p.transa == OSLA_NOTRANS ? osla_part_at(x.a.a, 0, 0, M, K)
                                         : osla_part_at(x.a.a, 0, 4, K, M);
      x.p.b = x.p.transb == OSLA_NOTRANS ? osla_part_at(x.b.a, 0, 5, K, N)
                                         : osla_part_at(x.b.a, 4, 0, N, K);
      for (int i = 0; i < 3 * N_OPTIONS; i++, n++)
        if (n % step == 0)
          check_both(&x, i + i / N_OPTIONS, &option_list[i % N_OPTIONS], "options");
    }
    triple_free(&x);
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* Products in which k is so large, and C so small, that the sum over k is distributed over the
 * ranks, and products whose memory limit forbids this. On several nodes, where the limit causes
 * thousands of gets, each grid has only one of the options. */
static void test_long_k(void)
{
  enum { K = 16384 + 7, STEP = 3 };
  static const product_options list[STEP] = {
    {.panel = 0}, {.copy = true, .panel = 100}, {.memory = 1000, .unordered = true}};
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g++) {
    const shape h = {11, 6, K, g % 2 ? 4 : 40, 3, g % 3 ? 128 : 50};
    int ops = (2 * g + 1) % 9, wrapped = (3 * g) % 8;
    if (kernel_turn(g, 0)) {
      triple x = triple_make(grid, (osla_dtype)((g + 1) % 4), &h, wrapped, (osla_trans)(ops % 3),
                             (osla_trans)(ops / 3));
      bool far = osla_transport_n_nodes(t) > 1;
      for (int i = far ? g % STEP : 0; i < STEP; i += far ? STEP : 1)
        check_both(&x, g + i, &list[i], "long k");
      triple_free(&x);
      kernel_matrix a = kernel_make(grid, OSLA_DOUBLE, K, 13, 100, 5, wrapped & 1);
      kernel_matrix c = kernel_make(grid, OSLA_DOUBLE, 13, 13, 5, 4, wrapped & 2);
      product p = product_of_syrk(g % 2 ? OSLA_LOWER : OSLA_UPPER, OSLA_TRANS, -1.0,
                                  osla_whole(a.a), g % 3 ? 0.0 : 2.0, osla_whole(c.a));
      (void)product_check(&p, "long k");
      kernel_free(&a), kernel_free(&c);
    }
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

static void test_empty(void)
{
  static const shape shapes[] = {
    {6, 5, 0, 2, 2, 2}, {0, 5, 4, 2, 2, 2}, {6, 0, 4, 2, 2, 2}, {0, 0, 0, 1, 1, 1}};
  osla_transport *t = osla_test_transport();
  osla_grid *grid = kernel_grid(t, 0);
  for (int s = 0; s < 4; s++)
    for (int wrapped = 0; wrapped < 8; wrapped += 7) {
      if (osla_transport_n_nodes(t) > 1 && wrapped != 7 * (s % 2)) continue;
      for (int ops = s; ops < 9; ops += 4) {
        triple x = triple_make(grid, (osla_dtype)((s + ops) % 4), &shapes[s], wrapped,
                               (osla_trans)(ops % 3), (osla_trans)(ops / 3));
        for (int f = 0; f < N_FACTORS; f++)
          check_both(&x, f, &option_list[(f + ops) % N_OPTIONS], "empty");
        triple_free(&x);
      }
    }
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* Products B := A A, C := B A, B := C A, ... without a pause, every second one with transposes. No
 * rank may overwrite data that another rank has not read yet, and no state may remain from one call
 * to the next. */
static void test_back_to_back(void)
{
  /* the largest numbers are 4^7 24^6 < 2^53, so that all products are exact */
  enum { N = 24, PRODUCTS = 6 };
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g += osla_test_size() > 2 ? 3 : 1) {
    delays d;
    kernel_matrix a = kernel_make(grid, OSLA_DOUBLE, N, N, 3, 3, false);
    kernel_matrix b[2] = {kernel_make(grid, OSLA_DOUBLE, N, N, 3, 3, g % 2),
                          kernel_make(grid, OSLA_DOUBLE, N, N, 3, 3, false)};
    osla_part all[3] = {osla_whole(b[0].a), osla_whole(b[1].a), osla_whole(a.a)};
    dense da = exact_whole(N, N, (uint64_t)g), at = dense_transpose(&da);
    dense db = dense_product(&da, &da);
    dense_scatter(&da, a.a);
    delays_begin(&d, t, (uint64_t)g);
    OSLA_ASSERT_OK(osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, 1, all[2], all[2], 0, all[0], NULL));
    for (int i = 1; i < PRODUCTS; i++) {
      osla_trans trans = i % 2 ? OSLA_TRANS : OSLA_NOTRANS;
      const osla_gemm_options options = product_set_options(&option_list[i % N_OPTIONS]);
      OSLA_ASSERT_OK(osla_gemm(trans, trans, 1, all[1 - i % 2], all[2], 0, all[i % 2], &options));
      dense old = i % 2 ? dense_transpose(&db) : db;
      dense next = dense_product(&old, i % 2 ? &at : &da);
      if (i % 2) dense_free(&old);
      dense_free(&db);
      db = next;
    }
    delays_end(&d);
    kernel_expect(b[(PRODUCTS - 1) % 2].a, &db, "%d factors, %s", PRODUCTS + 1,
                  kernel_label(a.a, false));
    dense_free(&da), dense_free(&at), dense_free(&db);
    kernel_free(&a), kernel_free(&b[0]), kernel_free(&b[1]);
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* Products of whole matrices; sizes, blocks, grids and options are chosen by a seed, and ranks are
 * delayed during the products. */
static void test_stress(void)
{
  osla_transport *t = osla_test_transport();
  int n_grids = 0, rounds = pool_rounds(t, 24);
  osla_grid *grids[32], *grid;
  while ((grid = kernel_grid(t, n_grids)) != NULL)
    grids[n_grids++] = grid;
  for (int round = 0; round < rounds; round++) {
    uint64_t seed = 1000 + (uint64_t)round;
    int64_t r[16];
    for (int i = 0; i < 16; i++)
      r[i] = osla_test_choose(seed, i, i < 3 ? 60 : i < 6 ? 9 : 360);
    shape h = {r[0], r[1], r[2], 1 + r[3], 1 + r[4], 1 + r[5]};
    delays d;
    delays_begin(&d, t, seed);
    triple x = triple_make(grids[r[6] % n_grids], (osla_dtype)(r[7] % 4), &h, (int)(r[8] % 8),
                           (osla_trans)(r[9] % 3), (osla_trans)(r[10] % 3));
    char label[64];
    (void)snprintf(label, sizeof label, "stress %d, wrapped %d", round, (int)(r[8] % 8));
    for (int i = 0; i < 3; i++) {
      product_options options = pool_options(seed + (uint64_t)i);
      check_both(&x, (int)r[11] + i, &options, label);
    }
    delays_end(&d);
    triple_free(&x);
  }
  for (int g = 0; g < n_grids; g++)
    osla_grid_destroy(&grids[g]);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"grids_and_blocks", test_grids_and_blocks},
  {"options", test_options},
  {"long_k", test_long_k},
  {"empty", test_empty},
  {"back_to_back", test_back_to_back},
  {"stress", test_stress},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_gemm, cases);
