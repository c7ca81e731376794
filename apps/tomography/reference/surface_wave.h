/* Velocities and kernels of surface waves on a spherical Earth: a row of a reference table
 * (doc/reference.md). */
#ifndef SURFACE_WAVE_H
#define SURFACE_WAVE_H

#include "apps/tomography/reference/mode.h"

/* Depths at which kernels are given; kernels are linear between them. Depths are closer near the
 * surface and reach the bottom of the uppermost solid; the depth of a discontinuity is listed
 * twice. The caller frees *depth. Errors: MEM. */
osla_err surface_depths(const earth_model *model, int *n, double **depth);

typedef struct surface_row {
  double period, c, u; /* period in s, phase and group velocity in km/s */
  double *by_c, *by_u; /* [n] dln c / dln Vs and dln U / dln Vs per km; allocated by the caller */
} surface_row;

/* Computes a row at a period. *found is false if the branch's phase velocity is not below
 * `fastest`. Errors: MEM, STATE. */
osla_err surface_row_make(radial_system *system, double period, int branch, double fastest, int n,
                          const double *depth, surface_row *row, bool *found);

#endif
