/* Interpolation of a reference table between its periods and depths (contract:
 * tomo_reference.h). */
#include "apps/tomography/earth/tomo_reference.h"
#include "apps/tomography/earth/tomo_reference_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *tomo_wave_name(tomo_wave wave)
{
  return wave == TOMO_LOVE ? "love" : "rayleigh";
}

const char *tomo_observable_name(tomo_observable observable)
{
  return observable == TOMO_GROUP ? "group" : "phase";
}

void tomo_reference_destroy(tomo_reference **reference)
{
  if (!*reference) return;
  for (int i = 0; i < (*reference)->n_rows; i++) {
    free((*reference)->row[i].kernel[TOMO_PHASE]);
    free((*reference)->row[i].kernel[TOMO_GROUP]);
  }
  free((*reference)->row);
  free((*reference)->depth);
  free(*reference);
  *reference = NULL;
}

const char *tomo_reference_head(const tomo_reference *reference, tomo_reference_line line)
{
  return reference->head[line];
}

int tomo_reference_depths(const tomo_reference *reference, const double **depth_km)
{
  *depth_km = reference->depth;
  return reference->n_depths;
}

static int compare_rows(const void *left, const void *right)
{
  const reference_row *a = left, *b = right;
  if (a->wave != b->wave) return a->wave < b->wave ? -1 : 1;
  if (a->branch != b->branch) return a->branch < b->branch ? -1 : 1;
  if (a->period != b->period) return a->period < b->period ? -1 : 1;
  return a->line < b->line ? -1 : a->line > b->line;
}

osla_err reference_sort_rows(const char *name, tomo_reference *reference)
{
  qsort(reference->row, (size_t)reference->n_rows, sizeof *reference->row, compare_rows);
  for (int i = 1; i < reference->n_rows; i++) {
    const reference_row *a = &reference->row[i - 1], *b = &reference->row[i];
    if (a->wave != b->wave || a->branch != b->branch) continue;
    const long later = a->line > b->line ? a->line : b->line;
    OSLA_CHECK(a->period != b->period, OSLA_ERR_IO,
               "%s:%ld: period: %s branch %d at %.9g s is also in line %ld", name, later,
               tomo_wave_name(b->wave), b->branch, b->period,
               a->line < b->line ? a->line : b->line);
    OSLA_CHECK(!a->kernel[TOMO_GROUP] == !b->kernel[TOMO_GROUP], OSLA_ERR_IO,
               "%s:%ld: U: %s branch %d has a group velocity at %.9g s and none at %.9g s", name,
               later, tomo_wave_name(b->wave), b->branch,
               a->kernel[TOMO_GROUP] ? a->period : b->period,
               a->kernel[TOMO_GROUP] ? b->period : a->period);
  }
  return OSLA_OK;
}

/* Finds the rows of a wave and branch, which follow one another. Returns the first row, and sets
 * *count to the number of rows. */
static const reference_row *rows_of(const tomo_reference *reference, tomo_wave wave, int branch,
                                    int *count)
{
  const reference_row *first = NULL;
  *count = 0;
  for (int i = 0; i < reference->n_rows; i++) {
    if (reference->row[i].wave != wave || reference->row[i].branch != branch) continue;
    if (!first) first = &reference->row[i];
    ++*count;
  }
  return first;
}

/* True if low <= period <= high, up to a relative rounding error of 1e-9 in periods that were
 * computed from frequencies. */
static int is_within(double period, double low, double high)
{
  return period >= low * (1.0 - 1e-9) && period <= high * (1.0 + 1e-9);
}

int tomo_measure_compare(const tomo_measure *a, const tomo_measure *b)
{
  if (a->wave != b->wave) return a->wave < b->wave ? -1 : 1;
  if (a->observable != b->observable) return a->observable < b->observable ? -1 : 1;
  if (a->branch != b->branch) return a->branch < b->branch ? -1 : 1;
  return a->period_s < b->period_s ? -1 : a->period_s > b->period_s;
}

void tomo_measure_text(const tomo_measure *m, char text[TOMO_MEASURE_TEXT])
{
  (void)snprintf(text, TOMO_MEASURE_TEXT, "%s %s, branch %d, %g s", tomo_wave_name(m->wave),
                 tomo_observable_name(m->observable), m->branch, m->period_s);
}

static double stand_in_velocity(const tomo_measure *m)
{
  double fundamental = 3.85 + 0.0046 * (m->period_s - 40.0);
  return fundamental * (1.0 + 0.28 * m->branch / (1.0 + 0.12 * m->branch));
}

static double stand_in_kernel(const tomo_measure *m, double depth_km)
{
  const double p = 2.0 + m->branch;
  const double peak = stand_in_velocity(m) * m->period_s / 3.0 * (1.0 + 0.5 * m->branch);
  if (depth_km <= 0.0) return 0.0;
  return p / peak * exp(p * log(p * depth_km / peak) - p * depth_km / peak - lgamma(p + 1.0));
}

static osla_err check_stand_in(const tomo_measure *m)
{
  char text[TOMO_MEASURE_TEXT];
  tomo_measure_text(m, text);
  OSLA_CHECK(
    m->wave == TOMO_RAYLEIGH && m->observable == TOMO_PHASE, OSLA_ERR_ARG,
    "%s: the stand-in formulas cover only phase delays of Rayleigh waves; give a --reference table",
    text);
  return OSLA_OK;
}

