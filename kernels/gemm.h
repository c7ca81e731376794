/* SRUMMA's task list, and the run over it (internal). */
#ifndef OSLA_GEMM_INTERNAL_H
#define OSLA_GEMM_INTERNAL_H

#include "local_view.h"
#include "osla_gemm.h"

/* C += A(:, block) B(block, :) for one block of k on this rank. */
typedef struct gemm_task {
  int64_t start, size; /* global index and number of k */
  int b_prow, a_pcol;  /* where B's rows and A's columns lie */
  bool far_b, far_a;   /* must they be fetched? */
} gemm_task;

typedef struct gemm_plan {
  local_view a, b, c;
  gemm_task *tasks;
  int64_t n_tasks;
} gemm_plan;

/* Makes the list for operands that fit (see osla_gemm.h): tasks whose operands are read in place
 * first; those of one far process row of B together, because its local block is fetched whole;
 * each rank starts at its own coordinates, so that the owners are asked in turn. Local. */
osla_err osla_gemm_plan(gemm_plan *plan, const osla_gemm_options *options);
void osla_gemm_plan_free(gemm_plan *plan);

/* Runs the list. Local: one-sided. */
osla_err osla_gemm_run(const gemm_plan *plan, double alpha, double beta,
                       const osla_gemm_options *options);

#endif
