/* Sweeps over the own points, row by row. The residual is had with the new values: b - A x is six
 * times what a value changes by. */
#include "diffusion.h"

#include <math.h>

/* Wider vectors, where there are: a sweep of 100^3 points waits for memory, one of 50^3 does not.
 */
#if defined __x86_64__ && defined __GLIBC__ && !defined __clang__ && !defined __SANITIZE_ADDRESS__
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

static const double SIXTH = 1.0 / 6.0;

/* The neighbours of a row's points in y and z. */
typedef struct around {
  const double *south, *north, *below, *above;
} around;

static around around_row(const osla_diffusion *d, const double *row)
{
  return (around){row - d->stride[1], row + d->stride[1], row - d->stride[2], row + d->stride[2]};
}

static inline double sum_of_six(const around *a, const double *x, int64_t i)
{
  return ((x[i - 1] + x[i + 1]) + (a->south[i] + a->north[i])) + (a->below[i] + a->above[i]);
}

WIDE static double plain_row(int64_t n, around a, const double *x, double *restrict y)
{
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; i++) {
    y[i] = SIXTH * sum_of_six(&a, x, i);
    sum += (y[i] - x[i]) * (y[i] - x[i]);
  }
  return sum;
}

WIDE static double relaxed_row(int64_t n, around a, double omega, const double *x,
                               double *restrict y)
{
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; i++) {
    const double change = SIXTH * sum_of_six(&a, x, i) - x[i];
    y[i] = x[i] + omega * change;
    sum += change * change;
  }
  return sum;
}

/* Where row (j, k) of the own points begins. */
static int64_t row_at(const osla_diffusion *d, int64_t j, int64_t k)
{
  return 1 + (j + 1) * d->stride[1] + (k + 1) * d->stride[2];
}

/* Own points from `low` to before `high` in each dimension. */
typedef struct box {
  int64_t low[DIMENSIONS], high[DIMENSIONS];
} box;

static box own_points(const osla_diffusion *d)
{
  return (box){{0, 0, 0}, {d->count[0], d->count[1], d->count[2]}};
}

static double sweep_box(const osla_diffusion *d, const box *b, double omega, const double *x,
                        double *y)
{
  const int64_t n = b->high[0] - b->low[0];
  double sum = 0.0;
  for (int64_t k = b->low[2]; k < b->high[2]; k++)
    for (int64_t j = b->low[1]; j < b->high[1]; j++) {
      const int64_t at = row_at(d, j, k) + b->low[0];
      const around a = around_row(d, x + at);
      sum +=
        omega == 1.0 ? plain_row(n, a, x + at, y + at) : relaxed_row(n, a, omega, x + at, y + at);
    }
  return 36.0 * sum;
}

double osla_diffusion_sweep(void *arg, double omega, const double *x, double *y)
{
  const box all = own_points(arg);
  return sweep_box(arg, &all, omega, x, y);
}

/* Takes from `rest` its layer at a face; none where nothing is left. */
static box cut_layer(box *rest, int f)
{
  const int along = f / 2;
  box slab = *rest;
  if (rest->low[along] == rest->high[along]) return slab;
  if (f % 2 == 0)
    slab.high[along] = ++rest->low[along];
  else
    slab.low[along] = --rest->high[along];
  return slab;
}

double osla_diffusion_sweep_edge(void *arg, double omega, const double *x, double *y)
{
  const osla_diffusion *d = arg;
  box rest = own_points(d);
  double sum = 0.0;
  for (int h = 0; h < d->n_halos; h++) {
    const box slab = cut_layer(&rest, d->face[h]);
    sum += sweep_box(d, &slab, omega, x, y);
  }
  return sum;
}

double osla_diffusion_sweep_rest(void *arg, double omega, const double *x, double *y)
{
  const osla_diffusion *d = arg;
  box rest = own_points(d);
  for (int h = 0; h < d->n_halos; h++)
    (void)cut_layer(&rest, d->face[h]);
  return sweep_box(d, &rest, omega, x, y);
}

WIDE static double magnitude_row(int64_t n, around a, const double *x)
{
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; i++) {
    const double size = 6.0 * fabs(x[i]) + fabs(x[i - 1]) + fabs(x[i + 1]) + fabs(a.south[i]) +
                        fabs(a.north[i]) + fabs(a.below[i]) + fabs(a.above[i]);
    sum += size * size;
  }
  return sum;
}

double osla_diffusion_magnitude(void *arg, const double *x)
{
  const osla_diffusion *d = arg;
  double sum = 0.0;
  for (int64_t k = 0; k < d->count[2]; k++)
    for (int64_t j = 0; j < d->count[1]; j++) {
      const double *row = x + row_at(d, j, k);
      sum += magnitude_row(d->count[0], around_row(d, row), row);
    }
  return sum;
}

/* Zero where the whole grid ends. */
static void clear_boundary(const osla_diffusion *d, double *x)
{
  bool inner[FACES] = {false};
  for (int h = 0; h < d->n_halos; h++)
    inner[d->face[h]] = true;
  for (int f = 0; f < FACES; f++) {
    const layer l = osla_diffusion_layer(d, f, 0);
    for (int64_t b = 0; b < l.n[1] && !inner[f]; b++)
      for (int64_t a = 0; a < l.n[0]; a++)
        x[l.at + a * l.stride[0] + b * l.stride[1]] = 0.0;
  }
}

double osla_diffusion_bound_sweep(void *arg, double *x, double *y)
{
  const osla_diffusion *d = arg;
  double largest = 0.0;
  if (d->length == 0) return 0.0;
  clear_boundary(d, x);
  (void)osla_diffusion_sweep(arg, 1.0, x, y);
  for (int64_t k = 0; k < d->count[2]; k++)
    for (int64_t j = 0; j < d->count[1]; j++) {
      const int64_t at = row_at(d, j, k);
      for (int64_t i = 0; i < d->count[0]; i++)
        if (!(y[at + i] / x[at + i] <= largest)) largest = y[at + i] / x[at + i]; /* NaN stays */
    }
  return largest;
}

double osla_diffusion_distance(void *arg, const double *x, const double *y, const double *v)
{
  const osla_diffusion *d = arg;
  double largest = 0.0;
  for (int64_t k = 0; k < d->count[2]; k++)
    for (int64_t j = 0; j < d->count[1]; j++) {
      const int64_t at = row_at(d, j, k);
      for (int64_t i = 0; i < d->count[0]; i++)
        largest = fmax(largest, fabs(x[at + i] - y[at + i]) / v[at + i]);
    }
  return largest;
}
