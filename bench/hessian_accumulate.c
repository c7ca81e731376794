/* Reference implementations `mpi-accumulate-lock` and `mpi-accumulate-flush` of the assembly: plain
 * MPI-3 on a block-cyclic matrix with OSLA's grid and blocks, as French et al. (IPDPS 2015) use it.
 *
 * For each rank that owns a part of an update, MPI_Accumulate is called once, with an indexed
 * datatype. The owners are visited in a random order, another one for each update (section III.C).
 * Section IV.B describes both ways to complete an accumulate: an exclusive lock and unlock, which
 * was the faster one for the authors, or a local flush within one epoch from the first update to
 * the commit. */
#include "bench/bench_hessian.h"
#include "bench/permutation.h"
#include "osla_index.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Leading dimension of the local part of the matrix on a rank of process row `prow`. */
static int64_t local_rows(const hessian_data *d, int prow)
{
  return osla_index_count(d->n, d->job->settings->nb, prow, osla_grid_nprow(d->job->grid));
}

static osla_err setup(void *data)
{
  hessian_window *w = data;
  hessian_data *d = w->data;
  const bench_settings *s = d->job->settings;
  osla_grid *grid = d->job->grid;
  const int64_t cols = osla_index_count(d->n, s->nb, osla_grid_pcol(grid), osla_grid_npcol(grid));
  w->bytes = (size_t)(local_rows(d, osla_grid_prow(grid)) * cols) * osla_dtype_size(s->dtype);
  /* whole pages avoid the error of MPICH that reference_mpi.c describes */
  w->bytes = (w->bytes + 4095) / 4096 * 4096;
  OSLA_MPI(
    MPI_Win_allocate((MPI_Aint)w->bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w->base, &w->win));
  w->is_open = true;
  if (!w->locks) OSLA_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, w->win));
  return hessian_products_create(d, true);
}

static void teardown(void *data)
{
  hessian_window *w = data;
  if (w->is_open && !w->locks) (void)MPI_Win_unlock_all(w->win);
  if (w->is_open) (void)MPI_Win_free(&w->win);
  w->is_open = false;
  hessian_products_free(w->data);
}

static osla_err prepare(void *data)
{
  const hessian_window *w = data;
  const int rank = w->data->job->rank;
  if (w->locks) OSLA_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, w->win));
  if (w->bytes > 0) memset(w->base, 0, w->bytes);
  if (w->locks) OSLA_MPI(MPI_Win_unlock(rank, w->win));
  return OSLA_OK;
}

/* Packs those elements of an update that the rank at (prow, pcol) owns: values, and byte offsets
 * in the window of that rank. Returns the number of elements. */
static int64_t pack(const hessian_data *d, int prow, int pcol, const int64_t *ix, const void *block,
                    MPI_Aint *offset, char *packed)
{
  const int64_t nb = d->job->settings->nb, count = d->updates.count, rows = local_rows(d, prow);
  const int nprow = osla_grid_nprow(d->job->grid), npcol = osla_grid_npcol(d->job->grid);
  const size_t size = osla_dtype_size(d->updates.dtype);
  int64_t found = 0, begin, end;
  for (int64_t b = 0; b < count; b++) {
    if (osla_index_owner(ix[b], nb, npcol) != pcol) continue;
    const int64_t column = osla_index_local(ix[b], nb, npcol) * rows;
    hessian_rows(d->job->settings->uplo, count, b, &begin, &end);
    for (int64_t a = begin; a < end; a++) {
      if (osla_index_owner(ix[a], nb, nprow) != prow) continue;
      offset[found] = (MPI_Aint)(column + osla_index_local(ix[a], nb, nprow)) * (MPI_Aint)size;
      memcpy(packed + (size_t)found++ * size, (const char *)block + (size_t)(a + b * count) * size,
             size);
    }
  }
  return found;
}

static osla_err accumulate_and_unlock(const hessian_window *w, int owner, int count,
                                      const void *packed, MPI_Datatype element, MPI_Datatype target)
{
  OSLA_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, owner, 0, w->win));
  OSLA_MPI(MPI_Accumulate(packed, count, element, owner, 0, 1, target, MPI_SUM, w->win));
  OSLA_MPI(MPI_Win_unlock(owner, w->win));
  return OSLA_OK;
}

static osla_err accumulate_and_flush(const hessian_window *w, int owner, int count,
                                     const void *packed, MPI_Datatype element, MPI_Datatype target)
{
  OSLA_MPI(MPI_Accumulate(packed, count, element, owner, 0, 1, target, MPI_SUM, w->win));
  OSLA_MPI(MPI_Win_flush_local(owner, w->win));
  return OSLA_OK;
}

