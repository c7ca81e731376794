/* Products of parts of distributed matrices against a serial reference (for test_gemm*.c,
 * test_syrk.c).
 *
 * Contents are a function of a seed, the matrix and the indices, so each rank fills what it owns
 * and knows both operands without a message; nothing but the product itself orders the ranks. All
 * that belongs to no part is poison (NaN, or 1e30 and more): whoever uses it spoils the result, and
 * whoever changes it is found, because all else than the result must stay bit by bit.
 */
#ifndef GEMM_REFERENCE_H
#define GEMM_REFERENCE_H

#include "osla_gemm.h"
#include "osla_gemm_ablation.h"
#include "tests/kernels/kernel_reference.h"

/* Options of a product and its switches (osla_gemm_ablation.h) in one value. */
typedef struct product_options {
  int64_t panel;
  uint64_t memory;
  bool blocking, copy, unaware, unordered, narrow;
} product_options;

/* C := alpha op(A) op(B) + beta C, by osla_gemm or (one triangle) by osla_syrk or osla_herk. */
typedef struct product {
  osla_trans transa, transb;
  osla_complex alpha, beta;
  osla_part a, b, c;
  const product_options *options; /* NULL = defaults */
  uint64_t seed;                  /* of the contents */
  bool rounding; /* uniform numbers within a bound; otherwise whole numbers, exactly */
  bool syrk;     /* by osla_syrk, or if `herk` by osla_herk */
  bool herk;
  osla_uplo uplo;
} product;

/* The product that osla_syrk, or osla_herk, makes of A alone. */
product product_of_syrk(osla_uplo uplo, osla_trans trans, osla_complex alpha, osla_part a,
                        osla_complex beta, osla_part c);
product product_of_herk(osla_uplo uplo, osla_trans trans, double alpha, osla_part a, double beta,
                        osla_part c);

/* Sets the switches of products for this thread, and returns the options; NULL = defaults. Local.
 */
osla_gemm_options product_set_options(const product_options *options);

/* m, n, k of a product, from C and op(A). */
int64_t product_k(const product *p);

/* Do two parts of one matrix share an element? */
bool parts_overlap(const osla_part *x, const osla_part *y);

/* Fills, multiplies and compares: whole numbers exactly, uniform ones by
 * |C - R| <= 2 (k + 4) eps (|alpha| |A| |B| + |beta| |C|), element by element. `label` joins the
 * message, which names all arguments. Collective. */
bool product_check(const product *p, const char *label);

/* The same for a call that must fail with this code and a text that holds `text` (NULL: any), the
 * same on all ranks, and that changes nothing. Collective. */
bool product_refused(const product *p, osla_err code, const char *text, const char *label);

/* Fills, and keeps a copy of what this rank owns; compares with it (all but C's elements if `done`,
 * else everything) and frees it. For calls of another kind than the above. Local. */
typedef struct product_copy {
  unsigned char *of[3];
} product_copy;
product_copy product_fill(const product *p);
bool product_compare(const product *p, product_copy *copy, bool done, const char *label);

/* All arguments in words; overwritten by the next call. Local. */
const char *product_text(const product *p, const char *label);

#endif
