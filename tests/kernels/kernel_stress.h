/* Grids that several tests use, and the stress loop of the kernels' tests. */
#ifndef KERNEL_STRESS_H
#define KERNEL_STRESS_H

#include "tests/kernels/kernel_reference.h"

/* A transport and all grids of kernel_grid on it. A test must close this set after all objects that
 * use it. Collective. */
typedef struct grid_set {
  osla_transport *t;
  int n;
  osla_grid *at[32], *again[32]; /* two equal grids for each index of kernel_grid */
} grid_set;
grid_set grids_open(void);
void grids_close(grid_set *set);

/* One round of the stress loop: sizes from 1 to 90, blocks from 1 to 14, a type and a grid, all
 * chosen by a seed. */
typedef struct stress_round {
  const grid_set *grids;
  int number; /* number of the round */
  int which;  /* index of the grid */
  osla_grid *grid;
  uint64_t seed;
  int64_t m, n, nb;
  osla_dtype dtype;
  bool wrapped;
  char name[32]; /* text such as "round 3" */
} stress_round;

/* Calls `check` for kernel_rounds(usual) rounds without a pause between rounds, while ranks are
 * delayed at random. A check may draw further random numbers from the round's seed, with indices
 * from STRESS_FREE on. Collective. */
enum { STRESS_FREE = 16 };
typedef void stress_check(const stress_round *r);
void kernel_stress(int usual, uint64_t seed, stress_check *check);

#endif