static osla_err accumulate(const hessian_data *d, int owner, int64_t count, const MPI_Aint *offset,
                           const void *packed)
{
  const MPI_Datatype element = d->updates.dtype == OSLA_FLOAT ? MPI_FLOAT : MPI_DOUBLE;
  MPI_Datatype target;
  OSLA_MPI(MPI_Type_create_hindexed_block((int)count, 1, offset, element, &target));
  OSLA_MPI(MPI_Type_commit(&target));
  osla_err err = OSLA_OK;
  if (d->window->locks) {
    /* a rank must not lock a target that another thread of the rank has locked */
#pragma omp critical(bench_accumulate_lock)
    err = accumulate_and_unlock(d->window, owner, (int)count, packed, element, target);
  } else {
    err = accumulate_and_flush(d->window, owner, (int)count, packed, element, target);
  }
  OSLA_MPI(MPI_Type_free(&target));
  return err;
}

static osla_err update(hessian_data *d, int64_t k, int thread)
{
  const int64_t count = d->updates.count;
  const int64_t most =
    d->job->settings->uplo == OSLA_GENERAL ? count * count : count * (count + 1) / 2;
  const int npcol = osla_grid_npcol(d->job->grid);
  const int n_owners = osla_grid_nprow(d->job->grid) * npcol;
  const void *block;
  OSLA_CALL(hessian_block(d, k, thread, &block));
  MPI_Aint *offset = malloc((size_t)most * sizeof *offset);
  char *packed = malloc((size_t)most * osla_dtype_size(d->updates.dtype));
  int *order = malloc((size_t)n_owners * sizeof *order);
  osla_err err = offset && packed && order
                   ? OSLA_OK
                   : osla_error_set(OSLA_ERR_MEM, "part of %" PRId64 " elements", most);
  if (order) bench_permute(n_owners, (uint64_t)d->job->rank, (uint64_t)k, order);
  for (int i = 0; i < n_owners && err == OSLA_OK; i++) {
    const int prow = order[i] / npcol, pcol = order[i] % npcol;
    const int64_t found =
      pack(d, prow, pcol, updates_indices(&d->updates, k), block, offset, packed);
    if (found > 0)
      err = accumulate(d, osla_grid_rank_at(d->job->grid, prow, pcol), found, offset, packed);
  }
  free(offset);
  free(packed);
  free(order);
  return err;
}

static osla_err run(void *data)
{
  hessian_window *w = data;
  hessian_data *d = w->data;
  d->window = w;
  osla_err err = hessian_each(d, update);
  /* An error ends the job, because the other ranks would wait in the commit for ever. */
  if (err != OSLA_OK) osla_transport_abort(d->job->transport, err);
  if (!w->locks) OSLA_MPI(MPI_Win_flush_all(w->win));
  OSLA_MPI(MPI_Barrier(MPI_COMM_WORLD));
  return OSLA_OK;
}

/* Returns element (i, j) of the triangle if this rank owns it, else 0. */
static double read_own(const hessian_data *d, int64_t i, int64_t j)
{
  osla_grid *grid = d->job->grid;
  const int64_t nb = d->job->settings->nb;
  const int nprow = osla_grid_nprow(grid), npcol = osla_grid_npcol(grid);
  if (osla_index_owner(i, nb, nprow) != osla_grid_prow(grid) ||
      osla_index_owner(j, nb, npcol) != osla_grid_pcol(grid))
    return 0;
  return bench_element(d->updates.dtype, d->window->base,
                       osla_index_local(i, nb, nprow) +
                         osla_index_local(j, nb, npcol) * local_rows(d, osla_grid_prow(grid)));
}

static osla_err check(void *data, double *residual)
{
  hessian_window *w = data;
  hessian_data *d = w->data;
  const updates *u = &d->updates;
  bool lower = d->job->settings->uplo == OSLA_LOWER;
  if (w->locks) OSLA_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, d->job->rank, 0, w->win));
  for (int k = 0; k < UPDATES_SAMPLES; k++) {
    int64_t i = u->sample[k].i, j = u->sample[k].j;
    d->values[k] = read_own(d, lower ? i : j, lower ? j : i);
  }
  if (w->locks) OSLA_MPI(MPI_Win_unlock(d->job->rank, w->win));
  OSLA_CALL(osla_allreduce(d->job->transport, d->values, UPDATES_SAMPLES, MPI_DOUBLE, MPI_SUM));
  *residual = updates_residual(u, d->values, 0);
  return OSLA_OK;
}

bench_impl hessian_window_impl(hessian_window *window)
{
  return (bench_impl){.name = window->locks ? "mpi-accumulate-lock" : "mpi-accumulate-flush",
                      .group = "mpi-accumulate",
                      .setup = setup,
                      .prepare = prepare,
                      .run = run,
                      .check = check,
                      .teardown = teardown,
                      .data = window};
}
