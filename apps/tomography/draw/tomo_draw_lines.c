/* Line work of the maps: coastlines, graticule, frame, stations (triangles), events (stars).
 *
 * A line that crosses the map's edge is cut there, with an interpolated point on either side.
 * Symbols are polygons in map coordinates, so that they do not depend on fonts. Source of the
 * coastlines: data/README.md. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "apps/tomography/draw/tomo_draw_parts.h"
#include "apps/tomography/draw/tomo_frame.h"

typedef struct pen {
  FILE *out;
  const tomo_frame *frame;
  bool down;
  double latitude, relative; /* position of the last point that was drawn */
} pen;

static void put_point(FILE *out, double latitude, double relative)
{
  double x, y;
  projection_forward(latitude, relative, &x, &y);
  fprintf(out, "%.4f %.4f\n", x, y);
}

static void pen_up(pen *p)
{
  if (p->down) putc('\n', p->out);
  p->down = false;
}

static void pen_to(pen *p, double latitude, double longitude)
{
  double x, y;
  if (p->frame->regional) {
    if (!tomo_frame_forward(p->frame, latitude, longitude, &x, &y)) {
      pen_up(p);
      return;
    }
    fprintf(p->out, "%.6f %.6f\n", x, y);
    p->down = true;
    return;
  }
  const double relative = projection_relative(longitude, p->frame->longitude);
  /* the line crosses the edge of the world map */
  if (p->down && fabs(relative - p->relative) > 180.0) {
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

static void put_coast(tomo_draw *draw)
{
  char path[PATH_MAX], line[256];
  pen p = {.out = draw->script, .frame = &draw->world.frame};
  FILE *in = NULL;
  if (draw->world.data_directory) {
    const int n = snprintf(path, sizeof path, "%s/coastlines.txt", draw->world.data_directory);
    if (n > 0 && n < (int)sizeof path) in = fopen(path, "r");
  }
  if (!in) return;
  fprintf(draw->script, "$coast << END\n");
  while (fgets(line, sizeof line, in)) {
    double latitude, longitude;
    if (line[0] == '#') continue;
    if (sscanf(line, "%lf %lf", &longitude, &latitude) == 2 && fabs(latitude) <= 90.0)
      pen_to(&p, latitude, longitude);
    else
      pen_up(&p);
  }
  fprintf(draw->script, "END\n");
  draw->has_coast = true;
  fclose(in);
}

static void put_grid(tomo_draw *draw)
{
  FILE *out = draw->script;
  fprintf(out, "$grid << END\n");
  for (int longitude = 0; longitude < 360; longitude += 30) {
    for (int latitude = -90; latitude <= 90; latitude += 3)
      put_point(out, latitude, projection_relative(longitude, draw->world.frame.longitude));
    putc('\n', out);
  }
  for (int latitude = -60; latitude <= 60; latitude += 30) {
    put_point(out, latitude, -180.0);
    put_point(out, latitude, 180.0);
    putc('\n', out);
  }
  fprintf(out, "END\n");
}

/* Writes two data blocks: $frame, the ellipse of the world map, and $mask, the area between the
 * ellipse and the edge of the picture, in two parts. The mask gives the colours a smooth edge. */
static void put_frame(FILE *out)
{
  fprintf(out, "$frame << END\n");
  for (int i = 0; i <= 180; i++)
    fprintf(out, "%.4f %.4f\n", 2.0 * cos(i * M_PI / 90.0), sin(i * M_PI / 90.0));
  fprintf(out, "END\n$mask << END\n");
  for (int side = -1; side <= 1; side += 2) {
    fprintf(out, "0 1.1\n%.2f 1.1\n%.2f -1.1\n0 -1.1\n", 2.2 * side, 2.2 * side);
    for (int i = 0; i <= 90; i++)
      fprintf(out, "%.4f %.4f\n", 2.0 * side * sin(i * M_PI / 90.0), -cos(i * M_PI / 90.0));
    fprintf(out, "0 1.1\n\n");
  }
  fprintf(out, "END\n");
}

/* Writes a regular star with `points` points; its inner corners are at `inner` times the radius. A
 * triangle is a star with three points and inner = 1/2, which makes straight sides. */
static void put_symbol(const tomo_draw *draw, const tomo_site *site, double radius, int points,
                       double inner)
{
  const tomo_frame *f = &draw->world.frame;
  double x, y;
  const bool seen = tomo_frame_forward(f, site->latitude, site->longitude, &x, &y);
  if (f->regional && !(seen && fabs(x) < f->half_width && fabs(y) < f->half_height)) return;
  for (int i = 0; i <= 2 * points; i++) {
    const double r = i % 2 ? inner * radius : radius, angle = 0.5 * M_PI + i * M_PI / points;
    fprintf(draw->script, "%.6f %.6f\n", x + r * cos(angle), y + r * sin(angle));
  }
  putc('\n', draw->script);
}

static void put_symbols(const tomo_draw *draw, const char *block, const tomo_site *site,
                        int64_t count, double radius, int points, double inner)
{
  fprintf(draw->script, "$%s << END\n", block);
  for (int64_t i = 0; i < count; i++)
    put_symbol(draw, &site[i], count > 80 ? 0.7 * radius : radius, points, inner);
  fprintf(draw->script, "END\n");
}

void draw_world(tomo_draw *draw)
{
  const tomo_world *w = &draw->world;
  const double unit = 0.5 * w->frame.half_width;
  put_coast(draw);
  if (w->frame.regional) {
    draw_region_grid(draw);
    draw_region_frame(draw);
  } else {
    put_grid(draw);
    put_frame(draw->script);
  }
  if (w->n_stations > 0)
    put_symbols(draw, "stations", w->stations, w->n_stations, 0.040 * unit, 3, 0.5);
  if (w->n_events > 0) put_symbols(draw, "events", w->events, w->n_events, 0.048 * unit, 5, 0.42);
}

static void put_track_point(pen *p, const tomo_arc *arc, double s)
{
  double v[3], latitude, longitude;
  tomo_arc_point(arc, s, v);
  tomo_lat_lon(v, &latitude, &longitude);
  pen_to(p, latitude, longitude);
}

void draw_track(tomo_draw *draw, int block, const tomo_track *track)
{
  enum { STEPS = 180 };
  const double step = M_PI / 6.0;
  pen p = {.out = draw->script, .frame = &draw->world.frame};
  fprintf(draw->script, "$track%d << END\n", block);
  for (int i = 0; i <= STEPS; i++)
    put_track_point(&p, &track->arc, track->arc.angle * i / STEPS);
  /* gnuplot rejects an empty data block, so the block begins with the point (9, 9), which is
   * outside the map */
  fprintf(draw->script, "END\n$dots%d << END\n9 9\n", block);
  for (double s = step; s < track->arc.angle - 0.5 * step; s += step) {
    pen_up(&p);
    put_track_point(&p, &track->arc, s);
  }
  fprintf(draw->script, "END\n");
}
