/* For test_gemm*.c and test_syrk.c: matrices whose parts are operands of products, and products
 * that a seed chooses. A few matrices are used for many products, because on several nodes creating
 * a matrix takes a tenth of a second, and a product a hundredth of that. */
#ifndef GEMM_POOL_H
#define GEMM_POOL_H

#include "tests/kernels/gemm_reference.h"

enum { POOL_SIZE = 6, POOL_EQUAL = 3 };

/* Six matrices of one type. The first three are on one grid, have equal blocks, and the library
 * owns their memory. The fourth is wrapped, and its blocks have the same number of rows as those of
 * the first three, but another number of columns. The fifth is on the same grid, shifted. The sixth
 * is on another grid in other blocks, and may be wrapped. */
typedef struct gemm_pool {
  osla_grid *grid, *shifted, *other;
  kernel_matrix slot[POOL_SIZE];
  char label[64];
} gemm_pool;

/* Makes the pool of matrices for process grid number `which`. Collective. */
gemm_pool pool_make(osla_transport *t, int which, osla_dtype dtype, uint64_t seed);
void pool_free(gemm_pool *pool);

/* A product of parts chosen by a seed: sizes from 0 to 48, all transposes, all kinds of alpha and
 * beta, and options (stored in *options). C may overlap an operand. Local. */
product pool_product(const gemm_pool *pool, uint64_t seed, product_options *options);

/* An m x n part of one of the pool's first `count` matrices; it may begin at a block boundary or
 * elsewhere. Local. */
osla_part pool_part(const gemm_pool *pool, uint64_t seed, int count, int64_t m, int64_t n);

/* Options of a product, chosen by a seed. Local. */
product_options pool_options(uint64_t seed);

/* Number of products to run with a pool: the environment variable OSLA_TEST_ROUNDS if set;
 * otherwise `usual` on one node, and a quarter of `usual` on several nodes, where a product takes
 * longer. */
int pool_rounds(osla_transport *t, int usual);

#endif
