/* The local product of osla_syrk (internal). */
#ifndef OSLA_GEMM_TRIANGLE_H
#define OSLA_GEMM_TRIANGLE_H

#include "kernels/gemm/gemm.h"

/* An operand as the BLAS gets it. */
typedef struct gemm_array {
  osla_trans trans;
  const unsigned char *at;
  int64_t ld;
} gemm_array;

/* The local product of a task, for one triangle of C. Local. */
osla_err osli_gemm_triangle(const gemm_work *w, osla_complex alpha, gemm_array a, gemm_array b,
                            int64_t k, osla_complex beta);

#endif
