/* Charts of a scan: a curve for each of its lines. */
#include "apps/tomography/report/invert_scan_chart.h"

#include <math.h>
#include <stdio.h>

static void add_lines(const invert_scan *s, const double *x, const double *y, const double *error,
                      scan_chart *out)
{
  const int along = s->count / s->lines;
  const double *other = s->of_damping ? s->smoothing : s->damping;
  out->chart.curves = out->curve;
  out->chart.marks = out->mark;
  for (int line = 0; line < s->lines && line < SCAN_CURVES; line++) {
    const int first = line * along;
    (void)snprintf(out->name[line], sizeof *out->name, "%s %.3g",
                   s->of_damping ? "smoothing" : "damping", other[first]);
    out->curve[line] = (tomo_curve){.name = s->lines > 1 ? out->name[line] : NULL,
                                    .n = along,
                                    .x = x + first,
                                    .y = y + first,
                                    .error = error ? error + first : NULL,
                                    .colour = line};
    out->chart.n_curves++;
  }
}

static void add_mark(const double *x, const double *y, int at, scan_chart *out)
{
  if (at >= 0) out->mark[out->chart.n_marks++] = (tomo_mark){x[at], y[at]};
}

void invert_chart_corners(const invert_scan *s, scan_chart *out)
{
  *out = (scan_chart){.chart = {.x_label = "|m|² in the weights of the prior",
                                .y_label = "Misfit |d − G m|² (variances)",
                                .log_x = true,
                                .log_y = true}};
  add_lines(s, s->norm, s->misfit, NULL, out);
  for (int line = 0; line < out->chart.n_curves; line++)
    add_mark(s->norm, s->misfit, s->line_corner[line], out);
}

void invert_chart_validation(const invert_scan *s, scan_chart *out)
{
  const double *x = s->of_damping ? s->damping : s->smoothing;
  *out = (scan_chart){.chart = {.x_label = s->of_damping ? "Damping (1 / percent²)" : "Smoothing",
                                .y_label = "Generalised cross-validation",
                                .log_x = true,
                                .log_y = true}};
  add_lines(s, x, s->gcv, s->gcv_error, out);
  add_mark(x, s->gcv, s->lowest, out);
}
