/* Does a segment fit the nodes? A full /dev/shm is not refused by the system: the first touch of
 * the missing page kills the process with a bus error. So sizes are checked before allocation. */
#include "transport_ops.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/statvfs.h>
#include <unistd.h>

static uint64_t read_mem_available(void)
{
  char line[128];
  uint64_t kib = 0;
  FILE *file = fopen("/proc/meminfo", "r");
  if (file) {
    while (fgets(line, sizeof line, file))
      if (sscanf(line, "MemAvailable: %" SCNu64, &kib) == 1) break;
    (void)fclose(file);
  }
  if (kib > 0) return kib * 1024;
  return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

void osla_memory_available(uint64_t *shared_bytes, uint64_t *available_bytes)
{
  struct statvfs shm;
  *available_bytes = read_mem_available();
  *shared_bytes = statvfs("/dev/shm", &shm) == 0 ? (uint64_t)shm.f_bavail * shm.f_frsize
                                                 : *available_bytes;
}

osla_err osla_memory_check(osla_transport *t, uint64_t bytes_per_rank)
{
  uint64_t shared, available, limit = UINT64_MAX / (uint64_t)t->node_size;
  uint64_t node_bytes = bytes_per_rank < limit ? bytes_per_rank : limit; /* the sum cannot wrap */
  osla_memory_available(&shared, &available);
  osla_err err = OSLA_OK;
  int code = MPI_Allreduce(MPI_IN_PLACE, &node_bytes, 1, MPI_UINT64_T, MPI_SUM, t->node_comm);
  if (code != MPI_SUCCESS)
    err = osla_error_set_mpi(code, "MPI_Allreduce");
  else if (node_bytes > available)
    err = osla_error_set(OSLA_ERR_MEM,
                         "%" PRIu64 " bytes are needed on a node, but only %" PRIu64
                         " bytes of memory are available",
                         node_bytes, available);
  else if (node_bytes > shared && t->node_size > 1)
    err = osla_error_set(OSLA_ERR_MEM,
                         "%" PRIu64 " bytes are needed on a node, but only %" PRIu64
                         " bytes are free in /dev/shm (enlarge it, or use more nodes)",
                         node_bytes, shared);
  return osla_agree(t, err);
}
