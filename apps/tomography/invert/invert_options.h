/* Private parts of the parser of `osla invert`. Local. */
#ifndef INVERT_OPTIONS_H
#define INVERT_OPTIONS_H

#include "apps/tomography/invert/invert.h"

#define INVERT_UNSET (-1e300) /* value of a number that the user has not given */

#define INVERT_NOISE 1.0 /* default of --noise, in standard deviations */

/* Checks the options of measurements and of synthetic tests for contradictions, and sets the true
 * model and the limits of distance. `test` and `spikes` are the texts of the options, or NULL.
 * Errors: ARG. */
osla_err invert_check_data_options(invert_options *options, const char *test, const char *spikes);

#endif
