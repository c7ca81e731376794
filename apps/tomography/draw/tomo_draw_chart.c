/* Draws a chart of curves.
 *
 * The colours are those of Okabe and Ito (2008), "Color Universal Design", which readers with any
 * colour vision can distinguish. Each colour also has its own symbol. */
#include <math.h>

#include "apps/tomography/draw/tomo_draw_parts.h"

static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                      "#e69f00", "#56b4e9", "#000000", "#806000"};
static const int full_points[] = {7, 5, 9, 11, 13, 7, 5, 9};
static const int open_points[] = {6, 4, 8, 10, 12, 6, 4, 8};
enum { N_COLOURS = 8 };

static void put_data(tomo_draw *draw, const tomo_curve *c)
{
  fprintf(draw->script, "$curve%d << END\n", draw->n_blocks++);
  for (int i = 0; i < c->n; i++)
    fprintf(draw->script, "%.9g %.9g %.9g\n", c->x[i], c->y[i], c->error ? c->error[i] : 0.0);
  fprintf(draw->script, "END\n");
}

/* Ends of an axis; the axis is a little longer than the range of the data. */
typedef struct range {
  double low, high;
} range;

static void widen(range *r, double value, bool logarithmic)
{
  if (!isfinite(value) || (logarithmic && value <= 0.0)) return;
  r->low = fmin(r->low, value);
  r->high = fmax(r->high, value);
}

static range find_range(const tomo_chart *chart, bool is_x)
{
  const bool logarithmic = is_x ? chart->log_x : chart->log_y;
  range r = {INFINITY, -INFINITY};
  for (int k = 0; k < chart->n_curves; k++) {
    const tomo_curve *c = &chart->curves[k];
    for (int i = 0; i < c->n; i++) {
      const double value = is_x ? c->x[i] : c->y[i], error = !is_x && c->error ? c->error[i] : 0.0;
      widen(&r, value - error, logarithmic);
      widen(&r, value + error, logarithmic);
    }
  }
  if (!(r.low <= r.high)) return (range){1.0, 10.0};
  if (logarithmic) {
    const double more = fmax(pow(r.high / r.low, 0.06), 1.05);
    return (range){r.low / more, r.high * more};
  }
  const double more = fmax(0.06 * (r.high - r.low), 1e-3 * fmax(fabs(r.high), 1e-6));
  return (range){r.low > 0.0 && r.low < 0.3 * r.high ? 0.0 : r.low - more, r.high + more};
}

/* Writes range, ticks and label of an axis. A tick has no number if the number would touch that of
 * the preceding tick. */
static void put_axis(FILE *out, char axis, range r, bool logarithmic, const char *label)
{
  /* minimum distance between the numbers of two ticks, as a fraction of the axis */
  const double apart = axis == 'x' ? 0.085 : 0.05;
  double last = -1.0;
  double tick[TOMO_TICKS_MAX];
  const tomo_scale scale = {.low = r.low, .high = r.high, .logarithmic = logarithmic};
  const int ticks = tomo_scale_ticks(&scale, tick);
  fprintf(out, "set %crange [%.9g:%.9g]\n", axis, r.low, r.high);
  if (logarithmic) fprintf(out, "set logscale %c\nunset m%ctics\n", axis, axis);
  if (ticks >= 2) {
    fprintf(out, "set %ctics out nomirror scale 0.6 font ',12' (", axis);
    for (int i = 0; i < ticks; i++) {
      const double at = tomo_scale_position(&scale, tick[i]);
      const bool room = at - last >= apart;
      fprintf(out, "%s'%s' %.9g", i ? ", " : "", room ? tomo_number_text(tick[i], 4).s : "",
              tick[i]);
      if (room) last = at;
    }
    fprintf(out, ")\n");
  } else {
    fprintf(out, "set %ctics out nomirror scale 0.6 font ',12'\n", axis);
  }
  fprintf(out, "set %clabel ", axis);
  draw_quoted(out, label);
  fprintf(out, " font ',12'%s\n", axis == 'x' ? " offset 0,0.3" : "");
}

static void put_marks(const tomo_draw *draw, const tomo_chart *chart)
{
  for (int i = 0; i < chart->n_marks; i++)
    fprintf(draw->script,
            "set label '' at first %.9g, first %.9g point pt 6 ps 1.8 lw 1.6 lc rgb '#000000'\n",
            chart->marks[i].x, chart->marks[i].y);
}

void tomo_draw_chart(tomo_draw *draw, const tomo_chart *chart, tomo_box box)
{
  FILE *out = draw->script;
  const int first = draw->n_blocks;
  const range x = find_range(chart, true), y = find_range(chart, false);
  for (int k = 0; k < chart->n_curves; k++)
    put_data(draw, &chart->curves[k]);
  draw_set_margins(draw, box);
  fprintf(out, "set border 3 lw 1\nset grid lc rgb '#e0e0e0' lt 1 lw 0.6\n"
               "set key bmargin center horizontal Left reverse noautotitle font ',12' samplen 2.5 "
               "spacing 1.2 width 1\n");
  put_axis(out, 'x', x, chart->log_x, chart->x_label);
  put_axis(out, 'y', y, chart->log_y, chart->y_label);
  put_marks(draw, chart);
  for (int k = 0; k < chart->n_curves; k++) {
    const tomo_curve *c = &chart->curves[k];
    const int colour = c->colour % N_COLOURS;
    fprintf(out, "%s$curve%d with %s lc rgb '%s' lw %s dt %d pt %d ps %s", k ? ", \\\n  " : "plot ",
            first + k, c->error ? "yerrorlines" : "linespoints", colours[colour],
            c->faint ? "1" : "1.6", c->faint ? 2 : 1,
            c->faint ? open_points[colour] : full_points[colour], c->n > 40 ? "0.3" : "0.55");
    if (c->name) {
      fprintf(out, " title ");
      draw_quoted(out, c->name);
    }
  }
  fprintf(out, "%s\n", chart->n_curves ? "" : "plot NaN");
  draw_end_plot(draw);
}
