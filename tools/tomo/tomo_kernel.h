/* The k measurements of one path and what they see in depth.
 *
 * Measurement i = branch * n_periods + period: phase delay time of overtone `branch` (0 is the
 * fundamental mode) at a period T_j, log-spaced between period_min_s and period_max_s.
 *
 * Reference phase velocity (km/s), a stand-in for a table of PREM's Rayleigh waves:
 *
 *     c(T, n) = (3.85 + 0.0046 (T - 40)) (1 + 0.28 n / (1 + 0.12 n))
 *
 * 3.85 at 40 s, 4.8 at 250 s, first overtone 25 % faster. Compare Dahlen & Tromp (1998),
 * "Theoretical Global Seismology", ch. 11, and Lay & Wallace (1995), "Modern Global Seismology",
 * ch. 4. Depth sensitivity of dln c to dln Vs, a stand-in for the mode's kernel:
 *
 *     K(z) = K0 z^p exp(-p z / z_peak),  p = 2 + n,  z_peak = (c T / 3) (1 + 0.5 n)
 *
 * gamma densities normalised to unit integral over 0 .. infinity: the rule of thumb that a Rayleigh
 * wave sees best at about one third of its wavelength (Lay & Wallace 1995, ch. 4), and
 * overtones deeper. What lies below the model's lower end is not modelled.
 * A created set is never changed: all calls are thread-safe.
 */
#ifndef TOMO_KERNEL_H
#define TOMO_KERNEL_H

#include "osla_error.h"
#include "tomo_radial.h"

typedef struct tomo_kernel tomo_kernel;

typedef struct tomo_kernel_options {
  int n_periods;         /* 1 .. 1000; default 25 */
  int n_branches;        /* 1 .. 20; default 4 */
  double period_min_s;   /* 1 .. 10000; default 40 */
  double period_max_s;   /* period_min_s .. 10000; default 250 */
  double sigma_fraction; /* standard deviation of a delay time as a part of the period, > 0;
                            default 0.05 */
} tomo_kernel_options;

tomo_kernel_options tomo_kernel_defaults(void);

/* Builds the set; the caller owns it; the basis is read only during the call.
 *   options  [in]  NULL = defaults
 * Errors: OSLA_ERR_ARG (with the value), OSLA_ERR_MEM. */
osla_err tomo_kernel_create(const tomo_kernel_options *options, const tomo_radial *radial,
                            tomo_kernel **kernel);
void tomo_kernel_destroy(tomo_kernel **kernel);

int tomo_kernel_count(const tomo_kernel *kernel);  /* k = n_periods * n_branches */
int tomo_kernel_radial(const tomo_kernel *kernel); /* N_r of the basis it was built with */

double tomo_kernel_period(const tomo_kernel *kernel, int i);   /* s */
int tomo_kernel_branch(const tomo_kernel *kernel, int i);      /* 0 is the fundamental mode */
double tomo_kernel_velocity(const tomo_kernel *kernel, int i); /* c, km/s */
double tomo_kernel_sigma(const tomo_kernel *kernel, int i);    /* s */

/* K(z) of measurement i, 1/km. */
double tomo_kernel_value(const tomo_kernel *kernel, int i, double depth_km);

/* Projection on the radial basis, P[i + r k] = integral of K_i(z) B_r(z) dz over 0 .. depth_max
 * (Gauss-Legendre between breakpoints), k x N_r column-major, owned by the set, no unit. */
const double *tomo_kernel_projection(const tomo_kernel *kernel);

/* Whitened response W[i + r k] = -0.01 P[i, r] / (c_i sigma_i), k x N_r column-major, owned by the
 * set: standard deviations of delay per km of path and percent of dlnVs. */
const double *tomo_kernel_response(const tomo_kernel *kernel);

#endif
