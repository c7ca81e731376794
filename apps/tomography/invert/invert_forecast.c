/* Forecast of the time for the work on the matrix: n^3 / 3 operations for Cholesky, 2 n^3 / 3 for
 * LU, 2 n^3 / 3 for the inverse in place, 2 n^3 for the inverse by columns. The rate is measured
 * with matrix products in cache on all ranks at the same time. Once a factorisation has been timed,
 * the forecast of the inverse uses the rate of the factorisation. */
#include "apps/tomography/invert/invert.h"
#include "tools/common/command.h"

#include <stdio.h>
#include <stdlib.h>

enum { ORDER = 512 };
static const double probe_seconds = 0.06;

double invert_inverse_work(const invert_job *job)
{
  return job->posterior.width > 0 ? 2.0 : 2.0 / 3.0;
}

static bool prints_forecast(const invert_job *job)
{
  return osla_transport_rank(job->t) == 0 && !job->options->quiet;
}

/* Sets *rate to the operations per second of this rank in matrix products, while all ranks compute
 * such products. */
static osla_err measure_rate(const invert_job *job, double *rate)
{
  const osla_dtype dtype = job->options->dtype;
  const size_t elements = (size_t)ORDER * ORDER, bytes = elements * osla_dtype_size(dtype);
  void *a = calloc(1, bytes), *c = calloc(1, bytes);
  osla_err err = OSLA_OK;
  if (!a || !c) err = osla_error_set(OSLA_ERR_MEM, "no memory for matrices of a probe");
  double start = osla_clock(), spent = 0.0;
  for (int i = 0; err == OSLA_OK && (i < 2 || spent < probe_seconds); i++) {
    if (i == 1) start = osla_clock(); /* the first product is a warm-up */
    err = osla_blas_gemm(dtype, OSLA_NOTRANS, OSLA_NOTRANS, ORDER, ORDER, ORDER, 1.0, a, ORDER, a,
                         ORDER, 0.0, c, ORDER);
    spent = osla_clock() - start;
    *rate = 2.0 * ORDER * (double)elements * i / spent;
  }
  free(a);
  free(c);
  return err;
}

static void print_forecast(const invert_job *job, double rate)
{
  const invert_options *o = job->options;
  const double n = (double)job->n, factor = n * n * n / 3.0 / rate;
  const double inverse = invert_inverse_work(job) * n * n * n / rate;
  const int scanned = invert_scan_count(&o->scan);
  const double last = o->factor == INVERT_LU ? 2.0 * factor : factor;
  double all = scanned * factor + last;
  (void)printf("Forecast   at %.3g GF/s of all ranks:", 1e-9 * rate);
  if (scanned > 0)
    (void)printf(" %d factorisations of a scan about %s,", scanned,
                 format_seconds(scanned * factor).s);
  (void)printf(" the model's %s", format_seconds(last).s);
  if (o->posterior)
    (void)printf(", its inverse%s %s", job->posterior.width > 0 ? " by columns" : "",
                 format_seconds(inverse).s);
  if (o->posterior) all += inverse;
  (void)printf("; together %s, beside the assembly\n", format_seconds(all).s);
  (void)fflush(stdout);
}

osla_err invert_forecast_work(invert_job *job)
{
  double rate = 0.0;
  const invert_options *o = job->options;
  if (o->solver != INVERT_DIRECT || !(o->posterior || invert_has_scan(o))) return OSLA_OK;
  OSLA_CALL(osla_agree(job->t, measure_rate(job, &rate)));
  OSLA_CALL(osla_allreduce(job->t, &rate, 1, MPI_DOUBLE, MPI_SUM));
  if (prints_forecast(job)) print_forecast(job, rate);
  return OSLA_OK;
}

void invert_forecast_inverse(invert_job *job)
{
  const double factor = job->result.seconds[PHASE_FACTOR];
  const double work = job->options->factor == INVERT_LU ? 2.0 / 3.0 : 1.0 / 3.0;
  job->posterior.forecast = invert_inverse_work(job) / work * factor;
  if (!prints_forecast(job)) return;
  (void)printf("Forecast   the factorisation took %s: the inverse%s will take about %s\n",
               format_seconds(factor).s, job->posterior.width > 0 ? " by columns" : "",
               format_seconds(job->posterior.forecast).s);
  (void)fflush(stdout);
}
