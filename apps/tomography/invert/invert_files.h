/* Options of `osla invert` that speak of lists of stations and earthquakes, and of files for other
 * programs; a part of invert_options. */
#ifndef INVERT_FILES_H
#define INVERT_FILES_H

#include "apps/tomography/readers/tomo_choice.h"

#include <limits.h>
#include <stdbool.h>

enum { INVERT_SLICES_MAX = 200 };

typedef struct invert_file_options {
  char **stations, **events; /* paths, NULL behind the last; NULL: the shipped sample */
  /* as written, NULL: not given; checked, in `choice` and `slice_km` */
  const char *time, *magnitude, *region, *station_region, *slices;
  tomo_choice choice;
  const char *netcdf, *xdmf; /* files; NULL: none */
  double step_degrees;       /* of the grid of netCDF */
  int n_slices;              /* 0: the depths of the radial functions */
  double slice_km[INVERT_SLICES_MAX];
} invert_file_options;

/* The files of stations and events, or those of the sample, which are named by the arrays. */
typedef struct invert_tables {
  char *const *stations, *const *events;
  int n_stations, n_events;
  char sample_stations[PATH_MAX], sample_events[PATH_MAX];
  char *one[2]; /* the lists where they are the sample */
} invert_tables;

#endif
