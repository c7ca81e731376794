/* Groups of ranks that sweep together (private).
 *
 * A sweep may wait for other ranks of the group, so all ranks of a group must make the same number
 * of sweeps. The functions below exchange data within the group during a sweep. They use the
 * channels and the reduction of the iteration that runs. */
#ifndef GROUP_H
#define GROUP_H

#include "osla_iterate.h"

/* Group of this rank. The problem (osla_fixed_point) owns the struct and sets all members but `it`,
 * which osla_iterate sets. */
struct osla_sweep_group {
  int n;      /* number of ranks in the group; 0: this rank owns no part of x, and is in no group */
  int *ranks; /* [n] ranks of the group, in ascending order */
  int n_inner; /* number of halos with ranks of the group; they are the last of the problem */
  osla_iteration *it; /* iteration that runs; NULL: none */
};

/* The next two functions serve a sweep of a group. All ranks of the group call them in the same
 * order, and wait for one another. They return false if no iteration runs, or if the run has ended
 * because a rank has stopped. The results are then undefined, and the sweep should return at
 * once. */

/* Replaces each of the n_values elements of `values` by the sum of this element over the ranks of
 * the group. The sums have the same bits on all these ranks.
 *   n_values  at most 2 */
bool osli_group_sum(osla_sweep_group *group, double *values, int n_values);

/* Exchanges halos of x with the ranks of the group: packs them from this rank's part of x, and
 * unpacks the received ones into x. x is laid out as a state (osla_fixed_point). */
bool osli_group_exchange(osla_sweep_group *group, double *x);

#endif
