/* CG on a device: Nocedal and Wright, Numerical Optimization, 2nd ed., Springer 2006, algorithm
 * 5.2. Its residual is r = A x - b, so x and r change by the same positive alpha, and no kernel
 * needs the negative of a scalar:
 *
 *   r = A x - b, p = -r;  alpha = r^T r / p^T A p;  x += alpha p;  r += alpha A p;
 *   beta = r^T r (new) / r^T r (old);  p = beta p - r
 *
 * All scalars stay on the device for a group of `every` iterations, whose inner products lie in one
 * array. The devices of a node sum them over the ranks (device_sums.c). The host copies the array
 * at the end of the group, so it reads once in each group (CGAsync in Zhang et al., The PetscSF
 * Scalable Communication Layer, IEEE TPDS 2022, section 5.3). If a number of the group is not
 * positive or not finite, all ranks restore x, r and p, and repeat the iterations one by one. So
 * the solver ends at the iteration at which CG in host memory would end.
 *
 * In groups of one iteration, on several nodes, and with a caller's operator on several ranks, the
 * host reads each inner product and sums it over the ranks. */
#include "kernels/sparse/csr.h"
#include "kernels/sparse/krylov.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

typedef struct cg {
  krylov *k;
  int64_t n;     /* number of elements of x on this rank */
  int64_t every; /* number of iterations in a group */
  /* true if the host reads each inner product before the next step; false if it reads them at the
   * end of a group */
  bool by_one;
  device_sums *sums; /* state of sums over ranks by devices; NULL if no group needs these sums */
  double *x, *r, *p, *ap;
  void *shared; /* memory of p, if other ranks read it in place; otherwise NULL */
  /* copies of x, r and p at the beginning of a group; NULL if each group has one iteration */
  double *saved;
  double *alpha, *beta;
  /* inner products in device memory: r^T r at the beginning of the group and after each of its
   * iterations (every + 1 numbers), then p^T A p of each iteration (`every` numbers) */
  double *rr;
  double *rr_host; /* copy of the array `rr` in host memory */
} cg;

static double *pap_of(const cg *c, double *rr)
{
  return rr + c->every + 1;
}

/* Queues work on the device. If it fails, this function does not return the error, because the
 * other ranks would wait for this rank. The next call in which all ranks agree on errors reports
 * it. */
static void queue_work(device_work w)
{
  w.dtype = OSLA_DOUBLE;
  osli_device_keep_error(osli_device_submit(&w));
}

static void queue_vectors(const cg *c, device_work_kind kind, double alpha, const double *a,
                          const double *b, double *y)
{
  if (c->n == 0) return;
  queue_work((device_work){.kind = kind, .m = c->n, .alpha = alpha, .a = a, .b = b, .c = y});
}

static void divide(const double *a, const double *b, double *quotient)
{
  queue_work((device_work){.kind = DEVICE_DIVIDE, .m = 1, .a = a, .b = b, .c = quotient});
}

static void copy(int64_t n, const double *from, double *to)
{
  osli_device_copy_bytes((size_t)n * sizeof *from, from, to);
}

/* Replaces a number in device memory by its sum over all ranks, and sets *sum to this sum. */
static osla_err sum_ranks(cg *c, double *number, double *sum)
{
  *sum = NAN;
  copy(1, number, sum);
  if (osla_transport_size(c->k->a->transport) == 1) return OSLA_OK;
  OSLA_CALL(osli_krylov_sum(c->k, 1, sum));
  copy(1, sum, number);
  return OSLA_OK;
}

/* Sets *number, which lies in device memory, to x^T y over all ranks. If `sum` is NULL, the devices
 * add the parts of the ranks; otherwise the hosts add them and also set *sum. */
static osla_err dot(cg *c, const double *x, const double *y, double *number, double *sum)
{
  const bool on_devices = c->sums && !sum;
  double *part = on_devices ? osli_device_sums_part(c->sums) : number;
  queue_work((device_work){.kind = DEVICE_DOT, .m = c->n, .a = x, .b = y, .c = part});
  if (on_devices) return osli_device_sums_add(c->sums, number);
  return sum ? sum_ranks(c, number, sum) : OSLA_OK;
}

/* ---- iterations ---- */

/* Makes iteration i of a group. *ended becomes true if the host reads each inner product and p^T A
 * p is not positive, so that A is not positive definite; otherwise it becomes false. */
