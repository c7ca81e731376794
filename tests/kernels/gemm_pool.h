/* Matrices whose parts are multiplied, and products chosen by a seed (for test_gemm*.c,
 * test_syrk.c).
 * On several nodes, creating a matrix takes a tenth of a second, a product a hundredth of that, so
 * a few matrices are used for many products. */
#ifndef GEMM_POOL_H
#define GEMM_POOL_H

#include "tests/kernels/gemm_reference.h"

enum { POOL_SIZE = 6, POOL_EQUAL = 3 };

/* Matrices of one type. The first three have equal blocks, are on one grid and are owned by the
 * library. The fourth is wrapped and shares one side of the block. The fifth is on that grid
 * shifted. The last is on another grid in other blocks, wrapped or not. */
typedef struct gemm_pool {
  osla_grid *grid, *shifted, *other;
  kernel_matrix slot[POOL_SIZE];
  char label[64];
} gemm_pool;

/* Makes the pool for the grid number `which`. Collective. */
gemm_pool pool_make(osla_transport *t, int which, osla_dtype dtype, uint64_t seed);
void pool_free(gemm_pool *pool);

/* A product of parts chosen by a seed: sizes from 0 to 48, all ops, factors and options (stored in
 * *options). C may overlap an operand. Local. */
product pool_product(const gemm_pool *pool, uint64_t seed, product_options *options);

/* An m x n part of one of the first `count` matrices, at the border of a block or not. Local. */
osla_part pool_part(const gemm_pool *pool, uint64_t seed, int count, int64_t m, int64_t n);

/* Options of all kinds, chosen by a seed. Local. */
product_options pool_options(uint64_t seed);

/* Number of products to run with a pool: `usual` on one node, a quarter of it on several nodes,
 * where each takes longer; or OSLA_TEST_ROUNDS of the environment. */
int pool_rounds(osla_transport *t, int usual);

#endif
