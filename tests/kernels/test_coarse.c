/* Tests of coarse levels: two-level iterations in all modes, their certified results, refusals, and
 * faults of a coarse level that the certificate must catch. */
#include "config.h"

#include "osla_coarse.h"
#include "tests/osla_test_help.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* inner solver of blocks: sparse Cholesky, or CG in a build without CHOLMOD */
#ifdef HAVE_CHOLMOD
enum { SPARSE_OR_CG = OSLA_SPLITTING_SPARSE };
#else
enum { SPARSE_OR_CG = OSLA_SPLITTING_CG };
#endif

/* A system A x = b with the five-point matrix of a square grid, and with rows of A distributed
 * evenly over the ranks. `rows` counts this rank's rows. */
typedef struct system_of {
  osla_transport *t;
  osla_csr *a;
  osla_splitting *split;
  int64_t rows, *start;
  double *b, *x, *solution;
} system_of;

/* A five-point matrix: `side` is the number of points along a side of the grid, `diagonal` the
 * value of the diagonal elements, `first` is added to the first of them, and `wind` > 0 makes the
 * matrix unsymmetric. */
typedef struct kind {
  int64_t side;
  double diagonal, wind, first;
} kind;

static int64_t fill_row(const kind *k, int64_t i, int64_t *column, double *value)
{
  const int64_t x = i % k->side, y = i / k->side;
  int64_t n = 0;
  if (y > 0) column[n] = i - k->side, value[n++] = -1.0 - k->wind;
  if (x > 0) column[n] = i - 1, value[n++] = -1.0;
  column[n] = i, value[n++] = k->diagonal + (i == 0 ? k->first : 0.0);
  if (x + 1 < k->side) column[n] = i + 1, value[n++] = -1.0;
  if (y + 1 < k->side) column[n] = i + k->side, value[n++] = -1.0;
  return n;
}

static bool make_system(system_of *s, const kind *k, int64_t block, int factor)
{
  const int rank = osla_test_rank();
  const osla_splitting_options o = {.block = block, .factor = (osla_splitting_factor)factor};
  s->split = NULL;
  s->t = osla_test_transport();
  s->start = osla_test_allocate((size_t)osla_test_size() + 1, sizeof *s->start);
  osla_even_blocks(k->side * k->side, osla_test_size(), s->start);
  s->rows = s->start[rank + 1] - s->start[rank];
  int64_t *first = osla_test_allocate((size_t)s->rows + 1, sizeof *first);
  int64_t *column = osla_test_allocate(5 * (size_t)s->rows + 1, sizeof *column);
  double *value = osla_test_allocate(5 * (size_t)s->rows + 1, sizeof *value);
  for (int64_t i = 0; i < s->rows; i++)
    first[i + 1] = first[i] + fill_row(k, s->start[rank] + i, column + first[i], value + first[i]);
  bool made =
    OSLA_ASSERT_OK(osla_csr_create(s->t, s->start, s->start, first, column, value, &s->a));
  free(first);
  free(column);
  free(value);
  s->b = osla_test_allocate((size_t)s->rows + 1, sizeof *s->b);
  s->solution = osla_test_allocate((size_t)s->rows + 1, sizeof *s->solution);
  for (int64_t i = 0; i < s->rows; i++)
    s->solution[i] = (double)osla_test_choose(3, s->start[rank] + i, 9) + 4.0;
  if (made) OSLA_ASSERT_OK(osla_spmv(OSLA_NOTRANS, s->a, s->solution, 0.0, s->b));
  if (made) made = OSLA_ASSERT_OK(osla_splitting_create(s->a, s->b, &o, &s->split));
  return made;
}

static void free_system(system_of *s)
{
  osla_splitting_destroy(&s->split);
  OSLA_ASSERT_OK(osla_csr_destroy(&s->a));
  free(s->start);
  free(s->b);
  free(s->solution);
  osla_transport_destroy(&s->t);
}

