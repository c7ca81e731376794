/* Writes the parts of the HTML report that have pictures. */
#include "apps/tomography/report/invert_page.h"

#include <inttypes.h>
#include <math.h>
#include <time.h>

static void put_count(report_page *p, int64_t count, const char *what)
{
  page_count(p->out, count);
  fprintf(p->out, " %s", what);
}

static void put_solved(report_page *p)
{
  const invert_job *job = p->job;
  const invert_options *o = job->options;
  FILE *out = p->out;
  fputs("<p>The model has ", out);
  put_count(p, job->n, "unknowns: ");
  put_count(p, job->knots, "knots at the surface, ");
  fprintf(out, "%d B-splines down to %g km. ", o->n_radial, o->depth_km);
  if (o->solver == INVERT_DIRECT) {
    fprintf(
      out,
      "The normal equations were assembled from the paths, factored (%s, %s precision) and solved",
      o->factor == INVERT_LU ? "LU" : "Cholesky", o->dtype == OSLA_FLOAT ? "single" : "double");
  } else {
    fprintf(out, "It was found by %s from the paths&#39; equations in ",
            o->solver == INVERT_CG ? "CG" : "LSQR");
    put_count(p, job->result.iterations, "iterations");
  }
  fprintf(out, " on %d rank%s in %.3g s.</p>\n", osla_transport_size(job->t),
          osla_transport_size(job->t) == 1 ? "" : "s", job->result.wall);
}

/* Writes how many data are not used, and how many have a reduced weight. */
static void put_left_out(report_page *p)
{
  const invert_job *job = p->job;
  const tomo_data_notes *n = &job->notes;
  const invert_robust *r = &job->robust;
  if (n->unmatched > 0 || n->distant > 0) {
    fputs("<p>Of ", p->out);
    put_count(p, n->rows, "rows of the table ");
    put_count(p, n->unmatched, "name what is on no list, ");
    put_count(p, n->distant,
              "are of paths that are too short or too long: they are not used.</p>\n");
  }
  if (!job->options->robust) return;
  fputs("<p>Outliers: ", p->out);
  put_count(p, r->outliers, "data have less weight, ");
  put_count(p, r->skips, "are left out as cycle skips");
  fprintf(p->out,
          " (residuals beyond %g deviations of %.3g sigma; models found again: %d%s).</p>\n",
          job->options->outlier, r->scale, r->passes, r->settled ? "" : ", not settled");
}

osla_err page_put_summary(report_page *p)
{
  const invert_job *job = p->job;
  const invert_result *r = &job->result;
  FILE *out = p->out;
  const double data = fmax((double)r->data, 1.0);
  char day[32] = "";
  const time_t now = time(NULL);
  struct tm utc;
  if (gmtime_r(&now, &utc)) (void)strftime(day, sizeof day, "%Y-%m-%d %H:%M UTC", &utc);
  fputs("<header>\n<h1>Surface-wave tomography</h1>\n<p class=\"made\">Report of <code>osla "
        "invert</code>, ",
        out);
  fprintf(out, "%s</p>\n</header>\n<p>", day);
  put_count(p, r->data, "data of ");
  put_count(p, job->n_paths, "paths between ");
  put_count(p, job->n_stations, "stations and ");
  put_count(p, job->n_events, "earthquakes were inverted for shear velocity. ");
  fprintf(out,
          "The model explains %.1f&#8239;%% of their variance: the misfit per datum falls from "
          "%.3g to %.3g variances (1: the data are fitted to their errors).</p>\n",
          100.0 * (1.0 - r->misfit_after / r->misfit_before), r->misfit_before / data,
          r->misfit_after / data);
  put_left_out(p);
  put_solved(p);
  if (job->m_true)
    fprintf(out,
            "<p>This is a test: the data were made from a known model. Where paths are dense the "
            "model that was found correlates with it by %.3f.</p>\n",
            r->dense.correlation);
  if (job->posterior.resolution)
    fprintf(out,
            "<p>The data decide %.4g of the unknowns (trace of the resolution matrix); the prior "
            "decides the rest.</p>\n",
            job->posterior.trace);
  if (p->missing[0]) {
    fputs("<p><strong>No pictures:</strong> ", out);
    page_text(out, p->missing);
    fputs(".</p>\n", out);
  }
  return OSLA_OK;
}

