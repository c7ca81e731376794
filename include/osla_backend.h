/* Registration of a transport backend that lives in a library of its own. libosla_armci and
 * libosla_shmem use it, because libosla must not depend on ARMCI and OpenSHMEM.
 *
 * The structs are declared in src/transport/transport_ops.h. These structs may change with every
 * build, so a library with a backend is compiled from the same sources.
 *
 * Part: may change in any release (osla_unstable.h).
 * Threads: one at a time, before the transports that use the backend. */
#ifndef OSLA_BACKEND_H
#define OSLA_BACKEND_H

#include "osla_api.h"

#ifdef __cplusplus
extern "C" {
#endif

struct osla_transport_ops;
struct osla_backend_services;

/* Makes the transport `ops` known to this program; a second call for it does nothing. Returns the
 * functions of libosla that the backend may call; NULL if four transports are known already. With
 * ops == NULL the call only returns the functions. `ops` must be complete, and stays valid for the
 * lifetime of the program, as the returned struct does. Local. */
OSLA_API const struct osla_backend_services *osla_backend_offer(
  const struct osla_transport_ops *ops);

#ifdef __cplusplus
}
#endif
#endif
