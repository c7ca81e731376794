/* The diffusion problem: grid of points, process grid, halos, boundaries, start and sweeps. A rank
 * needs no memory except the object; states belong to the caller. */
#include "kernels/iterate/iterate.h"
#include "src/base/double_bits.h"
#include "src/base/reserved.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

enum { DIMENSIONS = 3, FACES = 6 };

struct osla_diffusion {
  osla_diffusion_options o;
  int rank, position[DIMENSIONS]; /* this rank; its coordinates in the process grid */
  int64_t first[DIMENSIONS], count[DIMENSIONS];
  int64_t stride[DIMENSIONS]; /* steps in x, y, z within a state: 1, row length, plane size */
  int64_t length;
  int n_halos, face[FACES]; /* each halo's face: 2 d (lower) or 2 d + 1 (upper) in dimension d */
  osla_halo halos[FACES];
};

/* Layer of points at face f: own points if depth is 1, halo points if depth is 0. `at`: index of
 * the first point. n and stride: number of points and distance between points, in each of the
 * layer's two dimensions. */
typedef struct layer {
  int64_t at, n[2], stride[2];
} layer;
static layer diffusion_layer(const osla_diffusion *d, int f, int depth)
{
  const int along = f / 2, a = along == 0 ? 1 : 0, b = along == 2 ? 1 : 2;
  const int64_t position = f % 2 == 0 ? depth : d->count[along] + 1 - depth;
  return (layer){.at = position * d->stride[along] + d->stride[a] + d->stride[b],
                 .n = {d->count[a], d->count[b]},
                 .stride = {d->stride[a], d->stride[b]}};
}

/* ---- the process grid ---- */

/* Returns how many values all ranks send in one exchange, counted in only one direction. */
static double halo_numbers(const int64_t points[DIMENSIONS], const int ranks[DIMENSIONS])
{
  const double x = (double)points[0], y = (double)points[1], z = (double)points[2];
  return (ranks[0] - 1) * y * z + (ranks[1] - 1) * x * z + (ranks[2] - 1) * x * y;
}

/* Chooses a process grid for `size` ranks, or for as many as the points allow: one with the
 * smallest halos, and among those the one that cuts z first, whose layers are contiguous. */
static void choose_ranks(const int64_t points[DIMENSIONS], int size, int out[DIMENSIONS])
{
  double least = INFINITY;
  for (; isinf(least); size--)
    for (int x = 1; x <= size; x++)
      for (int y = 1; size % x == 0 && y <= size / x; y++) {
        const int shape[] = {x, y, size / x / y};
        if (size / x % y || x > points[0] || y > points[1] || shape[2] > points[2]) continue;
        if (halo_numbers(points, shape) >= least) continue;
        least = halo_numbers(points, shape);
        memcpy(out, shape, sizeof shape);
      }
}

static osla_err check_options(const osla_diffusion_options *o, int size)
{
  static const int64_t most = INT64_C(1) << 20;
  const int *r = o->ranks;
  OSLA_CALL(OSLA_RESERVED(osla_diffusion_options, o));
  for (int d = 0; d < DIMENSIONS; d++) {
    OSLA_CHECK(o->points[d] >= 1 && o->points[d] <= most, OSLA_ERR_ARG,
               "diffusion: %" PRId64 " points along %c are outside 1 to 2^20", o->points[d],
               "xyz"[d]);
    OSLA_CHECK(r[d] >= 0 && r[d] <= o->points[d], OSLA_ERR_ARG,
               "diffusion: %d ranks along %c for %" PRId64 " points", r[d], "xyz"[d],
               o -> points[d]);
  }
  OSLA_CHECK((r[0] == 0) == (r[1] == 0) && (r[1] == 0) == (r[2] == 0) &&
               (int64_t)r[0] * r[1] * r[2] <= size,
             OSLA_ERR_ARG, "diffusion: process grid %d x %d x %d, but the transport has %d ranks",
             r[0], r[1], r[2], size);
  OSLA_CHECK(o->start == OSLA_DIFFUSION_SOURCE || o->start == OSLA_DIFFUSION_MODE, OSLA_ERR_ARG,
             "diffusion: start = %d is not an osla_diffusion_start", (int)o->start);
  OSLA_CHECK(o->radius >= 0.0 && isfinite(o->radius) && isfinite(o->offset) &&
               !(o->no_offset && o->offset != 0.0),
             OSLA_ERR_ARG, "diffusion: radius = %g, offset = %g%s", o->radius, o->offset,
             o->no_offset ? ", no_offset" : "");
  return OSLA_OK;
}

