/* Values of a spherical Earth at a radius and a frequency (contract: earth_model.h). */
#include "apps/tomography/reference/earth_model.h"

#include <math.h>
#include <stdlib.h>

#define GRAVITY 6.6743e-8 /* km^3 s^-2 per 10^12 kg; CODATA 2018 */

static double polynomial(const double c[EARTH_TERMS], double x)
{
  return c[0] + x * (c[1] + x * (c[2] + x * c[3]));
}

bool earth_is_fluid(const earth_shell *shell)
{
  const double *v = shell->vsv, *h = shell->vsh;
  return v[0] == 0.0 && v[1] == 0.0 && v[2] == 0.0 && v[3] == 0.0 && h[0] == 0.0 && h[1] == 0.0 &&
         h[2] == 0.0 && h[3] == 0.0;
}

/* The integral of rho r^2 from the bottom of the shell to r. */
static double shell_mass(const earth_shell *shell, double radius, double r)
{
  double sum = 0.0;
  for (int i = 0; i < EARTH_TERMS; i++)
    sum += shell->rho[i] * (pow(r, 3 + i) - pow(shell->bottom, 3 + i)) / ((3 + i) * pow(radius, i));
  return sum;
}

osla_err earth_set_masses(earth_model *model)
{
  model->radius = model->shell[model->n_shells - 1].top;
  model->mass = calloc((size_t)model->n_shells, sizeof *model->mass);
  OSLA_CHECK(model->mass, OSLA_ERR_MEM, "no memory for %d shells", model->n_shells);
  for (int i = 1; i < model->n_shells; i++) {
    const earth_shell *below = &model->shell[i - 1];
    model->mass[i] = model->mass[i - 1] + shell_mass(below, model->radius, below->top);
  }
  return OSLA_OK;
}

void earth_destroy(earth_model **model)
{
  if (!*model) return;
  free((*model)->shell);
  free((*model)->mass);
  free(*model);
  *model = NULL;
}

/* Multiplies the moduli of compression by p and those of shear by s; eta = F / (A - 2 L) does not
 * change. */
static earth_moduli scale_moduli(const earth_moduli *m, double eta, double p, double s)
{
  const double a = m->a * p, l = m->l * s;
  return (earth_moduli){.a = a, .c = m->c * p, .f = eta * (a - 2.0 * l), .l = l, .n = m->n * s};
}

void earth_evaluate(const earth_model *model, int shell, double r, double omega, double vp_ratio,
                    earth_point *point)
{
  const earth_shell *s = &model->shell[shell];
  const double x = r / model->radius, eta = polynomial(s->eta, x);
  const double vpv = polynomial(s->vpv, x), vph = polynomial(s->vph, x);
  const double vsv = polynomial(s->vsv, x), vsh = polynomial(s->vsh, x);
  const double rho = polynomial(s->rho, x);
  earth_moduli m = {
    .a = rho * vph * vph, .c = rho * vpv * vpv, .l = rho * vsv * vsv, .n = rho * vsh * vsh};
  m.f = eta * (m.a - 2.0 * m.l);
  const double kappa = (4.0 * m.a + m.c + 4.0 * m.f - 4.0 * m.n) / 9.0;
  const double mu = (m.a + m.c - 2.0 * m.f + 5.0 * m.n + 6.0 * m.l) / 15.0;
  const double shear = m.l > 0.0 ? 4.0 * mu / (3.0 * kappa + 4.0 * mu) : 0.0;
  const double q_s = m.l > 0.0 ? s->q_mu : 0.0;
  const double q_p = shear * q_s + (1.0 - shear) * s->q_kappa;
  const double slope = model->dispersive ? 2.0 / M_PI : 0.0;
  const double d = /* without dispersion the reference period may be 0 or negative */
    model->dispersive ? slope * log(omega * model->reference_period / (2.0 * M_PI)) : 0.0;
  point->rho = rho;
  point->gravity =
    earth_four_pi_g() * (model->mass[shell] + shell_mass(s, model->radius, r)) / (r * r);
  point->slope = scale_moduli(&m, eta, slope * q_p, slope * q_s);
  point->moduli = scale_moduli(&m, eta, 1.0 + q_p * d, 1.0 + q_s * d);
  const double p = m.l > 0.0 ? vp_ratio : 0.0;
  point->by_vs = scale_moduli(&point->moduli, eta, 2.0 * p, 2.0);
}

double earth_four_pi_g(void)
{
  return 4.0 * M_PI * GRAVITY;
}
