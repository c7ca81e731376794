/* The host that a rank runs on, and the cores that the job's ranks share there (floor 0).
 *
 * A host is one running kernel: one memory, one set of cores. It may hold several nodes, which are
 * what MPI says of shared memory (containers, network name spaces); its name says nothing, as
 * many hosts may be called localhost. It is known by the kernel's boot id (random(4)), and where
 * that cannot be read by its name; ranks of one node are on one host whatever these say.
 *
 * Threads: as osla_transport.h says of collective and of local calls.
 * Part: may change in any release (osla_unstable.h).
 */
#ifndef OSLA_HOST_H
#define OSLA_HOST_H

#include "osla_api.h"
#include "osla_error.h"
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct osla_host {
  char name[64]; /* for people */
  int first;     /* lowest rank of the communicator on this host: distinguishes hosts */
  int cores;     /* that the job's ranks on this host may use: the union of their CPU masks, and not
                    more than what quotas of their control groups allow, rounded up */
  int ranks;     /* of the communicator on this host; nodes that MPI keeps apart share its cores */
  double share;  /* cores for each rank where they are scarcest: where ranks are bound to cores, the
                    ranks that have no others may be more than these, while others are free */
} osla_host;

/* Collective on comm; what it returns may differ by host. Errors, on all ranks together: MPI, MEM.
 */
OSLA_API osla_err osla_host_look(MPI_Comm comm, osla_host *out);

#ifdef __cplusplus
}
#endif
#endif
