/* Tests of splittings whose blocks belong to groups of ranks: sweeps against a reference in one
 * process, convergence in all modes, slow ranks, and use with other parts of the library. */
#include "osla_coarse.h"
#include "osla_sweeps.h"
#include "tests/kernels/groups_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Simulated runs take long, so they have only one distribution and fewer groups. */
static int first_distribution(void)
{
  return osla_simulated_machine() ? GAPS : EVEN;
}

/* ---- sweeps against a reference ---- */

/* Solves a dense system of the n x n matrix a, stored by rows, without pivoting. Overwrites a and
 * b; b becomes the solution. */
static void eliminate(int64_t n, double *a, double *b)
{
  for (int64_t k = 0; k < n; k++)
    for (int64_t i = k + 1; i < n; i++) {
      const double factor = a[i * n + k] / a[k * n + k];
      for (int64_t j = k; j < n; j++)
        a[i * n + j] -= factor * a[k * n + j];
      b[i] -= factor * b[k];
    }
  for (int64_t i = n - 1; i >= 0; i--) {
    for (int64_t j = i + 1; j < n; j++)
      b[i] -= a[i * n + j] * b[j];
    b[i] /= a[i * n + i];
  }
}

static void fill_dense(double *a)
{
  memset(a, 0, N * N * sizeof *a);
  for (int64_t i = 0; i < N; i++) {
    int64_t column[5];
    double value[5];
    const int64_t n = groups_fill_row(0.0, i, column, value);
    for (int64_t k = 0; k < n; k++)
      a[i * N + column[k]] = value[k];
  }
}

/* Makes one sweep of block Jacobi x := x + omega B^-1 (b - A x), whose blocks have the rows of
 * `width` consecutive ranks. */
static void sweep_reference(const groups_system *s, int width, double omega, double *x)
{
  static double a[N * N], block[N * N];
  const int size = osla_test_size();
  double r[N];
  fill_dense(a);
  for (int64_t i = 0; i < N; i++) {
    r[i] = 0.0;
    for (int64_t j = 0; j < N; j++)
      r[i] += a[i * N + j] * (s->solution[j] - x[j]);
  }
  for (int p = 0; p < size; p += width) {
    const int64_t from = s->start[p], to = s->start[p + width < size ? p + width : size];
    for (int64_t i = from; i < to; i++)
      for (int64_t j = from; j < to; j++)
        block[(i - from) * (to - from) + j - from] = a[i * N + j];
    eliminate(to - from, block, r + from);
  }
  for (int64_t i = 0; i < N; i++)
    x[i] += omega * r[i];
}

/* Runs four sweeps, in two runs, and compares x with that of sweep_reference. The reference sweeps
 * all groups at the same time, so the mode must be SYNC, or there must be only one group. CG solves
 * the blocks to rounding errors. */
static void compare_sweeps(const groups_system *s, int64_t group, int mode)
{
  const osla_splitting_options o = groups_options(group, 1e-15);
  const osla_iterate_options how = {
    .mode = (osla_iterate_mode)mode, .tolerance = -1, .omega = 0.75, .sweeps = 4};
  osla_splitting *split;
  osla_iteration *it;
  osla_iterate_result r;
  double x[2 * N], reference[N];
  const int rank = osla_test_rank();
  if (!OSLA_ASSERT_OK(osla_splitting_create(s->a, s->b, &o, &split))) return;
  const osla_fixed_point p = osla_splitting_problem(split);
  OSLA_ASSERT_OK(osla_iteration_create(s->t, &p, &how, &it));
  for (int run = 0; run < 2; run++) {
    for (int64_t i = 0; i < N; i++)
      reference[i] = (double)osla_test_choose(5, i, 7);
    for (int64_t i = 0; i < p.length; i++)
      x[i] = i < s->rows ? reference[s->start[rank] + i] : NAN;
    for (int k = 0; k < how.sweeps; k++)
      sweep_reference(s, groups_width(group), how.omega, reference);
    OSLA_ASSERT_OK(osla_iterate(it, x, &r));
    CU_ASSERT(r.end == OSLA_ITERATE_SWEEPS && r.most == 4);
    double error = 0.0;
    for (int64_t i = 0; i < s->rows; i++)
      error = fmax(error, fabs(x[i] - reference[s->start[rank] + i]));
    OSLA_ASSERT_MSG(error <= 1e-12, "group %d, mode %d: error %g", (int)group, mode, error);
  }
  osla_iteration_destroy(&it);
  osla_splitting_destroy(&split);
}

