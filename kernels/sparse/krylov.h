/* Functions that the Krylov solvers share: operator, sums and timing (private; osla_krylov.h is
 * public). */
#ifndef KRYLOV_H
#define KRYLOV_H

#include "osla_device.h"
#include "osla_krylov.h"
#include "src/blas/work.h"
#include "src/device/device.h"

typedef struct krylov {
  const osla_operator *a;
  osla_krylov_options options;
  osla_krylov_result *result;
  osla_sums *sums;
  /* [n_shared] vector that the solver multiplies by A, in memory that all ranks of the node can
   * read */
  double *shared;
  double *own; /* [n_own] memory of the solver's other vectors, which no other rank accesses */
  double start;
} krylov;

/* First member of all preconditioners of the library, by which osla_cg recognizes them. If the
 * member apply of an osla_preconditioner is osli_krylov_precondition, its member arg points to an
 * own_preconditioner. */
typedef struct own_preconditioner {
  int64_t rows; /* number of rows of the preconditioner on this rank */
  osla_err (*apply)(void *self, const double *r, double *z);
} own_preconditioner;
osla_err osli_krylov_precondition(void *self, const double *r, double *z);

/* Sets *out to the device on which a solver runs: the device of a sparse matrix, or, for an
 * operator of the caller, the device of the vector b. NULL means host memory. `call` begins the
 * error message. A rank without
 * columns may pass any address for x. If the operator is a sparse matrix, a rank without rows may
 * pass any address for b. Local. Errors: ARG (b or x does not lie on the device *out, or in host
 * memory if *out is NULL; a part of b or x lies in device memory that this rank has neither
 * allocated nor registered). */
osla_err osli_krylov_device(const char *call, const osla_operator *a, const double *b,
                            const double *x, device_queue **out);

/* Returns the sparse matrix from which osla_csr_operator has made an operator, or NULL for an
 * operator of the caller. Local. */
osla_csr *osli_krylov_csr(const osla_operator *a);

/* Checks the options passed to the function `call`, and allocates memory. After an error, *k is
 * zero. Collective. */
osla_err osli_krylov_open(const char *call, const osla_operator *a,
                          const osla_krylov_options *options, int64_t n_own, int64_t n_shared,
                          osla_krylov_result *result, krylov *k);
/* Frees memory. Returns `err` if it is an error, otherwise the error of freeing. Collective. */
osla_err osli_krylov_close(krylov *k, osla_err err);

osla_err osli_krylov_multiply(krylov *k, osla_trans op, const double *x, double beta, double *y);
osla_err osli_krylov_sum(krylov *k, int n, double *value);

/* Computes the norm of x over all ranks as *value * 2^*exponent with 1/2 <= *value < 1. If *value
 * is 0, infinite or NaN, the exponent is 0. No intermediate result leaves the range of double.
 * Collective. */
osla_err osli_krylov_norm(krylov *k, int64_t n, const double *x, double *value, int *exponent);

/* x := x * factor * 2^exponent, without overflow or underflow of intermediate results. Local. */
void osli_krylov_scale(int64_t n, double *x, double factor, int exponent);

/* Returns the power of two by which a solver multiplies an operator, so that products and their
 * inner products stay in the range of double. `size` is the norm of a product with a vector of norm
 * 1. The result is 1 if `size` is in the middle of the range, otherwise 2^400 or 2^-400. */
double osli_krylov_unit(double size);

/* Sets result->end to NOT_FINITE if x is not finite, or if x lies below the normal range of double.
 * Collective. */
osla_err osli_krylov_check_range(krylov *k, int64_t n, const double *x);

/* Reports the progress of the solver and returns whether it has ended. `left`: residual measure
 * that is compared with the tolerance; may be NaN. */
bool osli_krylov_ended(krylov *k, int64_t iteration, double left);

/* Charges the simulated time of the vector operations of an iteration of CG with n elements on this
 * rank: x and r are changed, and p and A p are read, for the step; p and A p, then r, are read for
 * sums; p is changed, and z is read, for the next direction. A preconditioner adds sums that read r
 * and z. Local. */
static inline void krylov_charge_cg(int64_t n, bool has_preconditioner)
{
  work_charge_memory((has_preconditioner ? 112.0 : 96.0) * (double)n);
}

/* ---- device_sums.c ---- */

/* State for sums of one number over the ranks of a node, which their devices compute. */
typedef struct device_sums device_sums;

/* Creates the state for sums over all ranks of the device's transport, which must be on one node.
 * The device must have kernels. Collective. Errors, on all ranks together: MEM, MPI, RANGE. */
osla_err osli_device_sums_create(osla_device *device, device_sums **out);
/* Frees the state. Accepts a pointer to NULL. Collective. Errors: STATE (a transfer is under way),
 * MPI. */
osla_err osli_device_sums_destroy(device_sums **sums);

/* Returns the address in device memory of this rank's part of the next sum, which work that the
 * caller queues must store there. Local. */
double *osli_device_sums_part(const device_sums *sums);
/* Queues work that stores the sum of the parts of all ranks in *sum, which lies in device memory.
 * On return this rank may queue its part of the next sum. Collective like transfers of star
 * forests. Errors: those of these transfers. */
osla_err osli_device_sums_add(device_sums *sums, double *sum);

/* ---- cg_device.c ---- */

/* Runs CG on the device where b and x lie. `k` was opened without vectors. Collective. Errors, on
 * all ranks together: MEM, those of the operator and of the device. */
osla_err osli_cg_on_device(krylov *k, device_queue *queue, const double *b, double *x);

#endif
