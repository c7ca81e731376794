/* A reference Earth for surface waves: phase and group velocities and depth kernels.
 *
 * For each wave and branch a table lists periods with the phase velocity c and the group velocity U
 * (km/s) of the unperturbed Earth, and their kernels dln c / dln Vs and dln U / dln Vs at fixed
 * period, per km of depth. Vs is the isotropic shear velocity; the head of the table says how
 * Rayleigh and Love waves map to it. The table is a text, for example
 *
 *     osla-reference 1
 *     title    my 1-D model
 *     mapping  dln Vsv = dln Vsh = dln Vs, Vp and density held
 *     depth_km 0 15 15 24.4 60 120
 *     mode rayleigh 0 50 3.95 3.83
 *     dlnc 1e-4 2e-4 1e-4 1e-3 5e-3 1e-3
 *     dlnU 2e-4 3e-4 2e-4 2e-3 4e-3 0
 *
 * The last three lines are repeated: wave, branch, period (s), c and U (km/s), then the kernels of
 * c and U at the depths. Depths ascend; a depth given twice is a jump, with the values above and
 * below. Rows may come in any order. The head may have the further lines `source` and `made`. A
 * table without group velocities omits U and dlnU. Blank lines and lines that begin with # are
 * ignored. See doc/reference.md.
 *
 * A kernel is linear between depths, so the trapezoidal rule gives its exact integral. Above the
 * first depth it is constant, below the last one 0. Between periods, c, U and kernels are cubic in
 * ln T, with the slopes of the parabolas through three neighbouring rows. Velocities and kernels
 * are interpolated with equal weights, so that the integral of a kernel changes with the period in
 * the same way as the velocity. A period outside the table is an error. A created reference never
 * changes: all calls are local and thread-safe.
 */
#ifndef TOMO_REFERENCE_H
#define TOMO_REFERENCE_H

#include <stddef.h>

#include "osla_error.h"

typedef enum tomo_wave { TOMO_RAYLEIGH, TOMO_LOVE } tomo_wave;
typedef enum tomo_observable { TOMO_PHASE, TOMO_GROUP } tomo_observable;

/* A measured quantity: wave, observable, branch and period. */
typedef struct tomo_measure {
  tomo_wave wave;
  tomo_observable observable;
  int branch;      /* 0: the fundamental mode, n: overtone n */
  double period_s; /* period in s, > 0 */
} tomo_measure;

/* "rayleigh" or "love"; "phase" or "group". Constant strings. */
const char *tomo_wave_name(tomo_wave wave);
const char *tomo_observable_name(tomo_observable observable);

typedef struct tomo_reference tomo_reference;

/* Creates a reference from the text of a table.
 *   name       [in]   name of the file, for messages
 *   text       [in]   `length` bytes, used only during the call
 *   reference  [out]  owned by the caller; NULL on error
 * Errors: OSLA_ERR_IO with one line "FILE:LINE: column: what and the value", OSLA_ERR_MEM. */
osla_err tomo_reference_parse(const char *name, const char *text, size_t length,
                              tomo_reference **reference);
void tomo_reference_destroy(tomo_reference **reference);

/* Lines of the table's head: its title, how waves map to Vs, its source, and how it was made. */
typedef enum tomo_reference_line {
  HEAD_TITLE,
  HEAD_MAPPING,
  HEAD_SOURCE,
  HEAD_MADE,
  N_HEADS
} tomo_reference_line;
/* Returns a line of the table's head, owned by the reference; "" if the table does not have the
 * line. */
const char *tomo_reference_head(const tomo_reference *reference, tomo_reference_line line);

/* The depths between which kernels are linear, owned by the reference. Returns their number. */
int tomo_reference_depths(const tomo_reference *reference, const double **depth_km);

/* Measures: velocities and depth kernels of the unperturbed Earth, from a reference table or,
 * without a table, from simple built-in formulas (--reference stand-in).
 *
 * The built-in formulas cover only phase delays of Rayleigh waves. The phase velocity (km/s) of
 * overtone n (0 is the fundamental mode) at period T (s) approximates that of PREM:
 *
 *     c(T, n) = (3.85 + 0.0046 (T - 40)) (1 + 0.28 n / (1 + 0.12 n))
 *
 * The phase velocity is 3.85 at 40 s and 4.8 at 250 s; the first overtone is 25 % faster. Compare
 * Dahlen & Tromp (1998), "Theoretical Global Seismology", ch. 11, and Lay & Wallace (1995), "Modern
 * Global Seismology", ch. 4. The depth sensitivity of dln c to dln Vs approximates the kernel of
 * the mode:
 *
 *     K(z) = K0 z^p exp(-p z / z_peak),  p = 2 + n,  z_peak = (c T / 3) (1 + 0.5 n)
 *
 * It is a gamma density normalised to unit integral over 0 .. infinity. It follows the rule of
 * thumb that a Rayleigh wave is most sensitive at about one third of its wavelength (Lay & Wallace
 * 1995, ch. 4), and overtones at greater depth. All calls are local and thread-safe.
 */
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
