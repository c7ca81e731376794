/* Private state of a coarse level. */
#ifndef COARSE_H
#define COARSE_H

#include "osla_channel.h"
#include "osla_coarse.h"
#include "osla_reduction.h"

/* Phase of a rank's work for the coarse level, in modes ASYNC and RACY. */
typedef enum coarse_state {
  COARSE_IDLE,     /* sweeps only */
  COARSE_RECORDED, /* has recorded its state and sent its halos; some halos have not arrived */
  COARSE_REDUCING  /* the reduction of the restricted residuals is running */
} coarse_state;

struct coarse {
  osla_coarse p;
  int64_t sweeps;      /* number of sweeps between a correction and the next record */
  osla_channels *set;  /* channel h carries halo h */
  int *numbers;        /* [n_halos] channel numbers: 0, 1, ... */
  osla_reduction *sum; /* reduction of vectors with one element for each rank */
  double *x;           /* [length] recorded state */
  double *inverse;     /* [ranks] this rank's row of the inverse coarse matrix, times the damping */
  double *values;      /* [ranks] 0, except this rank's restricted residual at its index */
  coarse_state state;
  int64_t records;     /* number of states recorded in this run */
  int64_t corrections; /* number of corrections added in this run */
  int64_t idle_since;  /* number of sweeps made before the latest correction */
};

/* ---- coarse_matrix.c ---- */

/* Sends the halos of x over the channels of the coarse level. Local. */
osla_err osli_coarse_send(const osla_iteration *it, struct coarse *c, const double *x);

/* Sets c->inverse to this rank's row of the inverse coarse matrix, times `damping`. c->set, c->x
 * and c->values must exist. Collective. Errors, on all ranks together: ARG, MEM, MPI. */
osla_err osli_coarse_invert(const osla_iteration *it, struct coarse *c, double damping);

#endif
