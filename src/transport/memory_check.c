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

/* One number in a file; `missing` where there is none ("max" means no limit). */
static uint64_t read_number(const char *path, uint64_t missing)
{
  uint64_t value = missing;
  FILE *file = fopen(path, "r");
  if (!file) return missing;
  if (fscanf(file, "%" SCNu64, &value) != 1) value = missing;
  (void)fclose(file);
  return value;
}

/* What the control group of this process (a container, a batch job) leaves of its limit. A group's
 * files are seen at the root of the mount from inside a container, and below it from outside. */
static uint64_t read_group_available(void)
{
  static const char *const files[][2] = {
    {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"}, /* version 2 */
    {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"}};
  uint64_t available = UINT64_MAX;
  for (int version = 0; version < 2; version++) {
    uint64_t limit = read_number(files[version][0], UINT64_MAX);
    uint64_t used = read_number(files[version][1], 0);
    if (limit != UINT64_MAX && limit > used && limit - used < available) available = limit - used;
  }
  return available;
}

void osla_memory_available(uint64_t *shared_bytes, uint64_t *available_bytes)
{
  struct statvfs shm;
  uint64_t group = read_group_available(), host = read_mem_available();
  *available_bytes = group < host ? group : host;
  *shared_bytes =
    statvfs("/dev/shm", &shm) == 0 ? (uint64_t)shm.f_bavail * shm.f_frsize : *available_bytes;
}

/* The sum of the ranks of my host (nodes that MPI keeps apart share its memory); one that does not
 * fit stays at the largest number. */
static osla_err sum_on_host(osla_transport *t, uint64_t mine, uint64_t *sum)
{
  typedef struct share {
    uint64_t bytes, host;
  } share;
  share here = {mine, t->host_id};
  share *all = calloc((size_t)t->size, sizeof *all);
  OSLA_CALL(
    osla_agree(t, all ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "sizes of %d ranks", t->size)));
  osla_err err = osla_allgather(t, &here, all, sizeof here);
  *sum = 0;
  for (int rank = 0; rank < t->size; rank++)
    if (all[rank].host == here.host)
      *sum = all[rank].bytes < UINT64_MAX - *sum ? *sum + all[rank].bytes : UINT64_MAX;
  free(all);
  return err;
}

osla_err osla_memory_check(osla_transport *t, uint64_t bytes_per_rank)
{
  uint64_t shared, available, node_bytes;
  OSLA_CALL(sum_on_host(t, bytes_per_rank, &node_bytes));
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
