/* The diffusion problem: grid of points, process grid, halos, boundary values and start. A rank
 * needs no memory except the object; the caller owns the states. */
#include "kernels/iterate/diffusion.h"
#include "src/base/double_bits.h"
#include "src/base/reserved.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

/* ---- the process grid ---- */

/* Returns the number of values that ranks send to one another in one exchange of halos, counted in
 * one direction. */
static double halo_numbers(const int64_t points[DIMENSIONS], const int ranks[DIMENSIONS])
{
  const double x = (double)points[0], y = (double)points[1], z = (double)points[2];
  return (ranks[0] - 1) * y * z + (ranks[1] - 1) * x * z + (ranks[2] - 1) * x * y;
}

/* Chooses a process grid for `size` ranks, or for as many of them as the points allow. It has the
 * smallest halos; among grids with equal halos, the one that cuts z first, because layers in z are
 * contiguous. */
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
        for (int d = 0; d < DIMENSIONS; d++)
          out[d] = shape[d];
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
  for (int k = 0; k < DIMENSIONS; k++) {
    first[k] = d->first[k];
    count[k] = d->count[k];
  }
}

void osla_diffusion_ranks(const osla_diffusion *d, int ranks[3])
{
  for (int k = 0; k < DIMENSIONS; k++)
    ranks[k] = d->o.ranks[k];
}

double osla_diffusion_radius(const osla_diffusion *d)
{
  double sum = 0.0;
  for (int k = 0; k < DIMENSIONS; k++)
    sum += cos(PI / (double)(d->o.points[k] + 1));
  return sum / DIMENSIONS;
}

/* ---- the start ---- */

/* Returns the start value at a point of the grid, or the boundary value at a point outside of
 * it. */
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

/* Layers normal to y or z consist of contiguous rows, which are copied as rows. */
static void pack(void *arg, int h, const double *x, double *message)
{
  const osla_diffusion *d = arg;
  const layer l = diffusion_layer(d, d->face[h], 1);
  for (int64_t b = 0; b < l.n[1]; b++, message += l.n[0]) {
    const double *from = x + l.at + b * l.stride[1];
    if (l.stride[0] == 1)
      memcpy(message, from, (size_t)l.n[0] * sizeof *message);
    else
      for (int64_t a = 0; a < l.n[0]; a++)
        message[a] = from[a * l.stride[0]];
  }
}

static void unpack(void *arg, int h, const double *message, double *x)
{
  const osla_diffusion *d = arg;
  const layer l = diffusion_layer(d, d->face[h], 0);
  for (int64_t b = 0; b < l.n[1]; b++, message += l.n[0]) {
    double *to = x + l.at + b * l.stride[1];
    if (l.stride[0] == 1)
      memcpy(to, message, (size_t)l.n[0] * sizeof *message);
    else
      for (int64_t a = 0; a < l.n[0]; a++)
        to[a * l.stride[0]] = message[a];
  }
}

osla_fixed_point osla_diffusion_problem(osla_diffusion *d)
{
  return (osla_fixed_point){.arg = d,
                            .length = d->length,
                            .n_halos = d->n_halos,
                            .halos = d->halos,
                            .sweep = osli_diffusion_sweep,
                            .pack = pack,
                            .unpack = unpack,
                            .sweep_edge = osli_diffusion_sweep_edge,
                            .sweep_rest = osli_diffusion_sweep_rest,
                            .magnitude = osli_diffusion_magnitude,
                            .row_terms = 7,
                            .bound_sweep = osli_diffusion_bound_sweep,
                            .distance = osli_diffusion_distance};
}
