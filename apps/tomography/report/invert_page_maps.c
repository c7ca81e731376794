/* Maps and vertical sections of the HTML report. */
#include "apps/tomography/report/invert_page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* colour bar below a world map, in pixels */
static const tomo_box bar_box = {115, 272, 360, 11};
enum { MAP_WIDTH = 560, MAP_TOP = 6, AROUND = 73 };

static tomo_box map_box(const report_page *p)
{
  return (tomo_box){40, MAP_TOP, 510, round(510 * p->frame.half_height / p->frame.half_width)};
}

static osla_err put_map(report_page *p, int drawing, const tomo_draw_panel *panel,
                        page_picture *picture)
{
  const tomo_box box = map_box(p);
  const double below = p->frame.regional ? TOMO_DRAW_BELOW : 0.0;
  tomo_box bar = bar_box;
  bar.y = box.y + box.height + 11 + below;
  OSLA_CALL(page_begin_picture(p, drawing, MAP_WIDTH, (int)(box.height + below) + AROUND, picture));
  tomo_draw_map(p->draw[drawing], panel, box);
  tomo_draw_bar(p->draw[drawing], &panel->scale, bar);
  return OSLA_OK;
}

static tomo_draw_panel panel_of(const report_page *p, const float *value, const tomo_scale *scale)
{
  return (tomo_draw_panel){.raster = p->views->raster,
                           .value = value,
                           .density = p->views->density,
                           .least_density = p->views->least_density,
                           .scale = *scale};
}

/* Returns the coefficients from which a kind of map is drawn, and the label of its colour scale.
 * NULL: the job has not computed them. */
static const double *field_of(const invert_job *job, int kind, const char **label)
{
  static const char *const labels[PAGE_KINDS] = {
    "slow        dlnVs (%)        fast", "slow        dlnVs (%)        fast",
    "standard deviation of dlnVs (%)", "diagonal of the resolution matrix"};
  const double *const fields[PAGE_KINDS] = {job->m, job->m_true, job->posterior.deviation,
                                            job->posterior.resolution};
  *label = labels[kind];
  return fields[kind];
}

/* Sets value[i] to the map of a kind at depth i, for all depths. Returns false if the job has no
 * data for this kind. */
static bool fill_kind(report_page *p, int kind, float *const *value)
{
  const char *label;
  const double *m = field_of(p->job, kind, &label);
  for (int i = 0; m && i < p->depths; i++)
    tomo_views_fill(p->views, m, p->map[kind][i].depth_km, value[i]);
  return m != NULL;
}

static osla_err draw_kind(report_page *p, int kind, int drawing, float *const *value)
{
  for (int i = 0; i < p->depths; i++) {
    const tomo_draw_panel panel = panel_of(p, value[i], &p->scale[kind]);
    p->map[kind][i].clipped = tomo_views_clipped(p->views, value[i], &p->scale[kind]);
    OSLA_CALL(put_map(p, drawing, &panel, &p->map[kind][i].picture));
  }
  return OSLA_OK;
}

/* Draws the maps of the recovered and of the true model with one colour scale. */
static osla_err draw_models(report_page *p, float *const *value)
{
  const char *label;
  (void)field_of(p->job, PAGE_MODEL, &label);
  (void)fill_kind(p, PAGE_MODEL, value);
  const bool both = fill_kind(p, PAGE_TRUE, value + p->depths);
  OSLA_CALL(tomo_views_anomaly_scale(p->views, value, both ? 2 * p->depths : p->depths, label,
                                     &p->scale[PAGE_MODEL]));
  p->scale[PAGE_TRUE] = p->scale[PAGE_MODEL];
  OSLA_CALL(draw_kind(p, PAGE_MODEL, 0, value));
  return both ? draw_kind(p, PAGE_TRUE, 0, value + p->depths) : OSLA_OK;
}

