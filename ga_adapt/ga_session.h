/* What the adaptor keeps between calls, and the checks that come before all others (floor 4). */
#ifndef GA_SESSION_H
#define GA_SESSION_H

#include "osla_transport.h"

/* The transport on GA's world: made by the first call, freed by osla_ga_terminate or MPI_Finalize.
 * Warns of a bad environment, once. Collective, so after all local checks. */
osla_err osli_ga_session_transport(osla_transport **transport);

/* GA is running and its default group is the world. Local, the same on all ranks. Errors: STATE. */
osla_err osli_ga_session_check(void);

/* What the user has to set before GA starts, and why, in one line; NULL if all is well. Local. */
const char *osli_ga_session_complaint(void);

#endif
