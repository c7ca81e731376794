/* Factors the regularised Hessian in its own memory, solves for the model. */
#include "invert.h"

#include <inttypes.h>
#include <stdlib.h>

/* The first pivot of LU, from 1, that is not positive; 0: none. A positive definite matrix has
 * none: the leading minors, which Cholesky tests, are the products of the pivots. */
static osla_err find_bad_pivot(const invert_job *job, int64_t *found)
{
  const osla_layout f = osla_matrix_layout(job->factor);
  const int prow = osla_grid_prow(job->grid), pcol = osla_grid_pcol(job->grid);
  const int64_t lld = osla_matrix_lld(job->factor, osla_transport_rank(job->t)), none = f.m + 1;
  const void *local = osla_matrix_local(job->factor);
  *found = none;
  for (int64_t i = 0; i < f.m && *found == none; i++) {
    if (osla_index_owner(i, f.mb, f.nprow) != prow || osla_index_owner(i, f.nb, f.npcol) != pcol)
      continue;
    int64_t at = osla_index_local(i, f.mb, f.nprow) + osla_index_local(i, f.nb, f.npcol) * lld;
    bool positive = job->options->dtype == OSLA_FLOAT ? ((const float *)local)[at] > 0.0f
                                                      : ((const double *)local)[at] > 0.0;
    if (!positive) *found = i + 1;
  }
  OSLA_CALL(osla_allreduce(job->t, found, 1, MPI_INT64_T, MPI_MIN));
  if (*found == none) *found = 0;
  return OSLA_OK;
}

static osla_err factor_by_lu(invert_job *job)
{
  invert_result *r = &job->result;
  osla_lu_options unpivoted = {.pivoting = OSLA_PIVOT_NONE}; /* the Hessian is positive definite */
  osla_lu_result lu;
  OSLA_CALL(osla_matrix_mirror(job->factor, job->options->uplo)); /* LU needs both triangles */
  OSLA_CALL(osla_getrf(job->factor, NULL, &unpivoted, &lu));
  r->info = lu.info;
  r->growth = lu.growth;
  return r->info == 0 ? find_bad_pivot(job, &r->info) : OSLA_OK;
}

static osla_err factor(invert_job *job)
{
  const invert_options *o = job->options;
  invert_result *r = &job->result;
  OSLA_CALL(osla_hessian_matrix(job->hessian, &job->factor));
  OSLA_CALL(o->factor == INVERT_CHOLESKY ? osla_potrf(job->factor, o->uplo, NULL, &r->info)
                                         : factor_by_lu(job));
  OSLA_CHECK(r->info == 0, OSLA_ERR_STATE,
             "the Hessian is not positive definite (leading minor of order %" PRId64
             "): raise --damping or --smoothing%s",
             r->info, o->dtype == OSLA_FLOAT ? ", or use --precision double" : "");
  OSLA_CHECK(o->factor == INVERT_CHOLESKY || r->growth < 1e6, OSLA_ERR_STATE,
             "LU without pivoting is not to be trusted here (growth %g): use --factor cholesky",
             r->growth);
  return OSLA_OK;
}

static double element_of(int64_t i, int64_t j, void *vector)
{
  (void)j;
  return ((const double *)vector)[i];
}

static osla_err solve_with_factor(invert_job *job, osla_matrix *b)
{
  return job->options->factor == INVERT_CHOLESKY ? osla_potrs(job->options->uplo, job->factor, b)
                                                 : osla_getrs(OSLA_NOTRANS, job->factor, NULL, b);
}

/* The distributed solution on every rank, in double. */
static osla_err fetch_model(invert_job *job, osla_matrix *x)
{
  if (job->options->dtype == OSLA_DOUBLE)
    return osla_matrix_get_block(x, 0, 0, job->n, 1, job->m, job->n);
  float *m = malloc((size_t)job->n * sizeof *m);
  OSLA_CHECK(m, OSLA_ERR_MEM, "model of %" PRId64 " unknowns", job->n);
  osla_err err = osla_matrix_get_block(x, 0, 0, job->n, 1, m, job->n);
  for (int64_t i = 0; i < job->n && err == OSLA_OK; i++)
    job->m[i] = m[i];
  free(m);
  return err;
}

osla_err invert_solve(invert_job *job)
{
  const invert_options *o = job->options;
  osla_matrix *x = NULL;
  double start = osla_clock();
  OSLA_CALL(factor(job));
  job->result.seconds[PHASE_FACTOR] = osla_clock() - start;

  start = osla_clock();
  osla_err err;
  OSLA_TRY(osla_matrix_create(job->grid, o->dtype, job->n, 1, o->nb, 1, &x));
  OSLA_TRY(osla_matrix_fill_with(x, element_of, job->gradient));
  OSLA_TRY(solve_with_factor(job, x));
  OSLA_TRY(osla_agree(job->t, fetch_model(job, x)));
  job->result.seconds[PHASE_SOLVE] = osla_clock() - start;
cleanup:
  osla_matrix_destroy(&x);
  return err;
}
