/* Measurements of a path and their depth kernels; formulas and sources in tomo_kernel.h.
 *
 * K(z) = (p / z_peak)^(p + 1) / p! z^p exp(-p z / z_peak) is the gamma density with its mode at
 * z_peak. It is projected on the radial basis by 8-point Gauss-Legendre quadrature on 8 equal parts
 * of every interval between breakpoints (Abramowitz & Stegun, table 25.4), once. */
#include "tomo_kernel.h"

#include <math.h>
#include <stdlib.h>

struct tomo_kernel {
  int n_periods;
  int n_branches;
  int n_radial;
  double *period;                /* n_periods */
  double *velocity;              /* k */
  double *sigma;                 /* n_periods */
  double *projection, *response; /* k x n_radial */
};

tomo_kernel_options tomo_kernel_defaults(void)
{
  return (tomo_kernel_options){.n_periods = 25,
                               .n_branches = 4,
                               .period_min_s = 40.0,
                               .period_max_s = 250.0,
                               .sigma_fraction = 0.05};
}

static osla_err check(const tomo_kernel_options *o)
{
  OSLA_CHECK(o->n_periods >= 1 && o->n_periods <= 1000, OSLA_ERR_ARG,
             "%d periods are outside 1 to 1000", o->n_periods);
  OSLA_CHECK(o->n_branches >= 1 && o->n_branches <= 20, OSLA_ERR_ARG,
             "%d branches are outside 1 to 20", o->n_branches);
  OSLA_CHECK(o->period_min_s >= 1.0 && o->period_min_s <= 1e4, OSLA_ERR_ARG,
             "shortest period %g s is outside 1 to 10000", o->period_min_s);
  OSLA_CHECK(o->period_max_s >= o->period_min_s && o->period_max_s <= 1e4, OSLA_ERR_ARG,
             "longest period %g s is outside %g to 10000", o->period_max_s, o->period_min_s);
  OSLA_CHECK(o->sigma_fraction > 0.0 && isfinite(o->sigma_fraction), OSLA_ERR_ARG,
             "data uncertainty of %g periods is not positive", o->sigma_fraction);
  return OSLA_OK;
}

static double phase_velocity(double period, int branch)
{
  double fundamental = 3.85 + 0.0046 * (period - 40.0);
  return fundamental * (1.0 + 0.28 * branch / (1.0 + 0.12 * branch));
}

static double kernel_at(double period, int branch, double depth_km)
{
  const double p = 2.0 + branch;
  const double peak = phase_velocity(period, branch) * period / 3.0 * (1.0 + 0.5 * branch);
  if (depth_km <= 0.0) return 0.0;
  return p / peak * exp(p * log(p * depth_km / peak) - p * depth_km / peak - lgamma(p + 1.0));
}

/* Adds the integral of K_i B_r over [from, to] for all r; P has leading dimension k. */
static void integrate(const tomo_radial *radial, double period, int branch, double from, double to,
                      int64_t k, double *projection)
{
  static const double node[4] = {0.183434642495650, 0.525532409916329, 0.796666477413627,
                                 0.960289856497536};
  static const double weight[4] = {0.362683783378362, 0.313706645877887, 0.222381034453374,
                                   0.101228536290376};
  double basis[TOMO_RADIAL_MAX];
  for (int q = 0; q < 8; q++) {
    double x = q < 4 ? -node[q] : node[q - 4];
    double z = 0.5 * (from + to) + 0.5 * (to - from) * x;
    double factor = 0.5 * (to - from) * weight[q % 4] * kernel_at(period, branch, z);
    tomo_radial_basis(radial, z, basis);
    for (int r = 0; r < tomo_radial_count(radial); r++)
      projection[r * k] += factor * basis[r];
  }
}

