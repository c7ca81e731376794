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

/* Writes the rasters (MAP_WIDTH x MAP_HEIGHT floats, from the lower left, NaN outside the ellipse),
 * coast.txt, grid.txt, frame.txt, stations.txt and events.txt into the directory. */
osla_err map_write_rasters(const tomo_map *map, const char *directory, map_ranges *ranges);
osla_err map_write_lines(const tomo_map *map, const char *directory);

/* Writes map.gp, which makes map.png. */
osla_err map_write_script(const tomo_map *map, const map_ranges *ranges, const char *directory);

/* Opens DIRECTORY/NAME for writing. */
osla_err map_open(const char *directory, const char *name, FILE **file);

/* Closes; an earlier or a late write error becomes OSLA_ERR_IO. */
osla_err map_close(const char *name, FILE *file);

#endif
