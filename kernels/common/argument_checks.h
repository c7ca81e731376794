/* Checks of enumeration arguments (internal). Each check fails with the error ARG if the value
 * is not one of its type. `call` is the name of the public routine, with which the error message
 * begins. Local. */
#ifndef OSLA_ARGUMENT_CHECKS_H
#define OSLA_ARGUMENT_CHECKS_H

#include "osla_error.h"
#include "osla_forward.h"
#include "osla_types.h"

osla_err osli_check_side(const char *call, osla_side side);
osla_err osli_check_trans(const char *call, osla_trans trans);
osla_err osli_check_diag(const char *call, osla_diag diag);

/* Checks the options look_ahead and forward of a factorisation or an inverse. *depth is the
 * number of panels that are factored ahead (0, 1 or 2); it is set even if the check fails.
 * Local. Errors: ARG. */
osla_err osli_check_panel_options(const char *call, int look_ahead, osla_forward forward,
                                  int *depth);

#endif
