/* Assembly by plain MPI-3: one MPI_Accumulate with an indexed datatype for each owner of a part of
 * an update, on a block-cyclic matrix with OSLA's grid and blocks. French et al. (IPDPS 2015),
 * section V, compare with this. The accumulates of an update are completed locally before the next
 * update. */
#include "bench/bench_reference.h"
#include "osla_index.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

osla_err reference_accumulate_create(bench_job *job, int64_t n, reference_accumulate *out)
{
  osla_grid *grid = job->grid;
  *out = (reference_accumulate){.grid = grid,
                                .n = n,
                                .nb = job->settings->nb,
                                .dtype = job->settings->dtype,
                                .uplo = job->settings->uplo,
                                .win = MPI_WIN_NULL};
  out->nprow = osla_grid_nprow(grid);
  out->npcol = osla_grid_npcol(grid);
  int64_t rows = osla_index_count(n, out->nb, osla_grid_prow(grid), out->nprow);
  int64_t cols = osla_index_count(n, out->nb, osla_grid_pcol(grid), out->npcol);
  out->bytes = (size_t)(rows * cols) * osla_dtype_size(out->dtype);
  /* whole pages: see the error of MPICH in reference_mpi.c */
  out->bytes = (out->bytes + 4095) / 4096 * 4096;
  OSLA_MPI(MPI_Win_allocate((MPI_Aint)out->bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &out->base,
                            &out->win));
  OSLA_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, out->win));
  return OSLA_OK;
}

void reference_accumulate_free(reference_accumulate *h)
{
  if (!h->grid) return;
  (void)MPI_Win_unlock_all(h->win);
  (void)MPI_Win_free(&h->win);
  h->grid = NULL;
}

void reference_accumulate_clear(reference_accumulate *h)
{
  if (h->bytes > 0) memset(h->base, 0, h->bytes);
}

double reference_accumulate_read(const reference_accumulate *h, int64_t i, int64_t j)
{
  if (osla_index_owner(i, h->nb, h->nprow) != osla_grid_prow(h->grid) ||
      osla_index_owner(j, h->nb, h->npcol) != osla_grid_pcol(h->grid))
    return 0;
  int64_t rows = osla_index_count(h->n, h->nb, osla_grid_prow(h->grid), h->nprow);
  return bench_element(h->dtype, h->base,
                       osla_index_local(i, h->nb, h->nprow) +
                         osla_index_local(j, h->nb, h->npcol) * rows);
}

/* Packs the elements of an update that the rank at (prow, pcol) owns: their values, and their byte
 * offsets in its window. Returns their number. */
static int64_t pack(const reference_accumulate *h, int prow, int pcol, int64_t count,
                    const int64_t *ix, const void *block, MPI_Aint *offset, void *packed)
{
  int64_t rows = osla_index_count(h->n, h->nb, prow, h->nprow), found = 0;
  size_t size = osla_dtype_size(h->dtype);
  for (int64_t b = 0; b < count; b++) {
    if (osla_index_owner(ix[b], h->nb, h->npcol) != pcol) continue;
    int64_t column = osla_index_local(ix[b], h->nb, h->npcol) * rows;
    bool lower = h->uplo == OSLA_LOWER;
    for (int64_t a = lower ? b : 0; a < (lower ? count : b + 1); a++) {
      if (osla_index_owner(ix[a], h->nb, h->nprow) != prow) continue;
      int64_t at = column + osla_index_local(ix[a], h->nb, h->nprow);
      offset[found] = (MPI_Aint)at * (MPI_Aint)size;
      if (h->dtype == OSLA_FLOAT)
        ((float *)packed)[found] = ((const float *)block)[a + b * count];
      else
        ((double *)packed)[found] = ((const double *)block)[a + b * count];
      found++;
    }
  }
  return found;
}

osla_err reference_accumulate_add(reference_accumulate *h, int64_t count, const int64_t *ix,
                                  const void *block)
{
  MPI_Datatype element = h->dtype == OSLA_FLOAT ? MPI_FLOAT : MPI_DOUBLE;
  int64_t most = count * (count + 1) / 2;
  osla_err err = OSLA_OK;
  int code = MPI_SUCCESS;
  MPI_Aint *offset = malloc((size_t)most * sizeof *offset);
  void *packed = malloc((size_t)most * osla_dtype_size(h->dtype));
  if (!offset || !packed) err = osla_error_set(OSLA_ERR_MEM, "part of %" PRId64 " elements", most);
  for (int place = 0; place < h->nprow * h->npcol && err == OSLA_OK; place++) {
    int prow = place / h->npcol, pcol = place % h->npcol;
    int owner = osla_grid_rank_at(h->grid, prow, pcol);
    MPI_Datatype there;
    int64_t found = pack(h, prow, pcol, count, ix, block, offset, packed);
    if (found == 0) continue;
    code = MPI_Type_create_hindexed_block((int)found, 1, offset, element, &there);
    if (code == MPI_SUCCESS) code = MPI_Type_commit(&there);
    if (code == MPI_SUCCESS)
      code = MPI_Accumulate(packed, (int)found, element, owner, 0, 1, there, MPI_SUM, h->win);
    if (code == MPI_SUCCESS) code = MPI_Win_flush_local(owner, h->win);
    if (code == MPI_SUCCESS) code = MPI_Type_free(&there);
    if (code != MPI_SUCCESS) err = osla_error_set_mpi(code, "MPI_Accumulate");
  }
  free(offset);
  free(packed);
  return err;
}

osla_err reference_accumulate_commit(reference_accumulate *h)
{
  OSLA_MPI(MPI_Win_flush_all(h->win));
  OSLA_MPI(MPI_Barrier(MPI_COMM_WORLD));
  return OSLA_OK;
}
