/* The command line of `osla reference`. */
#include "apps/tomography/reference/reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOW = POPT_ARGFLAG_SHOW_DEFAULT };

static const char name[] = "reference";

static const char about[] =
  "Computes what surface waves see of a spherical Earth: phase and group velocities and depth "
  "kernels of Rayleigh and Love waves and their overtones, as a table for osla invert "
  "--reference. The Earth is PREM, or a model in Mineos' format; self-gravitating, transversely "
  "isotropic, with physical dispersion. With MODEs (0S20, 1T10) it lists their periods instead. "
  "Runs in one process.";

static const char after[] = "Example:\n"
                            "  osla reference --output prem.txt\n"
                            "  osla reference --isotropic 0S20 0S30\n";

/* Parses "25:300:40" (from, to, count) or a single period such as "100". */
static int parse_periods(const char *text, reference_options *o)
{
  char rest;
  int fields = sscanf(text, "%lf:%lf:%d%c", &o->period_min, &o->period_max, &o->n_periods, &rest);
  if (fields == 1 && strspn(text, "0123456789.") == strlen(text)) {
    o->period_max = o->period_min;
    o->n_periods = 1;
  } else if (fields != 3) {
    return command_error(name, "--periods: '%s' is not FROM:TO:COUNT", text);
  }
  if (!(o->period_min >= 5.0 && o->period_max <= 1000.0 && o->period_min <= o->period_max))
    return command_error(name, "--periods: %g to %g s is not within 5 to 1000 s", o->period_min,
                         o->period_max);
  if (o->n_periods < 1 || o->n_periods > 1000 ||
      (o->n_periods == 1) != (o->period_min == o->period_max))
    return command_error(name, "--periods: %d periods from %g to %g s", o->n_periods, o->period_min,
                         o->period_max);
  return OSLA_EXIT_OK;
}

static int parse_wave(const char *word, reference_options *o)
{
  o->wave[RADIAL_TOROIDAL] = strcmp(word, "rayleigh") != 0;
  o->wave[RADIAL_SPHEROIDAL] = strcmp(word, "love") != 0;
  if (o->wave[0] && o->wave[1] && strcmp(word, "both") != 0)
    return command_error(name, "--wave: '%s' is none of rayleigh, love, both", word);
  return OSLA_EXIT_OK;
}

static int check(const reference_options *o)
{
  const bool prem = strcmp(o->model, "prem") == 0;
  if (!prem && (o->no_ocean || o->isotropic))
    return command_error(name, "--%s requires --model prem, but the model is %s",
                         o->no_ocean ? "no-ocean" : "isotropic", o->model);
  if (o->n_branches < 1 || o->n_branches > 20)
    return command_error(name, "--branches: %d is outside 1 to 20", o->n_branches);
  if (!(o->fastest >= 2.0 && o->fastest <= 12.0))
    return command_error(name, "--fastest: %g km/s is outside 2 to 12", o->fastest);
  if (!(o->vp_ratio >= 0.0 && o->vp_ratio <= 2.0))
    return command_error(name, "--vp-ratio: %g is outside 0 to 2", o->vp_ratio);
  if (!(o->element >= 1.0 && o->element <= 100.0))
    return command_error(name, "--element: %g km is outside 1 to 100", o->element);
  return OSLA_EXIT_OK;
}

bool reference_parse(int argc, char **argv, reference_options *o, command_line *line, int *status)
{
  char *model = "prem", *periods = "25:300:40", *wave = "both", *output = NULL;
  *o = (reference_options){.n_branches = 4, .fastest = 8.0, .element = 10.0};
  const struct poptOption options[] = {
    {"model", 'm', POPT_ARG_STRING | SHOW, &model, 0, "prem, or a file in Mineos' format", "FILE"},
    {"no-ocean", '\0', POPT_ARG_NONE, &o->no_ocean, 0, "PREM's upper crust in place of its ocean",
     NULL},
    {"isotropic", '\0', POPT_ARG_NONE, &o->isotropic, 0, "PREM's isotropic upper mantle", NULL},
    {"wave", '\0', POPT_ARG_STRING | SHOW, &wave, 0, "rayleigh, love or both", "WAVE"},
    {"periods", 'p', POPT_ARG_STRING | SHOW, &periods, 0,
     "from, to (s), and how many, evenly in their logarithm", "A:B:N"},
    {"branches", 'b', POPT_ARG_INT | SHOW, &o->n_branches, 0,
     "the fundamental mode and its overtones", "N"},
    {"fastest", '\0', POPT_ARG_DOUBLE | SHOW, &o->fastest, 0,
     "an overtone is left out where its phase velocity is above this, km/s", "C"},
    {"vp-ratio", '\0', POPT_ARG_DOUBLE | SHOW, &o->vp_ratio, 0,
     "dln Vp / dln Vs of the kernels; 0: Vp is held", "R"},
    {"element", '\0', POPT_ARG_DOUBLE | SHOW, &o->element, 0,
     "greatest size of finite elements at the surface, km", "H"},
    {"output", 'o', POPT_ARG_STRING, &output, 0, "the table; without it on standard output",
     "FILE"},
    POPT_TABLEEND};
  *line = (command_line){.name = name,
                         .synopsis = "[OPTION...] [MODE...]",
                         .about = about,
                         .after = after,
                         .options = options,
                         .takes_arguments = true};
  if (!command_parse(line, argc, argv, status)) return false;
  o->model = model;
  o->output = output;
  o->modes = line->arguments;
  o->n_modes = line->n_arguments;
  *status = parse_periods(periods, o);
  if (*status == OSLA_EXIT_OK) *status = parse_wave(wave, o);
  if (*status == OSLA_EXIT_OK) *status = check(o);
  if (*status != OSLA_EXIT_OK) command_release(line);
  return *status == OSLA_EXIT_OK;
}
