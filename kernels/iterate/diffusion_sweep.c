/* Sweeps over the own points, row by row. The residual comes at no extra cost: an element of b - A
 * x is six times the change of the point's value. */
#include "kernels/iterate/diffusion.h"

#include <math.h>

/* The version for AVX2 speeds up sweeps that fit into the cache; larger sweeps are limited by
 * memory. */
#if defined __x86_64__ && defined __GLIBC__ && !defined __clang__ && !defined __SANITIZE_ADDRESS__
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

static const double SIXTH = 1.0 / 6.0;

/* Rows of n points each, adjacent in y. One function loops over rows and points, because a call for
 * each row of 50 points takes 1.5 times as long. */
typedef struct rows {
  int64_t n, count, row, plane; /* points in a row; number of rows; offsets from a point to the next
                                   row and to the next plane */
} rows;

static inline double sum_of_six(const double *x, int64_t row, int64_t plane)
{
  return ((x[-1] + x[1]) + (x[-row] + x[row])) + (x[-plane] + x[plane]);
}

/* plain_rows sweeps without relaxation, relaxed_rows with relaxation. Both return `sum` plus the
 * squares of the changes. */
WIDE static double plain_rows(rows r, const double *x, double *restrict y, double sum)
{
  for (int64_t j = 0; j < r.count; j++, x += r.row, y += r.row) {
    double of_row = 0.0;
#pragma omp simd reduction(+ : of_row)
    for (int64_t i = 0; i < r.n; i++) {
      y[i] = SIXTH * sum_of_six(x + i, r.row, r.plane);
      of_row += (y[i] - x[i]) * (y[i] - x[i]);
    }
    sum += of_row;
  }
  return sum;
}

WIDE static double relaxed_rows(rows r, double omega, const double *x, double *restrict y,
                                double sum)
{
  for (int64_t j = 0; j < r.count; j++, x += r.row, y += r.row) {
    double of_row = 0.0;
#pragma omp simd reduction(+ : of_row)
    for (int64_t i = 0; i < r.n; i++) {
      const double change = SIXTH * sum_of_six(x + i, r.row, r.plane) - x[i];
      y[i] = x[i] + omega * change;
      of_row += change * change;
    }
    sum += of_row;
  }
  return sum;
}

/* Returns the index of the first own point with coordinates j in y and k in z. */
static int64_t row_at(const osla_diffusion *d, int64_t j, int64_t k)
{
  return 1 + (j + 1) * d->stride[1] + (k + 1) * d->stride[2];
}

/* Box of own points: low[d] <= index < high[d] in each dimension d. */
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
  const rows r = {b->high[0] - b->low[0], b->high[1] - b->low[1], d->stride[1], d->stride[2]};
  double sum = 0.0;
  for (int64_t k = b->low[2]; k < b->high[2]; k++) {
    const int64_t at = row_at(d, b->low[1], k) + b->low[0];
    sum = omega == 1.0 ? plain_rows(r, x + at, y + at, sum)
                       : relaxed_rows(r, omega, x + at, y + at, sum);
  }
  return 36.0 * sum;
}

double osli_diffusion_sweep(void *arg, double omega, const double *x, double *y)
{
  const box all = own_points(arg);
  return sweep_box(arg, &all, omega, x, y);
}

/* Removes the layer at face f from `rest` and returns it. The layer is empty if `rest` has no
 * points. */
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

double osli_diffusion_sweep_edge(void *arg, double omega, const double *x, double *y)
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

double osli_diffusion_sweep_rest(void *arg, double omega, const double *x, double *y)
{
  const osla_diffusion *d = arg;
  box rest = own_points(d);
  for (int h = 0; h < d->n_halos; h++)
    (void)cut_layer(&rest, d->face[h]);
  return sweep_box(d, &rest, omega, x, y);
}

WIDE static double magnitude_rows(rows r, const double *x, double sum)
{
  for (int64_t j = 0; j < r.count; j++, x += r.row) {
    double of_row = 0.0;
#pragma omp simd reduction(+ : of_row)
    for (int64_t i = 0; i < r.n; i++) {
      const double *p = x + i;
      const double size = 6.0 * fabs(p[0]) + fabs(p[-1]) + fabs(p[1]) + fabs(p[-r.row]) +
                          fabs(p[r.row]) + fabs(p[-r.plane]) + fabs(p[r.plane]);
      of_row += size * size;
    }
    sum += of_row;
  }
  return sum;
}

double osli_diffusion_magnitude(void *arg, const double *x)
{
  const osla_diffusion *d = arg;
  const rows r = {d->count[0], d->count[1], d->stride[1], d->stride[2]};
  double sum = 0.0;
  for (int64_t k = 0; k < d->count[2]; k++)
    sum = magnitude_rows(r, x + row_at(d, 0, k), sum);
  return sum;
}

/* Sets the boundary values of the whole grid to zero. */
static void clear_boundary(const osla_diffusion *d, double *x)
{
  bool inner[FACES] = {false};
  for (int h = 0; h < d->n_halos; h++)
    inner[d->face[h]] = true;
  for (int f = 0; f < FACES; f++) {
    const layer l = diffusion_layer(d, f, 0);
    for (int64_t b = 0; b < l.n[1] && !inner[f]; b++)
      for (int64_t a = 0; a < l.n[0]; a++)
        x[l.at + a * l.stride[0] + b * l.stride[1]] = 0.0;
  }
}

double osli_diffusion_bound_sweep(void *arg, double *x, double *y)
{
  const osla_diffusion *d = arg;
  double largest = 0.0;
  if (d->length == 0) return 0.0;
  clear_boundary(d, x);
  (void)osli_diffusion_sweep(arg, 1.0, x, y);
  for (int64_t k = 0; k < d->count[2]; k++)
    for (int64_t j = 0; j < d->count[1]; j++) {
      const int64_t at = row_at(d, j, k);
      for (int64_t i = 0; i < d->count[0]; i++)
        if (!(y[at + i] / x[at + i] <= largest))
          largest = y[at + i] / x[at + i]; /* written so that the comparison is true for a NaN,
                                              which is then returned */
    }
  return largest;
}

double osli_diffusion_distance(void *arg, const double *x, const double *y, const double *v)
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
