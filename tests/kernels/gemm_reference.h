/* Products of parts of distributed matrices, compared with a serial reference (for test_gemm*.c and
 * test_syrk.c). The contents are a function of a seed, the matrix and the indices, so each rank
 * fills what it owns and knows both operands without communication, and only the product itself
 * synchronises the ranks. Elements outside the parts are NaN or at least 1e30. A product that reads
 * them has a wrong result, and a product that changes them is detected, because all elements except
 * the result must stay the same bit by bit. */
#ifndef GEMM_REFERENCE_H
#define GEMM_REFERENCE_H

#include "osla_gemm.h"
#include "osla_gemm_ablation.h"
#include "tests/kernels/kernel_reference.h"

/* Options of a product, with its experimental switches (osla_gemm_ablation.h), in one struct. */
typedef struct product_options {
  int64_t panel;
  uint64_t memory;
  int64_t layers;
  bool blocking, copy, unaware, unordered, unshifted, narrow;
} product_options;

/* C := alpha op(A) op(B) + beta C by osla_gemm, or one triangle of such a C by osla_syrk or
 * osla_herk. */
typedef struct product {
  osla_trans transa, transb;
  osla_complex alpha, beta;
  osla_part a, b, c;
  const product_options *options; /* NULL means the default options */
  uint64_t seed;                  /* seed from which the operands are filled */
  /* true if the operands have uniform numbers, compared within an error bound; false if they have
   * whole numbers, compared exactly */
  bool rounding;
  bool syrk; /* computed by osla_syrk; by osla_herk if `herk` is also set */
  bool herk;
  osla_uplo uplo;
} product;

/* Description of a product of A with its own transpose, which osla_syrk or osla_herk computes. */
product product_of_syrk(osla_uplo uplo, osla_trans trans, osla_complex alpha, osla_part a,
                        osla_complex beta, osla_part c);
product product_of_herk(osla_uplo uplo, osla_trans trans, double alpha, osla_part a, double beta,
                        osla_part c);

/* Sets the experimental switches of products for this thread, and returns the options to pass. NULL
 * means the defaults. Local. */
osla_gemm_options product_set_options(const product_options *options);

/* The number k of columns of op(A) in a product. */
int64_t product_k(const product *p);

/* True if two parts share an element of one matrix. */
bool parts_overlap(const osla_part *x, const osla_part *y);

/* Fills the operands, multiplies, and compares C with the reference R. Whole numbers are compared
 * exactly, uniform numbers element by element with |C - R| <= 2 (k + 4) eps (|alpha| |A| |B| +
 * |beta| |C|). A failure prints `label` and all arguments. Collective. */
bool product_check(const product *p, const char *label);

/* Asserts that a product fails with this code on all ranks, that the message is equal on all ranks
 * and contains `text` (NULL: any message), and that no matrix changes. Collective. */
bool product_refused(const product *p, osla_err code, const char *text, const char *label);

/* Calls for products that product_check cannot make. product_fill fills the operands and copies the
 * elements that this rank owns. product_compare compares the matrices with this copy, except for
 * the elements of C if `done` is set (which are compared with the reference), and frees the copy.
 * Local. */
typedef struct product_copy {
  unsigned char *of[3];
} product_copy;
product_copy product_fill(const product *p);
bool product_compare(const product *p, product_copy *copy, bool done, const char *label);

/* All arguments of a product as text, which the next call overwrites. Local. */
const char *product_text(const product *p, const char *label);

#endif
