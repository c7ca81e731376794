/* Products of parts of distributed matrices, compared with a serial reference (for test_gemm*.c,
 * test_syrk.c).
 * The contents are a function of a seed, the matrix and the indices, so each rank fills what it
 * owns and knows both operands without communication, and only the product itself synchronises the
 * ranks. Elements outside the parts are NaN or at least 1e30. A product that reads them has a wrong
 * result, and a product that changes them is detected, because all elements except the result must
 * stay the same bit by bit. */
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

/* C := alpha op(A) op(B) + beta C, by osla_gemm, or for one triangle by osla_syrk or osla_herk. */
typedef struct product {
  osla_trans transa, transb;
  osla_complex alpha, beta;
  osla_part a, b, c;
  const product_options *options; /* NULL = defaults */
  uint64_t seed;                  /* seed of the contents */
  /* true: uniform numbers, compared within an error bound; false: whole numbers, compared
   * exactly */
  bool rounding;
  bool syrk; /* computed by osla_syrk, or by osla_herk if `herk` is set */
  bool herk;
  osla_uplo uplo;
} product;

/* The product that osla_syrk, or osla_herk, computes from A alone. */
product product_of_syrk(osla_uplo uplo, osla_trans trans, osla_complex alpha, osla_part a,
                        osla_complex beta, osla_part c);
product product_of_herk(osla_uplo uplo, osla_trans trans, double alpha, osla_part a, double beta,
                        osla_part c);

/* Sets the switches of products for this thread, and returns the options; NULL = defaults.
 * Local. */
osla_gemm_options product_set_options(const product_options *options);

/* The inner size k of a product. */
int64_t product_k(const product *p);

/* True if two parts share an element of one matrix. */
bool parts_overlap(const osla_part *x, const osla_part *y);

/* Fills the operands, multiplies and compares. Whole numbers are compared exactly, uniform numbers
 * element by element with |C - R| <= 2 (k + 4) eps (|alpha| |A| |B| + |beta| |C|). `label` is added
 * to the failure message, which contains all arguments. Collective. */
bool product_check(const product *p, const char *label);

/* Checks that a product fails with this code, and with a message that contains `text` (NULL: any
 * message) and is the same on all ranks, and that no matrix changes. Collective. */
bool product_refused(const product *p, osla_err code, const char *text, const char *label);

/* product_fill fills the operands and copies what this rank owns. product_compare compares with
 * this copy (without C's elements if `done`) and frees it. For calls that product_check cannot
 * make. Local. */
typedef struct product_copy {
  unsigned char *of[3];
} product_copy;
product_copy product_fill(const product *p);
bool product_compare(const product *p, product_copy *copy, bool done, const char *label);

/* All arguments as text; overwritten by the next call. Local. */
const char *product_text(const product *p, const char *label);

#endif
