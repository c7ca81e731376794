/* `osla reference`: makes a table of a reference Earth, or lists modes (floor 4; no MPI). */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <stdbool.h>

#include "apps/tomography/reference/surface_wave.h"
#include "tools/common/command.h"

typedef struct reference_options {
  const char *model;             /* "prem", or a file in Mineos' format */
  int no_ocean, isotropic;       /* of PREM */
  double period_min, period_max; /* s */
  int n_periods, n_branches;
  bool wave[2];   /* by radial_kind: Love, Rayleigh */
  double fastest; /* km/s */
  double vp_ratio;
  double element;     /* km */
  const char *output; /* NULL: standard output */
  char **modes;       /* words such as 0S20: they are listed, and no table is made */
  int n_modes;
} reference_options;

/* Parses and checks; as command_parse. */
bool reference_parse(int argc, char **argv, reference_options *options, command_line *line,
                     int *status);

/* reference_table.c: the table as text, which the caller frees. reference_modes.c: the list. */
osla_err reference_make_table(const reference_options *options, const earth_model *model,
                              char **text, size_t *length);
osla_err reference_list_modes(const reference_options *options, const earth_model *model,
                              char **text, size_t *length);

#endif
