#include "config.h"

#include "osla_host.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What each rank tells about itself. */
typedef struct rank_host {
  char name[64];
  cpu_set_t mask;
} rank_host;

static rank_host look_at_me(void)
{
  rank_host me;
  memset(&me, 0, sizeof me);
  if (gethostname(me.name, sizeof me.name - 1) != 0) (void)strcpy(me.name, "?");
  if (sched_getaffinity(0, sizeof me.mask, &me.mask) != 0)
    for (long core = 0; core < sysconf(_SC_NPROCESSORS_ONLN) && core < CPU_SETSIZE; core++)
      CPU_SET((size_t)core, &me.mask);
  return me;
}

osla_err osla_host_look(MPI_Comm comm, osla_host *out)
{
  int size = 1;
  rank_host me = look_at_me();
  memset(out, 0, sizeof *out);
  OSLA_MPI(MPI_Comm_size(comm, &size));
  rank_host *all = malloc((size_t)size * sizeof *all);
  OSLA_CHECK(all, OSLA_ERR_MEM, "host table of %d ranks", size);
  int code = MPI_Allgather(&me, sizeof me, MPI_BYTE, all, sizeof me, MPI_BYTE, comm);
  cpu_set_t mask = me.mask;
  for (int rank = 0; rank < size && code == MPI_SUCCESS; rank++) {
    if (strcmp(all[rank].name, me.name) != 0) continue;
    out->ranks++;
    CPU_OR(&mask, &mask, &all[rank].mask);
  }
  free(all);
  OSLA_MPI(code);
  memcpy(out->name, me.name, sizeof out->name);
  out->cores = CPU_COUNT(&mask);
  return OSLA_OK;
}
