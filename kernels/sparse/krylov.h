/* Common parts of the Krylov solvers: operator, sums and timing (private; osla_krylov.h is
 * public). */
#ifndef KRYLOV_H
#define KRYLOV_H

#include "osla_krylov.h"

typedef struct krylov {
  const osla_operator *a;
  osla_krylov_options options;
  osla_krylov_result *result;
  osla_sums *sums;
  double *shared; /* [columns] vector that the operator is applied to; readable by ranks of the
                   * node */
  double *own;    /* [n_own] vectors of this rank alone */
  double start;
} krylov;

/* First member of the library's own preconditioners, by which osla_cg recognizes them:
 * osla_preconditioner.arg points to it if apply is osli_krylov_precondition. */
typedef struct own_preconditioner {
  int64_t rows; /* rows of this rank */
  osla_err (*apply)(void *self, const double *r, double *z);
} own_preconditioner;
osla_err osli_krylov_precondition(void *self, const double *r, double *z);

/* Checks the options of function `call` and allocates memory. Collective; *k is zero after an
 * error. */
osla_err osli_krylov_open(const char *call, const osla_operator *a,
                          const osla_krylov_options *options, int64_t n_own,
                          osla_krylov_result *result, krylov *k);
/* Frees memory and returns `err`, or else its own error. Collective. */
osla_err osli_krylov_close(krylov *k, osla_err err);

osla_err osli_krylov_multiply(krylov *k, osla_trans op, const double *x, double beta, double *y);
osla_err osli_krylov_sum(krylov *k, int n, double *value);

/* Computes the norm of x over all ranks as *value 2^*exponent, 1/2 <= *value < 1. The exponent is 0
 * if *value is 0, infinite or NaN. No square leaves the range of double. Collective. */
osla_err osli_krylov_norm(krylov *k, int64_t n, const double *x, double *value, int *exponent);

/* x := x factor 2^exponent without intermediate overflow or underflow. Local. */
void osli_krylov_scale(int64_t n, double *x, double factor, int exponent);

/* Returns the power of two by which a solver multiplies an operator whose products with vectors of
 * norm 1 have norm `size`: 1 in the middle of the range of double, else 2^400 or 2^-400, so that
 * products and their inner products stay in range. */
double osli_krylov_unit(double size);

/* Sets result->end to NOT_FINITE if x is not finite or is below the normal range of double.
 * Collective. */
osla_err osli_krylov_check_range(krylov *k, int64_t n, const double *x);

/* Reports progress and returns whether the solver has ended. `left` may be NaN. */
bool osli_krylov_ended(krylov *k, int64_t iteration, double left);

#endif
