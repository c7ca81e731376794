/* Draws a map, and a colour bar. */
#include <math.h>

#include "apps/tomography/draw/tomo_draw_parts.h"
#include "apps/tomography/draw/tomo_frame.h"

/* Labels the parallels at their left ends. */
static void put_latitudes(const tomo_draw *draw)
{
  for (int latitude = -60; latitude <= 60; latitude += 30) {
    double x, y;
    projection_forward(latitude, -180.0, &x, &y);
    fprintf(draw->script,
            "set label '%d°%s' at first %.4f, first %.4f right front font ',11' tc rgb '#505050'\n",
            latitude < 0 ? -latitude : latitude,
            latitude > 0   ? "N"
            : latitude < 0 ? "S"
                           : "",
            x - 0.04, y + 0.0004 * latitude);
  }
}

/* Writes the labels at the ends of a track, on white boxes. */
static void put_track_names(const tomo_draw *draw, const tomo_track *track)
{
  for (int end = 0; end < 2; end++) {
    double v[3], latitude, longitude, x, y;
    tomo_arc_point(&track->arc, end ? track->arc.angle : 0.0, v);
    tomo_lat_lon(v, &latitude, &longitude);
    if (!tomo_frame_forward(&draw->world.frame, latitude, longitude, &x, &y)) continue;
    fprintf(draw->script,
            "set label '%s%s' at first %.4f, first %.4f center front boxed font ',12'\n",
            track->name, end ? "′" : "", x, y);
  }
}

static void put_tracks(tomo_draw *draw, const tomo_draw_panel *panel, int first_block)
{
  for (int i = 0; i < panel->n_tracks; i++)
    fprintf(draw->script,
            ", \\\n  $track%d with lines lw 4 lc rgb '#ffffff'"
            ", \\\n  $track%d with lines lw 1.6 lc rgb '#000000'"
            ", \\\n  $dots%d with points pt 7 ps 0.5 lc rgb '#000000'"
            ", \\\n  $dots%d with points pt 7 ps 0.3 lc rgb '#ffffff'",
            first_block + i, first_block + i, first_block + i, first_block + i);
}

static void put_plot(tomo_draw *draw, const tomo_draw_panel *panel, int64_t offset)
{
  const tomo_raster *r = panel->raster;
  const tomo_frame *f = &draw->world.frame;
  FILE *out = draw->script;
  fprintf(out,
          "plot '/dev/fd/%d' binary skip=%lld array=(%d,%d) format='%%uchar' origin=(%.8f,%.8f) "
          "dx=%.8f dy=%.8f with rgbalpha",
          fileno(draw->pixels), (long long)offset, r->width, r->height,
          f->half_width * (1.0 / r->width - 1.0), f->half_height * (1.0 / r->height - 1.0),
          2.0 * f->half_width / r->width, 2.0 * f->half_height / r->height);
  if (!f->regional) fprintf(out, ", \\\n  $mask with filledcurves closed fc rgb '#ffffff'");
  fprintf(out, ", \\\n  $grid with lines lw 0.4 lc rgb '#80404040'");
  if (draw->has_coast) fprintf(out, ", \\\n  $coast with lines lw 0.8 lc rgb '#202020'");
}

void tomo_draw_map(tomo_draw *draw, const tomo_draw_panel *panel, tomo_box box)
{
  FILE *out = draw->script;
  const draw_image image = {.width = panel->raster->width,
                            .height = panel->raster->height,
                            .value = panel->value,
                            .density = panel->density,
                            .least_density = panel->least_density,
                            .widen = !draw->world.frame.regional};
  const int64_t offset = draw_pixels(draw, &image, &panel->scale);
  const int first_block = draw->n_blocks;
  const tomo_frame *f = &draw->world.frame;
  /* margin for half the line width of the frame, in units of the map's coordinates */
  const double edge = 0.006;
  for (int i = 0; i < panel->n_tracks; i++)
    draw_track(draw, draw->n_blocks++, &panel->tracks[i]);
  draw_set_margins(draw, box);
  fprintf(out,
          "set border 0\nunset tics\nset clip two\nset xrange [%.6f:%.6f]\nset yrange [%.6f:%.6f]\n"
          "set style fill solid 1.0 noborder\nset style textbox opaque noborder margins 0.6,0.4\n",
          -(1.0 + edge) * f->half_width, (1.0 + edge) * f->half_width,
          -(1.0 + edge) * f->half_height, (1.0 + edge) * f->half_height);
  if (f->regional)
    draw_region_labels(draw);
  else
    put_latitudes(draw);
  for (int i = 0; i < panel->n_tracks; i++)
    put_track_names(draw, &panel->tracks[i]);
  put_plot(draw, panel, offset);
  put_tracks(draw, panel, first_block);
  if (panel->sites && draw->world.n_stations > 0)
    fprintf(
      out, ", \\\n  $stations with filledcurves closed fc rgb '#ffffff' fs solid 1.0 border lc rgb "
           "'#000000'");
  if (panel->sites && draw->world.n_events > 0)
    fprintf(out,
            ", \\\n  $events with filledcurves closed fc rgb '#e69f00' fs solid 1.0 border lc rgb "
            "'#000000'");
  fprintf(out, ", \\\n  $frame with lines lw 1.2 lc rgb '#000000'\n");
  draw_end_plot(draw);
}

