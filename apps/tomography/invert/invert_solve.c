/* Factors H + P in place and solves for the model. */
#include "apps/tomography/invert/invert.h"
#include "tools/common/local_elements.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Returns the index, from 1, of the first pivot of LU that is not positive; 0: all are positive. A
 * positive definite matrix has only positive pivots: its leading minors, which Cholesky tests, are
 * products of the pivots. */
static osla_err find_bad_pivot(const invert_job *job, int64_t *found)
{
  const int64_t none = job->n + 1;
  *found = none;
  for (int64_t i = 0; i < job->n && *found == none; i++) {
    const int64_t at = local_element_index(job->factor, i, i);
    if (at >= 0 && !(local_element_get(job->factor, at) > 0.0)) *found = i + 1;
  }
  OSLA_CALL(osla_allreduce(job->t, found, 1, MPI_INT64_T, MPI_MIN));
  if (*found == none) *found = 0;
  return OSLA_OK;
}

static osla_err factor_by_lu(invert_job *job)
{
  invert_result *r = &job->result;
  /* all pivots are positive: the matrix is positive definite */
  osla_lu_options unpivoted = {.pivoting = OSLA_PIVOT_NONE};
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
  OSLA_CALL(o->factor == INVERT_CHOLESKY ? osla_potrf(o->uplo, job->factor, NULL, &r->info)
                                         : factor_by_lu(job));
  OSLA_CHECK(r->info == 0, OSLA_ERR_STATE,
             "the Hessian is not positive definite (leading minor of order %" PRId64
             "): raise --damping or --smoothing%s",
             r->info, o->dtype == OSLA_FLOAT ? ", or use --precision double" : "");
  OSLA_CHECK(o->factor == INVERT_CHOLESKY || r->growth < 1e6, OSLA_ERR_STATE,
             "LU without pivoting is inaccurate here (growth %g): use --solver cholesky",
             r->growth);
  return OSLA_OK;
}

osla_err invert_solve_columns(invert_job *job, invert_factor kind, int64_t columns, double *x)
{
  const invert_options *o = job->options;
  const int64_t count = job->n * columns;
  const bool is_float = o->dtype == OSLA_FLOAT;
  float *narrow = is_float ? malloc(((size_t)count + 1) * sizeof *narrow) : NULL;
  osla_err err = OSLA_OK;
  if (is_float && !narrow)
    err = osla_error_set(OSLA_ERR_MEM, "no memory for %" PRId64 " columns of %" PRId64 " unknowns",
                         columns, job->n);
  OSLA_CALL(osla_agree(job->t, err));
  for (int64_t i = 0; i < count && narrow; i++)
    narrow[i] = (float)x[i];
  void *values = is_float ? (void *)narrow : (void *)x;
  if (kind == INVERT_CHOLESKY)
    err = osla_potrs_replicated(o->uplo, job->factor, columns, values, job->n);
  else
    err = osla_getrs_replicated(OSLA_NOTRANS, job->factor, NULL, columns, values, job->n);
  for (int64_t i = 0; i < count && narrow && err == OSLA_OK; i++)
    x[i] = narrow[i];
  free(narrow);
  return err;
}

osla_err invert_solve(invert_job *job)
{
  double start = osla_clock();
  OSLA_CALL(factor(job));
  job->result.seconds[PHASE_FACTOR] = osla_clock() - start;

  start = osla_clock();
  memcpy(job->m, job->gradient, (size_t)job->n * sizeof *job->m);
  OSLA_CALL(invert_solve_columns(job, job->options->factor, 1, job->m));
  job->result.seconds[PHASE_SOLVE] = osla_clock() - start;
  return OSLA_OK;
}
