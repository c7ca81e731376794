#include "tests/kernels/gemm_pool.h"

#include "tests/complex_help.h"
#include "tests/osla_test_help.h"

#include <inttypes.h>
#include <stdio.h>

enum { REACH = 48 }; /* largest m, n and k of a product */

static int64_t choose(uint64_t seed, int64_t i, int64_t below)
{
  return osla_test_choose(seed, i, below);
}

gemm_pool pool_make(osla_transport *t, int which, osla_dtype dtype, uint64_t seed)
{
  gemm_pool pool = {.grid = kernel_grid(t, which)};
  int nprow = osla_grid_nprow(pool.grid), npcol = osla_grid_npcol(pool.grid);
  OSLA_ASSERT_OK(osla_grid_shift(pool.grid, (int)choose(seed, 0, nprow),
                                 (npcol - 1) - (int)choose(seed, 1, npcol) / 2, &pool.shifted));
  pool.other = kernel_grid(t, (int)choose(seed, 2, kernel_n_grids(t)));
  int64_t b = 1 + choose(seed, 3, 9), b2 = 1 + choose(seed, 4, 16), b3 = 1 + choose(seed, 5, 70);
  for (int s = 0; s < POOL_SIZE; s++) {
    osla_grid *grid = s < 4 ? pool.grid : s == 4 ? pool.shifted : pool.other;
    bool wrapped = s == 3 || (s == 5 && choose(seed, 6, 2));
    int64_t m = REACH + choose(seed, 7 + s, 24), n = REACH + choose(seed, 17 + s, 24);
    pool.slot[s] =
      kernel_make(grid, dtype, m, n, s < 5 ? b : b3, s == 3 || s == 5 ? b2 : b, wrapped);
  }
  (void)snprintf(pool.label, sizeof pool.label, "pool %d, seed %" PRIu64 "%s", which, seed,
                 choose(seed, 6, 2) ? ", last wrapped" : "");
  return pool;
}

void pool_free(gemm_pool *pool)
{
  for (int s = 0; s < POOL_SIZE; s++)
    kernel_free(&pool->slot[s]);
  osla_grid_destroy(&pool->grid);
  osla_grid_destroy(&pool->shifted);
  osla_grid_destroy(&pool->other);
}

/* An offset from 0 to `last`: one of these two values, a multiple of `block`, or any number between
   them. */
static int64_t offset(uint64_t seed, int64_t last, int64_t block)
{
  switch (choose(seed, 1, 4)) {
    case 0: return choose(seed, 2, 2) * last;
    case 1: return choose(seed, 2, last / block + 1) * block;
    default: return choose(seed, 2, last + 1);
  }
}

osla_part pool_part(const gemm_pool *pool, uint64_t seed, int count, int64_t m, int64_t n)
{
  osla_matrix *matrix = pool->slot[choose(seed, 0, count)].a;
  osla_layout l = osla_matrix_layout(matrix);
  return osla_part_at(matrix, offset(2 * seed, l.m - m, l.mb), offset(2 * seed + 1, l.n - n, l.nb),
                      m, n);
}

product_options pool_options(uint64_t seed)
{
  static const int64_t panels[] = {0, 0, 0, 1, 3, 7, 1000};
  static const uint64_t caps[] = {0, 0, 0, 1, 100, 3000, 100000};
  return (product_options){.blocking = choose(seed, 1, 3) == 0,
                           .copy = choose(seed, 2, 3) == 0,
                           .unaware = choose(seed, 3, 4) == 0,
                           .unordered = choose(seed, 4, 3) == 0,
                           .unshifted = choose(seed, 8, 3) == 0,
                           .narrow = choose(seed, 5, 3) == 0,
                           .panel = panels[choose(seed, 6, 7)],
                           .memory = caps[choose(seed, 7, 7)]};
}

static int64_t side(uint64_t seed, int64_t i)
{
  int64_t kind = choose(seed, i, 24);
  return kind < 2 ? kind : 1 + choose(seed, i + 10, REACH);
}

product pool_product(const gemm_pool *pool, uint64_t seed, product_options *options)
{
  static const double list[] = {0, 1, -1, 2, 1, 0, -2, 3};
  int64_t m = side(seed, 0), n = side(seed, 1), k = side(seed, 2);
  product p = {.seed = seed,
               .transa = (osla_trans)choose(seed, 3, 3),
               .transb = (osla_trans)choose(seed, 4, 3),
               .alpha = CMPLX(list[choose(seed, 5, 8)], list[choose(seed, 6, 8)]),
               .beta = CMPLX(list[choose(seed, 7, 8)], list[choose(seed, 8, 5)]),
               .rounding = choose(seed, 20, 4) == 0};
  int count = choose(seed, 21, 2) ? POOL_EQUAL : POOL_SIZE;
  bool a_as_is = p.transa == OSLA_NOTRANS, b_as_is = p.transb == OSLA_NOTRANS;
  if (choose(seed, 22, 3) == 0) p.beta = 0.0;
  p.a = pool_part(pool, 4 * seed, count, a_as_is ? m : k, a_as_is ? k : m);
  p.b = pool_part(pool, 4 * seed + 1, count, b_as_is ? k : n, b_as_is ? n : k);
  p.c = pool_part(pool, 4 * seed + 2, count, m, n);
  /* if C overlaps A or B, usually chooses another part for C */
  for (int s = 0; s < count && choose(seed, 23, 6) > 0; s++)
    if (parts_overlap(&p.a, &p.c) || parts_overlap(&p.b, &p.c))
      p.c = pool_part(pool, 4 * seed + 3 + 1000 * (uint64_t)s, count, m, n);
  *options = pool_options(seed);
  p.options = choose(seed, 24, 3) == 0 ? NULL : options;
  return p;
}

int pool_rounds(osla_transport *t, int usual)
{
  return kernel_rounds(osla_transport_n_nodes(t) == 1 ? usual : usual / 4);
}
