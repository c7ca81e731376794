/* Fields on a grid of longitudes, latitudes and depths, as a netCDF file by the CF conventions 1.8
 * (cfconventions.org) that GMT and xarray open as it is.
 *
 * The grid is global and gridline-registered: longitudes -180 to 180, the last column being the
 * first again, so that GMT knows it as periodic; geographic latitudes -90 to 90. The file is of
 * the 64-bit-offset format of netCDF's classic model (why: doc/hazards.md), values are 4-byte
 * floats. It is made in memory and appears all at once (new_file.h). Local; one caller at a time.
 */
#ifndef TOMO_GRID_FILE_H
#define TOMO_GRID_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "apps/tomography/earth/tomo_slices.h"

/* A variable of the file. Texts are ASCII. */
typedef struct tomo_grid_variable {
  const char *name, *long_name, *units;
  const char *comment;   /* or NULL */
  const char *ancillary; /* names of others that tell more of it, blanks between them; or NULL */
  tomo_field field;
} tomo_grid_variable;

typedef struct tomo_grid_file {
  const tomo_slices *slices;
  double step_degrees; /* as tomo_grid_check has it */
  int n_variables;     /* 1 .. TOMO_GRID_VARIABLES_MAX */
  const tomo_grid_variable *variable;
  const char *title, *source, *history, *references; /* any bytes: what is not ASCII becomes ? */
} tomo_grid_file;

enum { TOMO_GRID_VARIABLES_MAX = 8 };

/* False: this build has no netCDF. */
bool tomo_grid_can_write(void);

/* The step is 0.1 to 30 and a whole part of 180; `option` names it. Errors: OSLA_ERR_ARG. */
osla_err tomo_grid_check(const char *option, double step_degrees);

/* Bytes of the file's variables. */
uint64_t tomo_grid_bytes(double step_degrees, int depths, int variables, int flat_variables);

/* Writes or replaces the file. Errors: OSLA_ERR_IO, OSLA_ERR_MEM; OSLA_ERR_RANGE where a variable
 * is too large for the format; OSLA_ERR_UNSUPPORTED. */
osla_err tomo_grid_write(const tomo_grid_file *grid, const char *file);

#endif