/* Returns the norm |b - A x| over the rows of all ranks, computed by osla_spmv. */
static double true_residual(const system_of *s, const double *x)
{
  double *r = osla_test_allocate((size_t)s->rows + 1, sizeof *r), sum = 0.0;
  memcpy(r, s->b, (size_t)s->rows * sizeof *r);
  double *minus = osla_test_allocate((size_t)s->rows + 1, sizeof *minus);
  for (int64_t i = 0; i < s->rows; i++)
    minus[i] = -x[i];
  OSLA_ASSERT_OK(osla_spmv(OSLA_NOTRANS, s->a, minus, 1.0, r));
  for (int64_t i = 0; i < s->rows; i++)
    sum += r[i] * r[i];
  OSLA_ASSERT_OK(osla_allreduce(s->t, &sum, 1, MPI_DOUBLE, MPI_SUM));
  free(r);
  free(minus);
  return sqrt(sum);
}

/* Returns a relaxation factor with which iterations on two levels converge under every schedule of
 * the mode; 0: the default, 1. In the asynchronous modes they may diverge with the factor 1. */
static double relaxation(int mode)
{
  return mode == OSLA_ITERATE_SYNC ? 0.0 : 0.5;
}

/* Solves a system `runs` times from x = 0 by one iteration object, checks the residual and the
 * solution each time, and returns the last result. coarse, o: coarse level and its options; coarse
 * = NULL: an iteration on one level. */
static osla_iterate_result solve(const system_of *s, const osla_iterate_options *how,
                                 const osla_coarse *coarse, const osla_coarse_options *o, int runs)
{
  const osla_fixed_point p = osla_splitting_problem(s->split);
  osla_iteration *it;
  osla_iterate_result r = {.end = OSLA_ITERATE_DIVERGED};
  double *x = osla_test_allocate((size_t)p.length + 1, sizeof *x);
  bool made = OSLA_ASSERT_OK(osla_iteration_create(s->t, &p, how, &it));
  if (made && coarse) made = OSLA_ASSERT_OK(osla_iteration_add_coarse(it, coarse, o));
  for (int k = 0; made && k < runs; k++) {
    for (int64_t i = 0; i < p.length; i++)
      x[i] = i < s->rows ? 0.0 : NAN;
    OSLA_ASSERT_OK(osla_iterate(it, x, &r));
    if (r.end == OSLA_ITERATE_DIVERGED) continue;
    const double found = true_residual(s, x);
    OSLA_ASSERT_MSG(fabs(found - r.residual) <= 1e-9 * found + 4 * r.rounding,
                    "mode %d: residual %g, but %g was reported", (int)how->mode, found, r.residual);
    if (r.end == OSLA_ITERATE_CONVERGED) CU_ASSERT(found <= how->tolerance * r.norm * (1 + 1e-9));
    if (r.end == OSLA_ITERATE_CONVERGED && (how->omega == 0.0 || how->omega >= 0.5))
      for (int64_t i = 0; i < s->rows; i++)
        OSLA_ASSERT_CLOSE(x[i], s->solution[i], 1e3 * how->tolerance * r.norm);
    CU_ASSERT(coarse || osla_iteration_corrections(it) == 0);
  }
  osla_iteration_destroy(&it);
  free(x);
  return r;
}

/* Solves a Laplace problem on two levels with all kinds of diagonal blocks, in all modes, twice by
 * one iteration object. In mode SYNC on at least 3 ranks, two levels need fewer sweeps than one. */
static void test_modes(void)
{
  static const kind laplace = {14, 4.0, 0.0, 0.0};
  static const int factors[] = {-1, OSLA_SPLITTING_CHOLESKY, OSLA_SPLITTING_CG, SPARSE_OR_CG};
  for (int b = 0; b < 4; b++) {
    system_of s;
    const bool points = factors[b] < 0;
    if (!make_system(&s, &laplace, points ? 1 : INT64_MAX, points ? 0 : factors[b])) continue;
    const osla_coarse coarse = osla_splitting_coarse(s.split);
    for (int mode = OSLA_ITERATE_ASYNC; mode <= OSLA_ITERATE_SYNC; mode++) {
      osla_iterate_options how = {.mode = (osla_iterate_mode)mode, .tolerance = 1e-9, .check = 1};
      how.patience = points ? 0.0 : 60.0;
      how.omega = relaxation(mode);
      const osla_iterate_result two = solve(&s, &how, &coarse, NULL, 2);
      OSLA_ASSERT_MSG(two.end == OSLA_ITERATE_CONVERGED, "block %d, mode %d: %s", b, mode,
                      osla_iterate_end_name(two.end));
      if (mode != OSLA_ITERATE_SYNC || osla_test_size() < 3) continue;
      const osla_iterate_result one = solve(&s, &how, NULL, NULL, 1);
      OSLA_ASSERT_MSG(two.most < one.most, "block %d: %lld sweeps, and %lld with one level", b,
                      (long long)two.most, (long long)one.most);
      how.period = 3; /* a halo that was sent before a correction must not undo it */
      CU_ASSERT(solve(&s, &how, &coarse, NULL, 1).end == OSLA_ITERATE_CONVERGED);
    }
    free_system(&s);
  }
}

