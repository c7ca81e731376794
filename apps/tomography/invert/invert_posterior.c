/* Uncertainty of the model: the standard deviations, which are the square roots of the diagonal of
 * C = (H + P)^-1, and the diagonal of the resolution matrix R = I - C P (Tarantola, "Inverse
 * Problem Theory", SIAM 2005, section 3.2).
 *
 * The inverse overwrites the factor. P is sparse, so that the diagonal of C P needs only the
 * elements of C where P is nonzero: each rank adds the products with its own elements of C, and no
 * matrix is sent. Memory: 2 n doubles and the workspace of osla_potri. If the memory does not
 * suffice, or if the user chose that method, the columns of C are computed a few at a time
 * (invert_columns.c). */
#include "apps/tomography/invert/invert.h"
#include "tools/common/local_elements.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct diagonal_parts {
  const invert_job *job;
  double *variance; /* [n] this rank's part of the diagonal of C */
  double *pulled;   /* [n] this rank's part of the diagonal of C P */
} diagonal_parts;

/* Adds the product C[i, j] P[j, i] to elements i and j of the diagonal of C P. */
static void add_element(int64_t i, int64_t j, int64_t at, double part, void *arg)
{
  const diagonal_parts *r = arg;
  const double value = local_element_get(r->job->factor, at) * part;
  r->pulled[i] += value;
  if (i != j) r->pulled[j] += value;
}

static void read_variances(const diagonal_parts *r)
{
  for (int64_t i = 0; i < r->job->n; i++) {
    const int64_t at = local_element_index(r->job->factor, i, i);
    if (at >= 0) r->variance[i] = local_element_get(r->job->factor, at);
  }
}

static void summarise(invert_posterior *p, int64_t n, double *sorted)
{
  memcpy(sorted, p->deviation, (size_t)n * sizeof *sorted);
  p->median = tomo_median(sorted, n);
  p->least = sorted[0];
  p->most = sorted[n - 1];
  p->mean = p->trace = 0.0;
  for (int64_t i = 0; i < n; i++) {
    p->mean += p->deviation[i] / (double)n;
    p->trace += p->resolution[i];
  }
}

/* Sums the diagonals over all ranks, and computes the standard deviations and the resolution. */
static osla_err store_posterior(invert_job *job, const diagonal_parts *r)
{
  invert_posterior *p = &job->posterior;
  OSLA_CALL(osla_allreduce(job->t, r->variance, job->n, MPI_DOUBLE, MPI_SUM));
  OSLA_CALL(osla_allreduce(job->t, r->pulled, job->n, MPI_DOUBLE, MPI_SUM));
  for (int64_t i = 0; i < job->n; i++) {
    OSLA_CHECK(
      r->variance[i] > 0.0, OSLA_ERR_STATE,
      "the posterior variance of unknown %" PRId64 " is %g: raise --damping or --smoothing%s", i,
      r->variance[i], job->options->dtype == OSLA_FLOAT ? ", or use --precision double" : "");
    p->deviation[i] = sqrt(r->variance[i]);
    p->resolution[i] = 1.0 - r->pulled[i];
  }
  summarise(p, job->n, r->variance);
  return OSLA_OK;
}

static osla_err read_inverse(invert_job *job, diagonal_parts *r, int64_t info)
{
  OSLA_CHECK(info == 0, OSLA_ERR_STATE, "the factor has a zero on its diagonal, element %" PRId64,
             info);
  read_variances(r);
  return osla_agree(job->t, invert_visit_prior(job, job->factor, add_element, r));
}

/* Computes the inverse in place and reads both diagonals. If a rank has too little memory for that,
 * the factor is unchanged, and the columns are computed a few at a time instead. */
static osla_err find_inverse(invert_job *job, diagonal_parts *r)
{
  enum { FEW = 16 };
  if (job->posterior.width == 0) {
    int64_t info;
    const osla_err err = osla_potri(job->options->uplo, job->factor, NULL, &info);
    if (err == OSLA_OK) return read_inverse(job, r, info);
    if (err != OSLA_ERR_MEM || job->options->inverse == INVERT_IN_PLACE) return err;
    job->posterior.width = job->n < FEW ? job->n : FEW;
    invert_forecast_inverse(job);
  }
  return invert_add_columns(job, r->variance, r->pulled);
}

static osla_err allocate(invert_job *job, diagonal_parts *r)
{
  const size_t n = (size_t)job->n;
  invert_posterior *p = &job->posterior;
  p->deviation = malloc(n * sizeof *p->deviation);
  p->resolution = malloc(n * sizeof *p->resolution);
  *r = (diagonal_parts){
    .job = job, .variance = calloc(n, sizeof(double)), .pulled = calloc(n, sizeof(double))};
  OSLA_CHECK(p->deviation && p->resolution && r->variance && r->pulled, OSLA_ERR_MEM,
             "no memory for deviations of %" PRId64 " unknowns", job->n);
  return OSLA_OK;
}

osla_err invert_find_posterior(invert_job *job)
{
  const double start = osla_clock();
  diagonal_parts r;
  if (!job->options->posterior) return OSLA_OK;
  invert_forecast_inverse(job);
  osla_err err = osla_agree(job->t, allocate(job, &r));
  if (err == OSLA_OK) err = find_inverse(job, &r);
  job->result.seconds[PHASE_INVERSE] = osla_clock() - start;
  if (err == OSLA_OK) err = store_posterior(job, &r);
  free(r.variance);
  free(r.pulled);
  job->posterior.seconds = osla_clock() - start;
  return err;
}
