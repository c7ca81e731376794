/* Grids that stay, and the stress loop of the kernels' tests. */
#ifndef KERNEL_STRESS_H
#define KERNEL_STRESS_H

#include "tests/kernels/kernel_reference.h"

/* A transport and all grids of kernel_grid: to be closed last. Collective. */
typedef struct grid_set {
  osla_transport *t;
  int n;
  osla_grid *at[32], *again[32]; /* the same places twice */
} grid_set;
grid_set grids_open(void);
void grids_close(grid_set *set);

/* One round: sizes from 1 to 90, blocks from 1 to 14, a type and a grid, by seed. */
typedef struct stress_round {
  const grid_set *grids;
  int number, which; /* which of the grids */
  osla_grid *grid;
  uint64_t seed;
  int64_t m, n, nb;
  osla_dtype dtype;
  bool wrapped;
  char name[32]; /* "round 3" */
} stress_round;

/* Calls check for kernel_rounds(usual) rounds without a pause, with delays in the midst of them.
 * What a check needs besides it chooses by the round's seed, from index STRESS_FREE on. Collective.
 */
enum { STRESS_FREE = 16 };
typedef void stress_check(const stress_round *r);
void kernel_stress(int usual, uint64_t seed, stress_check *check);

#endif
