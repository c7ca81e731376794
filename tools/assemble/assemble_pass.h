/* Distribution of updates over the ranks, for each pass of a job (private to assemble_*.c; layer
 * 4). */
#ifndef OSLA_ASSEMBLE_PASS_H
#define OSLA_ASSEMBLE_PASS_H

#include "tools/assemble/assemble.h"
#include "tools/assemble/updates.h"

/* State of one rank in a pass; the caller sets unused members to zero. */
typedef struct assemble_worker assemble_worker;
struct assemble_worker {
  assemble_job *job;
  /* Called for each update. u is the number of the update in the batch; `values` is G or U of the
   * update, and the function may overwrite it. */
  osla_err (*process)(assemble_worker *w, int64_t u, void *values);
  void *arg;          /* argument for `process` */
  checkpoint *points; /* checkpoints that the pass writes; NULL: it writes no checkpoints */
  /* Members that assemble_for_all_updates sets: */
  int open_file;       /* index of the file that the reader has open; -1: none */
  updates_batch batch; /* batch that is being processed; the reader owns its memory */
  double *root_w,      /* [k] work array for the square roots of the weights of one panel */
    *sums; /* [number of indices of the largest update] work array for G^T diag(w) r of one panel */
  size_t k_room, sums_room;
  double seconds_read, seconds_use;
};

/* Calls w->process for every update that the accumulator does not have yet. Collective, with the
 * same error on all ranks. On return, only seconds_read and seconds_use of the worker are valid. */
osla_err assemble_for_all_updates(assemble_worker *w);

/* Replaces the panel `values` of update u by diag(w)^(1/2) G. Sets *gradient to the contribution of
 * the update to g, or to NULL if it has none. */
osla_err update_prepare(assemble_worker *w, int64_t u, void *values, const double **gradient);

/* Checks that the n x n block u is symmetric; `largest` is its largest absolute element. Errors:
 * IO. */
osla_err update_check_symmetric(osla_dtype dtype, const void *u, int64_t n, double largest);

static inline double update_value(osla_dtype dtype, const void *values, int64_t at)
{
  return dtype == OSLA_FLOAT ? (double)((const float *)values)[at] : ((const double *)values)[at];
}

#endif
