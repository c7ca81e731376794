/* The chain by MPI_Accumulate and ScaLAPACK: the memory of the window is ScaLAPACK's local array.
 */
#include "bench/bench_chain.h"
#include "osla_index.h"

#include <stdlib.h>

static osla_err create(chain *c)
{
  const int64_t n = c->all->n, nb = c->settings.nb;
  osla_grid *grid = c->job.grid;
  const int64_t rows = osla_index_count(n, nb, osla_grid_prow(grid), osla_grid_nprow(grid));
  void *pivots;
  OSLA_CALL(bench_alloc(&c->job, (uint64_t)(rows + nb) * sizeof(int), &pivots));
  c->pivots = pivots;
  OSLA_CALL(
    osla_agree(c->job.transport, osla_matrix_wrap_own(grid, OSLA_DOUBLE, n, n, nb, nb,
                                                      c->h.lock.base, rows > 0 ? rows : 1, &c->a)));
  OSLA_CALL(osla_matrix_create(grid, OSLA_DOUBLE, n, 1, nb, 1, &c->x));
  return reference_scalapack_open(grid, &c->context);
}

static osla_err factor(chain *c)
{
  if (!c->x) OSLA_CALL(create(c));
  OSLA_CALL(osla_matrix_fill_with(c->x, chain_right_side, NULL));
  return reference_scalapack_getrf(c->context, c->a, c->pivots, &c->info);
}

static osla_err solve(chain *c)
{
  OSLA_CALL(reference_scalapack_getrs(c->context, c->a, c->pivots, c->x));
  return osla_barrier(c->job.transport);
}

static osla_err read_solution(chain *c, double *x)
{
  return osla_matrix_get_block(c->x, 0, 0, c->all->n, 1, x, c->all->n);
}

static void destroy(chain *c)
{
  if (c->x) reference_scalapack_close(&c->context);
  osla_matrix_destroy(&c->a);
}

void chain_scalapack_make(chain *c, hessian_window *window)
{
  c->assembly = hessian_window_impl(window);
  c->factor = factor;
  c->solve = solve;
  c->read = read_solution;
  c->destroy = destroy;
}
