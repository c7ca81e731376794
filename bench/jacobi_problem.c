/* Makes the diffusion problem on a grid of ranks, with one rank whose sweeps take longer. See
 * bench_jacobi.h. */
#include "bench/bench_jacobi.h"
#include "osla_clock.h"
#include "src/blas/move.h"

void jacobi_delay(const jacobi_problem *p, double since)
{
  const double until = since + p->factor * (osla_clock() - since);
  while (p->factor > 1.0 && osla_clock() < until)
    ;
}

/* Charges the simulated time of a sweep over a cube with p->cost points along a side, less the time
 * of the sweep that was made. `part`: the layers that neighbours receive (EDGE), the rest, or
 * ALL. */
typedef enum cube_part { ALL, EDGE, REST } cube_part;
static void charge_sweep(const jacobi_problem *p, cube_part part)
{
  const int64_t c = p->cost, n = p->side;
  if (c == 0 || p->inner.length == 0) return;
  const int64_t all = c * c * c - n * n * n, edge = p->inner.n_halos * (c * c - n * n);
  const int64_t more = part == ALL ? all : part == EDGE ? edge : all - edge;
  work_charge(OSLA_WORK_SWEEP, OSLA_DOUBLE, 1, more, 1);
}

/* Charges the time of copying a face of this cube, less that of the face that was copied. Faces in
 * x have no adjacent points. */
static void charge_face(const jacobi_problem *p, int h)
{
  const int64_t c = p->cost, n = p->side;
  if (c == 0) return;
  const int64_t piece = p->inner.halos[h].tag == 0 ? 1 : c;
  osli_move_charge((size_t)piece * sizeof(double), (c * c - n * n) / piece);
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
  charge_sweep(p, ALL);
  return sweep_slowly(p, p->inner.sweep, omega, x, y);
}

static double sweep_edge(void *arg, double omega, const double *x, double *y)
{
  const jacobi_problem *p = arg;
  charge_sweep(p, EDGE);
  return sweep_slowly(p, p->inner.sweep_edge, omega, x, y);
}

static double sweep_rest(void *arg, double omega, const double *x, double *y)
{
  const jacobi_problem *p = arg;
  charge_sweep(p, REST);
  return sweep_slowly(p, p->inner.sweep_rest, omega, x, y);
}

static void pack(void *arg, int h, const double *x, double *message)
{
  const jacobi_problem *p = arg;
  p->inner.pack(p->inner.arg, h, x, message);
  charge_face(p, h);
}

static void unpack(void *arg, int h, const double *message, double *x)
{
  const jacobi_problem *p = arg;
  p->inner.unpack(p->inner.arg, h, message, x);
  charge_face(p, h);
}

static double magnitude(void *arg, const double *x)
{
  const jacobi_problem *p = arg;
  return p->inner.magnitude(p->inner.arg, x);
}

/* Computes a residual of the coarse level. In the asynchronous modes a rank copies its state
 * before, and this function adds the simulated time of that copy. The diffusion problem adds the
 * time of the residual, which needs only the faces of the rank's cube and is not scaled by
 * --cost-points. */
static double restrict_residual(void *arg, bool homogeneous, const double *x)
{
  const jacobi_problem *p = arg;
  if (!homogeneous && p->copies) charge_sweep(p, ALL);
  return p->inner_coarse.restrict_residual(p->inner_coarse.arg, homogeneous, x);
}

static void prolong(void *arg, double c, double *x)
{
  const jacobi_problem *p = arg;
  const double since = osla_clock();
  charge_sweep(p, ALL);
  p->inner_coarse.prolong(p->inner_coarse.arg, c, x);
  jacobi_delay(p, since);
}

osla_coarse jacobi_coarse(jacobi_problem *p)
{
  return (osla_coarse){.arg = p, .restrict_residual = restrict_residual, .prolong = prolong};
}

/* With --cost-points, messages get the length of faces of c x c points. Their first elements are
 * the halos of the rank's cube. */
static void lengthen_halos(jacobi_problem *p, int64_t c, int64_t n)
{
  if (c == 0) return;
  p->cost = c;
  p->side = n;
  for (int h = 0; h < p->inner.n_halos; h++) {
    p->halos[h] = p->inner.halos[h];
    p->halos[h].send = p->halos[h].recv = c * c;
  }
  p->p.halos = p->halos;
}

void jacobi_problem_wrap(jacobi_problem *problem, const osla_fixed_point *inner)
{
  osla_fixed_point *p = &problem->p;
  problem->inner = *p = *inner;
  p->arg = problem;
  p->sweep = sweep;
  p->sweep_edge = inner->sweep_edge ? sweep_edge : NULL;
  p->sweep_rest = inner->sweep_rest ? sweep_rest : NULL;
  p->pack = pack;
  p->unpack = unpack;
  p->magnitude = magnitude;
  p->bound_sweep = NULL;
  p->distance = NULL;
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
  out->inner_coarse = osla_diffusion_coarse(out->diffusion);
  const osla_fixed_point inner = osla_diffusion_problem(out->diffusion);
  jacobi_problem_wrap(out, &inner);
  lengthen_halos(out, s->cost_points, n);
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
