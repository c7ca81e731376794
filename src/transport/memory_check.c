/* Checks before an allocation that the memory of a segment fits, because Linux grants more memory
 * than it has and later kills a process. If MPI allocates node memory, the free space of /dev/shm
 * is a limit, too; beyond it the first access to a page is a bus error. */
#include "src/transport/groups.h"
#include "src/transport/transport_ops.h"

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
  osla_group_folders places;
  osla_groups groups;
  *available_bytes = read_mem_available();
  osli_groups_locate("", &places);
  osli_groups_read(&places, &groups);
  for (int i = 0; i < groups.n_memory; i++)
    if (groups.memory[i].available < *available_bytes)
      *available_bytes = groups.memory[i].available;
  *shared_bytes =
    statvfs("/dev/shm", &shm) == 0 ? (uint64_t)shm.f_bavail * shm.f_frsize : *available_bytes;
}

/* Memory in bytes that a rank needs, the rank's host, and the ids of its control groups with a
 * memory limit. */
typedef struct rank_demand {
  uint64_t bytes;
  int host, n_groups;
  uint64_t group[OSLA_MOST_GROUPS];
} rank_demand;

static bool is_in_group(const rank_demand *s, uint64_t group)
{
  for (int i = 0; i < s->n_groups; i++)
    if (s->group[i] == group) return true;
  return false;
}

/* Sums the bytes of the ranks of a host, or of those of its ranks that are in one control group.
 * The sum saturates at UINT64_MAX. */
static uint64_t sum_bytes(const rank_demand *all, int size, int host, const uint64_t *group)
{
  uint64_t sum = 0;
  for (const rank_demand *s = all; s < all + size; s++)
    if (s->host == host && (!group || is_in_group(s, *group)))
      sum = s->bytes < UINT64_MAX - sum ? sum + s->bytes : UINT64_MAX;
  return sum;
}

static osla_err check_groups(const rank_demand *all, int size, int host, const osla_groups *groups)
{
  for (int i = 0; i < groups->n_memory; i++) {
    uint64_t needed = sum_bytes(all, size, host, &groups->memory[i].id);
    OSLA_CHECK(needed <= groups->memory[i].available, OSLA_ERR_MEM,
               "%" PRIu64 " bytes are needed on a node, but only %" PRIu64
               " bytes are left of its control group's memory limit",
               needed, groups->memory[i].available);
  }
  return OSLA_OK;
}

static osla_err check_host(const osla_transport *t, uint64_t needed)
{
  struct statvfs shm;
  uint64_t available = read_mem_available();
  OSLA_CHECK(needed <= available, OSLA_ERR_MEM,
             "%" PRIu64 " bytes are needed on a node, but only %" PRIu64
             " bytes of memory are available",
             needed, available);
  if (!t->memory_by_mpi || t->node_size == 1 || statvfs("/dev/shm", &shm) != 0) return OSLA_OK;
  uint64_t shared = (uint64_t)shm.f_bavail * shm.f_frsize;
  OSLA_CHECK(needed <= shared, OSLA_ERR_MEM,
             "%" PRIu64 " bytes are needed on a node, but only %" PRIu64
             " bytes are free in /dev/shm (enlarge it, or use more nodes)",
             needed, shared);
  return OSLA_OK;
}

osla_err osla_memory_check(osla_transport *t, uint64_t bytes_per_rank)
{
  osla_groups groups = {0};
  rank_demand mine = {.bytes = bytes_per_rank, .host = t->host}, *all;
  if (t->has_memory_limit) osli_groups_read(&t->groups, &groups);
  mine.n_groups = groups.n_memory;
  for (int i = 0; i < groups.n_memory; i++)
    mine.group[i] = groups.memory[i].id;
  all = malloc((size_t)t->size * sizeof *all);
  osla_err err =
    osla_agree(t, all ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "sizes of %d ranks", t->size));
  if (err == OSLA_OK) err = osli_allgather(t, &mine, all, sizeof mine);
  if (err == OSLA_OK) {
    err = check_host(t, sum_bytes(all, t->size, t->host, NULL));
    if (err == OSLA_OK) err = check_groups(all, t->size, t->host, &groups);
    err = osla_agree(t, err);
  }
  free(all);
  return err;
}
