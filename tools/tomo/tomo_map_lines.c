/* The drawn part of the maps: coastlines, graticule, frame, stations (triangles), events (stars).
 *
 * Lines are cut at the map's edge, with a point interpolated on either side. Symbols are polygons
 * in the plane, so that they look the same with every font. Source of the coastlines:
 * data/README.md. */
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "tomo_map_parts.h"
#include "tomo_projection.h"

static const double pi = 3.14159265358979323846;

typedef struct pen {
  FILE *out;
  bool down;
  double latitude, relative; /* where it is */
} pen;

static void put_point(FILE *out, double latitude, double relative)
{
  double x, y;
  projection_forward(latitude, relative, &x, &y);
  fprintf(out, "%.5f %.5f\n", x, y);
}

static void pen_up(pen *p)
{
  if (p->down) putc('\n', p->out);
  p->down = false;
}

static void pen_to(pen *p, double latitude, double longitude)
{
  const double relative = projection_relative(longitude);
  if (p->down && fabs(relative - p->relative) > 180.0) { /* over the edge */
    const double edge = p->relative > 0.0 ? 180.0 : -180.0;
    const double unwrapped = relative + 2.0 * edge, way = unwrapped - p->relative;
    const double part = fabs(way) > 1e-9 ? (edge - p->relative) / way : 0.0;
    const double there = p->latitude + part * (latitude - p->latitude);
    put_point(p->out, there, edge);
    putc('\n', p->out);
    put_point(p->out, there, -edge);
  }
  put_point(p->out, latitude, relative);
  p->down = true;
  p->latitude = latitude;
  p->relative = relative;
}

static osla_err write_coast(const tomo_map *map, map_files *files)
{
  char path[PATH_MAX], line[256];
  pen p = {0};
  FILE *in = NULL;
  if (map->data_directory) {
    const int n = snprintf(path, sizeof path, "%s/coastlines.txt", map->data_directory);
    if (n > 0 && n < (int)sizeof path) in = fopen(path, "r");
  }
  osla_err err = map_open(files, "coast.txt", &p.out);
  if (err == OSLA_OK) {
    while (in && fgets(line, sizeof line, in)) {
      double latitude, longitude;
      if (line[0] == '#') continue;
      if (sscanf(line, "%lf %lf", &longitude, &latitude) == 2)
        pen_to(&p, latitude, longitude);
      else
        pen_up(&p);
    }
    err = map_close("coast.txt", p.out);
  }
  if (in) fclose(in);
  return err;
}

static osla_err write_grid(map_files *files)
{
  FILE *out;
  OSLA_CALL(map_open(files, "grid.txt", &out));
  for (int longitude = 0; longitude < 360; longitude += 30) {
    for (int latitude = -90; latitude <= 90; latitude += 2)
      put_point(out, latitude, projection_relative(longitude));
    putc('\n', out);
  }
  for (int latitude = -60; latitude <= 60; latitude += 30) {
    put_point(out, latitude, -180.0);
    put_point(out, latitude, 180.0);
    putc('\n', out);
  }
  OSLA_CALL(map_close("grid.txt", out));
  OSLA_CALL(map_open(files, "frame.txt", &out));
  for (int i = 0; i <= 360; i++)
    fprintf(out, "%.5f %.5f\n", 2.0 * cos(i * pi / 180.0), sin(i * pi / 180.0));
  return map_close("frame.txt", out);
}

/* A regular star with `points` points, its inner corners at `inner` of the radius; inner = 1 with
 * three points would be a hexagon, so that triangles take inner = 1/2, which has straight sides. */
static void put_symbol(FILE *out, const tomo_site *site, double radius, int points, double inner)
{
  double x, y;
  projection_forward(site->latitude, projection_relative(site->longitude), &x, &y);
  for (int i = 0; i <= 2 * points; i++) {
    const double r = i % 2 ? inner * radius : radius, angle = 0.5 * pi + i * pi / points;
    fprintf(out, "%.5f %.5f\n", x + r * cos(angle), y + r * sin(angle));
  }
  putc('\n', out);
}

static osla_err write_symbols(map_files *files, const char *name, const tomo_site *site,
                              int64_t count, double radius, int points, double inner)
{
  FILE *out;
  OSLA_CALL(map_open(files, name, &out));
  for (int64_t i = 0; i < count; i++)
    put_symbol(out, &site[i], count > 80 ? 0.7 * radius : radius, points, inner);
  return map_close(name, out);
}

osla_err map_write_lines(const tomo_map *map, map_files *files)
{
  OSLA_CALL(write_coast(map, files));
  OSLA_CALL(write_grid(files));
  OSLA_CALL(write_symbols(files, "stations.txt", map->stations, map->n_stations, 0.034, 3, 0.5));
  return write_symbols(files, "events.txt", map->events, map->n_events, 0.042, 5, 0.42);
}
