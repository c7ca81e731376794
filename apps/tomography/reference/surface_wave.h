/* What surface waves see of a spherical Earth: a row of a reference table (doc/reference.md). */
#ifndef SURFACE_WAVE_H
#define SURFACE_WAVE_H

#include "apps/tomography/reference/mode.h"

/* Depths at which kernels are given, for values that are linear between them: closer near the
 * surface, down to the bottom of the uppermost solid; where the model jumps a depth stands twice.
 * The caller frees *depth. Errors: MEM. */
osla_err surface_depths(const earth_model *model, int *n, double **depth);

typedef struct surface_row {
  double period, c, u; /* s, km/s, km/s */
  double *by_c, *by_u; /* [n] dln c / dln Vs, dln U / dln Vs per km; the caller's */
} surface_row;

/* A row at a period, if the branch has a phase velocity below `fastest` there: *found. Errors: MEM,
 * STATE. */
osla_err surface_row_make(radial_system *system, double period, int branch, double fastest, int n,
                          const double *depth, surface_row *row, bool *found);

#endif
