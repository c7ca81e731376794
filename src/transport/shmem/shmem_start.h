/* Start, end and lock of OpenSHMEM, and the PE numbers of a transport's ranks (layer 0, internal to
 * the OpenSHMEM backend). */
#ifndef OSLA_SHMEM_START_H
#define OSLA_SHMEM_START_H

#include "src/transport/transport_ops.h"

/* State of the OpenSHMEM backend (osla_transport.backend). */
typedef struct shmem_ranks {
  bool whole_world; /* true if the transport has all ranks of MPI_COMM_WORLD */
  /* number of calls of shmem_quiet so far; guarded by the lock of OpenSHMEM */
  uint32_t quiets;
  int pe[]; /* [size] PE number of each rank in OpenSHMEM */
} shmem_ranks;

/* Functions of libosla that the backend calls; set by osla_shmem_offer. */
extern const osla_backend_services *osli_shmem_services;

/* The operations start and finish of osla_transport_ops. */
osla_err osli_shmem_start(osla_transport *t);
void osli_shmem_finish(osla_transport *t);

/* True once MPI_Finalize has begun to end OpenSHMEM. A callback on MPI_COMM_SELF may then still
 * destroy objects, but the symmetric heap is closed, and OpenSHMEM must not be called. Local. */
bool osli_shmem_has_ended(void);

/* Locks two mutexes, and waits until both are free: that of the transport, because OpenSHMEM may
 * call MPI, and the one mutex of OpenSHMEM, which all transports of the process share. Every call
 * of OpenSHMEM needs both.
 *   call [in] name of the function of OpenSHMEM that will be called. If it blocks for longer than
 *             OSLA_PATIENCE, the error message has this name. */
void osli_shmem_enter(osla_transport *t, const char *call);

/* Unlocks the two mutexes that osli_shmem_enter locked. */
void osli_shmem_leave(osla_transport *t);

#endif
