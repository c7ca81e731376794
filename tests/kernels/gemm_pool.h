/* Matrices whose parts are multiplied, and products by seed (for test_gemm*.c, test_syrk.c).
 *
 * Making matrices on several nodes costs a tenth of a second each, a product a hundredth of that:
 * so a few matrices serve many products.
 */
#ifndef GEMM_POOL_H
#define GEMM_POOL_H

#include "tests/kernels/gemm_reference.h"

enum { POOL_SIZE = 6, POOL_EQUAL = 3 };

/* Of one type. The first three are in equal blocks on one grid and owned by the library; the fourth
 * is wrapped and shares one side of the block; the fifth is on that grid shifted; the last on
 * another grid in other blocks, wrapped or not. */
typedef struct gemm_pool {
  osla_grid *grid, *shifted, *other;
  kernel_matrix slot[POOL_SIZE];
  char label[64];
} gemm_pool;

/* The pool of the which-th grid. Collective. */
gemm_pool pool_make(osla_transport *t, int which, osla_dtype dtype, uint64_t seed);
void pool_free(gemm_pool *pool);

/* A product of parts by seed: sizes from 0 to 48, all ops, factors and options (stored in
 * *options); C may overlap an operand. Local. */
product pool_product(const gemm_pool *pool, uint64_t seed, product_options *options);

/* An m x n part, at a border of blocks or not, of one of the first `count` matrices. Local. */
osla_part pool_part(const gemm_pool *pool, uint64_t seed, int count, int64_t m, int64_t n);

/* Options of all kinds by seed. Local. */
product_options pool_options(uint64_t seed);

/* How many products of a pool to run: `usual` on one node, a quarter on several, where each takes
 * longer; or OSLA_TEST_ROUNDS of the environment. */
int pool_rounds(osla_transport *t, int usual);

#endif
