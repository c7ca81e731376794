/* The run over the list of tasks (internal). */
#ifndef OSLA_GEMM_RUN_H
#define OSLA_GEMM_RUN_H

#include "kernels/gemm/gemm.h"

/* Gets all memory that the run of a plan needs. Local. Errors: MEM. */
osla_err osli_gemm_run_open(gemm_work *w);
void osli_gemm_run_close(gemm_work *w);

/* Runs the list: c := alpha op(A) op(B) + beta c. Local: one-sided. Errors: MPI. */
osla_err osli_gemm_run(const gemm_work *w, osla_complex alpha, osla_complex beta);

/* Floating-point operations of a task, both triangles of C. */
static inline double gemm_flops(const gemm_work *w, const gemm_task *task)
{
  double one = w->dtype == OSLA_FLOAT || w->dtype == OSLA_DOUBLE ? 2 : 8; /* multiply and add */
  return one * (double)w->c.rows * (double)w->c.cols * (double)task->width;
}

#endif