static void test_sweeps_of_groups(void)
{
  for (int d = first_distribution(); d < DISTRIBUTIONS; d++) {
    groups_system s;
    if (!groups_make(&s, d, 0.0)) continue;
    for (int64_t group = 1; group <= osla_test_size(); group += group < 3 ? 1 : 3)
      compare_sweeps(&s, group, OSLA_ITERATE_SYNC);
    /* with one group the ranks cannot sweep at different rates, so all modes make equal sweeps */
    compare_sweeps(&s, INT64_MAX, OSLA_ITERATE_ASYNC);
    compare_sweeps(&s, INT64_MAX, OSLA_ITERATE_RACY);
    groups_free(&s);
  }
}

/* ---- convergence ---- */

/* Solves the system, beginning with x = 0. Checks that the run converges, that x is the known
 * solution, and that the ranks of a group make equally many sweeps.
 *   slow  the rank whose sweeps take longer; -1: no rank
 * Returns the result of the run. Collective. */
static osla_iterate_result solve(const groups_system *s, const osla_splitting_options *o,
                                 const osla_iterate_options *how, int slow)
{
  const int rank = osla_test_rank(), size = osla_test_size();
  osla_splitting *split;
  osla_iteration *it;
  osla_iterate_result r = {.end = OSLA_ITERATE_DIVERGED};
  double x[2 * N] = {0}, error = 0.0;
  slowed slower;
  if (!OSLA_ASSERT_OK(osla_splitting_create(s->a, s->b, o, &split))) return r;
  const osla_fixed_point inner = osla_splitting_problem(split);
  const osla_fixed_point p =
    groups_slow_down(&slower, &inner, groups_width(o->group), rank == slow);
  OSLA_ASSERT_OK(osla_iteration_create(s->t, &p, how, &it));
  OSLA_ASSERT_OK(osla_iterate(it, x, &r));
  OSLA_ASSERT_MSG(r.end == OSLA_ITERATE_CONVERGED, "group %d, mode %d, lead %d, period %d: %s",
                  (int)o->group, (int)how->mode, how->lead, how->period,
                  osla_iterate_end_name(r.end));
  for (int64_t i = 0; i < s->rows; i++)
    error = fmax(error, fabs(x[i] - s->solution[s->start[rank] + i]));
  OSLA_ASSERT_MSG(error <= 1e-9, "group %d, mode %d: error %g", (int)o->group, (int)how->mode,
                  error);
  const int width = groups_width(o->group);
  int64_t all[64] = {0};
  all[rank] = r.sweeps;
  OSLA_ASSERT_OK(osla_allreduce(s->t, all, size, MPI_INT64_T, MPI_SUM));
  for (int q = rank - rank % width; q < size && q < rank - rank % width + width; q++)
    CU_ASSERT(s->rows == 0 || all[q] == r.sweeps || s->start[q] == s->start[q + 1]);
  osla_iteration_destroy(&it);
  osla_splitting_destroy(&split);
  return r;
}

/* Solves in all modes, with values of `lead` and `period` that make ranks wait often or never. */
static void test_modes(void)
{
  static const struct {
    int lead, period;
  } waits[] = {{0, 0}, {1, 1}, {1, 3}, {-1, 2}};
  for (int d = first_distribution(); d < DISTRIBUTIONS; d++) {
    groups_system s;
    if (!groups_make(&s, d, 0.0)) continue;
    for (int group = osla_simulated_machine() ? 3 : 2; group <= 3; group++)
      for (int mode = OSLA_ITERATE_ASYNC; mode <= OSLA_ITERATE_SYNC; mode++)
        for (int w = (d + group + mode) % 3; w < 4; w += 3) {
          const osla_splitting_options o = groups_options(group, 0.0);
          osla_iterate_options how = {.mode = (osla_iterate_mode)mode, .tolerance = 1e-11};
          how.lead = waits[w].lead;
          how.period = waits[w].period;
          how.patience = w % 2 ? 60.0 : 0.0;
          (void)solve(&s, &o, &how, -1);
        }
    groups_free(&s);
  }
}