osla_err tomo_measure_check(const tomo_reference *reference, const tomo_measure *measure)
{
  if (!reference) return check_stand_in(measure);
  int count;
  const reference_row *row = rows_of(reference, measure->wave, measure->branch, &count);
  const char *what = tomo_observable_name(measure->observable),
             *wave = tomo_wave_name(measure->wave);
  OSLA_CHECK(row, OSLA_ERR_ARG,
             "%s velocity of %s branch %d at %g s: the reference table (%s) has no such branch",
             what, wave, measure->branch, measure->period_s,
             tomo_reference_head(reference, HEAD_TITLE));
  OSLA_CHECK(row->kernel[measure->observable], OSLA_ERR_ARG,
             "%s velocity of %s branch %d at %g s: the reference table (%s) has no group "
             "velocities of this branch",
             what, wave, measure->branch, measure->period_s,
             tomo_reference_head(reference, HEAD_TITLE));
  OSLA_CHECK(is_within(measure->period_s, row[0].period, row[count - 1].period), OSLA_ERR_ARG,
             "%s velocity of %s branch %d at %g s: the reference table (%s) covers %g to %g s",
             what, wave, measure->branch, measure->period_s,
             tomo_reference_head(reference, HEAD_TITLE), row[0].period, row[count - 1].period);
  return OSLA_OK;
}

/* An interpolated row of a reference table: the weighted sum of neighbouring rows. */
typedef struct interpolation {
  const reference_row *row;
  int count;
  double weight[4];
} interpolation;

/* The slope at row i is that of the parabola through row i and its two neighbours in x (at an end,
 * the next two rows). It is a linear combination of the three rows' values. The function adds
 * `scale` times the factor of each row j to weight[j]. */
static void add_slope(const double *x, int n, int i, double scale, double *weight)
{
  const int first = i == 0 ? 0 : i == n - 1 ? n - 3 : i - 1;
  for (int j = first; j < first + 3; j++) {
    double slope = 0.0, below = 1.0;
    for (int k = first; k < first + 3; k++) {
      if (k == j) continue;
      below *= x[j] - x[k];
      /* x of the third row, which is neither j nor k */
      slope += x[i] - x[first + first + 1 + first + 2 - j - k];
    }
    weight[j] += scale * slope / below;
  }
}

/* Sets the weights of cubic Hermite interpolation at ln T = x between the rows i and i + 1. */
static void set_weights(const double *xs, int n, int i, double x, double *weight)
{
  const double step = xs[i + 1] - xs[i], t = (x - xs[i]) / step, s = 1.0 - t;
  if (n == 2) {
    weight[0] = s;
    weight[1] = t;
    return;
  }
  weight[i] += s * s * (1.0 + 2.0 * t);
  weight[i + 1] += t * t * (1.0 + 2.0 * s);
  add_slope(xs, n, i, step * t * s * s, weight);
  add_slope(xs, n, i + 1, -step * t * t * s, weight);
}

static interpolation interpolation_of(const tomo_reference *reference, const tomo_measure *measure)
{
  int count, i = 0;
  const reference_row *row = rows_of(reference, measure->wave, measure->branch, &count);
  interpolation b = {.row = row, .count = 1, .weight = {1.0}};
  if (count < 2) return b;
  const double period = fmin(fmax(measure->period_s, row[0].period), row[count - 1].period);
  while (i + 2 < count && row[i + 1].period <= period)
    i++;
  const int first = i > 0 ? i - 1 : 0, end = i + 3 < count ? i + 3 : count;
  double x[4];
  b = (interpolation){.row = row + first, .count = end - first};
  for (int j = 0; j < b.count; j++)
    x[j] = log(b.row[j].period);
  set_weights(x, b.count, i - first, log(period), b.weight);
  return b;
}

double tomo_measure_velocity(const tomo_reference *reference, const tomo_measure *measure)
{
  if (!reference) return stand_in_velocity(measure);
  const interpolation b = interpolation_of(reference, measure);
  double sum = 0.0;
  for (int i = 0; i < b.count; i++)
    sum += b.weight[i] * b.row[i].velocity[measure->observable];
  return sum;
}

/* Value of the interpolated kernel at the depth with index `depth`. */
static double at_depth(const interpolation *b, tomo_observable observable, int depth)
{
  double sum = 0.0;
  for (int i = 0; i < b->count; i++)
    sum += b->weight[i] * b->row[i].kernel[observable][depth];
  return sum;
}

double tomo_measure_kernel(const tomo_reference *reference, const tomo_measure *measure,
                           double depth_km)
{
  if (!reference) return stand_in_kernel(measure, depth_km);
  const double *depth = reference->depth;
  const int last = reference->n_depths - 1;
  if (!(depth_km <= depth[last])) return 0.0;
  const interpolation b = interpolation_of(reference, measure);
  if (depth_km < depth[0]) return at_depth(&b, measure->observable, 0);
  if (depth_km == depth[last]) return at_depth(&b, measure->observable, last);
  int low = 0, high = last; /* invariant of the bisection: depth[low] <= depth_km < depth[high] */
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (depth[middle] <= depth_km)
      low = middle;
    else
      high = middle;
  }
  const double t = (depth_km - depth[low]) / (depth[high] - depth[low]);
  return (1.0 - t) * at_depth(&b, measure->observable, low) +
         t * at_depth(&b, measure->observable, high);
}
