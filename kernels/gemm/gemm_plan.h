/* The list of tasks, the loads and buffers that they need (internal). */
#ifndef OSLA_GEMM_PLAN_H
#define OSLA_GEMM_PLAN_H

#include "kernels/gemm/gemm.h"

/* Makes the list of tasks for work whose operands, target and options are set. Local. */
osla_err osli_gemm_plan_make(gemm_work *w);
void osli_gemm_plan_free(gemm_work *w); /* also the operands, and the memory of the run */

#endif
