/* Dealing updates to the ranks, for all that a job does with them (private to assemble_*.c; floor
 * 4). */
#ifndef OSLA_ASSEMBLE_WORK_H
#define OSLA_ASSEMBLE_WORK_H

#include "tools/assemble/assemble.h"
#include "tools/assemble/updates.h"

/* What one rank works with; unused parts are zero. */
typedef struct worker worker;
struct worker {
  assemble_job *job;
  /* Called for each update: number u of the batch, whose G or U, to be changed at will, is at
   * `values`. */
  osla_err (*use)(worker *w, int64_t u, void *values);
  void *with;         /* for use */
  checkpoint *points; /* NULL: none are taken */
  /* kept here */
  int open_file;         /* number of the reader's; -1: none */
  updates_batch batch;   /* the reader's */
  double *root_w, *sums; /* [k], [longest update] */
  size_t k_room, sums_room;
  double seconds_read, seconds_use;
};

/* Calls w->use for every update that is not in the accumulator yet. Collective; errors on all ranks
 * together. Of the worker's parts the seconds are left. */
osla_err assemble_deal(worker *w);

/* Weighs a panel, G := diag(w)^(1/2) G, and hands out what the update adds to g; NULL: nothing. */
osla_err update_prepare(worker *w, int64_t u, void *values, const double **gradient);

/* A block of n x n whose largest element has that size. Errors: IO. */
osla_err update_check_symmetric(osla_dtype dtype, const void *u, int64_t n, double largest);

static inline double update_value(osla_dtype dtype, const void *values, int64_t at)
{
  return dtype == OSLA_FLOAT ? (double)((const float *)values)[at] : ((const double *)values)[at];
}

#endif
