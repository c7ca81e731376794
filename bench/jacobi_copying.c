/* Reference implementation `copying`: Jacobi's method with the loops of Bethune et al. (2014),
 * figure 1. A sweep writes a new array and copies it back; the residual has a loop of its own.
 * Halos are exchanged as in `mpi` (jacobi_mpi.c). `mpi` is faster because it swaps pointers and
 * computes no residual.
 *
 *    sync         a residual every 100 sweeps, by MPI_Allreduce
 *    async, racy  a new sum begins when the previous one is complete, by MPI_Iallreduce; the
 *      authors have a tree of messages (section 3.1.2), and suggest this call instead (section
 *      4.2) */
#include "bench/bench_jacobi.h"
#include "osla_clock.h"

#include <stdlib.h>
#include <string.h>

enum { RESIDUAL_PERIOD = 100 };

struct jacobi_copying {
  /* communicator used only for the sums, because ranks begin different numbers of sums until the
   * end */
  MPI_Comm comm;
  MPI_Request request;
  int64_t begun;    /* number of sums that this rank has begun in the run */
  double mine, all; /* this rank's term of the current sum, and the result of the sum */
};

osla_err jacobi_copying_setup(void *data)
{
  jacobi_data *d = data;
  void *memory;
  OSLA_CALL(bench_alloc(d->problem->job, sizeof *d->copying, &memory));
  d->copying = memory;
  *d->copying = (struct jacobi_copying){.comm = MPI_COMM_NULL, .request = MPI_REQUEST_NULL};
  OSLA_MPI(MPI_Comm_dup(osla_transport_comm(d->problem->job->transport), &d->copying->comm));
  return OSLA_OK;
}

void jacobi_copying_teardown(jacobi_data *d)
{
  if (!d->copying) return;
  if (d->copying->comm != MPI_COMM_NULL) (void)MPI_Comm_free(&d->copying->comm);
  free(d->copying);
  d->copying = NULL;
}

static double local_residual2(const jacobi_data *d, const jacobi_grid *g)
{
  const double since = osla_clock();
  double sum = 0.0;
  for (int64_t k = 0; k < g->count[2]; k++)
    for (int64_t j = 0; j < g->count[1]; j++) {
      const jacobi_row row = jacobi_row_at(g, d->x, j, k);
      sum += jacobi_row_residual2(g->count[0], &row);
    }
  jacobi_delay(d->problem, since);
  return sum;
}

static osla_err begin_sum(const jacobi_data *d, const jacobi_grid *g)
{
  struct jacobi_copying *c = d->copying;
  c->mine = local_residual2(d, g);
  c->begun++;
  OSLA_MPI(MPI_Iallreduce(&c->mine, &c->all, 1, MPI_DOUBLE, MPI_SUM, c->comm, &c->request));
  return OSLA_OK;
}

/* Computes the sum of the residuals in those sweeps that need it. No caller uses the sum, since
 * the number of sweeps is fixed. */
static osla_err update_residual(const jacobi_data *d, const jacobi_grid *g, int64_t k)
{
  struct jacobi_copying *c = d->copying;
  if (d->mode == OSLA_ITERATE_SYNC) {
    if (k % RESIDUAL_PERIOD != 0) return OSLA_OK;
    c->mine = local_residual2(d, g);
    OSLA_MPI(MPI_Allreduce(&c->mine, &c->all, 1, MPI_DOUBLE, MPI_SUM, c->comm));
    return OSLA_OK;
  }
  int done = 1;
  if (k == 0) c->begun = 0;
  if (c->request != MPI_REQUEST_NULL) OSLA_MPI(MPI_Test(&c->request, &done, MPI_STATUS_IGNORE));
  return done ? begin_sum(d, g) : OSLA_OK;
}

osla_err jacobi_copying_step(jacobi_data *d, int64_t k)
{
  const jacobi_grid g = jacobi_grid_of(d->problem);
  OSLA_CALL(update_residual(d, &g, k));
  const double since = osla_clock();
  for (int64_t z = 0; z < g.count[2]; z++)
    for (int64_t y = 0; y < g.count[1]; y++) {
      const jacobi_row row = jacobi_row_at(&g, d->x, y, z);
      jacobi_row_new(g.count[0], &row, d->spare + jacobi_row_offset(&g, y, z));
    }
  for (int64_t z = 0; z < g.count[2]; z++)
    for (int64_t y = 0; y < g.count[1]; y++) {
      const int64_t at = jacobi_row_offset(&g, y, z);
      memcpy(d->x + at, d->spare + at, (size_t)g.count[0] * sizeof *d->x);
    }
  jacobi_delay(d->problem, since);
  return OSLA_OK;
}

/* Completes all sums that were begun. Each sum needs all ranks, so no rank is more than one sum
 * ahead; a rank that is one sum behind begins that sum. */
osla_err jacobi_copying_end(jacobi_data *d)
{
  struct jacobi_copying *c = d->copying;
  const jacobi_grid g = jacobi_grid_of(d->problem);
  int64_t most = c->begun;
  OSLA_CALL(osla_allreduce(d->problem->job->transport, &most, 1, MPI_INT64_T, MPI_MAX));
  OSLA_MPI(MPI_Wait(&c->request, MPI_STATUS_IGNORE));
  if (c->begun < most) OSLA_CALL(begin_sum(d, &g));
  OSLA_MPI(MPI_Wait(&c->request, MPI_STATUS_IGNORE));
  return OSLA_OK;
}
