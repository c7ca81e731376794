/* The host of a rank, and the cores that the job's ranks share there (layer 0).
 *
 * A host is one running kernel, with one memory and one set of cores. It may hold several nodes,
 * because MPI may not share memory between containers or network name spaces. Host names do not
 * identify hosts, since many may be called localhost. A host is identified by the kernel's boot id
 * (random(4)), or by its name if the boot id cannot be read. Ranks of one node are always on one
 * host.
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
  char name[64]; /* name of the host, for display only */
  int first;     /* lowest rank of the communicator on this host, which identifies the host */
  /* number of cores that the job's ranks on this host may use: the union of their CPU masks,
   * limited by the quotas of their control groups, rounded up */
  int cores;
  int ranks; /* number of the communicator's ranks on this host, over all its nodes */
  /* smallest number of cores per rank: with CPU masks, some ranks may share fewer cores than
   * others */
  double share;
} osla_host;

/* Describes the host of this rank; results may differ by host. Collective on comm. Errors, on all
 * ranks together: MPI, MEM. */
OSLA_API osla_err osla_host_look(MPI_Comm comm, osla_host *out);

#ifdef __cplusplus
}
#endif
#endif
