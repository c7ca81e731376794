/* A copy of H that survives factorisations (invert_scan.h). Memory: n doubles. */
#include "apps/tomography/invert/invert_scan.h"
#include "tools/common/local_elements.h"

#include <inttypes.h>
#include <stdlib.h>

static osla_uplo other(osla_uplo uplo)
{
  return uplo == OSLA_LOWER ? OSLA_UPPER : OSLA_LOWER;
}

/* Copies this rank's part of the diagonal from the matrix to the array `diagonal`; if `back` is
 * true, copies in the opposite direction. */
static void copy_diagonal(saved_hessian *k, bool back)
{
  for (int64_t i = 0; i < k->job->n; i++) {
    const int64_t at = local_element_index(k->h, i, i);
    if (at < 0) continue;
    if (back)
      local_element_set(k->h, at, k->diagonal[i]);
    else
      k->diagonal[i] = local_element_get(k->h, at);
  }
}

osla_err saved_hessian_open(invert_job *job, saved_hessian *kept)
{
  *kept = (saved_hessian){.job = job, .diagonal = calloc((size_t)job->n, sizeof(double))};
  osla_err err = OSLA_OK;
  if (!kept->diagonal)
    err = osla_error_set(OSLA_ERR_MEM, "no memory for diagonal of %" PRId64 " unknowns", job->n);
  OSLA_CALL(osla_agree(job->t, err));
  OSLA_CALL(osla_hessian_matrix(job->hessian, &kept->h));
  copy_diagonal(kept, false);
  kept->is_intact = true;
  return osla_matrix_mirror(kept->h, job->options->uplo);
}

void saved_hessian_close(saved_hessian *kept)
{
  free(kept->diagonal);
  kept->diagonal = NULL;
}

static void add_element(int64_t i, int64_t j, int64_t at, double part, void *arg)
{
  saved_hessian *k = arg;
  (void)i;
  (void)j;
  local_element_set(k->h, at, local_element_get(k->h, at) + part);
}

osla_err saved_hessian_restore(saved_hessian *kept)
{
  if (!kept->is_intact) OSLA_CALL(osla_matrix_mirror(kept->h, other(kept->job->options->uplo)));
  copy_diagonal(kept, true);
  kept->is_intact = false;
  return osla_agree(kept->job->t, invert_visit_prior(kept->job, kept->h, add_element, kept));
}

/* Returns this rank's part of the sum of 2 m_i H_ij m_j over the saved triangle. `rows` holds the
 * elements of m that belong to this rank's rows. */
static double triangle_norm(const saved_hessian *k, const double *m, const double *rows)
{
  const osla_layout f = osla_matrix_layout(k->h);
  const int prow = osla_grid_prow(k->job->grid), pcol = osla_grid_pcol(k->job->grid);
  const int64_t lld = osla_matrix_lld(k->h, osla_transport_rank(k->job->t));
  const int64_t count = osla_matrix_local_rows(k->h);
  /* the factorisation uses the lower triangle, so that H is saved in the upper triangle */
  const bool above = k->job->options->uplo == OSLA_LOWER;
  double sum = 0.0;
  for (int64_t c = 0; c < osla_matrix_local_cols(k->h); c++) {
    const int64_t j = osla_index_global(c, f.nb, pcol, f.npcol);
    const int64_t from = above ? 0 : osla_index_count(j + 1, f.mb, prow, f.nprow);
    const int64_t to = above ? osla_index_count(j, f.mb, prow, f.nprow) : count;
    double column = 0.0;
    if (k->job->options->dtype == OSLA_FLOAT) {
      const float *h = (const float *)osla_matrix_local(k->h) + c * lld;
      for (int64_t r = from; r < to; r++)
        column += rows[r] * (double)h[r];
    } else if (to > from) {
      column = osla_dot_local(to - from, rows + from,
                              (const double *)osla_matrix_local(k->h) + c * lld + from);
    }
    sum += 2.0 * m[j] * column;
  }
  return sum;
}

osla_err saved_hessian_norm(const saved_hessian *kept, const double *m, double *value)
{
  const osla_layout f = osla_matrix_layout(kept->h);
  const int64_t count = osla_matrix_local_rows(kept->h);
  double *rows = malloc(((size_t)count + 1) * sizeof *rows);
  OSLA_CALL(osla_agree(
    kept->job->t,
    rows ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "no memory for %" PRId64 " rows", count)));
  for (int64_t r = 0; r < count; r++)
    rows[r] = m[osla_index_global(r, f.mb, osla_grid_prow(kept->job->grid), f.nprow)];
  *value = triangle_norm(kept, m, rows);
  for (int64_t i = 0; i < f.m; i++)
    *value += kept->diagonal[i] * m[i] * m[i];
  free(rows);
  return osla_allreduce(kept->job->t, value, 1, MPI_DOUBLE, MPI_SUM);
}
