/* The updates of overhead.py in C: overhead.py loads this library, and calls it between loops of
 * its own. The result is the time in seconds of one osla_hessian_update, in the fastest of
 * `repeats` loops of `calls` calls. `ready` creates an accumulator with the default options of the
 * Python package. Runs on one rank, after the start of MPI. */
#include "osla.h"

#include <stdlib.h>

static osla_transport *transport;
static osla_grid *grid;
static osla_hessian *hessian;

int overhead_ready(int64_t n);
double overhead_of(int64_t count, const int64_t *ix, int64_t k, const double *g, int64_t calls);
double overhead_gemm(int64_t n);
double overhead_getrf(int64_t n);
void overhead_end(void);

int overhead_ready(int64_t n)
{
  if (osla_transport_create(MPI_COMM_SELF, NULL, &transport) != OSLA_OK) return 1;
  if (osla_grid_create(transport, 0, 0, &grid) != OSLA_OK) return 1;
  return osla_hessian_create(grid, n, NULL, &hessian) != OSLA_OK;
}

double overhead_of(int64_t count, const int64_t *ix, int64_t k, const double *g, int64_t calls)
{
  double since = osla_clock();
  for (int64_t i = 0; i < calls; i++)
    if (osla_hessian_update(hessian, count, ix, k, g, k > 0 ? k : 1) != OSLA_OK) return -1;
  return (osla_clock() - since) / (double)calls;
}

/* Seconds of a product C := A B, or of an LU factorisation, in blocks of 128; -1 if a call failed.
 */
double overhead_gemm(int64_t n)
{
  osla_matrix *m[3] = {NULL, NULL, NULL};
  osla_err err = OSLA_OK;
  for (int i = 0; i < 3 && err == OSLA_OK; i++) {
    err = osla_matrix_create(grid, OSLA_DOUBLE, n, n, 128, 128, &m[i]);
    if (err == OSLA_OK) err = osla_matrix_fill(m[i], OSLA_FILL_UNIFORM, 1);
  }
  double since = osla_clock();
  if (err == OSLA_OK)
    err = osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, 1, osla_whole(m[0]), osla_whole(m[1]), 0,
                    osla_whole(m[2]), NULL);
  double seconds = osla_clock() - since;
  for (int i = 0; i < 3; i++)
    osla_matrix_destroy(&m[i]);
  return err == OSLA_OK ? seconds : -1;
}

double overhead_getrf(int64_t n)
{
  osla_matrix *a = NULL;
  osla_lu_result result;
  int64_t *ipiv = calloc((size_t)n, sizeof *ipiv);
  osla_err err = osla_matrix_create(grid, OSLA_DOUBLE, n, n, 128, 128, &a);
  if (err == OSLA_OK) err = osla_matrix_fill(a, OSLA_FILL_UNIFORM, 1);
  double since = osla_clock();
  if (err == OSLA_OK) err = osla_getrf(a, ipiv, NULL, &result);
  double seconds = osla_clock() - since;
  osla_matrix_destroy(&a);
  free(ipiv);
  return err == OSLA_OK ? seconds : -1;
}

void overhead_end(void)
{
  osla_hessian_destroy(&hessian);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&transport);
}