/* If the solution is constant on each rank, and sweeps hardly change x, the first correction of the
 * coarse level is the solution. */
static void test_exact_correction(void)
{
  static const kind laplace = {11, 4.0, 0.0, 0.0};
  system_of s;
  if (!make_system(&s, &laplace, 1, 0)) return;
  for (int64_t i = 0; i < s.rows; i++)
    s.solution[i] = 3.0 - osla_test_rank();
  OSLA_ASSERT_OK(osla_spmv(OSLA_NOTRANS, s.a, s.solution, 0.0, s.b));
  const osla_coarse coarse = osla_splitting_coarse(s.split);
  for (int mode = OSLA_ITERATE_ASYNC; mode <= OSLA_ITERATE_SYNC; mode++) {
    osla_iterate_options how = {.mode = (osla_iterate_mode)mode, .tolerance = 1e-8, .check = 1};
    how.omega = 1e-13;
    how.sweeps = 100000;
    const osla_coarse_options o = {.damping = 1.0, .sweeps = 1};
    const osla_iterate_result r = solve(&s, &how, &coarse, &o, 1);
    CU_ASSERT(r.end == OSLA_ITERATE_CONVERGED);
    if (mode == OSLA_ITERATE_SYNC) CU_ASSERT(r.most <= 2);
  }
  free_system(&s);
}

/* Solves the diffusion problem on two levels, with all ranks in its process grid and with one rank
 * outside, until convergence and for a limited number of sweeps. */
static void test_diffusion(void)
{
  osla_transport *t = osla_test_transport();
  osla_diffusion_options o = {.points = {5, 6, 7 * osla_test_size()}};
  for (int outside = 0; outside < 2 && outside < osla_test_size(); outside++) {
    osla_diffusion *d;
    for (int k = 0; k < 3; k++)
      o.ranks[k] = k < 2 ? 1 : osla_test_size() - outside;
    if (!OSLA_ASSERT_OK(osla_diffusion_create(t, &o, &d))) continue;
    const osla_fixed_point p = osla_diffusion_problem(d);
    const osla_coarse coarse = osla_diffusion_coarse(d);
    double *x = osla_test_allocate((size_t)p.length + 1, sizeof *x);
    for (int mode = OSLA_ITERATE_ASYNC; mode <= OSLA_ITERATE_SYNC; mode++)
      for (int few = 0; few < 2; few++) {
        const osla_iterate_options how = {.mode = (osla_iterate_mode)mode,
                                          .tolerance = 1e-9,
                                          .omega = relaxation(mode),
                                          .sweeps = few ? 9 : 0};
        osla_iteration *it;
        osla_iterate_result r;
        OSLA_ASSERT_OK(osla_iteration_create(t, &p, &how, &it));
        OSLA_ASSERT_OK(osla_iteration_add_coarse(it, &coarse, NULL));
        for (int k = 0; k < 2; k++) {
          osla_diffusion_fill(d, x);
          OSLA_ASSERT_OK(osla_iterate(it, x, &r));
          CU_ASSERT(r.end == (few ? OSLA_ITERATE_SWEEPS : OSLA_ITERATE_CONVERGED));
          if (!few) CU_ASSERT(osla_iteration_corrections(it) > 0);
        }
        osla_iteration_destroy(&it);
      }
    free(x);
    osla_diffusion_destroy(&d);
  }
  osla_transport_destroy(&t);
}

/* ---- faults ---- */

/* A coarse level with one of two faults. Without `is_late` it adds each correction twice. With
 * `is_late` it returns each restricted residual five times, so that four of five belong to an older
 * x. */
typedef struct faulty {
  osla_coarse right; /* the coarse level without a fault */
  double old;        /* with is_late: restricted residual that is returned again */
  int calls;         /* number of calls of the function that has the fault */
  bool is_late;
} faulty;

