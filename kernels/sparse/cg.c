/* Preconditioned conjugate gradients: Saad (2003), algorithm 9.1. An iteration takes one product
 * with A and two sums over the ranks (p^T A p; r^T z together with r^T r). Vectors: p, r, z, A p.
 * Flexible variant: Notay (2000), FCG(1); it needs no further vector, because r - r_old equals
 * -alpha A p.
 *
 * Range of double: r and |b| are multiplied by 2^-exponent, so that the larger one is about 1 at
 * the start; p is multiplied by p_unit, so that it is about as long as r; A is multiplied by a_unit
 * and M by m_unit. All these factors are powers of two. Only x is not scaled. */
#include "kernels/sparse/krylov.h"

#include <inttypes.h>
#include <math.h>

typedef struct cg {
  krylov k;
  const osla_preconditioner *m;
  int64_t n;
  double *p;  /* search direction */
  double *r;  /* residual b - A x */
  double *z;  /* preconditioned residual M r; equal to r if there is no preconditioner */
  double *ap; /* product A p */
  bool flexible;
  double b_norm; /* norm of b */
  double rz;     /* r^T z, summed over all ranks */
  double rr;     /* r^T r, summed over all ranks */
  double zap;    /* z^T A p, summed over all ranks; only for the flexible variant */
  double a_unit; /* factor by which A is multiplied; a power of two, usually 1 */
  double m_unit; /* factor by which M is multiplied; a power of two, usually 1 */
  double p_unit;
  int exponent;
} cg;

/* Computes z := M r and the sums r^T r and r^T z; for the flexible variant also z^T A p. */
static osla_err precondition(cg *c)
{
  double sum[3];
  if (c->m) {
    osli_krylov_scale(c->n, c->r, c->m_unit, 0);
    OSLA_CALL(c->m->apply(c->m->arg, c->r, c->z));
    osli_krylov_scale(c->n, c->r, 1.0 / c->m_unit, 0);
  }
  sum[0] = osla_dot_local(c->n, c->r, c->r);
  sum[1] = c->m ? osla_dot_local(c->n, c->r, c->z) : 0.0;
  sum[2] = c->flexible ? osla_dot_local(c->n, c->z, c->ap) : 0.0;
  OSLA_CALL(osli_krylov_sum(&c->k, c->flexible ? 3 : c->m ? 2 : 1, sum));
  c->rr = sum[0];
  c->rz = c->m ? sum[1] : sum[0];
  c->zap = sum[2];
  return OSLA_OK;
}

/* Computes the residual r and the norm |b|, both multiplied by 2^-exponent. */
static osla_err first_residual(cg *c, const double *b, double *x)
{
  int of_b, of_r;
  double b_value, r_value;
  OSLA_CALL(osli_krylov_norm(&c->k, c->n, b, &b_value, &of_b));
  for (int64_t i = 0; b_value == 0.0 && i < c->n; i++)
    x[i] = 0.0; /* if b = 0, this x is the solution */
  for (int64_t i = 0; i < c->n; i++)
    c->p[i] = x[i];
  OSLA_CALL(osli_krylov_multiply(&c->k, OSLA_NOTRANS, c->p, 0.0, c->ap));
  for (int64_t i = 0; i < c->n; i++)
    c->r[i] = b[i] - c->ap[i];
  OSLA_CALL(osli_krylov_norm(&c->k, c->n, c->r, &r_value, &of_r));
  c->exponent = r_value == 0.0 || of_b > of_r ? of_b : of_r;
  c->b_norm = ldexp(b_value, of_b - c->exponent);
  osli_krylov_scale(c->n, c->r, 1.0, -c->exponent);
  return OSLA_OK;
}

/* Computes the first residual and the first direction. The first z shows the size of M. If M is so
 * large or small that m_unit must differ from 1, z is computed again. */
static osla_err begin(cg *c, const double *b, double *x)
{
  OSLA_CALL(first_residual(c, b, x));
  c->a_unit = c->m_unit = c->p_unit = 1.0;
  OSLA_CALL(precondition(c));
  if (c->m && c->rr > 0.0) {
    c->m_unit = osli_krylov_unit(fabs(c->rz / c->rr));
    if (c->m_unit != 1.0) OSLA_CALL(precondition(c));
    const double size = c->rz / c->rr;
    if (isnormal(size)) c->p_unit = ldexp(1.0, -ilogb(size));
  }
  for (int64_t i = 0; i < c->n; i++)
    c->p[i] = c->p_unit * c->z[i];
  return OSLA_OK;
}

