/* How the rows of op(A), the columns of op(B) lie for a rank's part of C (internal). */
#ifndef OSLA_GEMM_OPERAND_H
#define OSLA_GEMM_OPERAND_H

#include "kernels/gemm/gemm.h"

/* The part of C on this rank. Local. */
gemm_target osli_gemm_target_of(const osla_part *c);

/* Fills x for an operand of the product. Local. Errors: MEM. */
osla_err osli_gemm_operand_make(gemm_operand *x, osla_trans trans, bool is_a, const osla_part *part,
                                const gemm_target *c, const osla_gemm_options *options);
/* The largest leading dimension from which it is read. Local. */
int64_t osli_gemm_operand_ld(const gemm_operand *x);
void osli_gemm_operand_free(gemm_operand *x);

#endif
