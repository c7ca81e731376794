/* Tests of an iteration in which one rank is stopped by SIGSTOP, for less or more time than the
 * option `patience`. */
#include "osla_clock.h"
#include "osla_diffusion.h"
#include "tests/osla_test_help.h"

#include <math.h>
#include <stdlib.h>

/* The diffusion problem, in which one rank stops itself during its 40th sweep. */
typedef struct stopping {
  osla_fixed_point inner;
  bool stops;
  int sweeps;
  int tenths; /* duration of the rank's stop in tenths of a second */
} stopping;

static double sweep(void *arg, double omega, const double *x, double *y)
{
  stopping *s = arg;
  if (++s->sweeps == 40 && s->stops) osla_test_stop_process(s->tenths / 10.0);
  return s->inner.sweep(s->inner.arg, omega, x, y);
}

static void pack(void *arg, int h, const double *x, double *message)
{
  const stopping *s = arg;
  s->inner.pack(s->inner.arg, h, x, message);
}

static void unpack(void *arg, int h, const double *message, double *x)
{
  const stopping *s = arg;
  s->inner.unpack(s->inner.arg, h, message, x);
}

/* Runs an iteration in which rank `who` is stopped for a time, and returns the result. */
static osla_iterate_result run(int mode, int who, int tenths, double patience)
{
  osla_transport *t = osla_test_transport();
  osla_diffusion_options o = {.points = {8, 7, 9}};
  osla_iterate_options how = {0};
  osla_iterate_result r = {.residual = NAN}, again;
  osla_diffusion *d;
  osla_iteration *it;
  OSLA_ASSERT_OK(osla_diffusion_create(t, &o, &d));
  stopping s = {.inner = osla_diffusion_problem(d), .tenths = tenths};
  osla_fixed_point p = s.inner;
  double *x = osla_test_allocate((size_t)p.length + 1, sizeof *x);
  osla_diffusion_fill(d, x);
  s.stops = osla_test_rank() == who;
  p.arg = &s;
  p.sweep = sweep;
  p.sweep_edge = NULL; /* in SYNC mode the library would call sweep_edge instead of `sweep` */
  p.pack = pack;
  p.unpack = unpack;
  p.magnitude = NULL;
  p.bound_sweep = NULL;
  p.distance = NULL;
  how.mode = (osla_iterate_mode)mode;
  how.patience = patience;
  how.tolerance = 1e-9;
  how.sweeps = INT64_C(1) << 30; /* more sweeps than can be made during the stop */
  OSLA_ASSERT_OK(osla_iteration_create(t, &p, &how, &it));
  OSLA_ASSERT_OK(osla_iterate(it, x, &r));
  if (r.end == OSLA_ITERATE_STALLED) {
    OSLA_ASSERT_ERR(osla_iterate(it, x, &again), OSLA_ERR_STATE);
    OSLA_ASSERT_TEXT("stalled in an earlier run: only osla_iteration_destroy is possible");
  }
  osla_iteration_destroy(&it);
  free(x);
  osla_diffusion_destroy(&d);
  osla_transport_destroy(&t);
  return r;
}

/* A rank stops for less than `patience`. The other ranks wait, and the result has a certificate. */
static void test_goes_on(void)
{
  const int last = osla_test_size() - 1;
  static const osla_iterate_mode modes[] = {OSLA_ITERATE_SYNC, OSLA_ITERATE_ASYNC};
  for (int i = 0; i < 2; i++) {
    const int mode = (int)modes[i];
    const osla_iterate_result r = run(mode, last, 8, 30.0);
    OSLA_ASSERT_MSG(r.end == OSLA_ITERATE_CONVERGED && r.stalled == -1, "mode %d: %s of rank %d",
                    mode, osla_iterate_end_name(r.end), r.stalled);
    CU_ASSERT(r.residual <= 1e-9 * r.norm && r.seconds >= 0.7);
  }
}

/* A rank stops for longer than `patience`. The other ranks end the run, the stopped rank ends it
 * when it continues, and all ranks report the stopped rank. */
static void test_stalls(void)
{
  const int size = osla_test_size();
  if (size == 1) { /* with one rank, no other rank notices the stop */
    const osla_iterate_result r = run(OSLA_ITERATE_ASYNC, 0, 7, 0.2);
    CU_ASSERT(r.end == OSLA_ITERATE_CONVERGED && r.stalled == -1);
    return;
  }
  for (int mode = OSLA_ITERATE_ASYNC; mode <= OSLA_ITERATE_SYNC; mode++) {
    const int who = mode == OSLA_ITERATE_ASYNC ? 0 : size - 1;
    const double since = osla_clock();
    const osla_iterate_result r = run(mode, who, 16, 0.5);
    OSLA_ASSERT_MSG(r.end == OSLA_ITERATE_STALLED && r.stalled == who,
                    "mode %d: %s of rank %d, not %d", mode, osla_iterate_end_name(r.end), r.stalled,
                    who);
    OSLA_ASSERT_MSG(osla_test_rank() == who || r.seconds < 1.6, "after %g s", r.seconds);
    CU_ASSERT(osla_clock() - since < 10);
  }
}

static void test_refused(void)
{
  osla_transport *t = osla_test_transport();
  osla_diffusion_options o = {.points = {4, 4, 4}};
  osla_iterate_options how = {0};
  osla_diffusion *d;
  osla_iteration *it;
  OSLA_ASSERT_OK(osla_diffusion_create(t, &o, &d));
  const osla_fixed_point p = osla_diffusion_problem(d);
  how.patience = -1;
  OSLA_ASSERT_ERR(osla_iteration_create(t, &p, &how, &it), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("patience = -1 is negative");
  OSLA_ASSERT_SAME_TEXT();
  osla_diffusion_destroy(&d);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"goes_on", test_goes_on},
  {"stalls", test_stalls},
  {"refused", test_refused},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_stalled, cases);
