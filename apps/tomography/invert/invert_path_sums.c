/* Sums of the first pass over the paths, in addition to its matrix. */
#include "apps/tomography/invert/invert.h"

void invert_add_path(invert_worker *w)
{
  const int32_t *knot;
  const double *length;
  const int64_t knots = tomo_path_knots(w->path, &knot, &length);
  order_free_add(&w->sums[SUM_MISFIT], 0, tomo_path_misfit(w->path, NULL, w->d));
  for (int i = 0; i < w->set.count; i++)
    w->data += !w->factor || w->factor[i] > 0.0;
  for (int64_t j = 0; j < knots; j++)
    order_free_add(&w->sums[SUM_KNOTS], knot[j], length[j]);
}

osla_err invert_store_totals(invert_job *job, const invert_worker *total)
{
  invert_result *r = &job->result;
  r->misfit_before = order_free_value(&total->sums[SUM_MISFIT], 0);
  r->data = total->data;
  for (int64_t l = 0; l < job->knots; l++)
    job->density[l] = order_free_value(&total->sums[SUM_KNOTS], l);
  return osla_allreduce(job->t, &r->data, 1, MPI_INT64_T, MPI_SUM);
}
