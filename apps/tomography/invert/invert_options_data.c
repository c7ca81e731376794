/* Options of measurements and of synthetic tests. */
#include "apps/tomography/invert/invert_options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An option, and whether the user changed its value from the default. */
typedef struct given {
  const char *option;
  bool is;
} given;

static bool differs(double value, double usual)
{
  return value < usual || value > usual;
}

/* With --data, rejects options that define synthetic paths and measurements. */
static osla_err check_not_made_up(const invert_options *o)
{
  const tomo_kernel_options *k = &o->kernel, usual = tomo_kernel_defaults();
  const given options[] = {{"--major-arc", o->major_arc},
                           {"--periods", k->n_periods != usual.n_periods},
                           {"--branches", k->n_branches != usual.n_branches},
                           {"--period-min", differs(k->period_min_s, usual.period_min_s)},
                           {"--period-max", differs(k->period_max_s, usual.period_max_s)}};
  for (size_t i = 0; o->data && i < sizeof options / sizeof *options; i++)
    OSLA_CHECK(!options[i].is, OSLA_ERR_ARG,
               "%s defines synthetic data: it cannot be combined with --data", options[i].option);
  return OSLA_OK;
}

/* If there is no synthetic test, rejects the options of the true model. */
static osla_err check_no_test(const invert_options *o, const char *spikes)
{
  const tomo_model_options *m = &o->model, usual = tomo_model_defaults();
  const given options[] = {{"--noise", differs(o->noise, INVERT_NOISE)},
                           {"--amplitude", differs(m->amplitude_percent, usual.amplitude_percent)},
                           {"--cell", differs(m->cell_degrees, usual.cell_degrees)},
                           {"--cell-depth", differs(m->cell_depth_km, usual.cell_depth_km)},
                           {"--spike-at", spikes},
                           {"--write-data", o->write_data}};
  for (size_t i = 0; !o->test && i < sizeof options / sizeof *options; i++)
    OSLA_CHECK(!options[i].is, OSLA_ERR_ARG, "%s needs a true model: add --test",
               options[i].option);
  return OSLA_OK;
}

/* Parses "LAT,LON" or "LAT,LON,KM", which ends at a colon or at the end of the text. */
static osla_err read_place(const char *text, const invert_options *o, tomo_location *place)
{
  const int length = (int)strcspn(text, ":");
  char *end;
  double number[3] = {0.0, 0.0, o->map_depth_km};
  int count = 0;
  const char *at = text;
  while (count < 3) {
    number[count] = strtod(at, &end);
    if (end == at) break;
    count++;
    at = end;
    if (*at != ',') break;
    at++;
  }
  OSLA_CHECK(count >= 2 && at == text + length, OSLA_ERR_ARG,
             "--spike-at: '%.*s' is not LAT,LON or LAT,LON,KM", length < 60 ? length : 60, text);
  OSLA_CHECK(fabs(number[0]) <= 90.0, OSLA_ERR_ARG, "--spike-at: latitude %g is outside -90 to 90",
             number[0]);
  OSLA_CHECK(number[1] >= -180.0 && number[1] <= 360.0, OSLA_ERR_ARG,
             "--spike-at: longitude %g is outside -180 to 360", number[1]);
  OSLA_CHECK(number[2] >= 0.0 && number[2] <= o->depth_km, OSLA_ERR_ARG,
             "--spike-at: depth %g km is outside the model, 0 to --depth %g", number[2],
             o->depth_km);
  *place = (tomo_location){number[0], number[1], number[2]};
  return OSLA_OK;
}

static osla_err read_spikes(const char *text, invert_options *o)
{
  tomo_model_options *m = &o->model;
  for (int i = 0; i < m->n_spikes; i++)
    m->spike[i].depth_km = o->map_depth_km;
  if (!text) return OSLA_OK;
  OSLA_CHECK(m->kind == TOMO_MODEL_SPIKE, OSLA_ERR_ARG, "--spike-at requires --test spike");
  m->n_spikes = 0;
  for (const char *at = text;; at++) {
    OSLA_CHECK(m->n_spikes < TOMO_SPIKES_MAX, OSLA_ERR_ARG, "--spike-at: more than %d places",
               (int)TOMO_SPIKES_MAX);
    OSLA_CALL(read_place(at, o, &m->spike[m->n_spikes++]));
    at += strcspn(at, ":");
    if (*at == '\0') return OSLA_OK;
  }
}

osla_err invert_check_data_options(invert_options *o, const char *test, const char *spikes)
{
  tomo_model_options *m = &o->model;
  o->test = test || !o->data;
  for (m->kind = TOMO_MODEL_CHECKERBOARD; test && m->kind < TOMO_MODEL_KINDS; m->kind++)
    if (strcmp(test, tomo_model_name(m->kind)) == 0) break;
  OSLA_CHECK(m->kind < TOMO_MODEL_KINDS, OSLA_ERR_ARG,
             "--test: '%s' is none of checkerboard, blobs, spike", test);
  OSLA_CALL(check_not_made_up(o));
  OSLA_CALL(check_no_test(o, spikes));
  if (o->min_distance <= INVERT_UNSET) o->min_distance = o->data ? 0.0 : 10.0;
  if (o->max_distance <= INVERT_UNSET) o->max_distance = o->data ? 180.0 : 170.0;
  return read_spikes(spikes, o);
}
