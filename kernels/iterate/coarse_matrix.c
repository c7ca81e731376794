/* The matrix C = R A P of a coarse level (osla_coarse.h). Element (p, q) of C is minus the
 * restricted residual of rank p for b = 0 and x = P e_q, where e_q is 1 for rank q and 0 for the
 * other ranks. Rank p computes its row of C from its own elements of P and from the halos that
 * its neighbours send once. Rank 0 inverts C and sends each rank its row of the inverse. */
#include "kernels/iterate/coarse.h"
#include "kernels/iterate/iterate.h"
#include "osla_blas.h"
#include "src/transport/transport_ops.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* largest accepted difference between C(p, q) and C(q, p), relative to the diagonal; the two
 * elements may differ because each is a sum over many rows of A, added in a different order */
static const double ASYMMETRY = 1e-10;

osla_err osli_coarse_send(const osla_iteration *it, struct coarse *c, const double *x)
{
  for (int h = 0; h < it->p.n_halos; h++) {
    double *message = osla_channel_buffer(c->set, h);
    OSLA_CHECK(message, OSLA_ERR_MPI, "halo %d of a coarse level", h);
    const double since = osla_trace_now(it->t);
    it->p.pack(it->p.arg, h, x, message);
    osla_trace_add(it->t, OSLA_TRACE_PACK, since, (double)it->p.halos[h].send * sizeof *x);
    OSLA_CALL(osla_channel_send(c->set, h, 0));
  }
  return OSLA_OK;
}

static void clear_state(const osla_iteration *it, struct coarse *c)
{
  for (int64_t i = 0; i < it->p.length; i++)
    c->x[i] = 0.0;
}

/* Sets `row` to this rank's row of C. If this rank owns no elements of x, its diagonal element
 * is 1. Collective. */
static osla_err find_row(const osla_iteration *it, struct coarse *c, double *row)
{
  const int rank = osla_transport_rank(it->t), n = it->p.n_halos;
  clear_state(it, c);
  row[rank] = 1.0;
  if (it->p.length > 0) {
    c->p.prolong(c->p.arg, 1.0, c->x);
    row[rank] = -c->p.restrict_residual(c->p.arg, true, c->x);
  }
  OSLA_CALL(osli_coarse_send(it, c, c->x));
  osla_channels_wait(c->set, n, c->numbers, true);
  for (int h = 0; h < n; h++) {
    const void *message;
    OSLA_CALL(osla_channel_recv(c->set, h, &message, NULL));
    clear_state(it, c);
    it->p.unpack(it->p.arg, h, message, c->x);
    row[it->p.halos[h].peer] -= c->p.restrict_residual(c->p.arg, true, c->x);
  }
  return OSLA_OK;
}

static osla_err check_matrix(int64_t n, const double *a)
{
  for (int64_t i = 0; i < n; i++)
    OSLA_CHECK(a[i + i * n] > 0.0 && isfinite(a[i + i * n]), OSLA_ERR_ARG,
               "coarse level: the matrix is not symmetric positive definite: its coarse element of "
               "rank %" PRId64 " is %g (leave out the coarse level)",
               i, a[i + i * n]);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = j + 1; i < n; i++) {
      const double low = a[i + j * n], high = a[j + i * n];
      OSLA_CHECK(fabs(low - high) <= ASYMMETRY * sqrt(a[i + i * n]) * sqrt(a[j + j * n]),
                 OSLA_ERR_ARG,
                 "coarse level: the matrix is not symmetric: its coarse elements of ranks %" PRId64
                 " and %" PRId64 " are %g and %g (leave out the coarse level)",
                 i, j, low, high);
    }
  return OSLA_OK;
}

/* Overwrites the n x n matrix `a` by its inverse. */
static osla_err invert(int64_t n, double *a)
{
  int64_t info;
  OSLA_CALL(check_matrix(n, a));
  OSLA_CALL(osla_lapack_potrf(OSLA_DOUBLE, OSLA_LOWER, n, a, n, &info));
  OSLA_CHECK(info == 0, OSLA_ERR_ARG,
             "coarse level: the matrix is not positive definite: leading minor %" PRId64
             " of its coarse matrix (leave out the coarse level)",
             info);
  OSLA_CALL(osla_lapack_potri(OSLA_DOUBLE, OSLA_LOWER, n, a, n, &info));
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = j + 1; i < n; i++)
      a[j + i * n] = a[i + j * n];
  return OSLA_OK;
}

/* Gathers the rows of C from all ranks in `all` [n x n] on rank 0. `all` is used only there.
 * Collective. */
static osla_err gather_rows(const osla_iteration *it, const double *row, double *all)
{
  const int n = osla_transport_size(it->t), bytes = n * (int)sizeof *row;
  if (osla_transport_rank(it->t) != 0) return osli_send(it->t, 0, row, bytes);
  memcpy(all, row, (size_t)bytes);
  for (int p = 1; p < n; p++)
    OSLA_CALL(osli_receive(it->t, p, all + (size_t)p * (size_t)n, bytes));
  return OSLA_OK;
}

static osla_err scatter_rows(const osla_iteration *it, double *row, const double *all)
{
  const int n = osla_transport_size(it->t), bytes = n * (int)sizeof *row;
  if (osla_transport_rank(it->t) != 0) return osli_receive(it->t, 0, row, bytes);
  memcpy(row, all, (size_t)bytes);
  for (int p = 1; p < n; p++)
    OSLA_CALL(osli_send(it->t, p, all + (size_t)p * (size_t)n, bytes));
  return OSLA_OK;
}

osla_err osli_coarse_invert(const osla_iteration *it, struct coarse *c, double damping)
{
  const size_t n = (size_t)osla_transport_size(it->t);
  double *all = osla_transport_rank(it->t) == 0 ? malloc(n * n * sizeof *all) : NULL;
  osla_err err = OSLA_OK;
  if (osla_transport_rank(it->t) == 0 && !all)
    err = osla_error_set(OSLA_ERR_MEM, "no memory for a coarse matrix of order %zu", n);
  err = osla_agree(it->t, err);
  if (err == OSLA_OK) err = osla_agree(it->t, find_row(it, c, c->inverse));
  if (err == OSLA_OK) err = osla_agree(it->t, gather_rows(it, c->inverse, all));
  if (err == OSLA_OK) err = osla_agree(it->t, all ? invert((int64_t)n, all) : OSLA_OK);
  if (err == OSLA_OK) err = osla_agree(it->t, scatter_rows(it, c->inverse, all));
  for (size_t p = 0; err == OSLA_OK && p < n; p++)
    c->inverse[p] *= damping;
  free(all);
  return err;
}