/* Writes the caption of a map, "WHAT at 100 km. 0.4 % of the area is beyond the colours." */
static void describe_map(const page_map *map, const char *what, char *text, size_t size)
{
  int n = snprintf(text, size, "%s at %g km.", what, map->depth_km);
  if (map->clipped >= 0.0005 && n > 0 && (size_t)n < size)
    (void)snprintf(text + n, size - (size_t)n, " %.1f %% of the area is beyond the colours.",
                   100.0 * map->clipped);
}

static osla_err put_map(report_page *p, int kind, int depth, const char *what)
{
  const page_map *map = &p->map[kind][depth];
  char caption[200], alt[200];
  describe_map(map, what, caption, sizeof caption);
  (void)snprintf(alt, sizeof alt, "Map: %s at a depth of %g km", what, map->depth_km);
  return page_figure(p, &map->picture, alt, caption);
}

static void put_grey(const report_page *p)
{
  const double part = tomo_views_grey(p->views);
  if (part > 0.0)
    fprintf(p->out,
            " Grey: less than %g km of path per 1000 km² (%.1f&#8239;%% of the map), where the "
            "prior alone speaks.",
            p->views->least_density, 100.0 * part);
}

/* A position as text: "12.3° N, 140.5° W". A coordinate that rounds to 0 has no compass letter. */
typedef struct place_text {
  char s[48];
} place_text;

static const char *side_of(double degrees, const char *positive, const char *negative)
{
  return fabs(degrees) < 0.05 ? "" : degrees < 0.0 ? negative : positive;
}

static place_text place_at(double latitude, double longitude)
{
  place_text text;
  const double east = remainder(longitude, 360.0);
  (void)snprintf(text.s, sizeof text.s, "%.1f°%s, %.1f°%s", fabs(latitude),
                 side_of(latitude, " N", " S"), fabs(east),
                 fabs(east) > 179.95 ? "" : side_of(east, " E", " W"));
  return text;
}

static place_text place_of(const double v[3])
{
  double latitude, longitude;
  tomo_lat_lon(v, &latitude, &longitude);
  return place_at(latitude, longitude);
}

static void put_projection(const report_page *p)
{
  if (p->frame.regional)
    fprintf(p->out,
            "The projection (Lambert's azimuthal, about %s) keeps areas; the scale bar is right in "
            "the middle.",
            place_at(p->frame.latitude, p->frame.longitude).s);
  else
    fputs("The projection (Mollweide) keeps areas.", p->out);
}

osla_err page_put_maps(report_page *p)
{
  char caption[300];
  if (p->missing[0]) return OSLA_OK;
  fputs(
    "<section>\n<h2>The model</h2>\n<p>Anomalies of shear velocity in percent of the reference; "
    "slow is red, fast is blue. One scale serves all depths: it holds 98&#8239;% of the area of "
    "each map. ",
    p->out);
  put_projection(p);
  put_grey(p);
  fputs("</p>\n<div class=\"pairs\">\n", p->out);
  for (int i = 0; i < p->depths; i++) {
    OSLA_CALL(put_map(p, PAGE_MODEL, i, "Recovered model"));
    OSLA_CALL(put_map(p, PAGE_TRUE, i, "True model"));
  }
  fputs("</div>\n</section>\n<section>\n<h2>Paths</h2>\n<div class=\"pairs\">\n", p->out);
  (void)snprintf(caption, sizeof caption,
                 "Ray density: length of path per area, with %" PRId64
                 " stations (triangles) and %" PRId64 " earthquakes (stars).",
                 p->job->n_stations, p->job->n_events);
  OSLA_CALL(page_figure(p, &p->density, "Map of ray density, stations and earthquakes", caption));
  fputs("</div>\n</section>\n", p->out);
  return OSLA_OK;
}

