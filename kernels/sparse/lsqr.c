/* LSQR: Paige and Saunders (1982), section 4, with damping as in section 2 and the stopping rules
 * of section 6. It uses the bidiagonalization of Golub and Kahan, beta u = A S v - alpha u, alpha v
 * = S A^T u - beta v (S: scale), and one plane rotation per iteration. An iteration takes one
 * product with A, one product with A^T, and two sums over the ranks. Vectors: v, w, S v and A^T u
 * have the length of a row of A; u has the length of a column.
 *
 * Range of double: b is multiplied by 2^-exponent, so that |b| is about 1; A and the damping are
 * multiplied by `unit`. Section 6 of the paper stores the squares of |A|, |x| and |r|; this code
 * stores |A|, |x| and |r|. */
#include "kernels/sparse/krylov.h"

#include <math.h>
#include <string.h>

#include "src/base/double_bits.h"

typedef struct lsqr {
  krylov k;
  int64_t m, n;
  const double *scale;
  double *u, *v, *w, *at_u;
  double alpha, beta, damping;
  /* rho-bar of Paige and Saunders: last diagonal element of the bidiagonal matrix before the next
   * plane rotation */
  double rho_bar;
  /* phi-bar of Paige and Saunders: last element of the right-hand side before the next plane
   * rotation */
  double phi_bar;
  double damped; /* norm of the part of the residual r that damping adds */
  double a_norm; /* estimate of |A| from the iterations so far */
  /* cosine of the latest of the rotations by which section 5.2 of Paige and Saunders (1982)
   * estimates |x| */
  double cs2;
  double sn2;       /* sine of the rotation whose cosine is cs2 */
  double z;         /* latest element of the vector z of section 5.2, whose norm estimates |x| */
  double x_settled; /* estimate of |x / scale| without the latest rotation */
  double x_norm;    /* estimate of |x / scale| with the latest rotation */
  double b_norm;    /* norm of the right-hand side b */
  /* phi of Paige and Saunders after the latest rotation: |A^T r| = alpha phi_rotated */
  double phi_rotated;
  double unit; /* factor for A and the damping; a power of two, usually 1 */
  int exponent;
} lsqr;

/* Computes the norm of x over all ranks as *norm * 2^*exponent, then divides x by its norm. */
static osla_err normalise(lsqr *s, int64_t n, double *x, double *norm, int *exponent)
{
  OSLA_CALL(osli_krylov_norm(&s->k, n, x, norm, exponent));
  osli_krylov_scale(n, x, *norm > 0.0 ? 1.0 / *norm : 0.0, -*exponent);
  return OSLA_OK;
}

static osla_err next_u(lsqr *s)
{
  double *scaled = s->k.shared;
  int exponent;
  for (int64_t j = 0; j < s->n; j++)
    scaled[j] = s->scale ? s->scale[j] * s->v[j] : s->v[j];
  osli_krylov_scale(s->n, scaled, s->unit, 0);
  OSLA_CALL(osli_krylov_multiply(&s->k, OSLA_NOTRANS, scaled, -s->alpha, s->u));
  OSLA_CALL(normalise(s, s->m, s->u, &s->beta, &exponent));
  s->beta = ldexp(s->beta, exponent);
  return OSLA_OK;
}

static osla_err next_v(lsqr *s)
{
  int exponent;
  osli_krylov_scale(s->m, s->u, s->unit, 0);
  OSLA_CALL(osli_krylov_multiply(&s->k, OSLA_TRANS, s->u, 0.0, s->at_u));
  osli_krylov_scale(s->m, s->u, 1.0 / s->unit, 0);
  for (int64_t j = 0; j < s->n; j++)
    s->v[j] = (s->scale ? s->scale[j] * s->at_u[j] : s->at_u[j]) - s->beta * s->v[j];
  OSLA_CALL(normalise(s, s->n, s->v, &s->alpha, &exponent));
  s->alpha = ldexp(s->alpha, exponent);
  return OSLA_OK;
}

/* Computes the first v. Its norm before normalization shows the size of A. If A is so large or
 * small that `unit` must differ from 1, v is computed again. */
static osla_err first_v(lsqr *s)
{
  s->unit = 1.0;
  OSLA_CALL(next_v(s));
  s->unit = osli_krylov_unit(s->damping > s->alpha ? s->damping : s->alpha);
  s->damping *= s->unit;
  if (s->unit == 1.0) return OSLA_OK;
  memset(s->v, 0, (size_t)s->n * sizeof *s->v);
  return next_v(s);
}

static osla_err begin(lsqr *s, const double *b, double *x)
{
  for (int64_t i = 0; i < s->m; i++)
    s->u[i] = b[i];
  OSLA_CALL(normalise(s, s->m, s->u, &s->beta, &s->exponent));
  s->b_norm = s->phi_bar = s->phi_rotated = s->beta;
  s->k.result->residual = s->beta;
  s->cs2 = -1.0;
  for (int64_t j = 0; j < s->n; j++)
    x[j] = s->v[j] = 0.0;
  OSLA_CALL(first_v(s));
  for (int64_t j = 0; j < s->n; j++)
    s->w[j] = s->v[j];
  s->rho_bar = s->alpha;
  return OSLA_OK;
}

