/* Is what a call was given among the values of its type? `call` begins the line. Local. Errors:
 * ARG. (internal) */
#ifndef OSLA_ARGUMENT_CHECKS_H
#define OSLA_ARGUMENT_CHECKS_H

#include "osla_error.h"
#include "osla_types.h"

osla_err osli_check_side(const char *call, osla_side side);
osla_err osli_check_trans(const char *call, osla_trans trans);
osla_err osli_check_diag(const char *call, osla_diag diag);

#endif
