/* Draws a vertical section. */
#include <math.h>

#include "apps/tomography/draw/tomo_draw_parts.h"

static const double pi = 3.14159265358979323846;

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
  const double degrees = panel->angle * 180.0 / pi, depth = panel->depth_km;
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
          draw->pixels_fd, (long long)offset, panel->width, panel->height, 0.5 * dx, 0.5 * dy, dx,
          dy);
  draw_end_plot(draw);
}
