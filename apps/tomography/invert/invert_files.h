/* Options of `osla invert` about input lists of stations and earthquakes, and about files for
 * other programs; a part of invert_options. */
#ifndef INVERT_FILES_H
#define INVERT_FILES_H

#include "apps/tomography/readers/tomo_selection.h"

#include <limits.h>
#include <stdbool.h>

enum { INVERT_SLICES_MAX = 200 };

typedef struct invert_file_options {
  /* paths, NULL after the last; the list is NULL for the shipped sample */
  char **stations, **events;
  /* texts of the options; NULL: not given; parsed into `choice` and `slice_km` */
  const char *time, *magnitude, *region, *station_region, *slices;
  tomo_selection choice;
  const char *netcdf, *xdmf; /* output files; NULL: none */
  double step_degrees;       /* spacing of the netCDF grid */
  int n_slices; /* number of depths in slice_km; 0: the depths of the radial functions */
  double slice_km[INVERT_SLICES_MAX];
} invert_file_options;

/* The files of stations and events. If the user gave none, the lists point to the two sample
 * paths. */
typedef struct invert_tables {
  char *const *stations, *const *events;
  int n_stations, n_events;
  char sample_stations[PATH_MAX], sample_events[PATH_MAX];
  char *one[2]; /* one-element lists for the sample */
} invert_tables;

#endif
