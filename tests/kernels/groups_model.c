#include "tests/kernels/groups_model.h"

#include <stdlib.h>
#include <time.h>

/* ---- the system ---- */

/* Distributes the N rows over the ranks. Returns an array [ranks + 1], which the caller frees: rank
 * p gets the rows start[p] .. start[p + 1] - 1. */
static int64_t *distribute(int distribution)
{
  const int size = osla_test_size(), last = size % 3 == 2 ? size - 2 : size - 1;
  int64_t *start = osla_test_allocate((size_t)size + 1, sizeof *start), left = N;
  for (int p = 0; p < size; p++) {
    int64_t mine = N * (p + 1) / size - N * p / size;
    if (distribution == HALVES) mine = (left + 1) / 2;
    if (distribution == GAPS) mine = p % 3 == 1 ? 0 : (left + 1) / 2;
    if (p == (distribution == GAPS ? last : size - 1)) mine = left;
    start[p + 1] = start[p] + mine;
    left -= mine;
  }
  return start;
}

int64_t groups_fill_row(double wind, int64_t i, int64_t *column, double *value)
{
  const int64_t x = i % SIDE, y = i / SIDE;
  int64_t n = 0;
  if (y > 0) column[n] = i - SIDE, value[n++] = -1.0 - wind;
  if (x > 0) column[n] = i - 1, value[n++] = -1.0;
  column[n] = i, value[n++] = 4.0 + 0.5 * (double)(i % 3) + 2.0 * wind;
  if (x + 1 < SIDE) column[n] = i + 1, value[n++] = -1.0;
  if (y + 1 < SIDE) column[n] = i + SIDE, value[n++] = -1.0;
  return n;
}

bool groups_make(groups_system *s, int distribution, double wind)
{
  const int rank = osla_test_rank();
  s->t = osla_test_transport();
  s->start = distribute(distribution);
  s->rows = s->start[rank + 1] - s->start[rank];
  int64_t first[N + 1] = {0}, column[5 * N];
  double value[5 * N];
  for (int64_t i = 0; i < s->rows; i++)
    first[i + 1] =
      first[i] + groups_fill_row(wind, s->start[rank] + i, column + first[i], value + first[i]);
  s->b = osla_test_allocate((size_t)s->rows + 1, sizeof *s->b);
  for (int64_t i = 0; i < N; i++)
    s->solution[i] = (double)osla_test_choose(3, i, 9) - 4.0;
  if (!OSLA_ASSERT_OK(osla_csr_create(s->t, s->start, s->start, first, column, value, &s->a)))
    return false;
  OSLA_ASSERT_OK(osla_spmv(OSLA_NOTRANS, s->a, s->solution + s->start[rank], 0.0, s->b));
  return true;
}

void groups_free(groups_system *s)
{
  OSLA_ASSERT_OK(osla_csr_destroy(&s->a));
  free(s->start);
  free(s->b);
  osla_transport_destroy(&s->t);
}

int groups_width(int64_t group)
{
  const int size = osla_test_size();
  return group <= 1 ? 1 : group < size ? (int)group : size;
}

osla_splitting_options groups_options(int64_t group, double inner_tolerance)
{
  return (osla_splitting_options){.block = INT64_MAX,
                                  .factor = OSLA_SPLITTING_CG,
                                  .inner_tolerance = inner_tolerance,
                                  .group = group};
}

/* ---- slow ranks ---- */

static double sweep(void *arg, double omega, const double *x, double *y)
{
  slowed *s = arg;
  const struct timespec time = {0, 200000L * (long)osla_test_choose(9, s->sweeps, 5)};
  if (++s->sweeps == s->stops_at) osla_test_stop_process(1.6);
  if (s->is_slow) (void)nanosleep(&time, NULL);
  return s->inner.sweep(s->inner.arg, omega, x, y);
}

static void pack(void *arg, int h, const double *x, double *message)
{
  slowed *s = arg;
  if (h < s->n_outer)
    s->packs_outer++;
  else
    s->packs_inner++;
  s->inner.pack(s->inner.arg, h, x, message);
}

static void unpack(void *arg, int h, const double *message, double *x)
{
  slowed *s = arg;
  if (h < s->n_outer) s->unpacks_outer++;
  s->inner.unpack(s->inner.arg, h, message, x);
}

static double magnitude(void *arg, const double *x)
{
  const slowed *s = arg;
  return s->inner.magnitude(s->inner.arg, x);
}

osla_fixed_point groups_slow_down(slowed *s, const osla_fixed_point *inner, int width, bool is_slow)
{
  const int group = osla_test_rank() / width;
  *s = (slowed){.inner = *inner, .is_slow = is_slow};
  while (s->n_outer < inner->n_halos && inner->halos[s->n_outer].peer / width != group)
    s->n_outer++;
  for (int h = s->n_outer; h < inner->n_halos; h++)
    CU_ASSERT(inner->halos[h].peer / width == group);
  osla_fixed_point p = *inner;
  p.arg = s;
  p.sweep = sweep;
  p.pack = pack;
  p.unpack = unpack;
  p.magnitude = magnitude;
  return p;
}