/* Larger groups need fewer sweeps in mode SYNC. If all ranks are one group, one sweep suffices. */
static void test_fewer_sweeps(void)
{
  const osla_iterate_options how = {.mode = OSLA_ITERATE_SYNC, .tolerance = 1e-11, .check = 1};
  const int size = osla_test_size();
  groups_system s;
  if (!groups_make(&s, EVEN, 0.0)) return;
  const osla_splitting_options single = groups_options(0, 1e-14), pairs = groups_options(2, 1e-14),
                               whole = groups_options(INT64_MAX, 1e-14);
  const int64_t most = solve(&s, &single, &how, -1).most, fewer = solve(&s, &pairs, &how, -1).most;
  const int64_t least = solve(&s, &whole, &how, -1).most;
  CU_ASSERT(least == 1);
  OSLA_ASSERT_MSG(size == 1 || fewer < most, "%d sweeps with pairs, %d without", (int)fewer,
                  (int)most);
  groups_free(&s);
}

/* One slow rank: the other ranks of its group wait for it, and the other groups do not. Ends of
 * runs, at which ranks see the decision at different times, are repeated. */
static void test_slow_rank(void)
{
  const int size = osla_test_size();
  groups_system s;
  CU_PASS("the test needs real ranks");
  if (osla_simulated_machine() || !groups_make(&s, HALVES, 0.0)) return;
  for (int k = 0; k < 12; k++) {
    const osla_splitting_options o = groups_options(2 + k % 2, 0.0);
    osla_iterate_options how = {.tolerance = 1e-11};
    how.mode = k % 3 == 2 ? OSLA_ITERATE_RACY : OSLA_ITERATE_ASYNC;
    how.lead = k % 4 == 0 ? -1 : k % 4 == 1 ? 1 : 5;
    how.period = 1 + k % 2;
    (void)solve(&s, &o, &how, k % size);
  }
  groups_free(&s);
}

/* With lead = 1, each sweep needs a new halo from every other group, so groups without a slow rank
 * wait for the one that has it. Only the last sweeps, after a neighbour has made its last one, may
 * use old halos. */
static void test_lead(void)
{
  const osla_splitting_options o = groups_options(2, 0.0);
  const osla_iterate_options how = {.uncertified = true, .lead = 1, .sweeps = 30};
  groups_system s;
  osla_splitting *split;
  osla_iteration *it;
  osla_iterate_result r;
  double x[2 * N] = {0};
  slowed slower;
  if (!groups_make(&s, EVEN, 0.0)) return;
  if (!OSLA_ASSERT_OK(osla_splitting_create(s.a, s.b, &o, &split))) return;
  const osla_fixed_point inner = osla_splitting_problem(split);
  const bool is_slow = osla_test_rank() == 0 && !osla_simulated_machine();
  const osla_fixed_point p = groups_slow_down(&slower, &inner, 2, is_slow);
  OSLA_ASSERT_OK(osla_iteration_create(s.t, &p, &how, &it));
  OSLA_ASSERT_OK(osla_iterate(it, x, &r));
  CU_ASSERT(r.sweeps == how.sweeps);
  OSLA_ASSERT_MSG(slower.unpacks_outer >= slower.n_outer * (r.sweeps - 3), "%d halos, %d unpacked",
                  slower.n_outer, slower.unpacks_outer);
  osla_iteration_destroy(&it);
  osla_splitting_destroy(&split);
  groups_free(&s);
}

/* Runs with a fixed number of sweeps, which may be 0, with and without a certificate. Counts
 * messages: in each sweep a halo with another group is packed once, and a halo with a rank of the
 * group more often. */
