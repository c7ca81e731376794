/* Measures, and how the unperturbed Earth answers to them: by a reference table, or, where there is
 * none, by simple formulas in its place (the stand-ins).
 *
 * The stand-ins know Rayleigh waves' phase delays only. Phase velocity (km/s) of overtone n (0 is
 * the fundamental mode) at period T (s), in the place of a table of PREM's:
 *
 *     c(T, n) = (3.85 + 0.0046 (T - 40)) (1 + 0.28 n / (1 + 0.12 n))
 *
 * 3.85 at 40 s, 4.8 at 250 s, first overtone 25 % faster. Compare Dahlen & Tromp (1998),
 * "Theoretical Global Seismology", ch. 11, and Lay & Wallace (1995), "Modern Global Seismology",
 * ch. 4. Depth sensitivity of dln c to dln Vs, in the place of the mode's kernel:
 *
 *     K(z) = K0 z^p exp(-p z / z_peak),  p = 2 + n,  z_peak = (c T / 3) (1 + 0.5 n)
 *
 * gamma densities normalised to unit integral over 0 .. infinity: the rule of thumb that a Rayleigh
 * wave sees best at about one third of its wavelength (Lay & Wallace 1995, ch. 4), and
 * overtones deeper. All calls are local and thread-safe.
 */
#ifndef TOMO_MEASURE_H
#define TOMO_MEASURE_H

#include "apps/tomography/earth/tomo_reference.h"
#include "osla_error.h"

enum { TOMO_BRANCH_MAX = 100, TOMO_MEASURE_TEXT = 80 };
#define TOMO_PERIOD_MAX 1e4 /* s */

/* Wave, observable, branch, period: < 0, 0, > 0. */
int tomo_measure_compare(const tomo_measure *a, const tomo_measure *b);

/* "rayleigh phase, branch 0, 40 s". */
void tomo_measure_text(const tomo_measure *measure, char text[TOMO_MEASURE_TEXT]);

/* Is it known? `reference` NULL: the stand-ins. Errors: ARG, with the measure. */
osla_err tomo_measure_check(const tomo_reference *reference, const tomo_measure *measure);

/* Of a measure that is known: velocity (km/s), and kernel (1/km) at a depth. */
double tomo_measure_velocity(const tomo_reference *reference, const tomo_measure *measure);
double tomo_measure_kernel(const tomo_reference *reference, const tomo_measure *measure,
                           double depth_km);

#endif
