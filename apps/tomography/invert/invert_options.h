/* Options of `osla invert`, private to their parser. Local. */
#ifndef INVERT_OPTIONS_H
#define INVERT_OPTIONS_H

#include "apps/tomography/invert/invert.h"

#define INVERT_UNSET (-1e300) /* a number that the user has not given */

invert_options invert_default_options(void);

/* What speaks of measurements and of tests: are the options of one kind, what is the true model,
 * which distances? `test` and `spikes` are the user's words, or NULL. Errors: ARG. */
osla_err invert_check_data_options(invert_options *options, const char *test, const char *spikes);

#endif
