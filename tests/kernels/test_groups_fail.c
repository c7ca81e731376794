/* Tests of splittings with groups of ranks that fail: a stopped rank, runs that diverge, numbers
 * that are not finite, and wrong options. */
#include "tests/kernels/groups_model.h"

#include <math.h>
#include <string.h>

/* A rank stops for longer than `patience`. All ranks end the run and report the stopped rank, also
 * those that wait for it inside CG. The splitting serves another iteration afterwards. */
static void test_stalls(void)
{
  const int size = osla_test_size(), who = size - 1;
  const osla_splitting_options o = groups_options(2, 0.0);
  groups_system s;
  CU_PASS("the test needs real ranks, and at least two");
  if (osla_simulated_machine() || size == 1 || !groups_make(&s, EVEN, 0.0)) return;
  osla_splitting *split;
  if (!OSLA_ASSERT_OK(osla_splitting_create(s.a, s.b, &o, &split))) return;
  const osla_fixed_point inner = osla_splitting_problem(split);
  for (int mode = OSLA_ITERATE_ASYNC; mode <= OSLA_ITERATE_SYNC; mode++)
    for (int stops = 1; stops >= 0; stops--) {
      osla_iterate_options how = {.mode = (osla_iterate_mode)mode, .patience = 0.5};
      how.tolerance = stops ? -1 : 1e-10;
      how.omega = stops ? 1e-3 : 1.0; /* so slow that no run ends before the rank stops */
      how.lead = -1;
      how.sweeps = INT64_C(1) << 30;
      how.patience = stops ? 0.5 : 60.0;
      osla_iteration *it;
      osla_iterate_result r;
      double x[2 * N] = {0};
      slowed slower;
      const osla_fixed_point p = groups_slow_down(&slower, &inner, 2, false);
      slower.stops_at = stops && osla_test_rank() == who ? 20 : 0;
      OSLA_ASSERT_OK(osla_iteration_create(s.t, &p, &how, &it));
      OSLA_ASSERT_OK(osla_iterate(it, x, &r));
      OSLA_ASSERT_MSG(r.end == (stops ? OSLA_ITERATE_STALLED : OSLA_ITERATE_CONVERGED) &&
                        r.stalled == (stops ? who : -1),
                      "mode %d: %s of rank %d", mode, osla_iterate_end_name(r.end), r.stalled);
      OSLA_ASSERT_MSG(!stops || osla_test_rank() == who || r.seconds < 1.6, "after %g s",
                      r.seconds);
      for (int64_t i = 0; i < s.rows; i++)
        CU_ASSERT(isfinite(x[i]));
      if (stops) OSLA_ASSERT_ERR(osla_iterate(it, x, &r), OSLA_ERR_STATE);
      osla_iteration_destroy(&it);
    }
  osla_splitting_destroy(&split);
  groups_free(&s);
}

/* Runs that diverge, and a start that is not finite on one rank, end on all ranks. */
static void test_diverges(void)
{
  const osla_splitting_options o = groups_options(2, 0.0);
  groups_system s;
  if (!groups_make(&s, HALVES, 0.0)) return;
  osla_splitting *split;
  if (!OSLA_ASSERT_OK(osla_splitting_create(s.a, s.b, &o, &split))) return;
  const osla_fixed_point p = osla_splitting_problem(split);
  for (int mode = OSLA_ITERATE_ASYNC; mode <= OSLA_ITERATE_SYNC; mode++) {
    const osla_iterate_options how = {.mode = (osla_iterate_mode)mode, .omega = 9.0};
    osla_iteration *it;
    osla_iterate_result r;
    double x[2 * N] = {0};
    OSLA_ASSERT_OK(osla_iteration_create(s.t, &p, &how, &it));
    OSLA_ASSERT_OK(osla_iterate(it, x, &r));
    CU_ASSERT(r.end == OSLA_ITERATE_DIVERGED);
    memset(x, 0, sizeof x);
    if (osla_test_rank() == 0) x[s.rows / 2] = NAN;
    OSLA_ASSERT_ERR(osla_iterate(it, x, &r), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("the residual of the start is nan");
    OSLA_ASSERT_SAME_TEXT();
    osla_iteration_destroy(&it);
  }
  osla_splitting_destroy(&split);
  groups_free(&s);
}

static void refuse(const groups_system *s, osla_splitting_options o, const char *text)
{
  osla_splitting *split;
  OSLA_ASSERT_ERR(osla_splitting_create(s->a, s->b, &o, &split), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT(text);
  OSLA_ASSERT_SAME_TEXT();
  CU_ASSERT(split == NULL);
}

static void test_refused(void)
{
  const int size = osla_test_size();
  groups_system s;
  if (groups_make(&s, EVEN, 0.0)) {
    osla_splitting_options lu = groups_options(2, 0.0), lines = groups_options(2, 0.0);
    lu.factor = OSLA_SPLITTING_LU;
    lines.block = 3;
    refuse(&s, groups_options(-1, 0.0), "group = -1 is negative");
    refuse(&s, lu, "group = 2 needs the factor OSLA_SPLITTING_CG");
    refuse(&s, lines, "block = 3: CG and sparse Cholesky need one block per rank");
    if (size > 1)
      refuse(&s, groups_options(osla_test_rank() == size - 1 ? 3 : 2, 0.0), "group is 2 on");

    const osla_splitting_options o = groups_options(2, 0.0);
    osla_splitting *split;
    osla_iteration *it;
    const osla_iterate_options recorded = {.record_bytes = 4096}, proven = {.proven = true};
    if (OSLA_ASSERT_OK(osla_splitting_create(s.a, s.b, &o, &split))) {
      const osla_fixed_point p = osla_splitting_problem(split);
      osla_iterate_result r;
      double x[2 * N] = {0}, alpha;
      OSLA_ASSERT_ERR(osla_iteration_create(s.t, &p, &recorded, &it), OSLA_ERR_ARG);
      OSLA_ASSERT_TEXT("leave out `record_bytes`");
      OSLA_ASSERT_SAME_TEXT();
      OSLA_ASSERT_OK(osla_iteration_create(s.t, &p, &proven, &it));
      OSLA_ASSERT_ERR(osla_iterate_bound(it, 3, &alpha), OSLA_ERR_UNSUPPORTED);
      OSLA_ASSERT_ERR(osla_iterate(it, x, &r), OSLA_ERR_STATE);
      osla_iteration_destroy(&it);
      osla_splitting_destroy(&split);
    }
    groups_free(&s);
  }
  /* In this matrix the entries that couple the first line of the grid to the second one are not
   * symmetric. With at most 6 ranks the first two ranks own both lines, so the block of the first
   * group is not symmetric. */
  if (size > 6 || !groups_make(&s, EVEN, 0.7)) return;
  refuse(&s, groups_options(2, 0.0),
         "of a block differ: CG and sparse Cholesky need symmetric blocks");
  groups_free(&s);
}

static const osla_test_case cases[] = {
  {"stalls", test_stalls},
  {"diverges", test_diverges},
  {"refused", test_refused},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_groups_fail, cases);