static void describe_section(const report_page *p, int i, const char *what, char *text, size_t size)
{
  const tomo_track *track = &p->track[i];
  double end[3];
  tomo_arc_point(&track->arc, track->arc.angle, end);
  int n = snprintf(text, size, "Section %s–%s′, %s: %s to %s, %.0f km. ", track->name, track->name,
                   what, place_of(track->arc.origin).s, place_of(end).s,
                   track->arc.angle * TOMO_EARTH_RADIUS_KM);
  if (n < 0 || (size_t)n >= size) return;
  if (p->exaggeration[i] == 1.0)
    (void)snprintf(text + n, size - (size_t)n, "No vertical exaggeration.");
  else
    (void)snprintf(text + n, size - (size_t)n, "Vertical exaggeration %.3g.", p->exaggeration[i]);
}

osla_err page_put_sections(report_page *p)
{
  static const char *const names[2] = {"recovered model", "true model"};
  char caption[300], alt[80];
  if (p->missing[0]) return OSLA_OK;
  fputs("<section>\n<h2>Vertical sections</h2>\n<p>Along great circles", p->out);
  if (p->job->options->n_sections == 0) fputs(" where paths are dense", p->out);
  fputs(", in the colours of the maps.</p>\n<div class=\"pairs\">\n", p->out);
  (void)snprintf(caption, sizeof caption, "Where the sections are; recovered model at %g km.",
                 p->map[PAGE_MODEL][0].depth_km);
  OSLA_CALL(page_figure(p, &p->tracks, "Map with the lines of the sections", caption));
  fputs("</div>\n<div class=\"pairs\">\n", p->out);
  for (int i = 0; i < p->n_tracks; i++)
    for (int kind = 0; kind < 2; kind++) {
      describe_section(p, i, names[kind], caption, sizeof caption);
      (void)snprintf(alt, sizeof alt, "Vertical section %s of the %s", p->track[i].name,
                     names[kind]);
      OSLA_CALL(page_figure(p, &p->section[kind][i], alt, caption));
    }
  fputs("</div>\n</section>\n", p->out);
  return OSLA_OK;
}

static osla_err put_points(report_page *p)
{
  const invert_posterior *post = &p->job->posterior;
  if (post->points < 1 || !post->unknown) return OSLA_OK;
  fputs("<h3>Spread</h3>\n<p>What the inversion makes of a spike at one knot and depth.</p>\n<div "
        "class=\"pairs\">\n",
        p->out);
  for (int i = 0; i < post->points && i < PAGE_POINTS_MAX; i++) {
    const int n_radial = p->job->options->n_radial;
    const double *v = tomo_mesh_knot(p->job->mesh, post->unknown[i] / n_radial);
    const tomo_location *asked = &p->job->options->point[i];
    char caption[240];
    int n = snprintf(caption, sizeof caption,
                     "Spike at %s, %.0f km (the unknown nearest to %s, %.0f km), at its depth.",
                     place_of(v).s,
                     tomo_radial_greville(p->job->radial, (int)(post->unknown[i] % n_radial)),
                     place_at(asked->latitude, asked->longitude).s, asked->depth_km);
    if (post->spread_km && n > 0 && (size_t)n < sizeof caption)
      (void)snprintf(caption + n, sizeof caption - (size_t)n, " Lateral spread: %.0f km.",
                     post->spread_km[i]);
    OSLA_CALL(page_figure(p, &p->point[i], "Map of a row of the resolution matrix", caption));
  }
  fputs("</div>\n", p->out);
  return OSLA_OK;
}

