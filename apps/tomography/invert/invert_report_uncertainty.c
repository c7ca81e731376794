/* Output of the posterior, the rows of the resolution matrix and the scan of priors: in the text
 * report, in the JSON report and in the result file. */
#include "apps/tomography/invert/invert.h"
#include "apps/tomography/readers/tomo_store.h"
#include "tools/common/command.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void print_posterior(const invert_job *job)
{
  const invert_posterior *p = &job->posterior;
  (void)printf("\nPosterior: standard deviation %.3g (least), %.3g (median), %.3g (mean), %.3g "
               "(most) percent\n",
               p->least, p->median, p->mean, p->most);
  if (p->width > 0)
    (void)printf("By columns of the inverse, %lld at a time\n", (long long)p->width);
  (void)printf("Degrees of freedom: %.1f of %lld unknowns (trace of the resolution matrix)\n",
               p->trace, (long long)job->n);
}

static void print_rows(const invert_job *job)
{
  const invert_posterior *p = &job->posterior;
  (void)printf("\nRows at   latitude   longitude   depth km   deviation   resolution   spread km   "
               "in depth   (unknowns nearest to --spread)\n");
  for (int k = 0; k < p->points; k++) {
    const int64_t at = k * job->n + p->unknown[k];
    (void)printf("         %9.2f %11.2f %10.0f %11.3g %12.3f %11.0f %10.0f\n", p->latitude[k],
                 p->longitude[k], p->depth_km[k], sqrt(p->covariance[at]), p->row[at],
                 p->spread_km[k], p->spread_depth_km[k]);
  }
}

static const char *mark(const invert_scan *s, int p)
{
  bool corner = false;
  for (int line = 0; line < s->lines; line++)
    corner = corner || s->line_corner[line] == p;
  if (corner && p == s->lowest) return "  corner, least gcv";
  return corner ? "  corner" : p == s->lowest ? "  least gcv" : "";
}

/* Returns true if prior p is at an end of the scanned range. The true minimum may then be outside
 * of the range. */
static bool at_end(const invert_job *job, int p)
{
  const invert_scan *s = &job->scan;
  const int along = s->count / s->lines, in_line = p % along, line = p / along;
  return in_line == 0 || in_line == along - 1 ||
         (s->lines > 1 && (line == 0 || line == s->lines - 1));
}

static void print_scan(const invert_job *job)
{
  const invert_scan *s = &job->scan;
  (void)printf("\nScan of priors: traces from %d random vectors, with standard errors\n",
               s->vectors);
  (void)printf(
    "     damping   smoothing      misfit        norm   degrees of freedom               "
    "    gcv\n");
  for (int p = 0; p < s->count; p++) {
    if (isnan(s->misfit[p]))
      (void)printf("  %10.4g  %10.4g   too weak a prior for the precision\n", s->damping[p],
                   s->smoothing[p]);
    else
      (void)printf("  %10.4g  %10.4g  %10.5f  %10.4g  %10.1f +- %-7.2g  %10.6f +- %.1g%s\n",
                   s->damping[p], s->smoothing[p], s->misfit[p] / (double)job->result.data,
                   s->norm[p], s->freedom[p], s->freedom_error[p], s->gcv[p], s->gcv_error[p],
                   mark(s, p));
  }
  (void)printf("  (misfit per datum; norm: m^T C_m^-1 m of the %s, for a weight of 1)\n",
               s->of_damping ? "damping" : "smoothing");
  if (s->corner < 0) (void)printf("  The L-curve has no corner here.\n");
  if (s->lowest >= 0 && at_end(job, s->lowest))
    (void)printf("  The least gcv is at an end of the scan: the least of all may lie beyond.\n");
}

void invert_print_uncertainty(const invert_job *job)
{
  if (job->posterior.deviation) print_posterior(job);
  if (job->posterior.points > 0) print_rows(job);
  if (job->scan.count > 0) {
    print_scan(job);
    (void)printf("  The model's prior: damping %.4g, smoothing %.4g\n", job->prior.damping,
                 job->prior.lateral);
  }
}

static json_t *rows_json(const invert_job *job)
{
  const invert_posterior *p = &job->posterior;
  json_t *rows = json_array();
  for (int k = 0; k < p->points; k++) {
    const int64_t at = k * job->n + p->unknown[k];
    (void)json_array_append_new(
      rows, json_pack("{s:I, s:f, s:f, s:f, s:o, s:o, s:o, s:o}", "unknown",
                      (json_int_t)p->unknown[k], "latitude", p->latitude[k], "longitude",
                      p->longitude[k], "depth_km", p->depth_km[k], "deviation_percent",
                      command_number(sqrt(p->covariance[at])), "resolution",
                      command_number(p->row[at]), "spread_km", command_number(p->spread_km[k]),
                      "spread_depth_km", command_number(p->spread_depth_km[k])));
  }
  return rows;
}

static json_t *posterior_json(const invert_job *job)
{
  const invert_posterior *p = &job->posterior;
  return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:I}", "trace", p->trace, "deviation_min",
                   p->least, "deviation_median", p->median, "deviation_mean", p->mean,
                   "deviation_max", p->most, "seconds", p->seconds, "seconds_forecast", p->forecast,
                   "columns", (json_int_t)p->width);
}

