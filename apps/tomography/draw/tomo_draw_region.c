/* Line work of a regional map: a rectangle as frame, a fine graticule with labels at the left and
 * at the lower edge, a scale bar. See tomo_draw.h. */
#include <math.h>

#include "apps/tomography/draw/tomo_draw_parts.h"

/* Projects a point of a parallel or of a meridian. For a parallel `degree` is its latitude and
 * `along` the longitude of the point; for a meridian `degree` is its longitude and `along` the
 * latitude of the point. Returns false if the point is not visible. */
static bool line_point(const tomo_frame *f, bool parallel, double degree, double along,
                       double at[2])
{
  return parallel ? tomo_frame_forward(f, degree, along, &at[0], &at[1])
                  : tomo_frame_forward(f, along, degree, &at[0], &at[1]);
}

/* Number of steps along a parallel (all longitudes) or along a meridian (all latitudes). */
enum { STEPS = 720 };
static double along_of(const tomo_frame *f, bool parallel, int i)
{
  return parallel ? f->longitude - 180.0 + 360.0 * i / STEPS : -90.0 + 180.0 * i / STEPS;
}

static void put_line(tomo_draw *draw, bool parallel, double degree)
{
  bool down = false;
  for (int i = 0; i <= STEPS; i++) {
    double at[2];
    const bool seen = line_point(&draw->world.frame, parallel, degree,
                                 along_of(&draw->world.frame, parallel, i), at);
    if (seen) fprintf(draw->script, "%.6f %.6f\n", at[0], at[1]);
    if (!seen && down) putc('\n', draw->script);
    down = seen;
  }
  if (down) putc('\n', draw->script);
}

void draw_region_grid(tomo_draw *draw)
{
  const double step = tomo_frame_step(&draw->world.frame);
  fprintf(draw->script, "$grid << END\n");
  for (double latitude = -90.0 + step; latitude < 90.0; latitude += step)
    put_line(draw, true, latitude);
  for (double longitude = -180.0; longitude < 180.0; longitude += step)
    put_line(draw, false, longitude);
  fprintf(draw->script, "END\n");
}

void draw_region_frame(const tomo_draw *draw)
{
  const double w = draw->world.frame.half_width, h = draw->world.frame.half_height;
  fprintf(draw->script,
          "$frame << END\n%.6f %.6f\n%.6f %.6f\n%.6f %.6f\n%.6f %.6f\n%.6f %.6f\nEND\n", -w, -h, w,
          -h, w, h, -w, h, -w, -h);
}

/* Finds the position where a parallel crosses the left edge of the map, or a meridian the lower
 * edge. Returns false if the line does not cross the edge. */
static bool find_crossing(const tomo_frame *f, bool parallel, double degree, double *place)
{
  const int across = parallel ? 0 : 1, along = 1 - across;
  const double edge = parallel ? -f->half_width : -f->half_height;
  const double most = parallel ? f->half_height : f->half_width;
  double before[2] = {0.0, 0.0};
  bool seen = false;
  for (int i = 0; i <= STEPS; i++) {
    double at[2];
    const bool sees = line_point(f, parallel, degree, along_of(f, parallel, i), at);
    if (seen && sees && (before[across] < edge) != (at[across] < edge)) {
      const double part = (edge - before[across]) / (at[across] - before[across]);
      *place = before[along] + part * (at[along] - before[along]);
      if (fabs(*place) < 0.97 * most) return true;
    }
    seen = sees;
    before[0] = at[0];
    before[1] = at[1];
  }
  return false;
}

static void put_degree(const tomo_draw *draw, bool parallel, double degree, const char *letter)
{
  const tomo_frame *f = &draw->world.frame;
  double place;
  if (!find_crossing(f, parallel, degree, &place)) return;
  fprintf(draw->script,
          "set label '%g°%s' at first %.6f, first %.6f %s front font ',11' tc rgb '#505050'\n",
          fabs(degree), letter, parallel ? -1.02 * f->half_width : place,
          parallel ? place : -f->half_height, parallel ? "right" : "center offset 0,-0.7");
}

static void put_degrees(const tomo_draw *draw)
{
  const double step = tomo_frame_step(&draw->world.frame);
  for (double latitude = -90.0 + step; latitude < 90.0; latitude += step)
    put_degree(draw, true, latitude, latitude > 0.0 ? "N" : latitude < 0.0 ? "S" : "");
  for (double longitude = -180.0; longitude < 180.0; longitude += step)
    put_degree(draw, false, longitude,
               longitude == 0.0 || longitude == -180.0 ? ""
               : longitude > 0.0                       ? "E"
                                                       : "W");
}

/* Draws a scale bar at the lower right, whose length is a round number of km and at most a quarter
 * of the map's width. */
static void put_scale_bar(const tomo_draw *draw)
{
  const tomo_frame *f = &draw->world.frame;
  const double most = 0.5 * f->half_width * TOMO_EARTH_RADIUS_KM;
  const double power = pow(10.0, floor(log10(most)));
  const double km = power * (most >= 5.0 * power ? 5.0 : most >= 2.0 * power ? 2.0 : 1.0);
  const double w = f->half_width, right = 0.95 * w, left = right - km / TOMO_EARTH_RADIUS_KM;
  const double bottom = -f->half_height + 0.05 * w;
  fprintf(draw->script,
          "set object rectangle from first %.6f, first %.6f to first %.6f, first %.6f front fc rgb "
          "'#ffffff' fillstyle solid 0.85 noborder\n",
          left - 0.03 * w, bottom - 0.03 * w, right + 0.03 * w, bottom + 0.11 * w);
  fprintf(
    draw->script,
    "set arrow from first %.6f, first %.6f to first %.6f, first %.6f heads size first %.6f,90 "
    "front lw 2 lc rgb '#000000'\n",
    left, bottom, right, bottom, 0.012 * w);
  fprintf(draw->script, "set label '%g km' at first %.6f, first %.6f center front font ',11'\n", km,
          0.5 * (left + right), bottom + 0.06 * w);
}

void draw_region_labels(const tomo_draw *draw)
{
  put_degrees(draw);
  put_scale_bar(draw);
}