static osla_err step(cg *c, int64_t i, bool *ended)
{
  double *rr = c->rr + i, *pap = pap_of(c, c->rr) + i;
  double *rr_host = c->rr_host + i, *pap_host = pap_of(c, c->rr_host) + i;
  OSLA_CALL(osli_krylov_multiply(c->k, OSLA_NOTRANS, c->p, 0.0, c->ap));
  OSLA_CALL(dot(c, c->p, c->ap, pap, c->by_one ? pap_host : NULL));
  *ended = c->by_one && *pap_host <= 0.0;
  if (*ended) return OSLA_OK;
  divide(rr, pap, c->alpha);
  queue_vectors(c, DEVICE_AXPY, 0.0, c->p, c->alpha, c->x);
  queue_vectors(c, DEVICE_AXPY, 0.0, c->ap, c->alpha, c->r);
  OSLA_CALL(dot(c, c->r, c->r, rr + 1, c->by_one ? rr_host + 1 : NULL));
  divide(rr + 1, rr, c->beta);
  queue_vectors(c, DEVICE_XPAY, -1.0, c->r, c->beta, c->p);
  return OSLA_OK;
}

/* Copies x, r and p to c->saved, or, if `restores` is true, copies c->saved to x, r and p. */
static void save(const cg *c, bool restores)
{
  double *const vectors[] = {c->x, c->r, c->p};
  for (int i = 0; i < 3; i++) {
    double *saved = c->saved + i * c->n;
    copy(c->n, restores ? saved : vectors[i], restores ? vectors[i] : saved);
  }
}

/* Returns true if the inner products of a group of `steps` iterations are finite, and all those by
 * which an iteration divides are positive. */
static bool is_sound(const cg *c, int64_t steps)
{
  const double *rr = c->rr_host, *pap = pap_of(c, c->rr_host);
  for (int64_t i = 0; i < steps; i++)
    if (!(rr[i] > 0.0 && pap[i] > 0.0 && isfinite(pap[i]) && isfinite(rr[i + 1]))) return false;
  return true;
}

/* Stores the norm of the residual in the result of the solver. Returns this norm divided by the
 * norm of b. rr: square of the norm of the residual. */
static double left(const cg *c, double rr, double b_norm)
{
  c->k->result->residual = sqrt(rr);
  return rr == 0.0 && !isnan(b_norm) ? 0.0 : sqrt(rr) / b_norm;
}

/* Makes a group of iterations without reading from the device, and then reads its inner products.
 * If at least one rank reads a number that is not positive or not finite, all ranks restore the
 * vectors, and the hosts read each inner product from then on. */
static osla_err run_group(cg *c, int64_t steps)
{
  bool ended;
  save(c, false);
  for (int64_t i = 0; i < steps; i++)
    OSLA_CALL(step(c, i, &ended));
  for (int64_t i = 1; i < 2 * c->every + 1; i++)
    c->rr_host[i] = NAN;
  copy(2 * c->every + 1, c->rr, c->rr_host);
  double n_unsound = is_sound(c, steps) ? 0.0 : 1.0;
  if (c->sums) OSLA_CALL(osli_krylov_sum(c->k, 1, &n_unsound));
  if (n_unsound == 0.0) return OSLA_OK;
  save(c, true);
  c->by_one = true;
  return OSLA_OK;
}

static osla_err iterate(cg *c, double b_norm)
{
  krylov *k = c->k;
  int64_t done = 0;
  bool ended = false;
  while (!osli_krylov_ended(k, done, left(c, c->rr_host[0], b_norm))) {
    const int64_t rest = k->options.iterations - done;
    int64_t steps = rest < c->every ? rest : c->every;
    if (!c->by_one) OSLA_CALL(run_group(c, steps));
    if (c->by_one) {
      steps = 1;
      OSLA_CALL(step(c, 0, &ended));
    }
    if (ended) {
      k->result->end = OSLA_KRYLOV_INDEFINITE;
      return OSLA_OK;
    }
    for (int64_t i = 1; i < steps && k->options.each; i++)
      k->options.each(k->options.arg, done + i, left(c, c->rr_host[i], b_norm));
    c->rr_host[0] = c->rr_host[steps];
    copy(1, c->rr + steps, c->rr);
    done += steps;
  }
  return OSLA_OK;
}

/* ---- begin and end ---- */

/* Sets *count to the number of elements of b, on all ranks, that are not 0. */
static osla_err count_nonzeros(cg *c, const double *b, double *count)
{
  double *host = malloc((size_t)c->n * sizeof *host + 1);
  osla_err err =
    host ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "vector of %" PRId64 " numbers", c->n);
  *count = 0.0;
  if (host) copy(c->n, b, host);
  for (int64_t i = 0; host && i < c->n; i++)
    *count += host[i] != 0.0;
  free(host);
  OSLA_CALL(osla_agree(c->k->a->transport, err));
  return osli_krylov_sum(c->k, 1, count);
}

