/* LSQR: Paige and Saunders (1982), section 4, with damping as in section 2 and the stopping rules
 * of section 6. Golub and Kahan's bidiagonalisation, beta u = A S v - alpha u, alpha v = S A^T u -
 * beta v (S the scale), and a plane rotation an iteration. An iteration: one product with A, one
 * with A^T, two sums. Memory: v, w, S v, A^T u, and u of rows. */
#include "krylov.h"

#include <math.h>

#include "bits_of.h"

typedef struct lsqr {
  krylov k;
  int64_t m, n;
  const double *scale;
  double *u, *v, *w, *at_u;
  double alpha, beta, damping;
  double rho_bar, phi_bar;               /* of the rotations */
  double damped, a_squared;              /* |damping part of r|^2, |A|^2 so far */
  double cs2, sn2, z, x_squared, x_norm; /* |x / scale|, their section 5.2 */
  double b_norm, arr;                    /* |A^T r| */
} lsqr;

/* *norm := |x| over all ranks, and x := x / |x|. */
static osla_err normalise(lsqr *s, int64_t n, double *x, double *norm)
{
  double sum = osla_dot_local(n, x, x);
  OSLA_CALL(osla_krylov_sum(&s->k, 1, &sum));
  *norm = sqrt(sum);
  const double factor = *norm > 0.0 ? 1.0 / *norm : 0.0;
  for (int64_t i = 0; i < n; i++)
    x[i] *= factor;
  return OSLA_OK;
}

static osla_err next_u(lsqr *s)
{
  double *scaled = s->k.shared;
  for (int64_t j = 0; j < s->n; j++)
    scaled[j] = s->scale ? s->scale[j] * s->v[j] : s->v[j];
  OSLA_CALL(osla_krylov_multiply(&s->k, OSLA_NOTRANS, scaled, -s->alpha, s->u));
  return normalise(s, s->m, s->u, &s->beta);
}

static osla_err next_v(lsqr *s)
{
  OSLA_CALL(osla_krylov_multiply(&s->k, OSLA_TRANS, s->u, 0.0, s->at_u));
  for (int64_t j = 0; j < s->n; j++)
    s->v[j] = (s->scale ? s->scale[j] * s->at_u[j] : s->at_u[j]) - s->beta * s->v[j];
  return normalise(s, s->n, s->v, &s->alpha);
}

static osla_err begin(lsqr *s, const double *b, double *x)
{
  for (int64_t i = 0; i < s->m; i++)
    s->u[i] = b[i];
  OSLA_CALL(normalise(s, s->m, s->u, &s->beta));
  s->b_norm = s->phi_bar = s->k.result->residual = s->beta;
  s->cs2 = -1.0;
  for (int64_t j = 0; j < s->n; j++)
    x[j] = s->v[j] = 0.0;
  OSLA_CALL(next_v(s));
  for (int64_t j = 0; j < s->n; j++)
    s->w[j] = s->v[j];
  s->rho_bar = s->alpha;
  s->arr = s->alpha * s->beta;
  return OSLA_OK;
}

/* |x|, before this step's rotation takes w and x further. */
static void follow_x(lsqr *s, double rho, double theta, double phi)
{
  const double delta = s->sn2 * rho, gamma_bar = -s->cs2 * rho, right = phi - delta * s->z;
  const double z_bar = right / gamma_bar, gamma = hypot(gamma_bar, theta);
  s->x_norm = sqrt(s->x_squared + z_bar * z_bar);
  s->cs2 = gamma_bar / gamma;
  s->sn2 = theta / gamma;
  s->z = right / gamma;
  s->x_squared += s->z * s->z;
}

static osla_err step(lsqr *s, double *x)
{
  const double alpha = s->alpha;
  OSLA_CALL(next_u(s));
  s->a_squared += alpha * alpha + s->beta * s->beta + s->damping * s->damping;
  OSLA_CALL(next_v(s));

  const double rho_damped = hypot(s->rho_bar, s->damping);
  const double psi = s->damping / rho_damped * s->phi_bar;
  s->phi_bar *= s->rho_bar / rho_damped;
  s->damped += psi * psi;
  const double rho = hypot(rho_damped, s->beta), c = rho_damped / rho, sine = s->beta / rho;
  const double theta = sine * s->alpha, phi = c * s->phi_bar;
  s->rho_bar = -c * s->alpha;
  s->phi_bar *= sine;
  for (int64_t j = 0; j < s->n; j++) {
    x[j] += phi / rho * s->w[j];
    s->w[j] = s->v[j] - theta / rho * s->w[j];
  }
  follow_x(s, rho, theta, phi);
  s->arr = s->alpha * fabs(sine * phi);
  s->k.result->residual = sqrt(s->phi_bar * s->phi_bar + s->damped);
  return OSLA_OK;
}

/* What the stopping rules leave: the smaller one. */
static double left(const lsqr *s)
{
  const double r = s->k.result->residual, a = sqrt(s->a_squared);
  if (s->arr == 0.0) return 0.0;
  if (s->a_squared == 0.0) return isfinite(s->arr) ? 1.0 : NAN;
  const double first = r / (s->b_norm + a * s->x_norm), second = s->arr / (a * r);
  return first < second ? first : second;
}

static osla_err iterate(lsqr *s, const double *b, double *x)
{
  OSLA_CALL(begin(s, b, x));
  for (int64_t i = 0; !osla_krylov_ended(&s->k, i, left(s)); i++)
    OSLA_CALL(step(s, x));
  for (int64_t j = 0; s->scale && j < s->n; j++)
    x[j] *= s->scale[j];
  return OSLA_OK;
}

static osla_err check(const osla_operator *a, double damping, const double *scale)
{
  OSLA_CHECK(damping >= 0.0 && isfinite(damping), OSLA_ERR_ARG, "LSQR: damping %g", damping);
  for (int64_t j = 0; scale && j < a->columns; j++)
    OSLA_CHECK(scale[j] > 0.0 && isfinite(scale[j]), OSLA_ERR_ARG, "LSQR: scale[%lld] = %g",
               (long long)j, scale[j]);
  return OSLA_OK;
}

osla_err osla_lsqr(const osla_operator *a, const double *b, double damping, const double *scale,
                   double *x, const osla_krylov_options *options, osla_krylov_result *result)
{
  lsqr s = {.m = a->rows, .n = a->columns, .scale = scale, .damping = damping};
  const osla_argument same[] = {{"damping (bits)", osla_bits_of(damping)}};
  OSLA_CALL(osla_agree_same(a->transport, check(a, damping, scale), "osla_lsqr", same, 1));
  OSLA_CALL(osla_krylov_open("osla_lsqr", a, options, s.m + 3 * s.n, result, &s.k));
  s.u = s.k.own;
  s.v = s.u + s.m;
  s.w = s.v + s.n;
  s.at_u = s.w + s.n;
  return osla_krylov_close(&s.k, iterate(&s, b, x));
}
