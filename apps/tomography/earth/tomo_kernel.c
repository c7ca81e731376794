/* Measures and the projection of their depth kernels on the radial basis. The quadrature is 8-point
 * Gauss-Legendre (Abramowitz & Stegun, table 25.4) on parts of each interval between breakpoints of
 * the basis. For the built-in kernels, which are smooth, the parts are equal. For a reference table
 * the parts end at the table's depths. The table's kernels are linear between these depths, so the
 * quadrature of kernel times cubic spline is exact. */
#include "apps/tomography/earth/tomo_kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

tomo_kernel_options tomo_kernel_defaults(void)
{
  return (tomo_kernel_options){.n_periods = 25,
                               .n_branches = 4,
                               .period_min_s = 40.0,
                               .period_max_s = 250.0,
                               .sigma_fraction = 0.05};
}

static osla_err check_options(const tomo_kernel_options *o)
{
  OSLA_CHECK(o->n_periods >= 1 && o->n_periods <= 1000, OSLA_ERR_ARG,
             "%d periods are outside 1 to 1000", o->n_periods);
  OSLA_CHECK(o->n_branches >= 1 && o->n_branches <= 20, OSLA_ERR_ARG,
             "%d branches are outside 1 to 20", o->n_branches);
  OSLA_CHECK(o->period_min_s >= 1.0 && o->period_min_s <= TOMO_PERIOD_MAX, OSLA_ERR_ARG,
             "shortest period %g s is outside 1 to 10000", o->period_min_s);
  OSLA_CHECK(o->period_max_s >= o->period_min_s && o->period_max_s <= TOMO_PERIOD_MAX, OSLA_ERR_ARG,
             "longest period %g s is outside %g to 10000", o->period_max_s, o->period_min_s);
  OSLA_CHECK(o->sigma_fraction > 0.0 && isfinite(o->sigma_fraction), OSLA_ERR_ARG,
             "data uncertainty of %g periods is not positive", o->sigma_fraction);
  return OSLA_OK;
}

osla_err tomo_kernel_list_measures(const tomo_kernel_options *options, tomo_measure **measure,
                                   int *count)
{
  const tomo_kernel_options o = options ? *options : tomo_kernel_defaults();
  *measure = NULL;
  *count = 0;
  OSLA_CALL(check_options(&o));
  tomo_measure *list = malloc((size_t)(o.n_branches * o.n_periods) * sizeof *list);
  OSLA_CHECK(list, OSLA_ERR_MEM, "no memory for %d measures", o.n_branches * o.n_periods);
  for (int i = 0; i < o.n_branches * o.n_periods; i++) {
    double u = o.n_periods > 1 ? (double)(i % o.n_periods) / (o.n_periods - 1) : 0.0;
    list[i] = (tomo_measure){.wave = TOMO_RAYLEIGH,
                             .observable = TOMO_PHASE,
                             .branch = i / o.n_periods,
                             .period_s = o.period_min_s * pow(o.period_max_s / o.period_min_s, u)};
  }
  *measure = list;
  *count = o.n_branches * o.n_periods;
  return OSLA_OK;
}

/* A measure, and the array to which the integrals of its kernel times each radial function are
 * added. */
typedef struct projection {
  const tomo_reference *reference;
  const tomo_measure *measure;
  const tomo_radial *radial;
  double *integral; /* integral[r * stride] belongs to radial function r */
  int64_t stride;
} projection;

/* Adds the integrals of the kernel times each radial function over the depths from `from` to `to`
 * (km). */
static void integrate(const projection *p, double from, double to)
{
  static const double node[4] = {0.183434642495650, 0.525532409916329, 0.796666477413627,
                                 0.960289856497536};
  static const double weight[4] = {0.362683783378362, 0.313706645877887, 0.222381034453374,
                                   0.101228536290376};
  const double half = 0.5 * (to - from);
  double basis[TOMO_RADIAL_MAX];
  for (int q = 0; q < 8; q++) {
    double x = q < 4 ? -node[q] : node[q - 4];
    double z = 0.5 * (from + to) + half * x;
    double factor = half * weight[q % 4] * tomo_measure_kernel(p->reference, p->measure, z);
    tomo_radial_basis(p->radial, z, basis);
    for (int r = 0; r < tomo_radial_count(p->radial); r++)
      p->integral[r * p->stride] += factor * basis[r];
  }
}

/* Integrates one interval between breakpoints, divided at the table's depths or, without a table,
 * into eight equal parts. */
static void integrate_interval(const projection *p, double from, double to)
{
  enum { PARTS = 8 };
  const double *depth, whole = to - from;
  for (int part = 0; !p->reference && part < PARTS; part++)
    integrate(p, from + part * whole / PARTS, from + (part + 1) * whole / PARTS);
  if (!p->reference) return;
  const int n = tomo_reference_depths(p->reference, &depth);
  for (int k = 0; k < n; k++) {
    if (depth[k] <= from || depth[k] >= to) continue;
    integrate(p, from, depth[k]);
    from = depth[k];
  }
  integrate(p, from, to);
}

static void set_response(tomo_kernel *kernel, const tomo_reference *reference,
                         const tomo_measure *measure, const tomo_radial *radial)
{
  const double *breaks;
  const int n_breaks = tomo_radial_breaks(radial, &breaks);
  for (int i = 0; i < kernel->count; i++) {
    const projection p = {reference, &measure[i], radial, kernel->response + i, kernel->count};
    for (int b = 0; b + 1 < n_breaks; b++)
      integrate_interval(&p, breaks[b], breaks[b + 1]);
    const double velocity = tomo_measure_velocity(reference, &measure[i]);
    for (int r = 0; r < kernel->n_radial; r++)
      p.integral[r * p.stride] = -0.01 * p.integral[r * p.stride] / velocity;
  }
}

osla_err tomo_kernel_create(const tomo_reference *reference, const tomo_measure *measure, int count,
                            const tomo_radial *radial, tomo_kernel **out)
{
  *out = NULL;
  OSLA_CHECK(count >= 1, OSLA_ERR_ARG, "%d measures", count);
  for (int i = 0; i < count; i++)
    OSLA_CALL(tomo_measure_check(reference, &measure[i]));
  tomo_kernel *kernel = calloc(1, sizeof *kernel);
  OSLA_CHECK(kernel, OSLA_ERR_MEM, "no memory for the depth kernels");
  kernel->count = count;
  kernel->n_radial = tomo_radial_count(radial);
  const size_t elements = (size_t)count * (size_t)kernel->n_radial;
  kernel->response = calloc(elements, sizeof *kernel->response);
  if (!kernel->response) {
    tomo_kernel_destroy(&kernel);
    return osla_error_set(OSLA_ERR_MEM, "no memory for %d depth kernels", count);
  }
  set_response(kernel, reference, measure, radial);
  *out = kernel;
  return OSLA_OK;
}

void tomo_kernel_destroy(tomo_kernel **kernel)
{
  if (!*kernel) return;
  free((*kernel)->response);
  free(*kernel);
  *kernel = NULL;
}
