/* Computes one model from the data with the present weights. */
#include "apps/tomography/invert/invert.h"
#include "apps/tomography/invert/invert_rays.h"

osla_err invert_compute_model(invert_job *job, bool again)
{
  if (job->options->solver == INVERT_DIRECT) {
    OSLA_CALL(again ? invert_replace_hessian(job) : invert_restore_checkpoint(job));
    OSLA_CALL(invert_assemble(job));
    OSLA_CALL(invert_scan_priors(job));
    return invert_solve(job);
  }
  invert_rays_destroy(&job->rays);
  OSLA_CALL(invert_trace_paths(job));
  OSLA_CALL(invert_scan_priors(job));
  return invert_iterate_model(job);
}
