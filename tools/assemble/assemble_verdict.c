/* Check that H and g are finite: by the norm of H, and by a search only if the norm is not finite.
 */
#include "tools/assemble/assemble.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static double element_at(osla_dtype dtype, const void *local, int64_t at)
{
  return dtype == OSLA_FLOAT ? (double)((const float *)local)[at] : ((const double *)local)[at];
}

/* The first element of this rank, by columns, that is not finite: its number i + j n; n^2: none. */
static int64_t find_in_matrix(const assemble_job *job, osla_matrix *h)
{
  const osla_layout l = osla_matrix_layout(h);
  const int prow = osla_grid_prow(job->grid), pcol = osla_grid_pcol(job->grid);
  const int64_t rows = osla_matrix_local_rows(h), cols = osla_matrix_local_cols(h);
  const int64_t lld = osla_matrix_lld(h, osla_transport_rank(job->t));
  const void *local = osla_matrix_local(h);
  for (int64_t c = 0; c < cols; c++)
    for (int64_t r = 0; r < rows; r++)
      if (!isfinite(element_at(job->options->dtype, local, r + c * lld)))
        return osla_index_global(r, l.mb, prow, l.nprow) +
               osla_index_global(c, l.nb, pcol, l.npcol) * l.n;
  return l.n * l.n;
}

static osla_err judge_matrix(assemble_job *job)
{
  const int64_t n = job->options->n;
  osla_matrix *h;
  double largest, value;
  OSLA_CALL(osla_hessian_matrix(job->hessian, &h));
  OSLA_CALL(osla_matrix_norm(h, OSLA_NORM_MAX, &largest));
  if (isfinite(largest)) return OSLA_OK;
  int64_t first = find_in_matrix(job, h);
  OSLA_CALL(osla_allreduce(job->t, &first, 1, MPI_INT64_T, MPI_MIN));
  if (job->options->dtype == OSLA_FLOAT) {
    float narrow;
    OSLA_CALL(osla_agree(job->t, osla_matrix_get_block(h, first % n, first / n, 1, 1, &narrow, 1)));
    value = narrow;
  } else {
    OSLA_CALL(osla_agree(job->t, osla_matrix_get_block(h, first % n, first / n, 1, 1, &value, 1)));
  }
  (void)snprintf(job->verdict, sizeof job->verdict, "H[%" PRId64 ", %" PRId64 "] is %g", first % n,
                 first / n, value);
  return OSLA_OK;
}

osla_err assemble_set_verdict(assemble_job *job)
{
  const double *g = osla_hessian_gradient(job->hessian);
  (void)snprintf(job->verdict, sizeof job->verdict, "%s", ASSEMBLE_GOOD);
  for (int64_t i = job->options->n - 1; i >= 0; i--)
    if (!isfinite(g[i]))
      (void)snprintf(job->verdict, sizeof job->verdict, "g[%" PRId64 "] is %g", i, g[i]);
  return judge_matrix(job);
}
