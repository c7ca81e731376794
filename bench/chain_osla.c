/* The chain by OSLA: an accumulator, then osla_getrf and osla_getrs on its matrix. */
#include "bench/bench_chain.h"
#include "osla_lu.h"
#include "osla_solve.h"

#include <stdlib.h>

static osla_err factor(chain *c)
{
  osla_lu_result result;
  OSLA_CALL(osla_hessian_matrix(c->h.plain.hessian, &c->a));
  const osla_layout l = osla_matrix_layout(c->a);
  if (!c->x) {
    void *pivots;
    OSLA_CALL(bench_alloc(c->all->job,
                          (uint64_t)(osla_matrix_local_rows(c->a) + 1) * sizeof(int64_t), &pivots));
    c->ipiv = pivots;
    OSLA_CALL(osla_matrix_create(osla_matrix_grid(c->a), OSLA_DOUBLE, l.n, 1, l.nb, 1, &c->x));
  }
  OSLA_CALL(osla_matrix_fill_with(c->x, chain_right_side, NULL));
  OSLA_CALL(osla_getrf(c->a, c->ipiv, NULL, &result));
  c->info = result.info;
  return OSLA_OK;
}

static osla_err solve(chain *c)
{
  return osla_getrs(OSLA_NOTRANS, c->a, c->ipiv, c->x);
}

static osla_err read_solution(chain *c, double *x)
{
  return osla_matrix_get_block(c->x, 0, 0, c->all->n, 1, x, c->all->n);
}

void chain_osla_make(chain *c, hessian_accumulator *accumulator)
{
  c->assembly = hessian_accumulator_impl(accumulator);
  c->factor = factor;
  c->solve = solve;
  c->read = read_solution;
}
