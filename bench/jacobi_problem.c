/* Makes the diffusion problem on a grid of ranks, with one rank whose sweeps take longer. See
 * bench_jacobi.h. */
#include "bench/bench_jacobi.h"
#include "osla_clock.h"

void jacobi_delay(const jacobi_problem *p, double since)
{
  const double until = since + p->factor * (osla_clock() - since);
  while (p->factor > 1.0 && osla_clock() < until)
    ;
}

typedef double sweep_call(void *arg, double omega, const double *x, double *y);

static double sweep_slowly(const jacobi_problem *p, sweep_call *sweep, double omega,
                           const double *x, double *y)
{
  const double since = osla_clock();
  const double residual2 = sweep(p->inner.arg, omega, x, y);
  jacobi_delay(p, since);
  return residual2;
}

static double sweep(void *arg, double omega, const double *x, double *y)
{
  const jacobi_problem *p = arg;
  return sweep_slowly(p, p->inner.sweep, omega, x, y);
}

static double sweep_edge(void *arg, double omega, const double *x, double *y)
{
  const jacobi_problem *p = arg;
  return sweep_slowly(p, p->inner.sweep_edge, omega, x, y);
}

static double sweep_rest(void *arg, double omega, const double *x, double *y)
{
  const jacobi_problem *p = arg;
  return sweep_slowly(p, p->inner.sweep_rest, omega, x, y);
}

static void pack(void *arg, int h, const double *x, double *message)
{
  const jacobi_problem *p = arg;
  p->inner.pack(p->inner.arg, h, x, message);
}

static void unpack(void *arg, int h, const double *message, double *x)
{
  const jacobi_problem *p = arg;
  p->inner.unpack(p->inner.arg, h, message, x);
}

static double magnitude(void *arg, const double *x)
{
  const jacobi_problem *p = arg;
  return p->inner.magnitude(p->inner.arg, x);
}

osla_err jacobi_problem_create(bench_job *job, int64_t n, jacobi_problem *out)
{
  const bench_settings *s = job->settings;
  osla_diffusion_options o = {.points = {n, n, n}};
  /* nearly cubic grid of ranks; z gets the most ranks, so that layers stay whole where possible */
  int ranks[3] = {0, 0, 0};
  OSLA_MPI(MPI_Dims_create(job->size, 3, ranks));
  for (int d = 0; d < 3 && !s->whole; d++) {
    o.ranks[d] = ranks[2 - d];
    o.points[d] = n * ranks[2 - d];
  }
  /* s->threads: threads of the reference implementation `threads`, or 1 without it */
  if (!s->whole) o.points[2] *= s->threads;
  *out = (jacobi_problem){.job = job, .factor = job->rank == s->slow_rank ? s->slow_factor : 1.0};
  out->points = (double)o.points[0] * (double)o.points[1] * (double)o.points[2];
  o.no_offset = s->zeros;
  OSLA_CALL(osla_diffusion_create(job->transport, &o, &out->diffusion));
  out->inner = osla_diffusion_problem(out->diffusion);
  out->p = out->inner;
  out->p.arg = out;
  out->p.sweep = sweep;
  out->p.sweep_edge = sweep_edge;
  out->p.sweep_rest = sweep_rest;
  out->p.pack = pack;
  out->p.unpack = unpack;
  out->p.magnitude = magnitude;
  out->p.bound_sweep = NULL;
  out->p.distance = NULL;
  return OSLA_OK;
}

void jacobi_problem_free(jacobi_problem *problem)
{
  osla_diffusion_destroy(&problem->diffusion);
}

void jacobi_sweep(jacobi_data *d)
{
  const jacobi_problem *p = d->problem;
  double *from = d->x;
  (void)p->p.sweep(p->p.arg, 1.0, from, d->spare);
  d->x = d->spare;
  d->spare = from;
}

osla_err jacobi_compute(void *data)
{
  jacobi_data *d = data;
  for (int64_t k = 0; k < d->problem->job->settings->sweeps; k++)
    jacobi_sweep(d);
  return OSLA_OK;
}