/* Computes ap := A p and *pap := p^T A p. */
static osla_err multiply(cg *c, double *pap)
{
  osli_krylov_scale(c->n, c->p, c->a_unit, 0);
  OSLA_CALL(osli_krylov_multiply(&c->k, OSLA_NOTRANS, c->p, 0.0, c->ap));
  osli_krylov_scale(c->n, c->p, 1.0 / c->a_unit, 0);
  *pap = osla_dot_local(c->n, c->p, c->ap);
  return osli_krylov_sum(&c->k, 1, pap);
}

/* Computes the first product, when p is about as long as r. The product shows the size of A. If A
 * is so large or small that a_unit must differ from 1, the product is computed again. */
static osla_err first_multiply(cg *c, double *pap)
{
  OSLA_CALL(multiply(c, pap));
  c->a_unit = osli_krylov_unit(fabs(*pap / c->rr));
  return c->a_unit == 1.0 ? OSLA_OK : multiply(c, pap);
}

/* Makes one step along p and computes the next p. *ended is set if A or M is not positive
 * definite. */
static osla_err step(cg *c, bool is_first, double *x, bool *ended)
{
  const double rz = c->rz, p_unit = c->p_unit;
  double pap;
  OSLA_CALL(is_first ? first_multiply(c, &pap) : multiply(c, &pap));
  *ended = pap <= 0.0 || rz <= 0.0;
  if (*ended) return OSLA_OK;
  const double alpha = p_unit * rz / pap;
  const double alpha_x = ldexp(alpha, c->exponent + ilogb(c->a_unit));
  for (int64_t i = 0; i < c->n; i++) {
    x[i] += alpha_x * c->p[i];
    c->r[i] -= alpha * c->ap[i];
  }
  OSLA_CALL(precondition(c));
  const double beta = c->flexible ? -p_unit * c->zap / pap : c->rz / rz;
  for (int64_t i = 0; i < c->n; i++)
    c->p[i] = p_unit * c->z[i] + beta * c->p[i];
  krylov_charge_cg(c->n, c->m != NULL);
  return OSLA_OK;
}

/* Returns the relative residual |r| / |b|. */
static double left(const cg *c)
{
  const double r_norm = sqrt(c->rr);
  c->k.result->residual = ldexp(r_norm, c->exponent);
  return r_norm == 0.0 ? 0.0 : r_norm / c->b_norm;
}

static osla_err iterate(cg *c, const double *b, double *x)
{
  bool ended = false;
  OSLA_CALL(begin(c, b, x));
  for (int64_t i = 0; !osli_krylov_ended(&c->k, i, left(c)); i++) {
    OSLA_CALL(step(c, i == 0, x, &ended));
    if (!ended) continue;
    c->k.result->end = OSLA_KRYLOV_INDEFINITE;
    return OSLA_OK;
  }
  return osli_krylov_check_range(&c->k, c->n, x);
}

/* Checks the sizes of the operator and the preconditioner. The size of a caller's own
 * preconditioner is not known. */
static osla_err check(const osla_operator *a, const osla_preconditioner *m)
{
  OSLA_CHECK(a->rows == a->columns, OSLA_ERR_ARG,
             "CG: the operator has %" PRId64 " rows and %" PRId64
             " columns on a rank, not equally many",
             a->rows, a->columns);
  const bool known = m && m->apply == osli_krylov_precondition;
  const int64_t rows = known ? ((const own_preconditioner *)m->arg)->rows : a->rows;
  OSLA_CHECK(rows == a->rows, OSLA_ERR_ARG,
             "CG: the preconditioner has %" PRId64 " rows on a rank, the operator %" PRId64, rows,
             a->rows);
  return OSLA_OK;
}

osla_err osla_cg(const osla_operator *a, const osla_preconditioner *m, const double *b, double *x,
                 const osla_krylov_options *options, osla_krylov_result *result)
{
  cg c = {.m = m, .n = a->rows};
  device_queue *queue;
  osla_err err = osli_krylov_device("osla_cg", a, b, x, &queue);
  if (err == OSLA_OK) err = check(a, m);
  if (err == OSLA_OK && m && queue) err = osli_device_refuse("osla_cg with a preconditioner");
  const osla_argument same[] = {{"a preconditioner", m != NULL},
                                {"flexible", options && options->flexible},
                                {"vectors on a device (1: yes)", queue != NULL}};
  OSLA_CALL(osla_agree_same(a->transport, err, "osla_cg", same, 3));
  OSLA_CALL(
    osli_krylov_open("osla_cg", a, options, queue ? 0 : 3 * c.n, queue ? 0 : c.n, result, &c.k));
  if (queue) return osli_krylov_close(&c.k, osli_cg_on_device(&c.k, queue, b, x));
  c.flexible = m && c.k.options.flexible;
  c.p = c.k.shared;
  c.r = c.k.own;
  c.ap = c.r + c.n;
  c.z = m ? c.ap + c.n : c.r;
  return osli_krylov_close(&c.k, iterate(&c, b, x));
}
