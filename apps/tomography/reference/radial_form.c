/* The energy of a mode at a radius as a quadratic form in its eigenfunctions (contract: radial.h;
 * theory: doc/reference.md; F. A. Dahlen, J. Tromp, Theoretical Global Seismology, 1998, chapter
 * 8). */
#include "apps/tomography/reference/radial.h"

enum { U, DU, V, DV, P, DP, W = U, DW = DU };

typedef const double form[RADIAL_QUANTITIES];

/* Adds the form c (a.q) (b.q) to d. */
static void add(radial_form d, double c, form a, form b)
{
  for (int i = 0; i < RADIAL_QUANTITIES; i++)
    for (int j = 0; j < RADIAL_QUANTITIES; j++)
      d[i][j] += 0.5 * c * (a[i] * b[j] + a[j] * b[i]);
}

double radial_apply(const radial_form d, const double q[RADIAL_QUANTITIES])
{
  double sum = 0.0;
  for (int i = 0; i < RADIAL_QUANTITIES; i++)
    for (int j = 0; j < RADIAL_QUANTITIES; j++)
      sum += d[i][j] * q[i] * q[j];
  return sum;
}

/* L (W' - W/r)^2 + N (k^2 - 2) W^2 / r^2. */
static void toroidal(const earth_moduli *m, double k, double r, radial_form d)
{
  form strain = {[W] = -1.0 / r, [DW] = 1.0}, w = {[W] = 1.0 / r};
  add(d, m->l, strain, strain);
  add(d, m->n * (k * k - 2.0), w, w);
}

/* Adds the elastic energy of a spheroidal mode: C U'^2 + 2 F U' f + (A - N) f^2 + L x^2 + N (k^2 -
 * 2) V^2 / r^2, with f = (2 U - k V) / r and x = V' + (k U - V) / r. */
static void spheroidal(const earth_moduli *m, double k, double r, radial_form d)
{
  form du = {[DU] = 1.0}, f = {[U] = 2.0 / r, [V] = -k / r},
       x = {[U] = k / r, [V] = -1.0 / r, [DV] = 1.0}, v = {[V] = 1.0 / r};
  add(d, m->c, du, du);
  add(d, 2.0 * m->f, du, f);
  add(d, m->a - m->n, f, f);
  add(d, m->l, x, x);
  add(d, m->n * (k * k - 2.0), v, v);
}

void radial_elastic(radial_kind kind, const earth_moduli *m, double k, double r, radial_form d)
{
  if (kind == RADIAL_TOROIDAL)
    toroidal(m, k, r, d);
  else
    spheroidal(m, k, r, d);
}

/* Adds the energy of gravity: rho (4 pi G rho - 4 g / r) U^2 + 2 rho g k U V / r + 2 rho (U P' + k
 * V P / r) + (P'^2 + k^2 P^2 / r^2) / (4 pi G). */
void radial_gravity(const earth_point *point, double k, double r, radial_form d)
{
  const double rho = point->rho, g = point->gravity, four_pi_g = earth_four_pi_g();
  form u = {[U] = 1.0}, v = {[V] = 1.0}, p = {[P] = 1.0}, dp = {[DP] = 1.0};
  add(d, rho * (four_pi_g * rho - 4.0 * g / r), u, u);
  add(d, 2.0 * rho * g * k / r, u, v);
  add(d, 2.0 * rho, u, dp);
  add(d, 2.0 * rho * k / r, v, p);
  add(d, 1.0 / four_pi_g, dp, dp);
  add(d, k * k / (r * r * four_pi_g), p, p);
}

void radial_kinetic(radial_kind kind, double rho, radial_form d)
{
  d[U][U] += rho;
  if (kind == RADIAL_SPHEROIDAL) d[V][V] += rho;
}
