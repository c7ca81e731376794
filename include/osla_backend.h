/* How a transport that lives in a library of its own becomes known: libosla_armci does it this way,
 * because libosla must not need ARMCI.
 *
 * The structs are those of src/transport/transport_ops.h. They change with every build, so such a
 * library is compiled from the same sources.
 *
 * Part: may change in any release (osla_unstable.h).
 * Threads: one at a time, before the transports that use the backend.
 */
#ifndef OSLA_BACKEND_H
#define OSLA_BACKEND_H

#include "osla_api.h"

#ifdef __cplusplus
extern "C" {
#endif

struct osla_transport_ops;
struct osla_backend_services;

/* Makes the transport `ops` known to this program. A second call with the same ops adds nothing.
 * Returns what the transport may call of libosla; the struct lives as long as the program. Local.
 */
OSLA_API const struct osla_backend_services *osla_backend_offer(
  const struct osla_transport_ops *ops);

#ifdef __cplusplus
}
#endif
#endif