static double restrict_late(void *arg, bool homogeneous, const double *x)
{
  faulty *f = arg;
  const double now = f->right.restrict_residual(f->right.arg, homogeneous, x);
  if (homogeneous || !f->is_late) return now;
  if (f->calls++ % 5 == 0) f->old = now; /* the next four calls return this residual, too */
  return f->old;
}

static void prolong_twice(void *arg, double c, double *x)
{
  faulty *f = arg;
  f->right.prolong(f->right.arg, c, x);
  if (!f->is_late && f->calls++ > 0) /* the first call only assembles the coarse matrix */
    f->right.prolong(f->right.arg, c, x);
}

/* With a faulty coarse level an iteration may converge late or not at all, but the residual that it
 * reports must be true, which `solve` checks. In mode SYNC, the residuals after 20 sweeps with and
 * without the fault must differ: the fault had an effect. */
static void test_faults(void)
{
  static const kind laplace = {16, 4.0, 0.0, 0.0};
  system_of s;
  if (!make_system(&s, &laplace, 1, 0)) return;
  for (int late = 0; late < 2; late++)
    for (int mode = OSLA_ITERATE_ASYNC; mode <= OSLA_ITERATE_SYNC; mode++) {
      osla_iterate_options how = {.mode = (osla_iterate_mode)mode, .tolerance = 1e-7, .check = 1};
      how.sweeps = 6000;
      how.omega = relaxation(mode);
      faulty f = {.right = osla_splitting_coarse(s.split), .is_late = late};
      const osla_coarse coarse = {&f, restrict_late, prolong_twice};
      CU_ASSERT(solve(&s, &how, &f.right, NULL, 1).end == OSLA_ITERATE_CONVERGED);
      (void)solve(&s, &how, &coarse, NULL, 1);
      if (mode != OSLA_ITERATE_SYNC || osla_test_size() == 1) continue;
      how.sweeps = 20;
      f.calls = 0;
      const double right = solve(&s, &how, &f.right, NULL, 1).residual;
      const double wrong = solve(&s, &how, &coarse, NULL, 1).residual;
      OSLA_ASSERT_MSG(fabs(wrong - right) > 1e-4 * right, "residual %g, with a fault %g", right,
                      wrong);
    }
  free_system(&s);
}

/* ---- refusals ---- */

static void refuse(const system_of *s, const osla_iterate_options *how, const osla_coarse *coarse,
                   const osla_coarse_options *o, osla_err err, const char *text)
{
  const osla_fixed_point p = osla_splitting_problem(s->split);
  osla_iteration *it;
  if (!OSLA_ASSERT_OK(osla_iteration_create(s->t, &p, how, &it))) return;
  OSLA_ASSERT_ERR(osla_iteration_add_coarse(it, coarse, o), err);
  OSLA_ASSERT_TEXT(text);
  OSLA_ASSERT_SAME_TEXT();
  osla_iteration_destroy(&it);
}

static void test_refused_options(void)
{
  static const kind laplace = {6, 4.0, 0.0, 0.0};
  system_of s;
  if (!make_system(&s, &laplace, 1, 0)) return;
  const osla_iterate_options none = {0}, uncertified = {.uncertified = true},
                             proven = {.proven = true}, recorded = {.record_bytes = 4096};
  const osla_coarse coarse = osla_splitting_coarse(s.split);
  const osla_coarse missing = {coarse.arg, NULL, coarse.prolong};
  const osla_coarse_options damped = {.damping = 2.0}, backwards = {.sweeps = -3};
  refuse(&s, &none, &coarse, &damped, OSLA_ERR_ARG, "damping = 2 is not above 0 and below 2");
  refuse(&s, &none, &coarse, &backwards, OSLA_ERR_ARG, "sweeps = -3 is less than 1");
  refuse(&s, &none, &missing, NULL, OSLA_ERR_ARG, "restrict_residual or prolong is missing");
  refuse(&s, &uncertified, &coarse, NULL, OSLA_ERR_ARG, "`uncertified`");
  refuse(&s, &proven, &coarse, NULL, OSLA_ERR_ARG, "`proven`");
  refuse(&s, &recorded, &coarse, NULL, OSLA_ERR_ARG, "`record_bytes`");

  const osla_fixed_point p = osla_splitting_problem(s.split);
  osla_iteration *it;
  if (OSLA_ASSERT_OK(osla_iteration_create(s.t, &p, NULL, &it))) {
    const osla_coarse_options differs = {.sweeps = 1 + osla_test_rank()};
    if (osla_test_size() > 1)
      OSLA_ASSERT_ERR(osla_iteration_add_coarse(it, &coarse, &differs), OSLA_ERR_ARG);
    OSLA_ASSERT_OK(osla_iteration_add_coarse(it, &coarse, NULL));
    OSLA_ASSERT_ERR(osla_iteration_add_coarse(it, &coarse, NULL), OSLA_ERR_STATE);
    osla_iteration_destroy(&it);
  }
  free_system(&s);
}