static void set_position(osla_diffusion *d)
{
  const int *ranks = d->o.ranks;
  /* returns, because this rank has no points */
  if (d->rank >= ranks[0] * ranks[1] * ranks[2]) return;
  int step[DIMENSIONS] = {1, ranks[0], ranks[0] * ranks[1]};
  d->length = 1;
  for (int k = 0; k < DIMENSIONS; k++) {
    const int64_t n = d->o.points[k];
    d->position[k] = d->rank / step[k] % ranks[k];
    d->first[k] = n * d->position[k] / ranks[k];
    d->count[k] = n * (d->position[k] + 1) / ranks[k] - d->first[k];
    d->stride[k] = d->length;
    d->length *= d->count[k] + 2;
  }
  for (int f = 0; f < FACES; f++) {
    const int k = f / 2, beyond = d->position[k] + (f % 2 ? 1 : -1);
    if (beyond < 0 || beyond >= ranks[k]) continue;
    const layer l = diffusion_layer(d, f, 1);
    d->face[d->n_halos] = f;
    d->halos[d->n_halos++] = (osla_halo){.peer = d->rank + (f % 2 ? step[k] : -step[k]),
                                         .tag = k,
                                         .send = l.n[0] * l.n[1],
                                         .recv = l.n[0] * l.n[1]};
  }
}

osla_err osli_diffusion_create_part(const osla_diffusion_options *options, int rank, int size,
                                    osla_diffusion **out)
{
  *out = NULL;
  OSLA_CHECK(size >= 1 && rank >= 0 && rank < size, OSLA_ERR_ARG,
             "diffusion: no rank %d of %d ranks", rank, size);
  OSLA_CALL(check_options(options, size));
  osla_diffusion *d = calloc(1, sizeof *d);
  OSLA_CHECK(d, OSLA_ERR_MEM, "no memory for diffusion object");
  d->o = *options;
  if (d->o.radius == 0.0) d->o.radius = 0.25;
  if (d->o.offset == 0.0 && !d->o.no_offset) d->o.offset = 1.0;
  d->rank = rank;
  if (d->o.ranks[0] == 0) choose_ranks(options->points, size, d->o.ranks);
  set_position(d);
  *out = d;
  return OSLA_OK;
}

osla_err osla_diffusion_create(osla_transport *t, const osla_diffusion_options *options,
                               osla_diffusion **out)
{
  const osla_diffusion_options *o = options;
  osla_err err = osli_diffusion_create_part(o, osla_transport_rank(t), osla_transport_size(t), out);
  const osla_argument same[] = {{"points along x", o->points[0]},
                                {"points along y", o->points[1]},
                                {"points along z", o->points[2]},
                                {"ranks along x", o->ranks[0]},
                                {"ranks along y", o->ranks[1]},
                                {"ranks along z", o->ranks[2]},
                                {"start", (int)o->start},
                                {"radius (bits)", double_bits(o->radius)},
                                {"offset (bits)", double_bits(o->offset)},
                                {"no_offset", o->no_offset}};
  err = osla_agree_same(t, err, "osla_diffusion_create", same, (int)(sizeof same / sizeof *same));
  if (err != OSLA_OK) osla_diffusion_destroy(out);
  return err;
}

void osla_diffusion_destroy(osla_diffusion **diffusion)
{
  if (!diffusion) return;
  free(*diffusion);
  *diffusion = NULL;
}

void osla_diffusion_own(const osla_diffusion *d, int64_t first[3], int64_t count[3])
{
  memcpy(first, d->first, sizeof d->first);
  memcpy(count, d->count, sizeof d->count);
}

void osla_diffusion_ranks(const osla_diffusion *d, int ranks[3])
{
  memcpy(ranks, d->o.ranks, sizeof d->o.ranks);
}

double osla_diffusion_radius(const osla_diffusion *d)
{
  double sum = 0.0;
  for (int k = 0; k < DIMENSIONS; k++)
    sum += cos(PI / (double)(d->o.points[k] + 1));
  return sum / DIMENSIONS;
}

/* ---- start values ---- */

/* The start value at a point of the grid, or the boundary value at a point outside. */
static double start_at(const osla_diffusion *d, const int64_t at[DIMENSIONS])
{
  double position[DIMENSIONS];
  bool outside = false;
  for (int k = 0; k < DIMENSIONS; k++) {
    position[k] = (double)(at[k] + 1) / (double)(d->o.points[k] + 1);
    outside |= at[k] < 0 || at[k] >= d->o.points[k];
  }
  if (d->o.start == OSLA_DIFFUSION_MODE)
    return outside ? 0.0 : sin(PI * position[0]) * sin(PI * position[1]) * sin(PI * position[2]);
  const double x = 0.5 - position[0], y = 0.5 - position[1], square = x * x + y * y;
  const bool source = at[2] < 0 && square <= d->o.radius * d->o.radius;
  return source ? d->o.offset + exp(-square) : d->o.offset;
}

void osla_diffusion_fill(const osla_diffusion *d, double *x)
{
  if (d->length == 0) return;
  for (int64_t k = 0; k < d->count[2] + 2; k++)
    for (int64_t j = 0; j < d->count[1] + 2; j++)
      for (int64_t i = 0; i < d->count[0] + 2; i++) {
        const int64_t at[] = {d->first[0] + i - 1, d->first[1] + j - 1, d->first[2] + k - 1};
        x[i + j * d->stride[1] + k * d->stride[2]] = start_at(d, at);
      }
}

/* ---- halos ---- */

/* Copies the layer of halo h at this depth to a message, or a message to the layer. Layers normal
 * to y or z consist of contiguous rows, which are copied as rows. */