/* Sets x, which lies in device memory, to 0. */
static osla_err clear(cg *c)
{
  double *zeros = calloc((size_t)c->n + 1, sizeof *zeros);
  osla_err err =
    zeros ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "vector of %" PRId64 " numbers", c->n);
  if (zeros) copy(c->n, zeros, c->x);
  free(zeros);
  return osla_agree(c->k->a->transport, err);
}

/* Computes the norm of b, r = A x - b, and p = -r. *b_norm is NaN if |b|^2 leaves the range of
 * double. */
static osla_err begin(cg *c, const double *b, double *b_norm)
{
  double square, nonzeros = 1.0;
  OSLA_CALL(dot(c, b, b, c->alpha, &square));
  if (square < 0x1p-900) OSLA_CALL(count_nonzeros(c, b, &nonzeros));
  *b_norm = square < 0x1p-900 || !isfinite(square) ? (double)NAN : sqrt(square);
  if (nonzeros == 0.0) { /* b = 0, so the solution is x = 0 */
    *b_norm = 0.0;
    OSLA_CALL(clear(c));
  }
  copy(c->n, b, c->r);
  OSLA_CALL(osli_krylov_multiply(c->k, OSLA_NOTRANS, c->x, -1.0, c->r));
  if (c->n > 0)
    osli_device_keep_error(osli_device_add(OSLA_DOUBLE, c->n, 1, -1, c->r, c->n, 0, c->p, c->n));
  return dot(c, c->r, c->r, c->rr, c->rr_host);
}

static osla_err solve(cg *c, const double *b)
{
  double b_norm, size;
  osla_krylov_result *result = c->k->result;
  OSLA_CALL(begin(c, b, &b_norm));
  OSLA_CALL(iterate(c, b_norm));
  OSLA_CALL(dot(c, c->x, c->x, c->alpha, &size));
  if (!isfinite(size)) result->end = OSLA_KRYLOV_NOT_FINITE;
  return OSLA_OK;
}

/* Allocates the scalars and vectors of the iteration on this rank's device. If shares_p is true,
 * other ranks must read the vector p, so make_shared allocates p instead. Local. */
static osla_err make_vectors(cg *c, device_queue *queue, bool shares_p, double **memory)
{
  const int64_t scalars = 2 * c->every + 3;
  const int64_t vectors = 2 + (shares_p ? 0 : 1) + (c->by_one ? 0 : 3);
  void *on_device = NULL;
  c->rr_host = malloc((size_t)scalars * sizeof *c->rr_host);
  OSLA_CHECK(c->rr_host, OSLA_ERR_MEM, "check_every = %" PRId64 ": no memory", c->every);
  OSLA_CALL(osli_device_alloc(queue, (size_t)(vectors * c->n + scalars) * sizeof(double), false,
                              &on_device));
  *memory = on_device;
  c->r = *memory;
  c->ap = c->r + c->n;
  c->saved = c->by_one ? NULL : c->ap + c->n;
  c->alpha = c->r + vectors * c->n;
  c->beta = c->alpha + 1;
  c->rr = c->beta + 1;
  c->p = c->alpha - c->n; /* p is the last vector; if p is shared, make_shared sets c->p */
  return OSLA_OK;
}

/* Allocates memory that other ranks read in place, for the vector p and for parts of sums.
 * Collective. */
static osla_err make_shared(cg *c, osla_device *device)
{
  OSLA_CALL(osla_vertices_create_on(device, (size_t)c->n * sizeof *c->p, &c->shared));
  c->p = c->shared;
  return c->by_one ? OSLA_OK : osli_device_sums_create(device, &c->sums);
}

static osla_err free_shared(cg *c)
{
  osla_err err = osli_device_sums_destroy(&c->sums);
  return err == OSLA_OK ? osla_vertices_free(c->k->a->transport, &c->shared) : err;
}

osla_err osli_cg_on_device(krylov *k, device_queue *queue, const double *b, double *x)
{
  osla_transport *t = k->a->transport;
  const osla_csr *csr = osli_krylov_csr(k->a);
  const bool alone = osla_transport_size(t) == 1, shares_p = csr && !alone;
  const int64_t most = k->options.iterations > 0 ? k->options.iterations : 1;
  double *memory = NULL;
  cg c = {.k = k, .n = k->a->rows, .x = x, .every = 1};
  if (alone || (csr && osla_transport_n_nodes(t) == 1))
    c.every = k->options.check_every < most ? k->options.check_every : most;
  c.by_one = c.every == 1;
  osla_err err = osla_agree(t, make_vectors(&c, queue, shares_p, &memory));
  if (err == OSLA_OK && shares_p) err = make_shared(&c, osla_csr_device(csr));
  if (err == OSLA_OK) err = osla_agree(t, solve(&c, b));
  const osla_err freed = free_shared(&c);
  osli_device_free(memory);
  free(c.rr_host);
  return err == OSLA_OK ? freed : err;
}
