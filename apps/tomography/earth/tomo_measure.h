/* Measures: velocities and depth kernels of the unperturbed Earth, from a reference table or,
 * without a table, from simple built-in formulas (--reference stand-in).
 *
 * The built-in formulas cover only phase delays of Rayleigh waves. The phase velocity (km/s) of
 * overtone n (0 is the fundamental mode) at period T (s) approximates that of PREM:
 *
 *     c(T, n) = (3.85 + 0.0046 (T - 40)) (1 + 0.28 n / (1 + 0.12 n))
 *
 * This is 3.85 at 40 s and 4.8 at 250 s; the first overtone is 25 % faster. Compare Dahlen & Tromp
 * (1998), "Theoretical Global Seismology", ch. 11, and Lay & Wallace (1995), "Modern Global
 * Seismology", ch. 4. The depth sensitivity of dln c to dln Vs approximates the kernel of the mode:
 *
 *     K(z) = K0 z^p exp(-p z / z_peak),  p = 2 + n,  z_peak = (c T / 3) (1 + 0.5 n)
 *
 * It is a gamma density normalised to unit integral over 0 .. infinity. It follows the rule of
 * thumb that a Rayleigh wave is most sensitive at about one third of its wavelength (Lay & Wallace
 * 1995, ch. 4), and overtones at greater depth. All calls are local and thread-safe.
 */
#ifndef TOMO_MEASURE_H
#define TOMO_MEASURE_H

#include "apps/tomography/earth/tomo_reference.h"
#include "osla_error.h"

enum { TOMO_BRANCH_MAX = 100, TOMO_MEASURE_TEXT = 80 };
#define TOMO_PERIOD_MAX 1e4 /* seconds */

/* Orders measures by wave, observable, branch and period. Returns < 0, 0 or > 0. */
int tomo_measure_compare(const tomo_measure *a, const tomo_measure *b);

/* Writes a measure as text, for example "rayleigh phase, branch 0, 40 s". */
void tomo_measure_text(const tomo_measure *measure, char text[TOMO_MEASURE_TEXT]);

/* Checks that the reference, or the built-in formulas if it is NULL, covers the measure. Errors:
 * ARG, with the measure. */
osla_err tomo_measure_check(const tomo_reference *reference, const tomo_measure *measure);

/* Velocity (km/s) and kernel (1/km) at a depth, of a measure that tomo_measure_check accepts. */
double tomo_measure_velocity(const tomo_reference *reference, const tomo_measure *measure);
double tomo_measure_kernel(const tomo_reference *reference, const tomo_measure *measure,
                           double depth_km);

#endif
