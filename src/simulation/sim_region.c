/* Memory of simulated ranks. Each rank's part is mapped once and is accessible to all ranks at its
 * address. */
#include "src/blas/move.h"
#include "src/simulation/sim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static osla_err map_memory(size_t bytes, unsigned char **out)
{
  /* limit of one allocation; addresses of a process have 47 bits */
  const size_t most = (size_t)1 << 46;
  OSLA_CHECK(bytes <= most, OSLA_ERR_MEM, "%.3g bytes for a rank exceed the limit of %.3g",
             (double)bytes, (double)most);
  void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  OSLA_CHECK(at != MAP_FAILED, OSLA_ERR_MEM, "mapping %zu bytes: %s", bytes, strerror(errno));
  *out = at;
  return OSLA_OK;
}

/* Creates a region on all ranks; rank 0 allocates the table and broadcasts its address. */
static osla_err create_region(osla_transport *t, osla_region **out)
{
  osla_region *region = calloc(1, sizeof *region);
  size_t bytes = sizeof(sim_table) + (size_t)t->size * sizeof(sim_memory);
  sim_table *table = t->rank == 0 ? calloc(1, bytes) : NULL;
  bool have = region && (t->rank > 0 || table);
  osla_err err =
    osla_agree(t, have ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "region of %d ranks", t->size));
  if (err == OSLA_OK) err = osla_bcast(t, &table, sizeof table, MPI_BYTE, 0);
  if (err != OSLA_OK) {
    free(region);
    if (t->rank == 0) free(table);
    return err;
  }
  if (t->rank == 0) table->users = t->size;
  *region = (osla_region){.t = t, .table = table, .memory = table->memory};
  *out = region;
  return OSLA_OK;
}

osla_err osli_sim_region_alloc(osla_transport *t, size_t bytes, osla_region **out)
{
  size_t page = (size_t)sysconf(_SC_PAGESIZE), most = SIZE_MAX - 2 * page;
  size_t rounded = ((bytes < most ? bytes : most) + page) / page * page;
  osla_region *region = NULL;
  *out = NULL;
  if (!osli_work_modelled) OSLA_CALL(osla_memory_check(t, rounded));
  OSLA_CALL(create_region(t, &region));
  sim_memory *mine = &region->memory[t->rank];
  osla_err err = osla_agree(t, map_memory(rounded, &mine->base));
  if (mine->base) mine->bytes = rounded;
  if (err != OSLA_OK) osli_sim_region_free(&region);
  *out = region;
  return err;
}

osla_err osli_sim_region_attach(osla_transport *t, void *base, size_t bytes, osla_region **out)
{
  osla_region *region = NULL;
  *out = NULL;
  OSLA_CALL(create_region(t, &region));
  region->attached = true;
  region->memory[t->rank] = (sim_memory){.bytes = bytes, .base = base};
  *out = region;
  return osla_barrier(t);
}

void osli_sim_region_steers(osla_region *region)
{
  region->has_no_bulk_data = true;
}

void osli_sim_region_copy(const osla_region *region, void *to, const void *from, size_t bytes)
{
  if (region->has_no_bulk_data)
    memcpy(to, from, bytes);
  else
    osli_move_message(to, from, bytes);
}

void osli_sim_region_messages(osla_region *region, size_t offset)
{
  sim_memory *mine = &region->memory[region->t->rank];
  if (!osli_work_modelled) return;
  mine->messages = osli_sim_pieces_create();
  mine->messages_start = mine->base + offset;
}

void osli_sim_region_store(osla_region *region, size_t offset, const void *bytes, size_t count)
{
  sim_memory *mine = &region->memory[region->t->rank];
  if (mine->messages)
    osli_sim_pieces_store(mine->messages, mine->base + offset, bytes, count);
  else
    memcpy(mine->base + offset, bytes, count);
}

void osli_sim_region_copy_get(const osla_region *region, int rank, void *to, const void *from,
                              size_t bytes)
{
  const sim_memory *m = &region->memory[rank];
  if (m->messages && (const unsigned char *)from >= m->messages_start)
    osli_sim_pieces_take(m->messages, to, from, bytes);
  else
    osli_sim_region_copy(region, to, from, bytes);
}

void osli_sim_region_free(osla_region **handle)
{
  osla_region *region = *handle;
  if (!region) return;
  const osla_transport *t = region->t;
  /* collective, like the freeing of MPI windows */
  if (t->n_nodes > 1 || region->attached) (void)osla_barrier(region->t);
  if (--region->table->users == 0) {
    for (int rank = 0; rank < t->size && !region->attached; rank++)
      if (region->memory[rank].base)
        (void)munmap(region->memory[rank].base, region->memory[rank].bytes);
    for (int rank = 0; rank < t->size; rank++)
      osli_sim_pieces_free(region->memory[rank].messages);
    free(region->table);
  }
  free(region);
  *handle = NULL;
}

void *osli_sim_peer_ptr(const osla_region *region, int rank)
{
  const osla_transport *t = region->t;
  bool near = region->attached ? rank == t->rank : osla_transport_same_node(t, rank);
  return near ? region->memory[rank].base : NULL;
}
