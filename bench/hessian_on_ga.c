/* OSLA's accumulator on the memory of a Global Array that lies on the job's process grid. */
#include "config.h"

#include "bench/bench_hessian.h"

#ifdef HAVE_GA

#include <ga.h>
#include <macdecls.h>

osla_err hessian_on_ga_create(hessian_accumulator *a, const osla_hessian_options *options)
{
  bench_job *job = a->data->job;
  const bench_settings *s = job->settings;
  int64_t dims[2] = {a->data->n, a->data->n};
  /* GA's C interface has the dimensions in reverse order of memory */
  int blocks[2] = {(int)s->nb, (int)s->nb};
  int grid[2] = {osla_grid_npcol(job->grid), osla_grid_nprow(job->grid)};
  OSLA_CALL(reference_ga_start(job));
  a->array = GA_Create_handle();
  GA_Set_data64(a->array, 2, dims, s->dtype == OSLA_FLOAT ? C_FLOAT : C_DBL);
  GA_Set_array_name(a->array, "osla-bench");
  GA_Set_block_cyclic_proc_grid(a->array, blocks, grid);
  OSLA_CHECK(GA_Allocate(a->array), OSLA_ERR_MEM, "an array of Global Arrays");
  OSLA_CALL(osla_ga_hessian_create(a->array, options, &a->on_array));
  a->hessian = osla_ga_hessian_get(a->on_array);
  return OSLA_OK;
}

osla_err hessian_on_ga_commit(hessian_accumulator *a)
{
  return osla_ga_hessian_commit(a->on_array);
}

void hessian_on_ga_destroy(hessian_accumulator *a)
{
  osla_ga_hessian_destroy(&a->on_array);
  if (a->array) GA_Destroy(a->array);
  a->array = 0;
  a->hessian = NULL;
}

#else

/* In a build without Global Arrays no option selects these functions. */

osla_err hessian_on_ga_create(hessian_accumulator *a, const osla_hessian_options *options)
{
  (void)a, (void)options;
  return osla_error_set(OSLA_ERR_UNSUPPORTED, "built without Global Arrays");
}

osla_err hessian_on_ga_commit(hessian_accumulator *a)
{
  return osla_hessian_commit(a->hessian);
}

void hessian_on_ga_destroy(hessian_accumulator *a)
{
  a->hessian = NULL;
}

#endif
