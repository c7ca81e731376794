/* Writes the parts of the HTML report that are tables: the scan of priors, the recovery of the true
 * model, times, settings, versions. */
#include "config.h"

#include "apps/tomography/report/invert_page.h"
#include "osla_blas.h"

#include <math.h>
#include <string.h>
#ifdef HAVE_HDF5
#include <hdf5.h>
#endif

static void put_scan_row(report_page *p, const invert_scan *s, int i)
{
  FILE *out = p->out;
  fputs("<tr>", out);
  page_cell(out, s->damping[i], 3);
  page_cell(out, s->smoothing[i], 3);
  page_cell(out, s->misfit[i] / fmax((double)p->job->result.data, 1.0), 5);
  page_cell(out, s->norm[i], 4);
  page_cell(out, s->freedom ? s->freedom[i] : NAN, 4);
  page_cell(out, s->gcv ? s->gcv[i] : NAN, 5);
  fprintf(out, "<td>%s%s</td></tr>\n", i == s->corner ? "corner" : "",
          i != s->lowest   ? ""
          : i == s->corner ? ", least GCV"
                           : "least GCV");
}

/* Writes a chart with the caption "WHERE. Ring: WHAT, with the prior of the ringed point." */
static osla_err put_curve(report_page *p, const page_picture *picture, int ring, const char *where,
                          const char *what)
{
  const invert_scan *s = &p->job->scan;
  char caption[200];
  if (ring >= 0)
    (void)snprintf(caption, sizeof caption, "%s. Ring: %s, damping %.3g, smoothing %.3g.", where,
                   what, s->damping[ring], s->smoothing[ring]);
  else
    (void)snprintf(caption, sizeof caption, "%s.", where);
  return page_figure(p, picture, where, caption);
}

osla_err page_put_scan(report_page *p)
{
  const invert_scan *s = &p->job->scan;
  if (s->count < 1) return OSLA_OK;
  fputs("<section>\n<h2>Choice of the prior</h2>\n<p>The same data under several priors: misfit "
        "against the size of the model (L-curve), and generalised cross-validation, whose bars are "
        "the errors of its estimate.</p>\n<div class=\"pairs\">\n",
        p->out);
  OSLA_CALL(put_curve(p, &p->curve, s->corner, "Misfit over the size of the model", "corner"));
  OSLA_CALL(put_curve(p, &p->gcv, s->lowest, "Generalised cross-validation", "least"));
  fputs(
    "</div>\n<div class=\"wide\"><table>\n<thead><tr><th class=\"n\" scope=\"col\">Damping "
    "(1/%²)</th><th class=\"n\" scope=\"col\">Smoothing</th><th class=\"n\" scope=\"col\">Misfit "
    "per datum (variances)</th><th class=\"n\" scope=\"col\">|m|²</th><th class=\"n\" "
    "scope=\"col\">Degrees "
    "of freedom</th><th class=\"n\" scope=\"col\">GCV</th><td></td></tr></thead>\n<tbody>\n",
    p->out);
  for (int i = 0; i < s->count; i++)
    put_scan_row(p, s, i);
  fputs("</tbody></table></div>\n</section>\n", p->out);
  return OSLA_OK;
}

static void put_recovery_row(FILE *out, const char *where, const tomo_recovery *c)
{
  fprintf(out, "<tr><th scope=\"row\">%s</th><td class=\"n\">", where);
  page_count(out, c->knots);
  fputs("</td>", out);
  page_cell(out, c->correlation, 3);
  page_cell(out, c->amplitude, 3);
  page_cell(out, c->variance_reduction, 3);
  fputs("</tr>\n", out);
}

static void put_recovery(report_page *p)
{
  const invert_result *r = &p->job->result;
  if (!p->job->m_true) return;
  fprintf(p->out,
          "<section>\n<h2>Recovery of the test</h2>\n<div class=\"wide\"><table>\n<caption>The "
          "recovered model beside the true one; dense: at least %.3g km of paths at a "
          "knot</caption>\n<thead><tr><th scope=\"col\">Where</th><th class=\"n\" "
          "scope=\"col\">Knots</th><th class=\"n\" scope=\"col\">Correlation</th><th class=\"n\" "
          "scope=\"col\">Amplitude</th><th class=\"n\" scope=\"col\">Variance "
          "reduction</th></tr></thead>\n<tbody>\n",
          r->threshold);
  put_recovery_row(p->out, "paths are dense", &r->dense);
  put_recovery_row(p->out, "paths are few", &r->sparse);
  put_recovery_row(p->out, "everywhere", &r->all);
  fputs("</tbody></table></div>\n</section>\n", p->out);
}

