/* The assembly: for each path H[ix, ix] += G^T G and g[ix] += G^T d, then the prior is added, then
 * the commit completes all updates. A path that a checkpoint already contains is traced again for
 * misfit and ray density, but its panel is not made. Checkpoints never contain the prior. */
#include "apps/tomography/invert/invert.h"

#include <stdlib.h>
#include <string.h>

/* g_sum := G^T d. The panel G has the type of the matrix; the sums are double. */
static void project_data(invert_worker *w, int64_t k)
{
  for (int64_t c = 0; c < w->columns; c++) {
    double sum = 0.0;
    if (w->job->options->dtype == OSLA_FLOAT) {
      const float *g = (const float *)w->g + c * k;
      for (int64_t i = 0; i < k; i++)
        sum += (double)g[i] * w->d[i];
    } else {
      const double *g = (const double *)w->g + c * k;
      for (int64_t i = 0; i < k; i++)
        sum += g[i] * w->d[i];
    }
    w->g_sum[c] = sum;
  }
}

static osla_err assemble_path(invert_worker *w)
{
  invert_job *job = w->job;
  int64_t k = tomo_path_count(w->path);
  const int64_t *ix = tomo_path_indices(w->path);
  invert_add_path(w);
  /* the accumulator has this path from the checkpoint */
  if (osla_hessian_has_id(job->hessian, (uint64_t)w->path_id)) return OSLA_OK;
  OSLA_CALL(tomo_path_panel(w->path, job->options->dtype, w->g, k));
  project_data(w, k);

  double start = osla_clock();
  const osla_hessian_datum datum = {.id = (uint64_t)w->path_id,
                                    .count = w->columns,
                                    .ix = ix,
                                    .k = k,
                                    .g = w->g,
                                    .ldg = k,
                                    .gradient = w->g_sum};
  OSLA_CALL(osla_hessian_update_once(job->hessian, &datum, NULL));
  w->seconds_update += osla_clock() - start;
  return OSLA_OK;
}

/* Adds the prior C_m^-1 = L^T L, a few rows of L for each knot. Knots are distributed cyclically
 * over the ranks. */
static osla_err add_prior(invert_job *job)
{
  const invert_options *o = job->options;
  int most_rows = tomo_prior_rows_max(o->n_radial),
      most_columns = tomo_prior_columns_max(o->n_radial);
  size_t elements = (size_t)most_rows * (size_t)most_columns;
  double *g = malloc(elements * sizeof *g);
  float *g_float = malloc(elements * sizeof *g_float);
  int64_t *ix = malloc((size_t)most_columns * sizeof *ix);
  osla_err err = OSLA_OK;
  if (!g || !g_float || !ix) err = osla_error_set(OSLA_ERR_MEM, "no memory for panel of the prior");
  for (int64_t knot = osla_transport_rank(job->t); knot < job->knots && err == OSLA_OK;
       knot += osla_transport_size(job->t)) {
    int rows, columns;
    tomo_prior_panel(&job->prior, job->mesh, o->n_radial, knot, &rows, &columns, ix, g);
    if (rows == 0) continue;
    for (int i = 0; i < rows * columns; i++)
      g_float[i] = (float)g[i];
    err = osla_hessian_update(job->hessian, columns, ix, rows,
                              o->dtype == OSLA_FLOAT ? (void *)g_float : (void *)g, rows);
  }
  free(g);
  free(g_float);
  free(ix);
  return err;
}

static osla_err sum_counts(invert_job *job)
{
  osla_hessian_stats stats = osla_hessian_get_stats(job->hessian);
  int64_t counts[2] = {stats.updates, stats.elements};
  OSLA_CALL(osla_allreduce(job->t, counts, 2, MPI_INT64_T, MPI_SUM));
  job->result.updates = counts[0];
  job->result.elements = counts[1];
  return OSLA_OK;
}

static osla_err assemble(invert_job *job)
{
  invert_worker total;
  double busy, start = osla_clock();
  const bool first = !job->weight; /* checkpoints hold only sums of data without weights */
  const invert_pass pass = {.what = "assembling",
                            .work = assemble_path,
                            .n_sums = {[SUM_MISFIT] = 1, [SUM_KNOTS] = job->knots},
                            .panels = true,
                            .points = first ? &job->checkpoint : NULL};
  osla_err err = invert_for_all_paths(job, &pass, &total, &busy);
  if (err == OSLA_OK) err = invert_store_totals(job, &total);
  invert_free_sums(&total);
  OSLA_CALL(err);
  if (first) OSLA_CALL(checkpoint_write_final(&job->checkpoint));
  double prior = osla_clock();
  if (!job->scanning) OSLA_CALL(osla_agree(job->t, add_prior(job)));
  prior = osla_clock() - prior;
  OSLA_CALL(osla_hessian_commit(job->hessian));
  memcpy(job->gradient, osla_hessian_gradient(job->hessian),
         (size_t)job->n * sizeof *job->gradient);

  double *seconds = job->result.seconds, all = osla_clock() - start;
  seconds[PHASE_UPDATE] = total.seconds_update / job->options->threads + prior;
  seconds[PHASE_COMPUTE] = busy + prior - seconds[PHASE_UPDATE];
  seconds[PHASE_COMMIT] = all - busy - prior;
  return sum_counts(job);
}

osla_err invert_assemble(invert_job *job)
{
  const int threads = job->blas_threads;
  if (!job->reproducible.on) return assemble(job);
  /* one BLAS thread, because the bits of a product depend on the number of threads */
  job->blas_threads = 1;
  osla_blas_set_threads(1);
  osla_err err = reproducible_explain_error(&job->reproducible, assemble(job));
  job->blas_threads = threads;
  osla_blas_set_threads(threads);
  return err;
}
