/* Exposes the caller's memory as a region.
 *
 * A window on the caller's memory may be reached at a wrong address. MPICH 4.0.2 asks UCX for the
 * address of the registered memory. UCX 1.13 and later caches registrations, and returns the start
 * of an older one if the memory lies inside it. As a result, a window inside the memory of another
 * window (of Global Arrays, or of a larger part of one array) silently leads to the start of the
 * other one. This error also rounds addresses down to a multiple of 16. Therefore:
 * - The window begins at the 16-byte boundary below the memory; `shift` is the distance to its
 *   first byte.
 * - Each rank writes a mark to its first bytes, and tests whether it reads the marks of others. If
 *   it does not, the memory is attached to a dynamic window, whose displacements are addresses.
 *   There, large transfers on one node take ten times as long.
 * A single rank has no window: it needs none, and Open MPI 4.1.4 of Debian fails to create one
 * (MPI_ERR_WIN). */
#include "osla_random.h"
#include "src/transport/mpi/region_mpi.h"

#include <stdlib.h>
#include <string.h>

enum { WINDOW_ALIGN = 16, MARK = 16 };

/* Address and size of a rank's exposed memory. */
typedef struct exposed_memory {
  uint64_t address, bytes;
} exposed_memory;

static size_t min_size(uint64_t x, uint64_t y)
{
  return (size_t)(x < y ? x : y);
}

static void make_mark(int rank, const exposed_memory *p, unsigned char mark[MARK])
{
  uint64_t words[MARK / sizeof(uint64_t)];
  for (uint64_t k = 0; k < MARK / sizeof *words; k++)
    words[k] = osla_random_bits(p->address, (uint64_t)rank, k);
  memcpy(mark, words, MARK);
}

/* Reads the marks of the ranks at distances 1, 2, 4, ... from this rank. So each mark is read from
 * its own node and from other nodes, which MPI may reach in different ways. */
static osla_err check_marks(osla_region *region, const exposed_memory *exposed, bool *found)
{
  osla_transport *t = region->t;
  for (int64_t distance = 1; distance < t->size; distance *= 2) {
    int target = (int)((t->rank + distance) % t->size);
    size_t bytes = min_size(exposed[target].bytes, MARK);
    unsigned char expected[MARK], seen[MARK] = {0};
    osla_handle handle;
    make_mark(target, &exposed[target], expected);
    OSLA_CALL(t->ops->get(region, target, 0, seen, bytes, &handle));
    OSLA_CALL(t->ops->wait(t, &handle));
    if (memcmp(seen, expected, bytes) != 0) *found = false;
  }
  return OSLA_OK;
}

/* Writes the marks, tests that they are reached, and restores the memory. Collective. */
static osla_err check_reach(osla_region *region, const exposed_memory *exposed, bool *reached)
{
  osla_transport *t = region->t;
  unsigned char saved[MARK], mark[MARK], *base = osla_region_mine(region);
  size_t bytes = min_size(exposed[t->rank].bytes, MARK);
  bool found = true;
  make_mark(t->rank, &exposed[t->rank], mark);
  if (bytes > 0) {
    memcpy(saved, base, bytes);
    memcpy(base, mark, bytes);
  }
  osla_err err = osla_barrier(t);
  if (err == OSLA_OK) err = osla_agree(t, check_marks(region, exposed, &found));
  if (bytes > 0) memcpy(base, saved, bytes);
  OSLA_CALL(err);
  int all = found;
  /* this reduction is also a barrier, after which all ranks have restored their memory */
  OSLA_CALL(osla_allreduce(t, &all, 1, MPI_INT, MPI_MIN));
  *reached = all;
  return OSLA_OK;
}

static osla_err create_window(osla_region *region, const exposed_memory *exposed)
{
  osla_transport *t = region->t;
  const exposed_memory *mine = &exposed[t->rank];
  size_t below = mine->address % WINDOW_ALIGN;
  unsigned char *base = osla_region_mine(region);
  for (int rank = 0; rank < t->size; rank++)
    region->shift[rank] = exposed[rank].address % WINDOW_ALIGN;
  return osla_agree(
    t, osli_mpi_open_window(region, base ? base - below : NULL, (size_t)mine->bytes + below));
}

static osla_err create_dynamic_window(osla_region *region, const exposed_memory *exposed)
{
  osla_transport *t = region->t;
  osli_mpi_close_window(region);
  for (int rank = 0; rank < t->size; rank++)
    region->shift[rank] = exposed[rank].address;
  size_t bytes = (size_t)exposed[t->rank].bytes;
  osla_err err = osli_window_create(t, true, osla_region_mine(region), bytes, &region->win);
  region->dynamic = err == OSLA_OK && bytes > 0;
  return osla_agree(t, err);
}

static osla_err expose_memory(osla_region *region, exposed_memory *exposed)
{
  osla_transport *t = region->t;
  MPI_Aint address = 0;
  bool reached = false;
  if (region->bytes > 0) OSLA_MPI(MPI_Get_address(osla_region_mine(region), &address));
  exposed_memory mine = {(uint64_t)address, region->bytes};
  OSLA_CALL(osli_allgather(t, &mine, exposed, sizeof mine));
  OSLA_CALL(create_window(region, exposed));
  OSLA_CALL(check_reach(region, exposed, &reached));
  if (reached) return OSLA_OK;
  OSLA_CALL(create_dynamic_window(region, exposed));
  OSLA_CALL(check_reach(region, exposed, &reached));
  OSLA_CHECK(reached, OSLA_ERR_UNSUPPORTED,
             "MPI windows on the caller's memory reach wrong addresses with this MPI");
  return OSLA_OK;
}

osla_err osli_mpi_region_attach(osla_transport *t, void *base, size_t bytes, osla_region **out)
{
  osla_region *region = NULL;
  *out = NULL;
  osla_err err = osli_mpi_region_new(t, bytes, &region);
  if (err == OSLA_OK && !base && bytes > 0)
    err = osla_error_set(OSLA_ERR_ARG, "base is NULL, but bytes = %zu", bytes);
  exposed_memory *exposed = calloc((size_t)t->size, sizeof *exposed);
  if (err == OSLA_OK) region->shift = calloc((size_t)t->size, sizeof *region->shift);
  if (err == OSLA_OK && (!exposed || !region->shift))
    err = osla_error_set(OSLA_ERR_MEM, "offsets of %d ranks", t->size);
  err = osla_agree(t, err);
  if (err != OSLA_OK) {
    free(exposed);
    osli_mpi_region_discard(&region);
    return err;
  }
  region->peer[t->node_rank] = base;
  region->attached = true;
  if (t->size > 1) {
    t->n_attached++;
    err = expose_memory(region, exposed);
  }
  free(exposed);
  if (err != OSLA_OK) osli_mpi_region_release(&region);
  *out = region;
  return err;
}
