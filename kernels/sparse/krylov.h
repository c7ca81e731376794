/* What the solvers share: their operator and their sums, with the time that they take. Not for
 * programs (osla_krylov.h is). */
#ifndef KRYLOV_H
#define KRYLOV_H

#include "osla_krylov.h"

typedef struct krylov {
  const osla_operator *a;
  osla_krylov_options options;
  osla_krylov_result *result;
  osla_sums *sums;
  double *shared; /* [columns] read in place by neighbours: what the operator is applied to */
  double *own;    /* [n_own] of this rank alone */
  double start;
} krylov;

/* What the library's own preconditioners begin with, so that osla_cg knows what they are for: arg
 * where osla_preconditioner.apply is osla_krylov_precondition. */
typedef struct own_preconditioner {
  int64_t rows; /* of this rank */
  osla_err (*apply)(void *self, const double *r, double *z);
} own_preconditioner;
osla_err osla_krylov_precondition(void *self, const double *r, double *z);

/* Checks the options of `call`, makes the memory. Collective; k is zero where it fails. */
osla_err osla_krylov_open(const char *call, const osla_operator *a,
                          const osla_krylov_options *options, int64_t n_own,
                          osla_krylov_result *result, krylov *k);
/* Returns `err`, or what went wrong here. Collective. */
osla_err osla_krylov_close(krylov *k, osla_err err);

osla_err osla_krylov_multiply(krylov *k, osla_trans op, const double *x, double beta, double *y);
osla_err osla_krylov_sum(krylov *k, int n, double *value);

/* Tells how far it is; has it ended? `left` may be NaN. */
bool osla_krylov_ended(krylov *k, int64_t iteration, double left);

#endif
