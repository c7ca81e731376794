/* ARMCI itself: its start and end, its lock, the ranks of a transport (floor 0, internal to the
 * ARMCI backend). */
#ifndef OSLA_ARMCI_START_H
#define OSLA_ARMCI_START_H

#include "src/transport/transport_ops.h"

#include <armci.h>

enum { OSLA_ARMCI_TRANSFERS = 128 };

/* What a transport keeps for ARMCI (osla_transport.backend). */
typedef struct armci_ranks {
  bool whole_world;
  int *id;                                    /* [size] ARMCI's number of each rank */
  armci_hdl_t transfer[OSLA_ARMCI_TRANSFERS]; /* under the lock */
  bool in_use[OSLA_ARMCI_TRANSFERS];
} armci_ranks;

/* What libosla offers; set by osla_armci_offer. */
extern const osla_backend_services *osli_armci_services;

/* start and finish of osla_transport_ops. */
osla_err osli_armci_start(osla_transport *t);
void osli_armci_finish(osla_transport *t);

/* ARMCI is not safe for threads, and all transports share it: every call of it stands between
 * these. They also hold the transport's mutex, since ARMCI may call MPI. */
void osli_armci_enter(osla_transport *t);
void osli_armci_leave(osla_transport *t);

#endif
