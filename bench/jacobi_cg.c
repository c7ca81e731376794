/* Reference implementation `cg`: CG on the matrix of the diffusion problem, stored in memory. It
 * solves A d = b - A x0 for d = x - x0, so that only the right-hand side has boundary values, and
 * its criterion |r| <= tolerance |right-hand side| is that of Jacobi's method. */
#include "bench/bench_jacobi.h"
#include "osla_krylov.h"

#include <stdlib.h>
#include <string.h>

struct jacobi_cg {
  osla_csr *a;
  jacobi_grid grid;
  int64_t rows;
  double *b,     /* [rows] right-hand side */
    *correction; /* [rows] difference of the solution and the initial guess */
  osla_krylov_result result;
};

osla_err jacobi_cg_setup(void *data)
{
  jacobi_data *d = data;
  bench_job *job = d->problem->job;
  void *memory;
  OSLA_CALL(bench_alloc(job, sizeof *d->cg, &memory));
  d->cg = memory;
  d->cg->grid = jacobi_grid_of(d->problem);
  d->cg->rows = jacobi_grid_points(&d->cg->grid);
  OSLA_CALL(bench_alloc(job, (uint64_t)d->cg->rows * sizeof(double), &memory));
  d->cg->b = memory;
  OSLA_CALL(bench_alloc(job, (uint64_t)d->cg->rows * sizeof(double), &memory));
  d->cg->correction = memory;
  return jacobi_matrix_create(d->problem, d->x, &d->cg->a);
}

void jacobi_cg_teardown(jacobi_data *d)
{
  if (!d->cg) return;
  (void)osla_csr_destroy(&d->cg->a);
  free(d->cg->b);
  free(d->cg->correction);
  free(d->cg);
  d->cg = NULL;
}

/* r := b - A x, which equals 6 times the change of x in a sweep */
static void residual_of(const jacobi_data *d, double *r)
{
  const osla_fixed_point *p = &d->problem->inner;
  const jacobi_grid *g = &d->cg->grid;
  if (d->cg->rows > 0) (void)p->sweep(p->arg, 1.0, d->x, d->spare);
  for (int64_t k = 0; k < g->count[2]; k++)
    for (int64_t j = 0; j < g->count[1]; j++) {
      const int64_t at = jacobi_row_offset(g, j, k);
      for (int64_t i = 0; i < g->count[0]; i++)
        *r++ = 6.0 * (d->spare[at + i] - d->x[at + i]);
    }
}

static void add(const jacobi_data *d, const double *correction)
{
  const jacobi_grid *g = &d->cg->grid;
  for (int64_t k = 0; k < g->count[2]; k++)
    for (int64_t j = 0; j < g->count[1]; j++)
      for (int64_t i = 0; i < g->count[0]; i++)
        d->x[jacobi_row_offset(g, j, k) + i] += *correction++;
}

osla_err jacobi_cg_run(void *data)
{
  jacobi_data *d = data;
  struct jacobi_cg *cg = d->cg;
  osla_krylov_options o = {0};
  const osla_operator a = osla_csr_operator(cg->a);
  o.tolerance = d->problem->job->settings->tolerance;
  o.iterations = INT64_C(1) << 30;
  residual_of(d, cg->b);
  memset(cg->correction, 0, (size_t)cg->rows * sizeof(double));
  OSLA_CALL(osla_cg(&a, NULL, cg->b, cg->correction, &o, &cg->result));
  add(d, cg->correction);
  return OSLA_OK;
}

int64_t jacobi_cg_iterations(const jacobi_data *d)
{
  return d->cg->result.iterations;
}
