/* The command `osla reference`, which makes a table of a reference Earth or lists modes (layer 4;
 * no MPI). */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <stdbool.h>
#include <stdio.h>

#include "apps/tomography/reference/mode.h"
#include "tools/common/command.h"

typedef struct reference_options {
  const char *model;             /* "prem", or a file in Mineos' format */
  int no_ocean;                  /* 1: PREM without its ocean */
  int isotropic;                 /* 1: PREM with its isotropic upper mantle */
  double period_min, period_max; /* s */
  int n_periods, n_branches;
  /* wave[kind]: true if the table includes the wave; radial_kind 0 is Love, 1 Rayleigh */
  bool wave[2];
  double fastest; /* greatest phase velocity of a mode, km/s */
  double vp_ratio;
  double element;     /* size of elements at the surface, km */
  const char *output; /* name of the output file; NULL: standard output */
  /* names of modes such as 0S20; if the command line has any, the modes are listed and no table is
   * made */
  char **modes;
  int n_modes;
} reference_options;

/* Parses and checks the command line. Returns what command_parse returns. */
bool reference_parse(int argc, char **argv, reference_options *options, command_line *line,
                     int *status);

/* reference_make_table writes a reference table, reference_list_modes a list of modes. */
osla_err reference_make_table(FILE *out, const reference_options *options,
                              const earth_model *model);
osla_err reference_list_modes(FILE *out, const reference_options *options,
                              const earth_model *model);

#endif
