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
 * where osla_preconditioner.apply is osli_krylov_precondition. */
typedef struct own_preconditioner {
  int64_t rows; /* of this rank */
  osla_err (*apply)(void *self, const double *r, double *z);
} own_preconditioner;
osla_err osli_krylov_precondition(void *self, const double *r, double *z);

/* Checks the options of `call`, makes the memory. Collective; k is zero where it fails. */
osla_err osli_krylov_open(const char *call, const osla_operator *a,
                          const osla_krylov_options *options, int64_t n_own,
                          osla_krylov_result *result, krylov *k);
/* Returns `err`, or what went wrong here. Collective. */
osla_err osli_krylov_close(krylov *k, osla_err err);

osla_err osli_krylov_multiply(krylov *k, osla_trans op, const double *x, double beta, double *y);
osla_err osli_krylov_sum(krylov *k, int n, double *value);

/* The norm of x over all ranks is *value 2^*exponent, and 1/2 <= *value < 1. The exponent is 0 if
 * *value is 0, infinite or NaN. No square leaves the range of double. Collective. */
osla_err osli_krylov_norm(krylov *k, int64_t n, const double *x, double *value, int *exponent);

/* x := x factor 2^exponent, without an intermediate result outside the range of double. Local. */
void osli_krylov_scale(int64_t n, double *x, double factor, int exponent);

/* The power of two by which a solver multiplies an operator whose products with vectors of norm 1
 * are about `size` long: 1 in the middle of the range of double, else 2^400 or 2^-400, so that
 * products, and their inner products with such vectors, stay inside the range. */
double osli_krylov_unit(double size);

/* Sets result->end to NOT_FINITE if x is not finite, or is too small for the range of double.
 * Collective. */
osla_err osli_krylov_check_range(krylov *k, int64_t n, const double *x);

/* Tells how far it is; has it ended? `left` may be NaN. */
bool osli_krylov_ended(krylov *k, int64_t iteration, double left);

#endif
