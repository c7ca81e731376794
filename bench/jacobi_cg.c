/* Reference implementation `cg`: CG on the matrix of the diffusion problem, stored in memory. It
 * solves A d = b - A x0 for d = x - x0, so that only the right-hand side has boundary values, and
 * its criterion |r| <= tolerance |right-hand side| is that of Jacobi's method. */
#include "bench/bench_jacobi.h"
#include "osla_krylov.h"

#include <stdlib.h>
#include <string.h>

enum { FACES = 6, ENTRIES = 1 + FACES };

struct jacobi_cg {
  osla_csr *a;
  jacobi_grid grid;
  int64_t rows;
  double *b,     /* [rows] right-hand side */
    *correction; /* [rows] difference of the solution and the initial guess */
  osla_krylov_result result;
};

/* This rank's rows, as arguments of osla_csr_create. */
typedef struct lists {
  int64_t *start, *first, *column; /* [size + 1], [rows + 1] and [ENTRIES * rows] elements */
  double *value;                   /* [ENTRIES * rows] values of the matrix entries */
} lists;

/* ---- the matrix ---- */

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
static osla_err number_points(jacobi_data *d, int64_t first, double *x)
{
  bench_job *job = d->problem->job;
  const osla_fixed_point *p = &d->problem->inner;
  const jacobi_grid *g = &d->cg->grid;
  int64_t numbers = 0;
  void *messages;
  MPI_Comm comm;
  for (int64_t i = 0; i < p->length; i++)
    x[i] = -1.0;
  for (int64_t k = 0; k < g->count[2]; k++)
    for (int64_t j = 0; j < g->count[1]; j++)
      for (int64_t i = 0; i < g->count[0]; i++)
        x[jacobi_row_offset(g, j, k) + i] = (double)first++;
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

static osla_err make_matrix(jacobi_data *d)
{
  struct jacobi_cg *cg = d->cg;
  bench_job *job = d->problem->job;
  const uint64_t bytes = sizeof(int64_t), entries = ENTRIES * (uint64_t)cg->rows;
  void *start = NULL, *first = NULL, *column = NULL, *value = NULL;
  osla_err err;
  OSLA_TRY(bench_alloc(job, ((uint64_t)job->size + 1) * bytes, &start));
  OSLA_TRY(bench_alloc(job, ((uint64_t)cg->rows + 1) * bytes, &first));
  OSLA_TRY(bench_alloc(job, entries * bytes, &column));
  OSLA_TRY(bench_alloc(job, entries * sizeof(double), &value));
  lists l = {start, first, column, value};
  OSLA_TRY(block_starts(job, cg->rows, l.start));
  OSLA_TRY(number_points(d, l.start[job->rank], d->x));
  list_rows(&cg->grid, d->x, &l);
  OSLA_TRY(osla_csr_create(job->transport, l.start, l.start, l.first, l.column, l.value, &cg->a));
cleanup:
  free(start);
  free(first);
  free(column);
  free(value);
  return err;
}

osla_err jacobi_cg_setup(void *data)
{
  jacobi_data *d = data;
  bench_job *job = d->problem->job;
  void *memory;
  OSLA_CALL(bench_alloc(job, sizeof *d->cg, &memory));
  d->cg = memory;
  d->cg->grid = jacobi_grid_of(d->problem);
  const int64_t *count = d->cg->grid.count;
  d->cg->rows = count[0] * count[1] * count[2];
  OSLA_CALL(bench_alloc(job, (uint64_t)d->cg->rows * sizeof(double), &memory));
  d->cg->b = memory;
  OSLA_CALL(bench_alloc(job, (uint64_t)d->cg->rows * sizeof(double), &memory));
  d->cg->correction = memory;
  return make_matrix(d);
}

void jacobi_cg_teardown(jacobi_data *d)
{
  if (!d->cg) return;
  (void)osla_csr_destroy(&d->cg->a);
  free(d->cg->b);
  free(d->cg->correction);
  free(d->cg);
  d->cg = NULL;
}

/* ---- the solve ---- */

/* r := b - A x, which equals 6 times the change of x in a sweep */
static void residual_of(const jacobi_data *d, double *r)
{
  const osla_fixed_point *p = &d->problem->inner;
  const jacobi_grid *g = &d->cg->grid;
  if (d->cg->rows > 0) (void)p->sweep(p->arg, 1.0, d->x, d->spare);
  for (int64_t k = 0; k < g->count[2]; k++)
    for (int64_t j = 0; j < g->count[1]; j++) {
      const int64_t at = jacobi_row_offset(g, j, k);
      for (int64_t i = 0; i < g->count[0]; i++)
        *r++ = 6.0 * (d->spare[at + i] - d->x[at + i]);
    }
}

static void add(const jacobi_data *d, const double *correction)
{
  const jacobi_grid *g = &d->cg->grid;
  for (int64_t k = 0; k < g->count[2]; k++)
    for (int64_t j = 0; j < g->count[1]; j++)
      for (int64_t i = 0; i < g->count[0]; i++)
        d->x[jacobi_row_offset(g, j, k) + i] += *correction++;
}

osla_err jacobi_cg_run(void *data)
{
  jacobi_data *d = data;
  struct jacobi_cg *cg = d->cg;
  osla_krylov_options o = {0};
  const osla_operator a = osla_csr_operator(cg->a);
  o.tolerance = d->problem->job->settings->tolerance;
  o.iterations = INT64_C(1) << 30;
  residual_of(d, cg->b);
  memset(cg->correction, 0, (size_t)cg->rows * sizeof(double));
  OSLA_CALL(osla_cg(&a, NULL, cg->b, cg->correction, &o, &cg->result));
  add(d, cg->correction);
  return OSLA_OK;
}

int64_t jacobi_cg_iterations(const jacobi_data *d)
{
  return d->cg->result.iterations;
}