static void put_times(report_page *p)
{
  const invert_phase_times *s = p->times;
  FILE *out = p->out;
  fprintf(out,
          "<section>\n<h2>Times</h2>\n<div class=\"wide\"><table>\n<caption>%s of %d rank%s; the "
          "whole job until this page: %.3g s</caption>\n<thead><tr><th "
          "scope=\"col\">Phase</th><th class=\"n\" scope=\"col\">Least (s)</th><th class=\"n\" "
          "scope=\"col\">Mean (s)</th><th class=\"n\" scope=\"col\">Most (s)</th><th class=\"n\" "
          "scope=\"col\">Rate</th><th scope=\"col\">Unit</th></tr></thead>\n<tbody>\n",
          osla_simulated_machine() ? "Simulated seconds" : "Seconds",
          osla_transport_size(p->job->t), osla_transport_size(p->job->t) == 1 ? "" : "s",
          p->job->result.wall);
  for (int i = 0; i < N_PHASES; i++) {
    const char *unit;
    if (!invert_phase_is_used(p->job, (invert_phase)i)) continue;
    const double work = invert_phase_work(p->job, (invert_phase)i, &unit);
    const bool rated = work > 0.0 && s->max[i] > 0.0;
    fprintf(out, "<tr><th scope=\"row\">%s</th>", invert_phase_name((invert_phase)i));
    page_cell(out, s->min[i], 3);
    page_cell(out, s->mean[i], 3);
    page_cell(out, s->max[i], 3);
    page_cell(out, rated ? work / s->max[i] : NAN, 3);
    fprintf(out, "<td>%s</td></tr>\n", rated ? unit : "");
  }
  fputs("</tbody></table></div>\n</section>\n", out);
}

/* Writes a value of the JSON report as text of a table cell. */
static void put_value(FILE *out, const json_t *value)
{
  switch (json_typeof(value)) {
    case JSON_STRING: page_text(out, json_string_value(value)); break;
    case JSON_INTEGER: page_count(out, json_integer_value(value)); break;
    case JSON_REAL: fputs(tomo_number_text(json_real_value(value), 6).s, out); break;
    case JSON_TRUE: fputs("yes", out); break;
    case JSON_FALSE: fputs("no", out); break;
    case JSON_NULL: fputs("–", out); break;
    default: {
      char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
      page_text(out, text ? text : "");
      free(text);
    }
  }
}

static osla_err put_command(report_page *p)
{
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  if (out) invert_put_command(p->job->options, out);
  const bool made = out && fclose(out) == 0;
  if (made) {
    fputs("<p class=\"command\"><code>", p->out);
    page_text(p->out, text);
    fputs("</code></p>\n", p->out);
  }
  free(text);
  OSLA_CHECK(made, OSLA_ERR_MEM, "no memory for command of the report");
  return OSLA_OK;
}

static osla_err put_settings(report_page *p)
{
  json_t *settings = invert_settings_json(p->job);
  const char *key;
  json_t *value;
  OSLA_CHECK(settings, OSLA_ERR_MEM, "no memory for settings");
  fputs("<div class=\"columns\"><table class=\"t\">\n<tbody>\n", p->out);
  json_object_foreach(settings, key, value)
  {
    fputs("<tr><th scope=\"row\">", p->out);
    for (const char *c = key; *c; c++)
      putc(*c == '_' ? ' ' : *c, p->out);
    fputs("</th><td>", p->out);
    put_value(p->out, value);
    fputs("</td></tr>\n", p->out);
  }
  fputs("</tbody></table></div>\n</section>\n", p->out);
  json_decref(settings);
  return OSLA_OK;
}

static void put_version(FILE *out, const char *what, const char *version)
{
  fprintf(out, "<tr><th scope=\"row\">%s</th><td>", what);
  page_text(out, version);
  fputs("</td></tr>\n", out);
}

static void put_versions(report_page *p)
{
  FILE *out = p->out;
  char mpi[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  (void)MPI_Get_library_version(mpi, &length);
  mpi[strcspn(mpi, "\r\n")] = '\0';
  for (char *c = mpi; *c; c++)
    if (*c == '\t') *c = ' ';
  fputs("<section>\n<h2>Versions</h2>\n<table class=\"t\">\n<tbody>\n", out);
  put_version(out, "OSLA", PACKAGE_VERSION);
  put_version(out, "MPI", mpi);
  put_version(out, "BLAS", osla_blas_describe());
#ifdef HAVE_HDF5
  unsigned major = 0, minor = 0, release = 0;
  char hdf5[64];
  if (H5get_libversion(&major, &minor, &release) >= 0) {
    (void)snprintf(hdf5, sizeof hdf5, "%u.%u.%u", major, minor, release);
    put_version(out, "HDF5", hdf5);
  }
#endif
  if (p->draw[0] && tomo_draw_version(p->draw[0])[0])
    put_version(out, "gnuplot", tomo_draw_version(p->draw[0]));
  fputs("</tbody></table>\n</section>\n", out);
}

osla_err page_put_tables(report_page *p)
{
  put_recovery(p);
  put_times(p);
  fputs("<section>\n<h2>Settings</h2>\n", p->out);
  OSLA_CALL(put_command(p));
  OSLA_CALL(put_settings(p));
  put_versions(p);
  return OSLA_OK;
}
