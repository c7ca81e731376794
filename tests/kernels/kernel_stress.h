/* Grids that several tests use, and the stress loop of the kernels' tests. */
#ifndef KERNEL_STRESS_H
#define KERNEL_STRESS_H

#include "tests/kernels/kernel_reference.h"

/* A transport and all grids of kernel_grid. Must be closed last. Collective. */
typedef struct grid_set {
  osla_transport *t;
  int n;
  osla_grid *at[32], *again[32]; /* two grids for each set of positions */
} grid_set;
grid_set grids_open(void);
void grids_close(grid_set *set);

/* One round of the stress loop: sizes from 1 to 90, blocks from 1 to 14, a type and a grid, all
 * chosen by a seed. */
typedef struct stress_round {
  const grid_set *grids;
  int number, which; /* number of the round; index of the grid */
  osla_grid *grid;
  uint64_t seed;
  int64_t m, n, nb;
  osla_dtype dtype;
  bool wrapped;
  char name[32]; /* text such as "round 3" */
} stress_round;

/* Calls `check` for kernel_rounds(usual) rounds, one after another without a pause and with delays.
 * Further random numbers of a check come from the round's seed, from index STRESS_FREE on.
 * Collective. */
enum { STRESS_FREE = 16 };
typedef void stress_check(const stress_round *r);
void kernel_stress(int usual, uint64_t seed, stress_check *check);

#endif