static json_t *index_json(int index)
{
  return index < 0 ? json_null() : json_integer(index);
}

static json_t *scan_json(const invert_job *job)
{
  const invert_scan *s = &job->scan;
  json_t *priors = json_array(), *corners = json_array();
  for (int p = 0; p < s->count; p++)
    (void)json_array_append_new(
      priors,
      json_pack("{s:f, s:f, s:o, s:o, s:o, s:o, s:o, s:o}", "damping", s->damping[p], "smoothing",
                s->smoothing[p], "misfit", command_number(s->misfit[p]), "norm",
                command_number(s->norm[p]), "freedom", command_number(s->freedom[p]),
                "freedom_error", command_number(s->freedom_error[p]), "gcv",
                command_number(s->gcv[p]), "gcv_error", command_number(s->gcv_error[p])));
  for (int line = 0; line < s->lines; line++)
    (void)json_array_append_new(corners, index_json(s->line_corner[line]));
  return json_pack("{s:o, s:i, s:i, s:o, s:o, s:o, s:b, s:f}", "priors", priors, "lines", s->lines,
                   "vectors", s->vectors, "corners", corners, "corner", index_json(s->corner),
                   "least_gcv", index_json(s->lowest), "least_gcv_at_end",
                   s->lowest >= 0 && at_end(job, s->lowest), "seconds", s->seconds);
}

static json_t *prior_json(const invert_job *job)
{
  static const char *const choices[] = {"as given", "corner", "gcv"};
  const invert_options *o = job->options;
  return json_pack("{s:f, s:f, s:f, s:o, s:s}", "damping", job->prior.damping, "smoothing",
                   job->prior.lateral, "radial_smoothing", job->prior.radial, "file",
                   command_string(o->prior_file), "chosen", choices[o->choose]);
}

json_t *invert_uncertainty_json(const invert_job *job)
{
  json_t *root = json_object();
  bool made = json_object_set_new(root, "prior", prior_json(job)) == 0;
  if (job->posterior.deviation)
    made = json_object_set_new(root, "posterior", posterior_json(job)) == 0 && made;
  if (job->posterior.points > 0)
    made = json_object_set_new(root, "rows", rows_json(job)) == 0 && made;
  if (job->scan.count > 0) made = json_object_set_new(root, "scan", scan_json(job)) == 0 && made;
  if (made) return root;
  json_decref(root);
  return NULL;
}

static osla_err store_rows(const invert_job *job, tomo_store *store)
{
  const invert_posterior *p = &job->posterior;
  const int64_t rows[3] = {p->points, job->knots, job->options->n_radial}, points[1] = {p->points};
  OSLA_CALL(tomo_store_add_array(store, "row_resolution", "1", 3, rows, p->row));
  OSLA_CALL(tomo_store_add_array(store, "row_covariance", "percent^2", 3, rows, p->covariance));
  OSLA_CALL(tomo_store_add_array(store, "row_latitude", "degrees", 1, points, p->latitude));
  OSLA_CALL(tomo_store_add_array(store, "row_longitude", "degrees", 1, points, p->longitude));
  OSLA_CALL(tomo_store_add_array(store, "row_depth", "km", 1, points, p->depth_km));
  OSLA_CALL(tomo_store_add_array(store, "row_spread", "km", 1, points, p->spread_km));
  return tomo_store_add_array(store, "row_spread_depth", "km", 1, points, p->spread_depth_km);
}

static osla_err store_scan(const invert_scan *s, tomo_store *store)
{
  const struct {
    const char *name, *unit;
    const double *value;
  } arrays[] = {{"scan_damping", "1/percent^2", s->damping},
                {"scan_smoothing", "1/percent^2", s->smoothing},
                {"scan_misfit", "1", s->misfit},
                {"scan_norm", "percent^2", s->norm},
                {"scan_freedom", "1", s->freedom},
                {"scan_freedom_error", "1", s->freedom_error},
                {"scan_gcv", "1", s->gcv},
                {"scan_gcv_error", "1", s->gcv_error}};
  const int64_t dims[2] = {s->lines, s->count / s->lines};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    OSLA_CALL(
      tomo_store_add_array(store, arrays[i].name, arrays[i].unit, 2, dims, arrays[i].value));
  OSLA_CALL(tomo_store_add_number(store, "scan_corner", s->corner));
  return tomo_store_add_number(store, "scan_least_gcv", s->lowest);
}

osla_err invert_store_uncertainty(const invert_job *job, tomo_store *store)
{
  const invert_posterior *p = &job->posterior;
  const int64_t model[2] = {job->knots, job->options->n_radial};
  if (job->options->prior_file)
    OSLA_CALL(tomo_store_add_text(store, "prior", job->options->prior_file));
  if (p->deviation) {
    OSLA_CALL(tomo_store_add_array(store, "deviation", "percent", 2, model, p->deviation));
    OSLA_CALL(tomo_store_add_array(store, "resolution", "1", 2, model, p->resolution));
    OSLA_CALL(tomo_store_add_number(store, "degrees_of_freedom", p->trace));
  }
  if (p->points > 0) OSLA_CALL(store_rows(job, store));
  return job->scan.count > 0 ? store_scan(&job->scan, store) : OSLA_OK;
}
