/* The loop of a right-looking factorisation (internal).
 *
 * Step k: the ranks of the panel's process column factor it and publish it; all apply it to their
 * part of the trailing matrix. With look-ahead the next panels are brought up to date first,
 * factored and published, before the rest of the update (Krishnan et al., section III.B; HPL).
 */
#ifndef OSLA_PIPELINE_H
#define OSLA_PIPELINE_H

#include "kernels/common/panels.h"

typedef struct osla_pipeline {
  const char *name; /* of the call, a literal */
  int64_t steps;
  int look_ahead; /* 0, 1, 2 */
  osla_panels *panels;
  void *kernel;                                /* of the functions below; all are local */
  bool (*owns)(const void *kernel, int64_t k); /* my part of panel k: is there one */
  /* Step k on my part of the block columns [from, to). */
  osla_err (*apply)(void *kernel, int64_t k, int64_t from, int64_t to);
  /* Factors my part of panel k, which has had all steps before it, with the others that own it;
   * then it is ready for publication. */
  osla_err (*factor)(void *kernel, int64_t k);
} osla_pipeline;

/* Runs it; on return I have passed on all panels. Errors: of the functions. */
osla_err osli_pipeline_run(const osla_pipeline *p);

#endif