static void copy_layer(const osla_diffusion *d, int h, int depth, double *x, double *message)
{
  const layer l = diffusion_layer(d, d->face[h], depth);
  const bool packs = depth == 1;
  const int64_t piece = l.stride[0] == 1 ? l.n[0] : 1; /* number of adjacent points */
  osli_move_charge((size_t)piece * sizeof *x, l.n[0] / piece * l.n[1]);
  for (int64_t b = 0; b < l.n[1]; b++, message += l.n[0]) {
    double *row = x + l.at + b * l.stride[1];
    if (l.stride[0] == 1)
      memcpy(packs ? message : row, packs ? row : message, (size_t)l.n[0] * sizeof *row);
    else
      for (int64_t a = 0; a < l.n[0]; a++)
        *(packs ? &message[a] : &row[a * l.stride[0]]) = packs ? row[a * l.stride[0]] : message[a];
  }
}

static void pack(void *arg, int h, const double *x, double *message)
{
  copy_layer(arg, h, 1, (double *)(uintptr_t)x, message);
}

static void unpack(void *arg, int h, const double *message, double *x)
{
  copy_layer(arg, h, 0, x, (double *)(uintptr_t)message);
}

/* ---- sweeps over the own points, row by row ----
 *
 * The residual comes at no extra cost: b - A x is six times the
 * change of each value. */

/* The version for AVX2 speeds up sweeps that fit into the cache. */
#if defined __x86_64__ && defined __GLIBC__ && !defined __clang__ && !defined __SANITIZE_ADDRESS__
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

static const double SIXTH = 1.0 / 6.0;

/* Rows of n points each, adjacent in y. One function loops over rows and points, because a call for
 * each row of 50 points takes 1.5 times as long. */
typedef struct rows {
  int64_t n, count, row, plane; /* points in a row; rows; offsets to the next row and plane */
} rows;

static inline double sum_of_six(const double *x, int64_t row, int64_t plane)
{
  return ((x[-1] + x[1]) + (x[-row] + x[row])) + (x[-plane] + x[plane]);
}

/* Sweeps, and returns `sum` plus the squares of the changes. relaxed_rows also relaxes. */
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

static double sweep_box(const osla_diffusion *d, box b, double omega, const double *x, double *y)
{
  const rows r = {b.high[0] - b.low[0], b.high[1] - b.low[1], d->stride[1], d->stride[2]};
  double sum = 0.0;
  for (int64_t k = b.low[2]; k < b.high[2]; k++) {
    const int64_t at = row_at(d, b.low[1], k) + b.low[0];
    sum = omega == 1.0 ? plain_rows(r, x + at, y + at, sum)
                       : relaxed_rows(r, omega, x + at, y + at, sum);
  }
  work_charge(OSLA_WORK_SWEEP, OSLA_DOUBLE, 1, r.n * r.count * (b.high[2] - b.low[2]), 1);
  return 36.0 * sum;
}

static double sweep(void *arg, double omega, const double *x, double *y)
{
  return sweep_box(arg, own_points(arg), omega, x, y);
}

/* Removes the layer at face f from `rest`, and returns it. If `rest` is empty, so is the layer. */
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

static double sweep_edge(void *arg, double omega, const double *x, double *y)
{
  const osla_diffusion *d = arg;
  box rest = own_points(d);
  double sum = 0.0;
  for (int h = 0; h < d->n_halos; h++)
    sum += sweep_box(d, cut_layer(&rest, d->face[h]), omega, x, y);
  return sum;
}

static double sweep_rest(void *arg, double omega, const double *x, double *y)
{
  const osla_diffusion *d = arg;
  box rest = own_points(d);
  for (int h = 0; h < d->n_halos; h++)
    (void)cut_layer(&rest, d->face[h]);
  return sweep_box(d, rest, omega, x, y);
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

static double magnitude(void *arg, const double *x)
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

static double bound_sweep(void *arg, double *x, double *y)
{
  const osla_diffusion *d = arg;
  double largest = 0.0;
  if (d->length == 0) return 0.0;
  clear_boundary(d, x);
  (void)sweep(arg, 1.0, x, y);
  for (int64_t k = 0; k < d->count[2]; k++)
    for (int64_t j = 0; j < d->count[1]; j++) {
      const int64_t at = row_at(d, j, k);
      for (int64_t i = 0; i < d->count[0]; i++)
        if (!(y[at + i] / x[at + i] <= largest)) largest = y[at + i] / x[at + i]; /* keeps a NaN */
    }
  return largest;
}

static double distance(void *arg, const double *x, const double *y, const double *v)
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

osla_fixed_point osla_diffusion_problem(osla_diffusion *d)
{
  return (osla_fixed_point){.arg = d,
                            .length = d->length,
                            .n_halos = d->n_halos,
                            .halos = d->halos,
                            .sweep = sweep,
                            .pack = pack,
                            .unpack = unpack,
                            .sweep_edge = sweep_edge,
                            .sweep_rest = sweep_rest,
                            .magnitude = magnitude,
                            .row_terms = 7,
                            .bound_sweep = bound_sweep,
                            .distance = distance};
}
