/* Charts of the HTML report: misfit by period, the L-curve, cross-validation. */
#include "apps/tomography/report/invert_page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* KEY is the height of the legend in pixels */
enum { WIDTH = 560, HEIGHT = 420, KEY = 54, BRANCHES_MAX = 6 };
static const tomo_box chart_box = {94, 14, 452, 290};

static osla_err put_chart(report_page *p, const tomo_chart *chart, page_picture *picture)
{
  const bool named = chart->n_curves > 0 && chart->curves[0].name;
  OSLA_CALL(page_begin_picture(p, 1, WIDTH, named ? HEIGHT : HEIGHT - KEY, picture));
  tomo_draw_chart(p->draw[1], chart, chart_box);
  return OSLA_OK;
}

/* Curves of the misfit per datum over the period, for one wave and observable: for each branch one
 * curve before and one after the inversion. */
typedef struct fit_curves {
  double *period, /* [count] periods */
    *value;       /* [2 * count] misfits */
  char name[2 * BRANCHES_MAX][40];
  tomo_curve curve[2 * BRANCHES_MAX];
  int n;
} fit_curves;

static bool is_of(const tomo_measure *m, int wave, int observable)
{
  return (int)m->wave == wave && (int)m->observable == observable;
}

static void add_branch(const invert_fit *fit, int first, int last, fit_curves *c)
{
  const int branch = fit->measure[first].branch;
  if (c->n >= 2 * BRANCHES_MAX) return;
  for (int when = 0; when < 2; when++) {
    const double *sum = when ? fit->after : fit->before;
    double *value = c->value + (size_t)when * (size_t)fit->count;
    for (int i = first; i < last; i++) {
      c->period[i] = fit->measure[i].period_s;
      value[i] = fit->data[i] > 0 ? sum[i] / (double)fit->data[i] : NAN;
    }
    if (branch == 0)
      (void)snprintf(c->name[c->n], sizeof *c->name, "fundamental, %s", when ? "after" : "before");
    else
      (void)snprintf(c->name[c->n], sizeof *c->name, "overtone %d, %s", branch,
                     when ? "after" : "before");
    c->curve[c->n] = (tomo_curve){.name = c->name[c->n],
                                  .n = last - first,
                                  .x = c->period + first,
                                  .y = value + first,
                                  .colour = c->n / 2,
                                  .faint = !when};
    c->n++;
  }
}

static osla_err draw_fit(report_page *p, int wave, int observable, fit_curves *c, int place)
{
  static const char *const names[2][2] = {{"Rayleigh waves, phase", "Rayleigh waves, group"},
                                          {"Love waves, phase", "Love waves, group"}};
  const invert_fit *fit = &p->job->fit;
  c->n = 0;
  for (int i = 0; i < fit->count;) {
    int last = i + 1;
    while (last < fit->count && is_of(&fit->measure[last], wave, observable) &&
           fit->measure[last].branch == fit->measure[i].branch)
      last++;
    if (is_of(&fit->measure[i], wave, observable)) add_branch(fit, i, last, c);
    i = last;
  }
  if (c->n == 0) return OSLA_OK;
  const tomo_chart chart = {.x_label = "Period (s)",
                            .y_label = "Misfit per datum (variances)",
                            .log_x = true,
                            .log_y = true,
                            .curves = c->curve,
                            .n_curves = c->n};
  p->misfit_name[place] = names[wave][observable];
  return put_chart(p, &chart, &p->misfit[place]);
}

static osla_err draw_fits(report_page *p)
{
  const size_t count = (size_t)p->job->fit.count;
  fit_curves c = {.period = malloc(count * sizeof(double)),
                  .value = malloc(2 * count * sizeof(double))};
  osla_err err = OSLA_OK;
  if (!c.period || !c.value)
    OSLA_TRY(osla_error_set(OSLA_ERR_MEM, "no memory for %zu measures", count));
  for (int k = 0; k < 4; k++)
    OSLA_TRY(draw_fit(p, k / 2, k % 2, &c, k));
cleanup:
  free(c.period);
  free(c.value);
  return err;
}

/* ---- charts of a scan of priors: one curve for each line of priors along which only one weight
 * changes ---- */

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

osla_err page_draw_charts(report_page *p)
{
  const invert_scan *s = &p->job->scan;
  scan_chart chart;
  if (p->job->fit.count > 0) OSLA_CALL(draw_fits(p));
  if (s->count < 2) return OSLA_OK;
  invert_chart_corners(s, &chart);
  OSLA_CALL(put_chart(p, &chart.chart, &p->curve));
  invert_chart_validation(s, &chart);
  return put_chart(p, &chart.chart, &p->gcv);
}