static void test_fixed_sweeps(void)
{
  const osla_splitting_options o = groups_options(2, 1e-8);
  groups_system s;
  if (!groups_make(&s, EVEN, 0.0)) return;
  osla_splitting *split;
  if (!OSLA_ASSERT_OK(osla_splitting_create(s.a, s.b, &o, &split))) return;
  const osla_fixed_point inner = osla_splitting_problem(split);
  for (int mode = OSLA_ITERATE_ASYNC; mode <= OSLA_ITERATE_SYNC; mode++)
    for (int k = 0; k < 4; k++) {
      osla_iterate_options how = {.mode = (osla_iterate_mode)mode, .uncertified = k % 2};
      how.sweeps = k < 2 ? 7 : k == 2 ? -1 : 1;
      const int64_t sweeps = how.sweeps < 0 ? 0 : how.sweeps;
      osla_iteration *it;
      osla_iterate_result r;
      double x[2 * N] = {0};
      slowed counted;
      const osla_fixed_point p = groups_slow_down(&counted, &inner, 2, false);
      how.tolerance = 1e-13;
      OSLA_ASSERT_OK(osla_iteration_create(s.t, &p, &how, &it));
      OSLA_ASSERT_OK(osla_iterate(it, x, &r));
      CU_ASSERT(r.end == OSLA_ITERATE_SWEEPS || (osla_test_size() <= 2 && !how.uncertified));
      if (osla_test_size() > 2) CU_ASSERT(r.sweeps == sweeps && r.least == sweeps);
      if (how.uncertified) {
        CU_ASSERT(counted.packs_outer <= counted.n_outer * (sweeps + 2));
        CU_ASSERT(sweeps < 7 || counted.n_outer == p.n_halos ||
                  counted.packs_inner > 2 * (sweeps + 2));
      }
      osla_iteration_destroy(&it);
    }
  osla_splitting_destroy(&split);
  groups_free(&s);
}

/* Sweeps of groups as a preconditioner of CG, and with a coarse level. */
static void test_combined(void)
{
  const osla_splitting_options o = groups_options(2, 0.0);
  groups_system s;
  if (!groups_make(&s, EVEN, 0.0)) return;
  double *right = osla_test_allocate((size_t)s.rows + 1, sizeof *right), x[2 * N];
  osla_splitting *split;
  for (int mode = OSLA_ITERATE_ASYNC; mode <= OSLA_ITERATE_SYNC; mode++) {
    osla_iterate_options how = {.mode = (osla_iterate_mode)mode, .tolerance = 1e-10};
    const osla_krylov_options flexible = {.tolerance = 1e-11, .flexible = true};
    const osla_operator a = osla_csr_operator(s.a);
    osla_sweeps *sweeps;
    osla_krylov_result k;
    memset(x, 0, sizeof x);
    if (!OSLA_ASSERT_OK(osla_splitting_create(s.a, right, &o, &split))) continue;
    osla_fixed_point p = osla_splitting_problem(split);
    OSLA_ASSERT_OK(osla_sweeps_create(s.t, &p, s.rows, right, &how, &sweeps));
    const osla_preconditioner m = osla_sweeps_use(sweeps);
    OSLA_ASSERT_OK(osla_cg(&a, &m, s.b, x, &flexible, &k));
    CU_ASSERT(k.end == OSLA_KRYLOV_CONVERGED);
    for (int64_t i = 0; i < s.rows; i++)
      OSLA_ASSERT_CLOSE(x[i], s.solution[s.start[osla_test_rank()] + i], 1e-8);
    osla_sweeps_destroy(&sweeps);
    osla_splitting_destroy(&split);

    osla_iteration *it;
    osla_iterate_result r;
    how.omega = mode == OSLA_ITERATE_SYNC ? 1.0 : 0.5;
    memset(x, 0, sizeof x);
    if (!OSLA_ASSERT_OK(osla_splitting_create(s.a, s.b, &o, &split))) continue;
    p = osla_splitting_problem(split);
    const osla_coarse coarse = osla_splitting_coarse(split);
    OSLA_ASSERT_OK(osla_iteration_create(s.t, &p, &how, &it));
    OSLA_ASSERT_OK(osla_iteration_add_coarse(it, &coarse, NULL));
    OSLA_ASSERT_OK(osla_iterate(it, x, &r));
    CU_ASSERT(r.end == OSLA_ITERATE_CONVERGED && osla_iteration_corrections(it) > 0);
    for (int64_t i = 0; i < s.rows; i++)
      OSLA_ASSERT_CLOSE(x[i], s.solution[s.start[osla_test_rank()] + i], 1e-8);
    osla_iteration_destroy(&it);
    osla_splitting_destroy(&split);
  }
  free(right);
  groups_free(&s);
}

static const osla_test_case cases[] = {
  {"sweeps", test_sweeps_of_groups}, {"modes", test_modes}, {"fewer sweeps", test_fewer_sweeps},
  {"slow rank", test_slow_rank},     {"lead", test_lead},   {"fixed sweeps", test_fixed_sweeps},
  {"combined", test_combined},       {NULL, NULL},
};
OSLA_TEST_SUITE(test_splitting_groups, cases);
