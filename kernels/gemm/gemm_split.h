/* Products whose C is too small to feed all ranks (internal). */
#ifndef OSLA_GEMM_SPLIT_H
#define OSLA_GEMM_SPLIT_H

#include "kernels/gemm/gemm.h"

/* Is C so small that too few ranks own a part of it, and can all read A and B? The same on all
 * ranks. Local. */
bool osli_gemm_split_wanted(const osla_part *a, const osla_part *b, const osla_part *c, int64_t k,
                            const osla_gemm_options *options);
/* Makes a private array of C's size the target, and a share of k the range. Before the plan. */
void osli_gemm_split_share(gemm_work *w, const osla_part *c);
/* Gets that array. Local. Errors: MEM. */
osla_err osli_gemm_split_open(gemm_work *w);
/* Runs such a plan: C := alpha op(A) op(B) + beta C. Collective; fails on all ranks together.
 * Errors: MPI. */
osla_err osli_gemm_split_run(gemm_work *w, osla_complex alpha, osla_complex beta,
                             const osla_part *c);

#endif
