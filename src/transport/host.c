#include "config.h"

#include "osla_host.h"
#include "src/transport/groups.h"
#include "src/transport/transport_ops.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Facts that each rank reports about itself. */
typedef struct rank_host {
  char name[64];
  char kernel[64]; /* identifier of the running kernel */
  int node_leader; /* lowest rank on the node of this rank */
  double quota;   /* cores that the CPU quota of the rank's control groups allows; 0 if unlimited */
  uint64_t group; /* id of the control group with the tightest CPU quota */
  cpu_set_t mask;
} rank_host;

void osli_host_kernel(const char *host_name, char kernel[64])
{
  FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
  bool known = file && fscanf(file, "%63s", kernel) == 1;
  if (file) (void)fclose(file);
  if (!known) (void)strcpy(kernel, host_name);
}

static rank_host describe_this_rank(int node_leader, const osla_groups *groups)
{
  rank_host me;
  memset(&me, 0, sizeof me);
  if (gethostname(me.name, sizeof me.name - 1) != 0) (void)strcpy(me.name, "?");
  osli_host_kernel(me.name, me.kernel);
  me.node_leader = node_leader;
  me.quota = groups->cores;
  me.group = groups->cpu_id;
  if (sched_getaffinity(0, sizeof me.mask, &me.mask) != 0)
    for (long core = 0; core < sysconf(_SC_NPROCESSORS_ONLN) && core < CPU_SETSIZE; core++)
      CPU_SET((size_t)core, &me.mask);
  return me;
}

static const char *kernel_of(const rank_host *all, int rank)
{
  return all[all[rank].node_leader].kernel;
}

/* Sum of the quotas, in cores, of the `count` given ranks of a host. Ranks in one control group
 * share one quota. HUGE_VAL if a rank has no quota. */
static double sum_quotas(const rank_host *all, const int *ranks, int count)
{
  double sum = 0;
  for (int i = 0; i < count; i++) {
    const rank_host *r = &all[ranks[i]];
    int before = 0;
    if (r->quota <= 0) return HUGE_VAL;
    while (all[ranks[before]].group != r->group)
      before++;
    if (before == i) sum += r->quota;
  }
  return sum;
}

/* The smallest number of cores per rank: for each distinct CPU mask, its cores divided by the
 * number of ranks whose masks lie inside it. */
static double min_share(const rank_host *all, const int *ranks, int count, const cpu_set_t *whole)
{
  double least = (double)CPU_COUNT(whole) / count;
  for (int i = 0; i < count; i++) {
    const cpu_set_t *mask = &all[ranks[i]].mask;
    cpu_set_t both;
    int before = 0, inside = 0;
    while (!CPU_EQUAL(&all[ranks[before]].mask, mask))
      before++;
    if (before < i)
      continue; /* the mask of rank i is equal to that of an earlier rank and is already counted */
    for (int k = 0; k < count; k++) {
      CPU_AND(&both, &all[ranks[k]].mask, mask);
      inside += CPU_EQUAL(&both, &all[ranks[k]].mask);
    }
    double share = (double)CPU_COUNT(mask) / inside;
    if (share < least) least = share;
  }
  return least;
}

static void describe_host(const rank_host *all, int size, int rank, int *ranks, osla_host *out)
{
  cpu_set_t mask = all[rank].mask;
  for (int other = 0; other < size; other++) {
    if (strcmp(kernel_of(all, other), kernel_of(all, rank)) != 0) continue;
    ranks[out->ranks++] = other;
    CPU_OR(&mask, &mask, &all[other].mask);
  }
  double quota = ceil(sum_quotas(all, ranks, out->ranks));
  memcpy(out->name, all[rank].name, sizeof out->name);
  out->first = ranks[0];
  out->cores = CPU_COUNT(&mask);
  if (quota < out->cores) out->cores = (int)quota;
  out->share = min_share(all, ranks, out->ranks, &mask);
  if (out->cores < out->share * out->ranks) out->share = (double)out->cores / out->ranks;
}

osla_err osli_host_describe_nodes(MPI_Comm comm, int node_leader, const osla_groups *groups,
                                  osla_host *out)
{
  int rank = 0, size = 1;
  memset(out, 0, sizeof *out);
  OSLA_MPI(MPI_Comm_rank(comm, &rank));
  OSLA_MPI(MPI_Comm_size(comm, &size));
  rank_host me = describe_this_rank(node_leader, groups), *all = malloc((size_t)size * sizeof *all);
  int *ranks = malloc((size_t)size * sizeof *ranks);
  osla_err err = osli_agree_allocated(comm, all && ranks, "host table");
  if (err == OSLA_OK) {
    int code = MPI_Allgather(&me, sizeof me, MPI_BYTE, all, sizeof me, MPI_BYTE, comm);
    if (code == MPI_SUCCESS)
      describe_host(all, size, rank, ranks, out);
    else
      err = osla_error_set_mpi(code, "MPI_Allgather");
  }
  free(all);
  free(ranks);
  return err;
}

osla_err osla_host_look(MPI_Comm comm, osla_host *out)
{
  MPI_Comm node;
  osla_group_folders places;
  osla_groups groups;
  int leader = 0;
  osli_groups_locate("", &places);
  osli_groups_read(&places, &groups);
  OSLA_MPI(MPI_Comm_rank(comm, &leader));
  OSLA_MPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
  int code = MPI_Bcast(&leader, 1, MPI_INT, 0, node);
  (void)MPI_Comm_free(&node);
  OSLA_MPI(code);
  return osli_host_describe_nodes(comm, leader, &groups, out);
}
