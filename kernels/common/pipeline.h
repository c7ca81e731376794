/* The loop over the steps of a right-looking factorisation (internal).
 *
 * In step k the ranks of the panel's process column factor the panel and publish it. All ranks
 * apply it to their part of the trailing matrix. With look-ahead the next panels are updated,
 * factored and published before the rest of the trailing matrix is updated (Krishnan et al.,
 * section III.B; HPL). On a device the next panels are updated and factored in LANE_PANEL, while
 * LANE_MAIN updates the rest of the trailing matrix (src/device/device.h). */
#ifndef OSLA_PIPELINE_H
#define OSLA_PIPELINE_H

#include "kernels/common/panels.h"
#include "src/device/device.h"

typedef struct osla_pipeline {
  const char *name; /* name of the public routine, as a string literal */
  int64_t steps;
  int look_ahead; /* number of panels that are factored ahead: 0, 1 or 2 */
  osla_panels *panels;
  /* device of the matrix; NULL if the matrix lies in host memory, or if the kernel does not use
   * lanes */
  const device_queue *queue;
  /* first argument of the functions `owns`, `apply` and `factor`, which are all local */
  void *kernel;
  bool (*owns)(const void *kernel, int64_t k); /* true if this rank has a part of panel k */
  /* Applies step k to this rank's part of the block columns [from, to). */
  osla_err (*apply)(void *kernel, int64_t k, int64_t from, int64_t to);
  /* Factors this rank's part of panel k, together with the other ranks that have a part. The caller
   * has applied all steps before k to the panel. When the function returns, this rank's part of the
   * panel is ready for publication, and all work on it is complete, also on a device. */
  osla_err (*factor)(void *kernel, int64_t k);
} osla_pipeline;

/* Runs all steps. On return this rank has sent and forwarded all its panels. Returns the errors of
 * the functions. */
osla_err osli_pipeline_run(const osla_pipeline *p);

#endif