/* Updates the estimate of |x| after the rotation of this iteration. */
static void follow_x(lsqr *s, double rho, double theta, double phi)
{
  const double delta = s->sn2 * rho, gamma_bar = -s->cs2 * rho, right = phi - delta * s->z;
  const double z_bar = right / gamma_bar, gamma = hypot(gamma_bar, theta);
  s->x_norm = hypot(s->x_settled, z_bar);
  s->cs2 = gamma_bar / gamma;
  s->sn2 = theta / gamma;
  s->z = right / gamma;
  s->x_settled = hypot(s->x_settled, s->z);
}

static osla_err step(lsqr *s, double *x)
{
  const double alpha = s->alpha;
  OSLA_CALL(next_u(s));
  s->a_norm = hypot(s->a_norm, hypot(hypot(alpha, s->beta), s->damping));
  OSLA_CALL(next_v(s));

  const double rho_damped = hypot(s->rho_bar, s->damping);
  const double psi = s->damping / rho_damped * s->phi_bar;
  s->phi_bar *= s->rho_bar / rho_damped;
  s->damped = hypot(s->damped, psi);
  const double rho = hypot(rho_damped, s->beta), c = rho_damped / rho, sine = s->beta / rho;
  const double theta = sine * s->alpha, phi = c * s->phi_bar;
  s->rho_bar = -c * s->alpha;
  s->phi_bar *= sine;
  for (int64_t j = 0; j < s->n; j++) {
    x[j] += phi / rho * s->w[j];
    s->w[j] = s->v[j] - theta / rho * s->w[j];
  }
  follow_x(s, rho, theta, phi);
  s->phi_rotated = fabs(sine * phi);
  s->k.result->residual = hypot(s->phi_bar, s->damped);
  return OSLA_OK;
}

/* Returns the measure that is compared with the tolerance: the smaller of the quantities in the two
 * stopping rules. */
static double left(const lsqr *s)
{
  const double r = s->k.result->residual, a = s->a_norm;
  if (s->alpha == 0.0 || s->phi_rotated == 0.0) return 0.0;
  if (a == 0.0) return isfinite(s->alpha) && isfinite(s->phi_rotated) ? 1.0 : NAN;
  const double first = r / (s->b_norm + a * s->x_norm);
  const double second = s->alpha / a * (s->phi_rotated / r);
  return first < second ? first : second;
}

/* Converts x and |r| from scaled units to the units of the caller. */
static void unscale(lsqr *s, double *x)
{
  const int of_x = s->exponent + ilogb(s->unit);
  for (int64_t j = 0; j < s->n; j++) {
    int of_scale = 0;
    const double value = s->scale ? frexp(s->scale[j], &of_scale) : 1.0;
    x[j] = ldexp(x[j] * value, of_x + of_scale);
  }
  s->k.result->residual = ldexp(s->k.result->residual, s->exponent);
}

static osla_err iterate(lsqr *s, const double *b, double *x)
{
  OSLA_CALL(begin(s, b, x));
  for (int64_t i = 0; !osli_krylov_ended(&s->k, i, left(s)); i++)
    OSLA_CALL(step(s, x));
  unscale(s, x);
  return osli_krylov_check_range(&s->k, s->n, x);
}

static osla_err check(const osla_operator *a, double damping, const double *scale)
{
  OSLA_CHECK(damping >= 0.0 && isfinite(damping), OSLA_ERR_ARG,
             "LSQR: damping = %g is negative or not finite", damping);
  for (int64_t j = 0; scale && j < a->columns; j++)
    OSLA_CHECK(scale[j] > 0.0 && isfinite(scale[j]), OSLA_ERR_ARG,
               "LSQR: scale[%lld] = %g is not positive or not finite", (long long)j, scale[j]);
  return OSLA_OK;
}

osla_err osla_lsqr(const osla_operator *a, const double *b, double damping, const double *scale,
                   double *x, const osla_krylov_options *options, osla_krylov_result *result)
{
  lsqr s = {.m = a->rows, .n = a->columns, .scale = scale, .damping = damping};
  const osla_argument same[] = {{"damping (bits)", double_bits(damping)}};
  device_queue *queue;
  osla_err err = osli_krylov_device("osla_lsqr", a, b, x, &queue);
  if (err == OSLA_OK) err = queue ? osli_device_refuse("osla_lsqr") : check(a, damping, scale);
  OSLA_CALL(osla_agree_same(a->transport, err, "osla_lsqr", same, 1));
  OSLA_CALL(osli_krylov_open("osla_lsqr", a, options, s.m + 3 * s.n, s.n, result, &s.k));
  s.u = s.k.own;
  s.v = s.u + s.m;
  s.w = s.v + s.n;
  s.at_u = s.w + s.n;
  return osli_krylov_close(&s.k, iterate(&s, b, x));
}
