/* Periods of modes given by name, for comparison with catalogues (contract: reference.h). */
#include "apps/tomography/reference/reference.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum { ORDER_MIN = 3, ORDER_MAX = 2000, BRANCH_MAX = 50 };

/* Parses the name of a mode such as "0S20": branch, S or T, angular order. */
static osla_err parse_mode_name(const char *word, int *branch, radial_kind *kind, int *order)
{
  char letter = '\0', rest;
  const int fields =
    isdigit((unsigned char)word[0]) ? sscanf(word, "%2d%c%4d%c", branch, &letter, order, &rest) : 0;
  OSLA_CHECK(fields == 3 && (letter == 'S' || letter == 'T'), OSLA_ERR_ARG,
             "%.40s is not the name of a mode such as 0S20 or 1T10", word);
  OSLA_CHECK(*order >= ORDER_MIN && *order <= ORDER_MAX && *branch <= BRANCH_MAX, OSLA_ERR_ARG,
             "%.40s: orders from %d to %d and overtones up to %d can be computed", word, ORDER_MIN,
             ORDER_MAX, BRANCH_MAX);
  *kind = letter == 'S' ? RADIAL_SPHEROIDAL : RADIAL_TOROIDAL;
  return OSLA_OK;
}

static osla_err list_modes(FILE *out, const reference_options *o, radial_system *const *system)
{
  static const double two_pi = 6.283185307179586;
  /* upper bound of phase velocities in km/s; even core phases are slower */
  static const double fastest = 30.0;
  (void)fprintf(out, "%-8s %12s %10s %10s %8s\n", "mode", "period_s", "c_km_s", "U_km_s", "Q");
  for (int i = 0; i < o->n_modes; i++) {
    int branch = 0, order = 0;
    radial_kind kind = RADIAL_SPHEROIDAL;
    mode m;
    bool found;
    OSLA_CALL(parse_mode_name(o->modes[i], &branch, &kind, &order));
    OSLA_CALL(mode_at_order(system[kind], order + 0.5, branch, fastest, &m, &found));
    OSLA_CHECK(found, OSLA_ERR_ARG, "%s: not slower than %g km/s", o->modes[i], fastest);
    (void)fprintf(out, "%-8s %12.4f %10.6f %10.6f ", o->modes[i], two_pi / m.omega, m.c, m.u);
    if (m.q > 0.0)
      (void)fprintf(out, "%8.1f\n", 1.0 / m.q);
    else
      /* "-" stands for the infinite Q of a mode without attenuation */
      (void)fprintf(out, "%8s\n", "-");
    mode_destroy(&m);
  }
  return OSLA_OK;
}

osla_err reference_list_modes(FILE *out, const reference_options *o, const earth_model *model)
{
  const radial_options mesh_options = {.size = o->element, .vp_ratio = o->vp_ratio};
  radial_mesh *mesh[2] = {NULL, NULL};
  radial_system *system[2] = {NULL, NULL};
  osla_err err = OSLA_OK;
  for (int kind = 0; err == OSLA_OK && kind < 2; kind++) {
    err = radial_mesh_create(model, (radial_kind)kind, &mesh_options, &mesh[kind]);
    if (err == OSLA_OK) err = radial_system_create(mesh[kind], &system[kind]);
  }
  if (err == OSLA_OK) err = list_modes(out, o, system);
  for (int kind = 0; kind < 2; kind++) {
    radial_system_destroy(&system[kind]);
    radial_mesh_destroy(&mesh[kind]);
  }
  return err;
}
