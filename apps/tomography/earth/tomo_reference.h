/* A reference Earth as surface waves see it: phase and group velocities and depth kernels.
 *
 * A table holds, for each wave and branch, a list of periods with the phase velocity c and the
 * group velocity U (km/s) of the unperturbed Earth, and what they see of it: dln c / dln Vs and
 * dln U / dln Vs at fixed period, per km of depth, Vs being the isotropic shear velocity (how
 * Rayleigh and Love waves map to it stands in the table's head). A text, for example
 *
 *     osla-reference 1
 *     title    my 1-D model
 *     mapping  dln Vsv = dln Vsh = dln Vs, Vp and density held
 *     depth_km 0 15 15 24.4 60 120
 *     mode rayleigh 0 50 3.95 3.83
 *     dlnc 1e-4 2e-4 1e-4 1e-3 5e-3 1e-3
 *     dlnU 2e-4 3e-4 2e-4 2e-3 4e-3 0
 *
 * whose last three lines are repeated: wave, branch, period (s), c and U (km/s); both kernels at
 * the depths, which ascend; one that stands twice is a jump, with the values above and below. Rows
 * may come in any order. `source` and `made` are further lines of the head; a table without group
 * velocities leaves out U and dlnU. Blank lines, and those that begin with #, do not count. See
 * doc/reference.md.
 *
 * Between depths a kernel is linear, so that its integral is that by the trapezoidal rule; above
 * the first it is what it is there, below the last 0. Between periods, c, U and kernels are cubic
 * in ln T, with the slopes of the parabolas through three neighbours; all by the same weights, so
 * that a kernel's integral changes with the period as its values do. Outside of the periods it is
 * an error. A created reference is never changed: all calls are local and thread-safe.
 */
#ifndef TOMO_REFERENCE_H
#define TOMO_REFERENCE_H

#include <stddef.h>

#include "osla_error.h"

typedef enum tomo_wave { TOMO_RAYLEIGH, TOMO_LOVE } tomo_wave;
typedef enum tomo_observable { TOMO_PHASE, TOMO_GROUP } tomo_observable;

/* What is measured. */
typedef struct tomo_measure {
  tomo_wave wave;
  tomo_observable observable;
  int branch;      /* 0: the fundamental mode, n: overtone n */
  double period_s; /* > 0 */
} tomo_measure;

/* "rayleigh", "love"; "phase", "group". Constant strings. */
const char *tomo_wave_name(tomo_wave wave);
const char *tomo_observable_name(tomo_observable observable);

typedef struct tomo_reference tomo_reference;

/* Makes a reference of the text of a table.
 *   name       [in]   the file, for messages
 *   text       [in]   `length` bytes; not kept
 *   reference  [out]  the caller's; NULL on error
 * Errors: OSLA_ERR_IO with one line "FILE:LINE: column: what and the value", OSLA_ERR_MEM. */
osla_err tomo_reference_parse(const char *name, const char *text, size_t length,
                              tomo_reference **reference);
void tomo_reference_destroy(tomo_reference **reference);

/* What the table says of itself: title, how waves map to Vs, where it is from, how it was made; ""
 * where it does not say. The reference's. */
const char *tomo_reference_title(const tomo_reference *reference);
const char *tomo_reference_mapping(const tomo_reference *reference);
const char *tomo_reference_source(const tomo_reference *reference);
const char *tomo_reference_made(const tomo_reference *reference);

/* The depths between which kernels are linear; returns how many. The reference's. */
int tomo_reference_depths(const tomo_reference *reference, const double **depth_km);

/* Is it covered? OSLA_ERR_ARG with one line that names the measure and what the table covers. */
osla_err tomo_reference_covers(const tomo_reference *reference, const tomo_measure *measure);

/* Phase or group velocity, as the measure says (km/s), and its kernel (1/km) at a depth; of a
 * measure that is covered. */
double tomo_reference_velocity(const tomo_reference *reference, const tomo_measure *measure);
double tomo_reference_kernel(const tomo_reference *reference, const tomo_measure *measure,
                             double depth_km);

#endif