osla_err page_put_posterior(report_page *p)
{
  const invert_posterior *post = &p->job->posterior;
  if (!post->deviation && !post->resolution) return OSLA_OK;
  fputs("<section>\n<h2>How sure it is</h2>\n<p>", p->out);
  if (post->deviation)
    fputs("The standard deviation of a coefficient after the inversion, in percent of shear "
          "velocity: errors of the data and what they leave open, within the prior. ",
          p->out);
  if (post->resolution)
    fputs("The diagonal of the resolution matrix: 1 where the data decide, 0 where the prior "
          "does. ",
          p->out);
  fputs("Between knots and depths both are interpolated.</p>\n<div class=\"pairs\">\n", p->out);
  for (int i = 0; i < p->depths; i++) {
    OSLA_CALL(put_map(p, PAGE_DEVIATION, i, "Standard deviation"));
    OSLA_CALL(put_map(p, PAGE_RESOLUTION, i, "Resolution"));
  }
  fputs("</div>\n", p->out);
  OSLA_CALL(put_points(p));
  fputs("</section>\n", p->out);
  return OSLA_OK;
}

/* Writes a table row for one wave, observable and branch, over all periods. */
static void put_fit_row(report_page *p, int first, int last)
{
  static const char *const waves[] = {"Rayleigh", "Love"}, *const kinds[] = {"phase", "group"};
  const invert_fit *fit = &p->job->fit;
  const tomo_measure *m = &fit->measure[first];
  double low = m->period_s, high = m->period_s, before = 0.0, after = 0.0;
  int64_t data = 0;
  for (int i = first; i < last; i++) {
    low = fmin(low, fit->measure[i].period_s);
    high = fmax(high, fit->measure[i].period_s);
    before += fit->before[i];
    after += fit->after[i];
    data += fit->data[i];
  }
  fprintf(p->out, "<tr><th scope=\"row\">%s</th><td>%s</td><td>", waves[m->wave == TOMO_LOVE],
          kinds[m->observable == TOMO_GROUP]);
  if (m->branch == 0)
    fputs("fundamental", p->out);
  else
    fprintf(p->out, "overtone %d", m->branch);
  fprintf(p->out, "</td><td class=\"n\">%.4g–%.4g</td><td class=\"n\">", low, high);
  page_count(p->out, data);
  fputs("</td>", p->out);
  page_cell(p->out, before / (double)data, 3);
  page_cell(p->out, after / (double)data, 3);
  page_cell(p->out, 100.0 * (1.0 - after / before), 3);
  fputs("</tr>\n", p->out);
}

osla_err page_put_misfit(report_page *p)
{
  const invert_fit *fit = &p->job->fit;
  if (fit->count < 1) return OSLA_OK;
  fputs(
    "<section>\n<h2>Misfit</h2>\n<p>Misfit per datum in variances, of the reference (before) and "
    "of the model (after); 1 is what the errors of the data would leave.</p>\n<div "
    "class=\"pairs\">\n",
    p->out);
  for (int i = 0; i < PAGE_CHARTS_MAX; i++)
    OSLA_CALL(page_figure(p, &p->misfit[i], "Chart of misfit over period for each branch",
                          p->misfit_name[i] ? p->misfit_name[i] : ""));
  fputs(
    "</div>\n<div class=\"wide\"><table>\n<caption>All periods together</caption>\n<thead><tr><th "
    "scope=\"col\">Wave</th><th scope=\"col\">Velocity</th><th scope=\"col\">Branch</th><th "
    "class=\"n\" scope=\"col\">Periods (s)</th><th class=\"n\" scope=\"col\">Data</th><th "
    "class=\"n\" "
    "scope=\"col\">Before</th><th class=\"n\" scope=\"col\">After</th><th class=\"n\" "
    "scope=\"col\">Variance reduction (%)</th></tr></thead>\n<tbody>\n",
    p->out);
  for (int i = 0; i < fit->count;) {
    int last = i + 1;
    while (last < fit->count && fit->measure[last].wave == fit->measure[i].wave &&
           fit->measure[last].observable == fit->measure[i].observable &&
           fit->measure[last].branch == fit->measure[i].branch)
      last++;
    put_fit_row(p, i, last);
    i = last;
  }
  fputs("</tbody></table></div>\n</section>\n", p->out);
  return OSLA_OK;
}
