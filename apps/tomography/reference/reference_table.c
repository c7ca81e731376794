/* Writes a table of a reference Earth as text (contract: reference.h; format: tomo_reference.h). */
#include "apps/tomography/reference/reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double period_of(const reference_options *o, int i)
{
  if (o->n_periods == 1) return o->period_min;
  const double period =
    o->period_min * pow(o->period_max / o->period_min, (double)i / (o->n_periods - 1));
  return round(1e3 * period) / 1e3; /* rounds the period to the digits that the table prints */
}

static void write_head(FILE *out, const reference_options *o, const earth_model *model, int n,
                       const double *depth)
{
  const bool both = o->wave[0] && o->wave[1];
  (void)fprintf(out, "osla-reference 1\ntitle    %s\nsource   %s\n", model->title, model->source);
  (void)fprintf(out, "made     osla reference --model %s%s%s --wave %s --periods %g:%g:%d",
                o->model, o->no_ocean ? " --no-ocean" : "", o->isotropic ? " --isotropic" : "",
                both         ? "both"
                : o->wave[0] ? "love"
                             : "rayleigh",
                o->period_min, o->period_max, o->n_periods);
  (void)fprintf(out, " --branches %d --fastest %g --vp-ratio %g --element %g\n", o->n_branches,
                o->fastest, o->vp_ratio, o->element);
  (void)fprintf(out, "mapping  dln Vsv = dln Vsh = dln Vs, ");
  if (o->vp_ratio > 0.0)
    (void)fprintf(out, "dln Vpv = dln Vph = %g dln Vs; eta and density held\n", o->vp_ratio);
  else
    (void)fprintf(out, "Vp, eta and density held\n");
  (void)fprintf(out, "# velocities: km/s, moduli at each period%s\n",
                model->dispersive ? " by physical dispersion, U with it" : "");
  (void)fprintf(out, "depth_km");
  for (int i = 0; i < n; i++)
    (void)fprintf(out, " %.7g", depth[i]);
  (void)fprintf(out, "\n");
}

/* Writes values as decimals; values that are negligible beside the largest are written as 0. */
static void write_kernel(FILE *out, const char *keyword, int n, const double *value)
{
  double largest = 0.0;
  for (int i = 0; i < n; i++)
    largest = fmax(largest, fabs(value[i]));
  (void)fprintf(out, "%s", keyword);
  for (int i = 0; i < n; i++)
    (void)fprintf(out, " %.4g", fabs(value[i]) < 1e-7 * largest ? 0.0 : value[i]);
  (void)fprintf(out, "\n");
}

static osla_err write_branch(FILE *out, const reference_options *o, radial_system *system,
                             int branch, int n, const double *depth, surface_row *row)
{
  const char *wave = system->mesh->kind == RADIAL_TOROIDAL ? "love" : "rayleigh";
  for (int i = 0; i < o->n_periods; i++) {
    bool found;
    if (i > 0 && !(period_of(o, i) > period_of(o, i - 1)))
      /* the period is equal to the previous one after rounding */
      continue;
    OSLA_CALL(surface_row_make(system, period_of(o, i), branch, o->fastest, n, depth, row, &found));
    /* the branch is too fast, and even faster at the longer periods that follow */
    if (!found) return OSLA_OK;
    (void)fprintf(out, "mode %s %d %.7g %.6f %.6f\n", wave, branch, row->period, row->c, row->u);
    write_kernel(out, "dlnc", n, row->by_c);
    write_kernel(out, "dlnU", n, row->by_u);
  }
  return OSLA_OK;
}

static osla_err write_wave(FILE *out, const reference_options *o, const earth_model *model,
                           radial_kind kind, int n, const double *depth, surface_row *row)
{
  const radial_options mesh_options = {.size = o->element, .vp_ratio = o->vp_ratio};
  radial_mesh *mesh = NULL;
  radial_system *system = NULL;
  osla_err err = radial_mesh_create(model, kind, &mesh_options, &mesh);
  if (err == OSLA_OK) err = radial_system_create(mesh, &system);
  for (int branch = 0; err == OSLA_OK && branch < o->n_branches; branch++)
    err = write_branch(out, o, system, branch, n, depth, row);
  radial_system_destroy(&system);
  radial_mesh_destroy(&mesh);
  return err;
}

static osla_err write_table(FILE *out, const reference_options *o, const earth_model *model, int n,
                            const double *depth)
{
  surface_row row = {.by_c = calloc(2 * (size_t)n, sizeof(double))};
  OSLA_CHECK(row.by_c, OSLA_ERR_MEM, "no memory for %d depths", n);
  row.by_u = row.by_c + n;
  osla_err err = OSLA_OK;
  write_head(out, o, model, n, depth);
  if (o->wave[RADIAL_SPHEROIDAL])
    err = write_wave(out, o, model, RADIAL_SPHEROIDAL, n, depth, &row);
  if (err == OSLA_OK && o->wave[RADIAL_TOROIDAL])
    err = write_wave(out, o, model, RADIAL_TOROIDAL, n, depth, &row);
  free(row.by_c);
  return err;
}

osla_err reference_make_table(FILE *out, const reference_options *o, const earth_model *model)
{
  int n;
  double *depth;
  OSLA_CALL(surface_depths(model, &n, &depth));
  osla_err err = write_table(out, o, model, n, depth);
  free(depth);
  return err;
}
