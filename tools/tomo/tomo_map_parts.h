/* Private to tomo_map: the parts of the picture as files for gnuplot. */
#ifndef TOMO_MAP_PARTS_H
#define TOMO_MAP_PARTS_H

#include <stdio.h>

#include "tomo_map.h"

enum { MAP_WIDTH = 840, MAP_HEIGHT = 420 }; /* pixels of one map */

typedef enum map_panel { PANEL_TRUE, PANEL_RECOVERED, PANEL_DENSITY, PANELS } map_panel;

typedef struct map_ranges {
  double percent;                   /* colours of the models: -percent .. percent */
  double density_low, density_high; /* colours of the density, km per 1000 km^2 */
} map_ranges;

/* "true.bin" and so on, by panel. */
extern const char *const map_raster_name[PANELS];

/* Nameless temporary files: whatever ends the process, they go with it. gnuplot inherits them open
 * and reads them as /dev/fd/N. */
enum { MAP_FILES_MAX = 12 };
typedef struct map_files {
  int count;
  const char *name[MAP_FILES_MAX]; /* constant strings */
  int descriptor[MAP_FILES_MAX];
} map_files;

/* Makes a file in $TMPDIR or /tmp; and opens it for writing, if `file` is not NULL. */
osla_err map_open(map_files *files, const char *name, FILE **file);

/* N of a file that was opened; -1: none has this name. */
int map_descriptor(const map_files *files, const char *name);

/* Closes; an earlier or a late write error becomes OSLA_ERR_IO. */
osla_err map_close(const char *name, FILE *file);

/* Writes the rasters (MAP_WIDTH x MAP_HEIGHT floats, from the lower left, NaN outside the ellipse),
 * coast.txt, grid.txt, frame.txt, stations.txt and events.txt. */
osla_err map_write_rasters(const tomo_map *map, map_files *files, map_ranges *ranges);
osla_err map_write_lines(const tomo_map *map, map_files *files);

/* Writes map.gp, which makes map.png from the others; all of them are open. */
osla_err map_write_script(const tomo_map *map, const map_ranges *ranges, map_files *files);

#endif