/* Draws a triangle beyond an end of the colour bar, in the colour of that end. It shows that some
 * values lie beyond the scale. */
static void put_beyond(const tomo_draw *draw, const tomo_scale *scale, tomo_box box, bool above)
{
  tomo_colour table[TOMO_COLOURS];
  const double x = (above ? box.x + box.width : box.x) / draw->width;
  const double tip = x + (above ? 0.8 : -0.8) * box.height / draw->width;
  const double top = 1.0 - box.y / draw->height, bottom = 1.0 - (box.y + box.height) / draw->height;
  tomo_colours_make(scale->palette, table);
  const unsigned char *c = table[above ? TOMO_COLOURS - 1 : 0];
  fprintf(draw->script,
          "set object polygon from screen %.6f, screen %.6f to screen %.6f, screen %.6f to screen "
          "%.6f, screen %.6f to screen %.6f, screen %.6f fillstyle solid 1.0 border lc rgb "
          "'#000000' fc rgb '#%02x%02x%02x' lw 0.8 noclip\n",
          x, top, tip, 0.5 * (top + bottom), x, bottom, x, top, c[0], c[1], c[2]);
}

void tomo_draw_bar(tomo_draw *draw, const tomo_scale *scale, tomo_box box)
{
  double tick[TOMO_TICKS_MAX];
  const int ticks = tomo_scale_ticks(scale, tick);
  const int64_t offset = draw_palette(draw, scale->palette);
  FILE *out = draw->script;
  draw_set_margins(draw, box);
  if (scale->below) put_beyond(draw, scale, box, false);
  if (scale->above) put_beyond(draw, scale, box, true);
  fprintf(out, "set border 15 lw 0.8\nunset ytics\nset xrange [0:1]\nset yrange [0:2]\nset xtics "
               "out nomirror scale 0.5 offset 0,0.3 font ',12' (");
  for (int i = 0; i < ticks; i++)
    fprintf(out, "%s'%s' %.6f", i ? ", " : "", tomo_number_text(tick[i], 4).s,
            tomo_scale_position(scale, tick[i]));
  fprintf(out, ")\n");
  if (scale->label) {
    fprintf(out, "set xlabel ");
    draw_quoted(out, scale->label);
    fprintf(out, " offset 0,0.5 font ',12'\n");
  }
  fprintf(out,
          "plot '/dev/fd/%d' binary skip=%lld array=(%d,2) format='%%uchar' origin=(%.6f,0.5) "
          "dx=%.8f dy=1 with rgbimage\n",
          fileno(draw->pixels), (long long)offset, TOMO_COLOURS, 0.5 / TOMO_COLOURS,
          1.0 / TOMO_COLOURS);
  draw_end_plot(draw);
}

static void put_depth_ticks(FILE *out, double depth_km)
{
  double tick[TOMO_TICKS_MAX];
  const tomo_scale depths = {.low = 0.0, .high = depth_km};
  const int ticks = tomo_scale_ticks(&depths, tick), every = ticks > 6 ? 2 : 1;
  fprintf(out, "set ytics out nomirror scale 0.6 font ',12' (");
  for (int i = 0; i < ticks; i += every)
    fprintf(out, "%s'%g' %g", i ? ", " : "", tick[i], tick[i]);
  fprintf(out, ")\n");
}

void tomo_draw_section(tomo_draw *draw, const tomo_draw_section_panel *panel, tomo_box box)
{
  FILE *out = draw->script;
  const draw_image image = {.width = panel->width,
                            .height = panel->height,
                            .value = panel->value,
                            .density = panel->density,
                            .by_column = true,
                            .least_density = panel->least_density};
  const int64_t offset = draw_pixels(draw, &image, &panel->scale);
  const double degrees = panel->angle * 180.0 / M_PI, depth = panel->depth_km;
  const double dx = degrees / panel->width, dy = depth / panel->height;
  draw_set_margins(draw, box);
  fprintf(out,
          "set border 15 lw 1\nset xrange [0:%.6f]\nset yrange [%.6f:0]\n"
          "set xtics out nomirror scale 0.6 font ',12' %s\n",
          degrees, depth,
          degrees > 200.0  ? "60"
          : degrees > 90.0 ? "30"
          : degrees > 30.0 ? "10"
                           : "autofreq");
  put_depth_ticks(out, depth);
  fprintf(out,
          "set ylabel 'Depth (km)' offset 0.3,0 font ',12'\n"
          "set xlabel 'Distance along the surface (degrees)' offset 0,0.5 font ',12'\n"
          "set label '%s' at graph 0, graph 1 left offset character 0,0.7 font ',12'\n"
          "set label '%s′' at graph 1, graph 1 right offset character 0,0.7 font ',12'\n",
          panel->name, panel->name);
  fprintf(out,
          "plot '/dev/fd/%d' binary skip=%lld array=(%d,%d) format='%%uchar' origin=(%.8f,%.8f) "
          "dx=%.8f dy=%.8f with rgbalpha\n",
          fileno(draw->pixels), (long long)offset, panel->width, panel->height, 0.5 * dx, 0.5 * dy,
          dx, dy);
  draw_end_plot(draw);
}
