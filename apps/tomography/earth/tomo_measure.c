/* Measures: formulas and sources in tomo_measure.h. The kernel K(z) = (p / z_peak)^(p + 1) / p! z^p
 * exp(-p z / z_peak) is the gamma density with its mode at z_peak. */
#include "apps/tomography/earth/tomo_measure.h"

#include <math.h>
#include <stdio.h>

int tomo_measure_compare(const tomo_measure *a, const tomo_measure *b)
{
  if (a->wave != b->wave) return a->wave < b->wave ? -1 : 1;
  if (a->observable != b->observable) return a->observable < b->observable ? -1 : 1;
  if (a->branch != b->branch) return a->branch < b->branch ? -1 : 1;
  return a->period_s < b->period_s ? -1 : a->period_s > b->period_s;
}

void tomo_measure_text(const tomo_measure *m, char text[TOMO_MEASURE_TEXT])
{
  (void)snprintf(text, TOMO_MEASURE_TEXT, "%s %s, branch %d, %g s", tomo_wave_name(m->wave),
                 tomo_observable_name(m->observable), m->branch, m->period_s);
}

osla_err tomo_measure_check(const tomo_reference *reference, const tomo_measure *m)
{
  char text[TOMO_MEASURE_TEXT];
  if (reference) return tomo_reference_covers(reference, m);
  tomo_measure_text(m, text);
  OSLA_CHECK(
    m->wave == TOMO_RAYLEIGH && m->observable == TOMO_PHASE, OSLA_ERR_ARG,
    "%s: the stand-in formulas cover only phase delays of Rayleigh waves; give a --reference table",
    text);
  return OSLA_OK;
}

static double stand_in_velocity(const tomo_measure *m)
{
  double fundamental = 3.85 + 0.0046 * (m->period_s - 40.0);
  return fundamental * (1.0 + 0.28 * m->branch / (1.0 + 0.12 * m->branch));
}

static double stand_in_kernel(const tomo_measure *m, double depth_km)
{
  const double p = 2.0 + m->branch;
  const double peak = stand_in_velocity(m) * m->period_s / 3.0 * (1.0 + 0.5 * m->branch);
  if (depth_km <= 0.0) return 0.0;
  return p / peak * exp(p * log(p * depth_km / peak) - p * depth_km / peak - lgamma(p + 1.0));
}

double tomo_measure_velocity(const tomo_reference *reference, const tomo_measure *m)
{
  return reference ? tomo_reference_velocity(reference, m) : stand_in_velocity(m);
}

double tomo_measure_kernel(const tomo_reference *reference, const tomo_measure *m, double depth_km)
{
  return reference ? tomo_reference_kernel(reference, m, depth_km) : stand_in_kernel(m, depth_km);
}
