/* Checks of enumeration arguments (internal). Each check fails with ARG if the value is not one of
 * its type. `call` is the name of the routine that begins the error message. Local. */
#ifndef OSLA_ARGUMENT_CHECKS_H
#define OSLA_ARGUMENT_CHECKS_H

#include "osla_error.h"
#include "osla_types.h"

osla_err osli_check_side(const char *call, osla_side side);
osla_err osli_check_trans(const char *call, osla_trans trans);
osla_err osli_check_diag(const char *call, osla_diag diag);

#endif
