/* Creates and frees the object of a region, with its tables and its window. */
#include "src/transport/mpi/eager_mpi.h"
#include "src/transport/mpi/shared_memory.h"
#include "src/transport/time_limit.h"

#include <stdlib.h>

osla_err osli_mpi_open_window(osla_region *region, void *base, size_t bytes)
{
  osli_time_limit_blocked(&region->t->collective, "MPI_Win_create");
  osla_err err = osli_window_create(region->t, false, base, bytes, &region->win);
  osli_time_limit_blocked(&region->t->collective, NULL);
  return err;
}

void osli_mpi_close_window(osla_region *region)
{
  if (region->win == MPI_WIN_NULL) return;
  osli_time_limit_blocked(&region->t->collective, "MPI_Win_free");
  if (region->dynamic) (void)MPI_Win_detach(region->win, osla_region_mine(region));
  osli_window_free(&region->win);
  osli_time_limit_blocked(&region->t->collective, NULL);
  region->dynamic = false;
}

static void find_neighbours(osla_region *region)
{
  const osla_transport *t = region->t;
  region->first = t->rank - t->node_rank;
  region->n_near = t->node_size;
  for (int i = 0; i < t->node_size; i++) {
    int rank = region->first + i;
    if (rank >= t->size || osla_transport_node_rank_of(t, rank) != i)
      region->near = t->node_rank_of;
  }
}

osla_err osli_mpi_region_new(osla_transport *t, size_t bytes, osla_region **out)
{
  osla_region *region = calloc(1, sizeof *region);
  OSLA_CHECK(region, OSLA_ERR_MEM, "region object");
  region->t = t;
  region->bytes = bytes;
  find_neighbours(region);
  region->number = -1;
  region->win = region->shared_win = MPI_WIN_NULL;
  region->peer = calloc((size_t)t->node_size, sizeof *region->peer);
  region->mapped = calloc((size_t)t->node_size, sizeof *region->mapped);
  region->unflushed = calloc((size_t)t->size, sizeof *region->unflushed);
  *out = region;
  OSLA_CHECK(region->peer && region->mapped && region->unflushed, OSLA_ERR_MEM,
             "region tables of %d ranks", t->size);
  return OSLA_OK;
}

void osli_mpi_region_discard(osla_region **region)
{
  if (!*region) return;
  free((*region)->peer);
  free((*region)->mapped);
  free((*region)->shift);
  free((*region)->unflushed);
  free((*region)->last);
  free((*region)->posts);
  free(*region);
  *region = NULL;
}

void osli_mpi_region_release(osla_region **handle)
{
  osla_region *region = *handle;
  if (!region) return;
  osla_transport *t = region->t;
  /* MPI_Win_free is a spinning barrier; this sleeping barrier lets all ranks arrive first. Regions
   * without windows need no barrier, because each rank unmaps memory for itself. */
  if (t->n_nodes > 1 || t->memory_by_mpi || region->attached) (void)osla_barrier(t);
  (void)pthread_mutex_lock(&t->mutex);
  if (region->attached && t->size > 1) t->n_attached--;
  osli_mpi_close_window(region);
  osli_window_free(&region->shared_win);
  osli_eager_remove_region(region);
  (void)pthread_mutex_unlock(&t->mutex);
  if (region->own) region->free_own(region);
  osli_shared_memory_unmap(t, region->peer, region->mapped);
  osli_mpi_region_discard(handle);
}