static void test_refused_matrices(void)
{
  static const kind windy = {6, 5.5, 0.7, 0.0}, negative = {6, -6.0, 0.0, 0.0};
  const osla_iterate_options none = {0};
  const struct {
    const kind *k;
    const char *text;
    int ranks; /* smallest number of ranks on which the coarse matrix shows the fault */
  } bad[] = {{&windy, "is not symmetric: its coarse elements of ranks", 2},
             {&negative, "its coarse element of rank 0 is", 1}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    system_of s;
    if (osla_test_size() < bad[i].ranks || !make_system(&s, bad[i].k, 1, 0)) continue;
    const osla_coarse coarse = osla_splitting_coarse(s.split);
    refuse(&s, &none, &coarse, NULL, OSLA_ERR_ARG, bad[i].text);
    free_system(&s);
  }
}

/* Inner solvers refuse wrong options, blocks that are not symmetric or not positive definite, and a
 * build without CHOLMOD. */
static void test_refused_blocks(void)
{
  static const kind laplace = {6, 4.0, 0.0, 0.0}, indefinite = {6, 1.5, 0.0, 0.0};
  static const kind windy[] = {{6, 5.5, 0.7, 0.0}, {6, 5.5, 0.7, 1e13}, {6, 5.5, INFINITY, 0.0}};
  osla_splitting_options o = {.block = INT64_MAX, .factor = OSLA_SPLITTING_CG};
  osla_splitting *split;
  system_of s;
  if (make_system(&s, &laplace, 1, 0)) {
    o.inner_tolerance = 1.0;
    OSLA_ASSERT_ERR(osla_splitting_create(s.a, s.b, &o, &split), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("inner_tolerance = 1 is not at least 0 and below 1");
    o.inner_tolerance = 0.0;
    o.block = 3;
    OSLA_ASSERT_ERR(osla_splitting_create(s.a, s.b, &o, &split), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("block = 3: CG and sparse Cholesky need one block per rank");
    OSLA_ASSERT_SAME_TEXT();
    o.block = INT64_MAX;
    free_system(&s);
  }
  /* on 6 ranks each block is one line of points, and symmetric: `wind` only changes elements that
   * join two lines */
  for (int k = 0; k < 3 && osla_test_size() < 6; k++) {
    if (!make_system(&s, &windy[k], 1, 0)) continue;
    OSLA_ASSERT_ERR(osla_splitting_create(s.a, s.b, &o, &split), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT(k < 2 ? "CG and sparse Cholesky need symmetric blocks"
                           : "is -inf, which is not finite");
    free_system(&s);
  }
  o.factor = OSLA_SPLITTING_SPARSE;
  if (!make_system(&s, &indefinite, 1, 0)) return;
#ifdef HAVE_CHOLMOD
  OSLA_ASSERT_ERR(osla_splitting_create(s.a, s.b, &o, &split), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("is not positive definite (sparse Cholesky)");
#else
  OSLA_ASSERT_ERR(osla_splitting_create(s.a, s.b, &o, &split), OSLA_ERR_UNSUPPORTED);
  OSLA_ASSERT_TEXT("libsuitesparse-dev");
#endif
  OSLA_ASSERT_SAME_TEXT();
  free_system(&s);
}

static const osla_test_case cases[] = {
  {"modes", test_modes},
  {"exact correction", test_exact_correction},
  {"diffusion", test_diffusion},
  {"faults", test_faults},
  {"refused options", test_refused_options},
  {"refused matrices", test_refused_matrices},
  {"refused blocks", test_refused_blocks},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_coarse, cases);
