/* A set of measures and what they see in depth, on a radial basis.
 *
 * Velocities and kernels are those of tomo_measure.h. What lies below the model's lower end is not
 * modelled. A created set is never changed: all calls are thread-safe.
 */
#ifndef TOMO_KERNEL_H
#define TOMO_KERNEL_H

#include "apps/tomography/earth/tomo_measure.h"
#include "apps/tomography/earth/tomo_radial.h"
#include "osla_error.h"

typedef struct tomo_kernel tomo_kernel;

/* The measures of a test without data: phase delays of Rayleigh waves, of each branch at periods
 * that are even in their logarithm. */
typedef struct tomo_kernel_options {
  int n_periods;         /* 1 .. 1000; default 25 */
  int n_branches;        /* 1 .. 20; default 4 */
  double period_min_s;   /* 1 .. 10000; default 40 */
  double period_max_s;   /* period_min_s .. 10000; default 250 */
  double sigma_fraction; /* standard deviation of a delay time as a part of the period, > 0;
                            default 0.05 */
} tomo_kernel_options;

tomo_kernel_options tomo_kernel_defaults(void);

/* Lists them: measure i = branch * n_periods + period.
 *   options  [in]   NULL = defaults
 *   measure  [out]  [*count], the caller's to free
 * Errors: ARG (with the value), MEM. */
osla_err tomo_kernel_list(const tomo_kernel_options *options, tomo_measure **measure, int *count);

/* Builds the set; the caller owns it; what is passed is read only during the call.
 *   reference  [in]  NULL: the stand-ins
 *   measure    [in]  [count], count >= 1
 * Errors: ARG (a measure that is not known), MEM. */
osla_err tomo_kernel_create(const tomo_reference *reference, const tomo_measure *measure, int count,
                            const tomo_radial *radial, tomo_kernel **kernel);
void tomo_kernel_destroy(tomo_kernel **kernel);

int tomo_kernel_count(const tomo_kernel *kernel);
int tomo_kernel_radial(const tomo_kernel *kernel); /* N_r of the basis it was built with */

const tomo_measure *tomo_kernel_measure(const tomo_kernel *kernel, int i);
double tomo_kernel_velocity(const tomo_kernel *kernel, int i); /* km/s */

/* Projection on the radial basis, P[i + r count] = integral of K_i(z) B_r(z) dz over 0 ..
 * depth_max (Gauss-Legendre between breakpoints), column-major, owned by the set, no unit. */
const double *tomo_kernel_projection(const tomo_kernel *kernel);

/* Response of a delay, -0.01 P[i, r] / velocity_i, column-major like P, owned by the set: s per km
 * of path and percent of dlnVs. */
const double *tomo_kernel_response(const tomo_kernel *kernel);

#endif