static osla_err draw_posterior(report_page *p, float *const *value)
{
  for (int kind = PAGE_DEVIATION; kind <= PAGE_RESOLUTION; kind++) {
    const char *label;
    (void)field_of(p->job, kind, &label);
    if (!fill_kind(p, kind, value)) continue;
    OSLA_CALL(tomo_views_amount_scale(
      p->views, value, p->depths,
      kind == PAGE_RESOLUTION ? TOMO_PALETTE_AMOUNT : TOMO_PALETTE_DOUBT, label, &p->scale[kind]));
    OSLA_CALL(draw_kind(p, kind, 1, value));
  }
  return OSLA_OK;
}

/* Draws the ray density with the stations and earthquakes, and the uppermost map of the model with
 * the tracks of the vertical sections. */
static osla_err draw_places(report_page *p, float *value)
{
  tomo_scale scale;
  OSLA_CALL(tomo_views_density_scale(p->views, &scale));
  tomo_draw_panel panel = panel_of(p, p->views->density, &scale);
  panel.density = NULL;
  panel.sites = true;
  OSLA_CALL(put_map(p, 0, &panel, &p->density));
  tomo_views_fill(p->views, p->job->m, p->map[PAGE_MODEL][0].depth_km, value);
  panel = panel_of(p, value, &p->scale[PAGE_MODEL]);
  panel.tracks = p->track;
  panel.n_tracks = p->n_tracks;
  return put_map(p, 0, &panel, &p->tracks);
}

/* Draws rows of the resolution matrix as maps: each is the response to a spike at a point, at the
 * depth of the spike. */
static osla_err draw_points(report_page *p, float *value)
{
  const invert_posterior *post = &p->job->posterior;
  const int n_radial = p->job->options->n_radial;
  for (int i = 0; post->row && i < post->points && i < PAGE_POINTS_MAX; i++) {
    tomo_scale scale;
    const double depth = tomo_radial_greville(p->job->radial, (int)(post->unknown[i] % n_radial));
    tomo_views_fill(p->views, post->row + (int64_t)i * p->job->n, depth, value);
    double size = 0.0;
    for (int64_t k = 0; k < p->views->pixels; k++)
      if (!isnan(value[k])) size = fmax(size, fabs((double)value[k]));
    scale = (tomo_scale){.palette = TOMO_PALETTE_ANOMALY,
                         .low = -tomo_scale_round(size),
                         .high = tomo_scale_round(size),
                         .label = "row of the resolution matrix"};
    const tomo_draw_panel panel = panel_of(p, value, &scale);
    OSLA_CALL(put_map(p, 1, &panel, &p->point[i]));
  }
  return OSLA_OK;
}

osla_err page_draw_maps(report_page *p)
{
  enum { VALUES = 2 * PAGE_DEPTHS_MAX };
  float *value[VALUES] = {NULL};
  const size_t bytes = (size_t)p->views->pixels * sizeof(float);
  osla_err err = OSLA_OK;
  for (int i = 0; i < VALUES; i++) {
    value[i] = malloc(bytes);
    if (!value[i]) OSLA_TRY(osla_error_set(OSLA_ERR_MEM, "no memory for maps of %zu bytes", bytes));
  }
  OSLA_TRY(draw_models(p, value));
  OSLA_TRY(draw_places(p, value[0]));
  OSLA_TRY(draw_posterior(p, value));
  OSLA_TRY(draw_points(p, value[0]));
cleanup:
  for (int i = 0; i < VALUES; i++)
    free(value[i]);
  return err;
}

enum { SECTION_WIDTH = 486, SECTION_LEFT = 60, SECTION_TOP = 24, SECTION_ROWS = 100 };

/* Returns the vertical exaggeration of a section: a round number that makes the section about 150
 * pixels high. */
static double exaggeration_of(const report_page *p, const tomo_arc *arc)
{
  const double plain =
    SECTION_WIDTH * p->job->options->depth_km / (arc->angle * TOMO_EARTH_RADIUS_KM);
  if (plain > 60.0) return plain > 240.0 ? 240.0 / plain : 1.0;
  return fmin(fmax(round(150.0 / plain), 1.0), 200.0);
}

