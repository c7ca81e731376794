/* The host that a rank runs on, and the cores that the job's ranks share there (floor 0). */
#ifndef OSLA_HOST_H
#define OSLA_HOST_H

#include "osla_error.h"
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct osla_host {
  char name[64];
  int cores; /* that the job's ranks on this host may use: the union of their CPU masks */
  int ranks; /* of the communicator on this host; nodes that MPI keeps apart share its cores */
} osla_host;

/* Collective on comm; what it tells may differ by host. Errors: MPI, MEM. */
osla_err osla_host_look(MPI_Comm comm, osla_host *out);

#ifdef __cplusplus
}
#endif
#endif
