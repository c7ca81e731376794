/* Start, end and lock of ARMCI, and the process ids of a transport's ranks (layer 0, internal to
 * the ARMCI backend). */
#ifndef OSLA_ARMCI_START_H
#define OSLA_ARMCI_START_H

#include "src/transport/transport_ops.h"

#include <armci.h>

enum { OSLA_ARMCI_TRANSFERS = 128 };

/* State of the ARMCI backend (osla_transport.backend). */
typedef struct armci_ranks {
  bool whole_world;
  int *id; /* [size] ARMCI's process id of each rank */
  /* handles of transfers; guarded by the lock of ARMCI */
  armci_hdl_t transfer[OSLA_ARMCI_TRANSFERS];
  bool in_use[OSLA_ARMCI_TRANSFERS];
} armci_ranks;

/* Functions of libosla that the backend calls; set by osla_armci_offer. */
extern const osla_backend_services *osli_armci_services;

/* The operations start and finish of osla_transport_ops. */
osla_err osli_armci_start(osla_transport *t);
void osli_armci_finish(osla_transport *t);

/* osli_armci_enter locks ARMCI, and osli_armci_leave unlocks it. ARMCI is not thread-safe and all
 * transports share it, so each call of ARMCI stands between these two calls. They also lock and
 * unlock the transport's mutex, because ARMCI may call MPI. */
void osli_armci_enter(osla_transport *t);
void osli_armci_leave(osla_transport *t);

#endif
