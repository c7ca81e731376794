/* A set of measures and their depth sensitivity on a radial basis.
 *
 * Velocities and kernels are those of tomo_reference.h. Sensitivity below the model's lower end is
 * ignored. A created set never changes: all calls are thread-safe.
 */
#ifndef TOMO_KERNEL_H
#define TOMO_KERNEL_H

#include "apps/tomography/earth/tomo_radial.h"
#include "apps/tomography/earth/tomo_reference.h"
#include "osla_error.h"

typedef struct tomo_kernel {
  int count;    /* number of measures */
  int n_radial; /* number N_r of radial functions */
  /* sensitivity of a delay, column-major: response[i + r count] = -0.01 / velocity_i times the
   * integral of K_i(z) B_r(z) dz over 0 .. depth_max, in s per km of path and percent of dlnVs */
  double *response;
} tomo_kernel;

/* Measures for a synthetic test: phase delays of Rayleigh waves, for each branch at periods equally
 * spaced in their logarithm. */
typedef struct tomo_kernel_options {
  int n_periods;       /* number of periods, 1 .. 1000; default 25 */
  int n_branches;      /* number of branches (fundamental mode and overtones), 1 .. 20; default 4 */
  double period_min_s; /* shortest period in s, 1 .. 10000; default 40 */
  double period_max_s; /* longest period in s, period_min_s .. 10000; default 250 */
  /* standard deviation of a delay divided by the period, > 0; default 0.05 */
  double sigma_fraction;
} tomo_kernel_options;

tomo_kernel_options tomo_kernel_defaults(void);

/* Lists the measures of a synthetic test. Measure i has i = branch * n_periods + period.
 *   options  [in]   NULL = defaults
 *   measure  [out]  [*count] measures; the caller frees the array
 * Errors: ARG (with the value), MEM. */
osla_err tomo_kernel_list_measures(const tomo_kernel_options *options, tomo_measure **measure,
                                   int *count);

/* Builds a set, owned by the caller. All arguments are used only during the call.
 *   reference  [in]  NULL: the built-in formulas of tomo_reference.h
 *   measure    [in]  [count] measures, count >= 1
 * Errors: ARG (a measure that the reference does not cover), MEM. */
osla_err tomo_kernel_create(const tomo_reference *reference, const tomo_measure *measure, int count,
                            const tomo_radial *radial, tomo_kernel **kernel);
void tomo_kernel_destroy(tomo_kernel **kernel);

#endif
