#include "tests/kernels/kernel_stress.h"

#include "tests/osla_test_help.h"

#include <stdio.h>

grid_set grids_open(void)
{
  grid_set g = {.t = osla_test_transport()};
  for (osla_grid *grid; (grid = kernel_grid(g.t, g.n)) != NULL; g.n++) {
    g.at[g.n] = grid;
    g.again[g.n] = kernel_grid(g.t, g.n);
  }
  return g;
}

void grids_close(grid_set *g)
{
  for (int i = 0; i < g->n; i++) {
    osla_grid_destroy(&g->at[i]);
    osla_grid_destroy(&g->again[i]);
  }
  osla_transport_destroy(&g->t);
}

static stress_round choose(const grid_set *g, int number, uint64_t seed)
{
  stress_round r = {.grids = g, .number = number, .seed = seed};
  r.m = 1 + osla_test_choose(seed, 0, 90);
  r.n = 1 + osla_test_choose(seed, 1, 90);
  r.nb = 1 + osla_test_choose(seed, 2, 14);
  r.dtype = (osla_dtype)osla_test_choose(seed, 3, 4);
  r.which = (int)osla_test_choose(seed, 4, g->n);
  r.grid = g->at[r.which];
  r.wrapped = osla_test_choose(seed, 5, 3) == 0;
  (void)snprintf(r.name, sizeof r.name, "round %d", number);
  return r;
}

void kernel_stress(int usual, uint64_t seed, stress_check *check)
{
  grid_set g = grids_open();
  for (int number = 0, rounds = kernel_rounds(usual); number < rounds; number++) {
    stress_round r = choose(&g, number, seed + (uint64_t)number);
    delays d;
    delays_begin(&d, g.t, r.seed);
    check(&r);
    delays_end(&d);
  }
  grids_close(&g);
}
