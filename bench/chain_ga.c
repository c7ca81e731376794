/* The chain by Global Arrays: accumulates into an array in GA's regular distribution, then
 * GA_Lu_solve, which factors and solves in one call. */
#include "config.h"

#include "bench/bench_chain.h"

#ifdef HAVE_GA

#include <ga.h>
#include <macdecls.h>

static osla_err factor(chain *c)
{
  const int64_t n = c->all->n;
  int64_t dims[2] = {1, n}, low[2], high[2],
          ld[1] = {n}; /* one right-hand side is a row in C's order */
  if (c->vector == 0) c->vector = NGA_Create64(C_DBL, 2, dims, "b", NULL);
  OSLA_CHECK(c->vector, OSLA_ERR_MEM, "a vector of Global Arrays");
  NGA_Distribution64(c->vector, GA_Nodeid(), low, high);
  if (high[0] >= low[0] && high[1] >= low[1])
    NGA_Put64(c->vector, low, high, c->all->b + low[1], ld);
  GA_Sync();
  c->info = 0; /* GA_Lu_solve ends the program if the matrix is singular */
  return OSLA_OK;
}

static osla_err solve(chain *c)
{
  char no[] = "n";
  GA_Lu_solve(no[0], c->h.ga[0].array, c->vector);
  return OSLA_OK;
}

static osla_err read_solution(chain *c, double *x)
{
  int64_t low[2] = {0, 0}, high[2] = {0, c->all->n - 1}, ld[1] = {c->all->n};
  NGA_Get64(c->vector, low, high, x, ld);
  return OSLA_OK;
}

static void destroy(chain *c)
{
  if (c->vector) GA_Destroy(c->vector);
  c->vector = 0;
}

void chain_ga_make(chain *c, hessian_ga *ga)
{
  c->assembly = hessian_ga_impl(ga);
  c->factor = factor;
  c->solve = solve;
  c->read = read_solution;
  c->destroy = destroy;
}

#else

void chain_ga_make(chain *c, hessian_ga *ga)
{
  c->assembly = hessian_ga_impl(ga);
}

#endif