/* Sets value[row][column] of a vertical section; the first row is at the surface. */
static void fill_section(const report_page *p, const tomo_raster *r, const double *m, float *value)
{
  const int n_radial = tomo_radial_count(p->job->radial);
  const double depth = p->job->options->depth_km;
  for (int row = 0; row < SECTION_ROWS; row++) {
    double basis[TOMO_RADIAL_MAX];
    tomo_radial_basis(p->job->radial, depth * (row + 0.5) / SECTION_ROWS, basis);
    for (int column = 0; column < r->width; column++) {
      double sum = 0.0;
      for (int64_t i = r->first[column]; i < r->first[column + 1]; i++)
        for (int k = 0; k < n_radial; k++)
          sum += (double)r->weight[i] * basis[k] * m[(int64_t)r->knot[i] * n_radial + k];
      value[(size_t)row * (size_t)r->width + (size_t)column] = (float)sum;
    }
  }
}

typedef struct section_work {
  tomo_raster *raster;
  float value[SECTION_ROWS * SECTION_WIDTH / 2], density[SECTION_WIDTH / 2];
} section_work;

static osla_err draw_section(report_page *p, int kind, int i, const section_work *w)
{
  const tomo_track *track = &p->track[i];
  const double tall = SECTION_WIDTH * p->job->options->depth_km * p->exaggeration[i] /
                      (track->arc.angle * TOMO_EARTH_RADIUS_KM);
  const int height = (int)ceil(SECTION_TOP + tall + 104.0);
  const tomo_draw_section_panel panel = {.width = w->raster->width,
                                         .height = SECTION_ROWS,
                                         .value = w->value,
                                         .density = w->density,
                                         .least_density = p->views->least_density,
                                         .angle = track->arc.angle,
                                         .depth_km = p->job->options->depth_km,
                                         .name = track->name,
                                         .scale = p->scale[PAGE_MODEL]};
  OSLA_CALL(page_begin_picture(p, 1, MAP_WIDTH, height, &p->section[kind][i]));
  tomo_draw_section(p->draw[1], &panel, (tomo_box){SECTION_LEFT, SECTION_TOP, SECTION_WIDTH, tall});
  tomo_draw_bar(p->draw[1], &panel.scale,
                (tomo_box){bar_box.x, SECTION_TOP + tall + 50, bar_box.width, bar_box.height});
  return OSLA_OK;
}

/* Draws section i of the recovered and of the true model. One raster column is drawn two pixels
 * wide, because the mesh is coarser than that. */
static osla_err draw_sections_along(report_page *p, int i, section_work *w)
{
  const invert_job *job = p->job;
  OSLA_CALL(tomo_raster_of_arc(job->mesh, &p->track[i].arc, SECTION_WIDTH / 2, &w->raster));
  for (int64_t l = 0; l < job->knots; l++)
    p->views->field[l] = job->density[l] * tomo_density_scale(job->mesh);
  tomo_raster_fill(w->raster, p->views->field, w->density);
  p->exaggeration[i] = exaggeration_of(p, &p->track[i].arc);
  const double *const models[2] = {job->m, job->m_true};
  for (int kind = 0; kind < 2; kind++) {
    if (!models[kind]) continue;
    fill_section(p, w->raster, models[kind], w->value);
    OSLA_CALL(draw_section(p, kind, i, w));
  }
  return OSLA_OK;
}

osla_err page_draw_sections(report_page *p)
{
  osla_err err = OSLA_OK;
  section_work *w = calloc(1, sizeof *w);
  OSLA_CHECK(w, OSLA_ERR_MEM, "no memory for sections");
  for (int i = 0; i < p->n_tracks; i++) {
    OSLA_TRY(draw_sections_along(p, i, w));
    tomo_raster_destroy(&w->raster);
  }
cleanup:
  tomo_raster_destroy(&w->raster);
  free(w);
  return err;
}
