/* Properties of a simulated host come from the machine file. The real kernel is the same for all
 * hosts and says nothing about them, so ranks need not exchange host descriptions. */
#include "src/simulation/sim.h"
#include "src/transport/groups.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

void osli_host_kernel(const char *host_name, char kernel[64])
{
  (void)snprintf(kernel, 64, "%s", host_name);
}

/* Replaces MPI_Comm_split_type, which in SimGrid 3.32 also counts the actors that execute our
 * transfers on a host as ranks. */
osla_err osli_sim_split_hosts(MPI_Comm comm, MPI_Comm *out)
{
  enum { ALIGNED = 4 };
  /* an address identifies a host, because all ranks are one process */
  const uintptr_t place = (uintptr_t)sg_host_self() >> ALIGNED;
  OSLA_MPI(MPI_Comm_split(comm, (int)(place & INT_MAX), 0, out));
  return OSLA_OK;
}

osla_err osla_host_look(MPI_Comm comm, osla_host *out)
{
  MPI_Comm here;
  sg_host_t host = sg_host_self();
  memset(out, 0, sizeof *out);
  OSLA_MPI(MPI_Comm_rank(comm, &out->first));
  OSLA_CALL(osli_sim_split_hosts(comm, &here));
  int code = MPI_Bcast(&out->first, 1, MPI_INT, 0, here);
  if (code == MPI_SUCCESS) code = MPI_Comm_size(here, &out->ranks);
  (void)MPI_Comm_free(&here);
  OSLA_MPI(code);
  (void)snprintf(out->name, sizeof out->name, "%s", sg_host_get_name(host));
  out->cores = sg_host_core_count(host);
  out->share = (double)out->cores / out->ranks;
  return OSLA_OK;
}

osla_err osli_host_describe_nodes(MPI_Comm comm, int node_leader, const osla_groups *groups,
                                  osla_host *out)
{
  (void)node_leader, (void)groups;
  return osla_host_look(comm, out);
}
