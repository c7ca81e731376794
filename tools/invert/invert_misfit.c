/* How well the solution explains the data: a second pass over all paths, independent of H. */
#include "invert.h"

#include <stdlib.h>

static osla_err measure_path(invert_worker *w)
{
  w->misfit += tomo_path_misfit(w->path, w->job->m, w->d);
  return OSLA_OK;
}

osla_err invert_measure_misfit(invert_job *job)
{
  invert_worker total;
  double start = osla_clock(), busy;
  osla_err err = invert_for_all_paths(job, "measuring misfit", measure_path, &total, &busy);
  free(total.density);
  job->result.misfit_after = total.misfit;
  if (err == OSLA_OK)
    err = osla_allreduce(job->t, &job->result.misfit_after, 1, MPI_DOUBLE, MPI_SUM);
  job->result.seconds[PHASE_MISFIT] = osla_clock() - start;
  return err;
}
