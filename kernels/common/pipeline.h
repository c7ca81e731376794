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
  const device_queue *queue; /* device of the matrix; NULL: host memory, or no use of lanes */
  void *kernel;              /* first argument of the functions below, which are all local */
  bool (*owns)(const void *kernel, int64_t k); /* true if this rank has a part of panel k */
  /* Applies step k to this rank's part of the block columns [from, to). */
  osla_err (*apply)(void *kernel, int64_t k, int64_t from, int64_t to);
  /* Factors this rank's part of panel k, together with the other ranks that have a part. All steps
   * before k have been applied to the panel. Afterwards the panel is ready for publication, and on
   * a device this rank's part of it is complete. */
  osla_err (*factor)(void *kernel, int64_t k);
} osla_pipeline;

/* Runs all steps. On return this rank has sent and forwarded all its panels. Returns the errors of
 * the functions. */
osla_err osli_pipeline_run(const osla_pipeline *p);

#endif
