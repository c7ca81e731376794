/* The gnuplot script of the picture: panels stacked, each with its colour scale at the right.
 *
 * Colours: RdBu for the models (slow red, fast blue), YlGnBu for the density, both of Brewer
 * (2003), colorbrewer2.org. Text is not "enhanced", so that titles need no escapes but the quote.
 */
#include <math.h>
#include <string.h>

#include "tomo_map_parts.h"

enum { CANVAS = 1000, LEFT = 24, TOP = 56, SLOT = 476, TITLE = 40 }; /* pixels */

static void put_quoted(FILE *out, const char *text)
{
  putc('\'', out);
  for (; *text; text++) {
    if (*text == '\'') putc('\'', out);
    putc((unsigned char)*text < ' ' ? ' ' : *text, out);
  }
  putc('\'', out);
}

static void put_head(const tomo_map *map, const map_files *files, int height, FILE *out)
{
  fprintf(out,
          "if (strstrt(GPVAL_TERMINALS, ' pngcairo ')) {\n"
          "  set terminal pngcairo size %d,%d noenhanced font 'DejaVu Sans,13'\n"
          "} else {\n"
          "  set terminal png size %d,%d noenhanced\n"
          "}\n"
          "set output '/dev/fd/%d'\n"
          "set multiplot\n"
          "unset key\nset border 0\nunset tics\n"
          "set xrange [-2.01:2.01]\nset yrange [-1.005:1.005]\n"
          "set style fill solid 1.0 border lc rgb 'black'\n",
          CANVAS, height, CANVAS, height, map_descriptor(files, "map.png"));
  if (!map->title) return;
  fprintf(out, "set label 1 ");
  put_quoted(out, map->title);
  fprintf(out, " at screen %.4f, screen %.4f center font ',17'\n",
          (LEFT + 0.5 * MAP_WIDTH) / CANVAS, 1.0 - 0.5 * TOP / height);
}

static void put_model_colours(const map_ranges *ranges, FILE *out)
{
  fprintf(out,
          "unset logscale cb\nset cbrange [%g:%g]\n"
          "set palette defined (0 '#67001f', 1 '#b2182b', 2 '#d6604d', 3 '#f4a582', 4 '#fddbc7', "
          "5 '#ffffff', 6 '#d1e5f0', 7 '#92c5de', 8 '#4393c3', 9 '#2166ac', 10 '#053061')\n"
          "set cbtics %g scale 0.5 format '%%g'\n"
          "set cblabel 'slow    dlnVs (%%)    fast' offset 0.3,0\n",
          -ranges->percent, ranges->percent, ranges->percent / 2.0);
}

static void put_density_colours(const map_ranges *ranges, FILE *out)
{
  static const double step[] = {1.0, 2.0, 5.0};
  const char *separator = "";
  fprintf(out,
          "set logscale cb\nset cbrange [%g:%g]\n"
          "set palette defined (0 '#ffffff', 1 '#edf8b1', 2 '#c7e9b4', 3 '#7fcdbb', 4 '#41b6c4', "
          "5 '#1d91c0', 6 '#225ea8', 7 '#253494', 8 '#081d58')\n"
          "set cbtics scale 0.5 format '%%g' (",
          ranges->density_low, ranges->density_high);
  for (int power = (int)floor(log10(ranges->density_low)); power <= 9; power++)
    for (int i = 0; i < 3; i++) {
      const double tic = step[i] * pow(10.0, power);
      if (tic < ranges->density_low * 0.999 || tic > ranges->density_high * 1.001) continue;
      fprintf(out, "%s'%g' %g", separator, tic, tic);
      separator = ", ";
    }
  fprintf(out, ")\nset cblabel 'km of path per 1000 km²' offset 0.5,0\n");
}

static void put_panel_title(const tomo_map *map, map_panel panel, int place, FILE *out)
{
  fprintf(out, "set label 2 '(%c)  ", 'a' + place);
  if (panel == PANEL_DENSITY)
    fprintf(out, "Ray density: %lld stations (triangles), %lld earthquakes (stars)",
            (long long)map->n_stations, (long long)map->n_events);
  else
    fprintf(out, "%s model, depth %g km", panel == PANEL_TRUE ? "True" : "Recovered",
            map->depth_km);
  fputc('\'', out);
}

static void put_plot(const tomo_map *map, const map_files *files, map_panel panel, FILE *out)
{
  fprintf(out,
          "plot '/dev/fd/%d' binary array=(%d,%d) format='%%float' origin=(%.6f,%.6f) dx=%.8f "
          "dy=%.8f with image, \\\n"
          "  '/dev/fd/%d' with lines lw 0.5 lc rgb '#90606060', \\\n"
          "  '/dev/fd/%d' with lines lw 1.1 lc rgb '#202020', \\\n",
          map_descriptor(files, map_raster_name[panel]), MAP_WIDTH, MAP_HEIGHT,
          -2.0 + 2.0 / MAP_WIDTH, -1.0 + 1.0 / MAP_HEIGHT, 4.0 / MAP_WIDTH, 2.0 / MAP_HEIGHT,
          map_descriptor(files, "grid.txt"), map_descriptor(files, "coast.txt"));
  if (panel == PANEL_DENSITY && map->n_stations > 0)
    fprintf(out, "  '/dev/fd/%d' with filledcurves closed fc rgb '#ffffff', \\\n",
            map_descriptor(files, "stations.txt"));
  if (panel == PANEL_DENSITY && map->n_events > 0)
    fprintf(out, "  '/dev/fd/%d' with filledcurves closed fc rgb '#ff7f00', \\\n",
            map_descriptor(files, "events.txt"));
  fprintf(out, "  '/dev/fd/%d' with lines lw 1.8 lc rgb 'black'\nunset label 1\n",
          map_descriptor(files, "frame.txt"));
}

static void put_panel(const tomo_map *map, const map_ranges *ranges, const map_files *files,
                      map_panel panel, int place, int height, FILE *out)
{
  const double above = TOP + place * SLOT, top = 1.0 - (above + TITLE) / height;
  const double tall = (double)MAP_HEIGHT / height, bottom = top - tall;
  const double left = (double)LEFT / CANVAS, right = (double)(LEFT + MAP_WIDTH) / CANVAS;
  put_panel_title(map, panel, place, out);
  fprintf(out, " at screen %.5f, screen %.5f left font ',14'\n", left,
          1.0 - (above + 0.45 * TITLE) / height);
  if (panel == PANEL_DENSITY)
    put_density_colours(ranges, out);
  else
    put_model_colours(ranges, out);
  fprintf(out,
          "set lmargin at screen %.5f\nset rmargin at screen %.5f\n"
          "set bmargin at screen %.5f\nset tmargin at screen %.5f\n"
          "set colorbox user origin screen %.5f, screen %.5f size screen 0.018, screen %.5f\n",
          left, right, bottom, top, right + 0.018, bottom + 0.14 * tall, 0.72 * tall);
  put_plot(map, files, panel, out);
}

osla_err map_write_script(const tomo_map *map, const map_ranges *ranges, map_files *files)
{
  const int panels = map->m_true ? 3 : 2, height = TOP + panels * SLOT;
  FILE *out;
  OSLA_CALL(map_open(files, "map.gp", &out));
  put_head(map, files, height, out);
  for (int place = 0; place < panels; place++)
    put_panel(map, ranges, files, (map_panel)(place + PANELS - panels), place, height, out);
  fprintf(out, "unset multiplot\nunset output\n");
  return map_close("map.gp", out);
}
