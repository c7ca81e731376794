/* Draws the three maps of --map in one picture. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "apps/tomography/draw/tomo_map.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/tomography/draw/tomo_views.h"
#include "tools/common/library_files.h"

/* sizes of the picture and its parts in pixels */
enum { WIDTH = 640, MAP = 560, LEFT = 44, HEAD = 40, AROUND = 92, BAR = 340 };

typedef enum map_panel { PANEL_TRUE, PANEL_RECOVERED, PANEL_DENSITY, PANELS } map_panel;

typedef struct map_sheet {
  const tomo_map *map;
  tomo_views *views;
  float *value[PANELS]; /* [pixels] values of each panel; NULL: the panel is not drawn */
  tomo_scale models, density;
  tomo_draw *draw;
} map_sheet;

static osla_err fill_sheet(map_sheet *s, int width)
{
  const tomo_map *map = s->map;
  const double *model[PANELS] = {map->m_true, map->m_recovered, NULL};
  float *shown[PANELS];
  int n = 0;
  OSLA_CALL(
    tomo_views_create(map->mesh, map->radial, map->density, &map->world.frame, width, &s->views));
  for (int p = 0; p < PANEL_DENSITY; p++) {
    if (!model[p]) continue;
    shown[n++] = s->value[p] = malloc((size_t)s->views->pixels * sizeof(float));
    OSLA_CHECK(s->value[p], OSLA_ERR_MEM, "no memory for maps of %d pixels", width);
    tomo_views_fill(s->views, model[p], map->depth_km, s->value[p]);
  }
  OSLA_CALL(
    tomo_views_anomaly_scale(s->views, shown, n, "slow        dlnVs (%)        fast", &s->models));
  return tomo_views_density_scale(s->views, &s->density);
}

/* Return heights in pixels: of a map, of the labels below the map, and of the whole panel. */
static double map_height(const tomo_map *map)
{
  return round(MAP * map->world.frame.half_height / map->world.frame.half_width);
}

static double labels_height(const tomo_map *map)
{
  return map->world.frame.regional ? TOMO_DRAW_BELOW : 0.0;
}

static double panel_height(const tomo_map *map)
{
  return map_height(map) + AROUND + labels_height(map);
}

static void put_panel(const map_sheet *s, map_panel panel, int place)
{
  const tomo_map *map = s->map;
  const double top = HEAD + place * panel_height(map), height = map_height(map);
  const double under = top + 26 + height + labels_height(map);
  char text[160];
  if (panel == PANEL_DENSITY)
    (void)snprintf(text, sizeof text,
                   "(%c)  Ray density: %lld stations (triangles), %lld earthquakes (stars)",
                   'a' + place, (long long)map->world.n_stations, (long long)map->world.n_events);
  else
    (void)snprintf(text, sizeof text, "(%c)  %s model, depth %g km", 'a' + place,
                   panel == PANEL_TRUE ? "True" : "Recovered", map->depth_km);
  tomo_draw_text(s->draw, LEFT - 20, top + 12, 12, -1, text);
  const bool grey = panel != PANEL_DENSITY;
  const tomo_draw_panel what = {.raster = s->views->raster,
                                .value = grey ? s->value[panel] : s->views->density,
                                .density = grey ? s->views->density : NULL,
                                .least_density = s->views->least_density,
                                .scale = grey ? s->models : s->density,
                                .sites = !grey};
  tomo_draw_map(s->draw, &what, (tomo_box){LEFT, top + 26, MAP, height});
  if (grey && tomo_views_grey(s->views) > 0.0) {
    (void)snprintf(text, sizeof text, "grey: less than %g km of path", s->views->least_density);
    tomo_draw_text(s->draw, WIDTH - 8, under + 10, 9, 1, text);
    tomo_draw_text(s->draw, WIDTH - 8, under + 22, 9, 1, "per 1000 km²");
  }
  tomo_draw_bar(s->draw, &what.scale, (tomo_box){LEFT + 0.5 * (MAP - BAR), under + 12, BAR, 11});
}

static osla_err draw_sheet(map_sheet *s, tomo_draw_format format, int *picture)
{
  const tomo_map *map = s->map;
  const int panels = map->m_true ? 3 : 2;
  OSLA_CALL(tomo_draw_create(&map->world, &s->draw));
  OSLA_CALL(
    tomo_draw_begin(s->draw, format, WIDTH, (int)(HEAD + panels * panel_height(map)), picture));
  if (map->title) tomo_draw_text(s->draw, LEFT + 0.5 * MAP, 20, 14, 0, map->title);
  for (int place = 0; place < panels; place++)
    put_panel(s, (map_panel)(place + PANELS - panels), place);
  OSLA_CALL(tomo_draw_start(s->draw));
  return tomo_draw_wait(s->draw);
}

/* Adds the name of the file to the message of a failed drawing. */
static osla_err name_file(const char *file, osla_err err)
{
  char text[400];
  if (err == OSLA_OK) return OSLA_OK;
  (void)snprintf(text, sizeof text, "%s", osla_error_text());
  return osla_error_set(err, "%.200s: no picture: %s", file, text);
}

osla_err tomo_map_write(const tomo_map *map, const char *file)
{
  const tomo_draw_format format = tomo_draw_format_of(file);
  map_sheet sheet = {.map = map};
  void *bytes = NULL;
  size_t size;
  int picture;
  osla_err err = OSLA_OK;
  OSLA_CHECK(map->mesh && map->radial && map->m_recovered && map->density, OSLA_ERR_ARG,
             "a map needs mesh, radial basis, recovered model and density");
  OSLA_CALL(osli_new_file_check(file, 0));
  OSLA_TRY(fill_sheet(&sheet, format == TOMO_DRAW_PNG ? 2 * MAP : MAP));
  OSLA_TRY(name_file(file, draw_sheet(&sheet, format, &picture)));
  OSLA_TRY(name_file(file, tomo_draw_read_picture(sheet.draw, picture, &bytes, &size)));
  OSLA_TRY(osli_new_file_write(file, bytes, size));
cleanup:
  tomo_draw_destroy(&sheet.draw);
  tomo_views_destroy(&sheet.views);
  for (int p = 0; p < PANELS; p++)
    free(sheet.value[p]);
  free(bytes);
  return err;
}
