/* Does a segment fit the nodes? Checked before allocation, because the system grants more memory
 * than there is and then kills a process. Where MPI allocates (memory_by_mpi), the limit is also
 * /dev/shm, and the first touch of a page that it lacks is a bus error. */
#include "transport_ops.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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
  *shared_bytes =
    statvfs("/dev/shm", &shm) == 0 ? (uint64_t)shm.f_bavail * shm.f_frsize : *available_bytes;
}

/* The sum of the ranks of my node; one that does not fit stays at the largest number. */
static osla_err sum_on_node(osla_transport *t, uint64_t mine, uint64_t *sum)
{
  uint64_t *all = calloc((size_t)t->size, sizeof *all);
  OSLA_CALL(
    osla_agree(t, all ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "sizes of %d ranks", t->size)));
  osla_err err = osla_allgather(t, &mine, all, sizeof mine);
  *sum = 0;
  for (int rank = 0; rank < t->size; rank++)
    if (t->node_of[rank] == t->node)
      *sum = all[rank] < UINT64_MAX - *sum ? *sum + all[rank] : UINT64_MAX;
  free(all);
  return err;
}

osla_err osla_memory_check(osla_transport *t, uint64_t bytes_per_rank)
{
  uint64_t shared, available, node_bytes;
  OSLA_CALL(sum_on_node(t, bytes_per_rank, &node_bytes));
  osla_memory_available(&shared, &available);
  osla_err err = OSLA_OK;
  if (node_bytes > available)
    err = osla_error_set(OSLA_ERR_MEM,
                         "%" PRIu64 " bytes are needed on a node, but only %" PRIu64
                         " bytes of memory are available",
                         node_bytes, available);
  else if (t->memory_by_mpi && t->node_size > 1 && node_bytes > shared)
    err = osla_error_set(OSLA_ERR_MEM,
                         "%" PRIu64 " bytes are needed on a node, but only %" PRIu64
                         " bytes are free in /dev/shm (enlarge it, or use more nodes)",
                         node_bytes, shared);
  return osla_agree(t, err);
}