static void project(tomo_kernel *kernel, const tomo_radial *radial)
{
  enum { PARTS = 8 };
  const double *breaks;
  const int n_breaks = tomo_radial_breaks(radial, &breaks), k = tomo_kernel_count(kernel);
  for (int i = 0; i < k; i++) {
    for (int b = 0; b + 1 < n_breaks; b++)
      for (int part = 0; part < PARTS; part++) {
        double width = (breaks[b + 1] - breaks[b]) / PARTS;
        integrate(radial, tomo_kernel_period(kernel, i), tomo_kernel_branch(kernel, i),
                  breaks[b] + part * width, breaks[b] + (part + 1) * width, k,
                  kernel->projection + i);
      }
    for (int64_t r = 0; r < kernel->n_radial; r++)
      kernel->response[i + r * k] =
        -0.01 * kernel->projection[i + r * k] /
        (tomo_kernel_velocity(kernel, i) * tomo_kernel_sigma(kernel, i));
  }
}

osla_err tomo_kernel_create(const tomo_kernel_options *options, const tomo_radial *radial,
                            tomo_kernel **out)
{
  const tomo_kernel_options o = options ? *options : tomo_kernel_defaults();
  *out = NULL;
  OSLA_CALL(check(&o));
  tomo_kernel *kernel = calloc(1, sizeof *kernel);
  OSLA_CHECK(kernel, OSLA_ERR_MEM, "no memory for the depth kernels");
  const size_t k = (size_t)o.n_periods * (size_t)o.n_branches;
  kernel->n_periods = o.n_periods;
  kernel->n_branches = o.n_branches;
  kernel->n_radial = tomo_radial_count(radial);
  kernel->period = calloc((size_t)o.n_periods, sizeof(double));
  kernel->sigma = calloc((size_t)o.n_periods, sizeof(double));
  kernel->velocity = calloc(k, sizeof(double));
  kernel->projection = calloc(k * (size_t)kernel->n_radial, sizeof(double));
  kernel->response = calloc(k * (size_t)kernel->n_radial, sizeof(double));
  if (!kernel->period || !kernel->sigma || !kernel->velocity || !kernel->projection ||
      !kernel->response) {
    tomo_kernel_destroy(&kernel);
    return osla_error_set(OSLA_ERR_MEM, "no memory for %zu depth kernels", k);
  }
  for (int j = 0; j < o.n_periods; j++) {
    double u = o.n_periods > 1 ? (double)j / (o.n_periods - 1) : 0.0;
    kernel->period[j] = o.period_min_s * pow(o.period_max_s / o.period_min_s, u);
    kernel->sigma[j] = o.sigma_fraction * kernel->period[j];
  }
  for (size_t i = 0; i < k; i++)
    kernel->velocity[i] =
      phase_velocity(kernel->period[i % (size_t)o.n_periods], (int)(i / (size_t)o.n_periods));
  project(kernel, radial);
  *out = kernel;
  return OSLA_OK;
}

void tomo_kernel_destroy(tomo_kernel **kernel)
{
  if (!*kernel) return;
  free((*kernel)->period);
  free((*kernel)->sigma);
  free((*kernel)->velocity);
  free((*kernel)->projection);
  free((*kernel)->response);
  free(*kernel);
  *kernel = NULL;
}

int tomo_kernel_count(const tomo_kernel *kernel)
{
  return kernel->n_periods * kernel->n_branches;
}

int tomo_kernel_radial(const tomo_kernel *kernel)
{
  return kernel->n_radial;
}

double tomo_kernel_period(const tomo_kernel *kernel, int i)
{
  return kernel->period[i % kernel->n_periods];
}

int tomo_kernel_branch(const tomo_kernel *kernel, int i)
{
  return i / kernel->n_periods;
}

double tomo_kernel_velocity(const tomo_kernel *kernel, int i)
{
  return kernel->velocity[i];
}

double tomo_kernel_sigma(const tomo_kernel *kernel, int i)
{
  return kernel->sigma[i % kernel->n_periods];
}

double tomo_kernel_value(const tomo_kernel *kernel, int i, double depth_km)
{
  return kernel_at(tomo_kernel_period(kernel, i), tomo_kernel_branch(kernel, i), depth_km);
}

const double *tomo_kernel_projection(const tomo_kernel *kernel)
{
  return kernel->projection;
}

const double *tomo_kernel_response(const tomo_kernel *kernel)
{
  return kernel->response;
}
