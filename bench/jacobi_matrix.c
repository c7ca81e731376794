/* The diffusion problem as a sparse matrix, for solvers that need one. Ranks own the rows of their
 * points, in the order of ranks. See bench_jacobi.h. */
#include "bench/bench_jacobi.h"

#include <stdlib.h>
#include <string.h>

enum { FACES = 6, ENTRIES = 1 + FACES };

/* This rank's rows, as arguments of osla_csr_create. */
typedef struct lists {
  int64_t *start, *first, *column; /* [size + 1], [rows + 1] and [ENTRIES * rows] elements */
  double *value;                   /* [ENTRIES * rows] values of the matrix entries */
} lists;

static osla_err block_starts(bench_job *job, int64_t rows, int64_t *start)
{
  memset(start, 0, ((size_t)job->size + 1) * sizeof *start);
  start[job->rank + 1] = rows;
  OSLA_CALL(osla_allreduce(job->transport, start, job->size + 1, MPI_INT64_T, MPI_SUM));
  for (int rank = 0; rank < job->size; rank++)
    start[rank + 1] += start[rank];
  return OSLA_OK;
}

/* Copies the neighbours' values into the halos of x. messages: memory for all sent and received
 * halos. */
static osla_err exchange(MPI_Comm comm, const osla_fixed_point *p, double *messages, double *x)
{
  MPI_Request requests[2 * FACES];
  MPI_Status statuses[2 * FACES];
  double *message = messages, *came[FACES];
  for (int h = 0; h < p->n_halos; h++) {
    const osla_halo *halo = &p->halos[h];
    p->pack(p->arg, h, x, message);
    OSLA_MPI(MPI_Isend(message, (int)halo->send, MPI_DOUBLE, halo->peer, halo->tag, comm,
                       &requests[2 * h]));
    message += halo->send;
    came[h] = message;
    OSLA_MPI(MPI_Irecv(message, (int)halo->recv, MPI_DOUBLE, halo->peer, halo->tag, comm,
                       &requests[2 * h + 1]));
    message += halo->recv;
  }
  OSLA_MPI(MPI_Waitall(2 * p->n_halos, requests, statuses));
  for (int h = 0; h < p->n_halos; h++)
    p->unpack(p->arg, h, came[h], x);
  return OSLA_OK;
}

/* Writes the number of each point into x. Points of this rank are numbered from `first`, halos get
 * the neighbours' numbers, and boundaries get -1. Doubles hold the numbers exactly. */
static osla_err number_points(const jacobi_problem *problem, int64_t first, double *x)
{
  bench_job *job = problem->job;
  const osla_fixed_point *p = &problem->inner;
  const jacobi_grid g = jacobi_grid_of(problem);
  int64_t numbers = 0;
  void *messages;
  MPI_Comm comm;
  for (int64_t i = 0; i < p->length; i++)
    x[i] = -1.0;
  for (int64_t k = 0; k < g.count[2]; k++)
    for (int64_t j = 0; j < g.count[1]; j++)
      for (int64_t i = 0; i < g.count[0]; i++)
        x[jacobi_row_offset(&g, j, k) + i] = (double)first++;
  for (int h = 0; h < p->n_halos; h++)
    numbers += p->halos[h].send + p->halos[h].recv;
  OSLA_CALL(bench_alloc(job, (uint64_t)numbers * sizeof(double), &messages));
  osla_err err = MPI_Comm_dup(osla_transport_comm(job->transport), &comm) == MPI_SUCCESS
                   ? OSLA_OK
                   : osla_error_set(OSLA_ERR_MPI, "a communicator for the matrix");
  if (err == OSLA_OK) {
    err = exchange(comm, p, messages, x);
    (void)MPI_Comm_free(&comm);
  }
  free(messages);
  return err;
}

static void list_rows(const jacobi_grid *g, const double *number, lists *l)
{
  const int64_t step[FACES] = {-1, 1, -g->row, g->row, -g->plane, g->plane};
  int64_t row = 0, entry = 0;
  for (int64_t k = 0; k < g->count[2]; k++)
    for (int64_t j = 0; j < g->count[1]; j++)
      for (int64_t i = 0; i < g->count[0]; i++) {
        const double *at = number + jacobi_row_offset(g, j, k) + i;
        l->column[entry] = (int64_t)*at;
        l->value[entry++] = 6.0;
        for (int f = 0; f < FACES; f++) {
          if (at[step[f]] < 0.0) continue;
          l->column[entry] = (int64_t)at[step[f]];
          l->value[entry++] = -1.0;
        }
        l->first[++row] = entry;
      }
}

osla_err jacobi_matrix_create(const jacobi_problem *problem, double *scratch, osla_csr **out)
{
  bench_job *job = problem->job;
  const jacobi_grid grid = jacobi_grid_of(problem);
  const int64_t rows = jacobi_grid_points(&grid);
  const uint64_t bytes = sizeof(int64_t), entries = ENTRIES * (uint64_t)rows;
  void *start = NULL, *first = NULL, *column = NULL, *value = NULL;
  osla_err err;
  *out = NULL;
  OSLA_TRY(bench_alloc(job, ((uint64_t)job->size + 1) * bytes, &start));
  OSLA_TRY(bench_alloc(job, ((uint64_t)rows + 1) * bytes, &first));
  OSLA_TRY(bench_alloc(job, entries * bytes, &column));
  OSLA_TRY(bench_alloc(job, entries * sizeof(double), &value));
  lists l = {start, first, column, value};
  OSLA_TRY(block_starts(job, rows, l.start));
  OSLA_TRY(number_points(problem, l.start[job->rank], scratch));
  list_rows(&grid, scratch, &l);
  OSLA_TRY(osla_csr_create(job->transport, l.start, l.start, l.first, l.column, l.value, out));
cleanup:
  free(start);
  free(first);
  free(column);
  free(value);
  return err;
}
