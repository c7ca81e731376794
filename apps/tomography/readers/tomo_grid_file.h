/* Writes fields on a grid of longitudes, latitudes and depths to a netCDF file that follows the CF
 * conventions 1.8 (cfconventions.org), so that GMT and xarray can open it directly.
 *
 * The grid is global and gridline-registered: longitudes -180 to 180, with the last column equal to
 * the first so that GMT treats the grid as periodic; geographic latitudes -90 to 90. The format is
 * the 64-bit-offset format of netCDF's classic model (reason: doc/hazards.md), with 4-byte floats.
 * The file is made in memory and appears all at once (new_file.h). Local; one caller at a time.
 */
#ifndef TOMO_GRID_FILE_H
#define TOMO_GRID_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "apps/tomography/earth/tomo_slices.h"

typedef struct tomo_grid_file {
  const tomo_slices *slices;
  /* distance of grid lines in degrees; must be one that tomo_grid_check accepts */
  double step_degrees;
  int n_variables; /* number of variables, 1 .. TOMO_GRID_VARIABLES_MAX */
  const tomo_variable *variable;
  /* each byte that is not printable ASCII is written as '?' */
  const char *title, *source, *history, *references;
} tomo_grid_file;

enum { TOMO_GRID_VARIABLES_MAX = 8 };

/* Returns false if this build has no netCDF. */
bool tomo_grid_can_write(void);

/* Checks that the step is 0.1 to 30 degrees and divides 180; `option` names it in the message.
 * Errors: OSLA_ERR_ARG. */
osla_err tomo_grid_check(const char *option, double step_degrees);

/* Number of bytes of the file's variables. */
uint64_t tomo_grid_bytes(double step_degrees, int depths, int variables, int flat_variables);

/* Writes or replaces the file. Errors: OSLA_ERR_IO; OSLA_ERR_MEM; OSLA_ERR_RANGE if a variable is
 * too large for the format; OSLA_ERR_UNSUPPORTED. */
osla_err tomo_grid_write(const tomo_grid_file *grid, const char *file);

#endif
