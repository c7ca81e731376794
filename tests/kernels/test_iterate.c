/* Tests of iterations in all modes on the diffusion problem, whose convergence rates are known. In
 * every mode, the returned x must have the residual that is reported. */
#include "osla_diffusion.h"
#include "tests/osla_test_help.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct cube {
  osla_transport *t;
  osla_diffusion *d;
  osla_fixed_point p;
  double *x;
} cube;

static bool make_cube(cube *c, const osla_diffusion_options *o)
{
  c->t = osla_test_transport();
  if (!OSLA_ASSERT_OK(osla_diffusion_create(c->t, o, &c->d))) return false;
  c->p = osla_diffusion_problem(c->d);
  c->x = osla_test_allocate((size_t)c->p.length + 1, sizeof *c->x);
  osla_diffusion_fill(c->d, c->x);
  return true;
}

static void free_cube(cube *c)
{
  free(c->x);
  osla_diffusion_destroy(&c->d);
  osla_transport_destroy(&c->t);
}

/* Computes |b - A x| over all ranks from their parts of x, by a run in SYNC mode that exchanges
 * halos once. */
static double true_residual(cube *c, const double *x)
{
  osla_iterate_options o = {0};
  osla_iteration *it;
  osla_iterate_result r = {.residual = NAN};
  double *copy = osla_test_allocate((size_t)c->p.length + 1, sizeof *copy);
  memcpy(copy, x, (size_t)c->p.length * sizeof *x);
  o.mode = OSLA_ITERATE_SYNC;
  o.sweeps = -1;
  o.tolerance = -1;
  if (OSLA_ASSERT_OK(osla_iteration_create(c->t, &c->p, &o, &it)))
    OSLA_ASSERT_OK(osla_iterate(it, copy, &r));
  CU_ASSERT(r.sweeps == 0);
  CU_ASSERT(c->p.length == 0 || memcmp(copy, x, sizeof *x) == 0);
  osla_iteration_destroy(&it);
  free(copy);
  return r.residual;
}

static osla_iterate_result run(cube *c, const osla_iterate_options *o, double *x)
{
  osla_iteration *it;
  osla_iterate_result r = {.residual = NAN};
  if (!OSLA_ASSERT_OK(osla_iteration_create(c->t, &c->p, o, &it))) return r;
  OSLA_ASSERT_OK(osla_iterate(it, x, &r));
  osla_iteration_destroy(&it);
  return r;
}

/* The initial x is an eigenvector and b = 0, so that each SYNC sweep multiplies the residual by
 * rho, on any number of ranks. */
static void test_rate(void)
{
  static const int64_t points[][3] = {
    {20, 10, 10}, {7, 9, 30}, {1, 1, 5}, {5, 4, 1}, {100, 50, 50}};
  const size_t all = sizeof points / sizeof *points;
  /* the last case takes 6456 sweeps, about a second on two cores */
  for (size_t i = 0; i < (osla_test_size() > 2 ? all - 1 : all); i++) {
    osla_diffusion_options o = {.points = {points[i][0], points[i][1], points[i][2]}};
    osla_iterate_options how = {0};
    cube c;
    o.start = OSLA_DIFFUSION_MODE;
    if (!make_cube(&c, &o)) continue;
    const double rho = osla_diffusion_radius(c.d);
    const int64_t expected = (int64_t)ceil(log(1e-4) / log(rho));
    how.mode = OSLA_ITERATE_SYNC;
    how.tolerance = 1e-4;
    how.check = 1;
    const osla_iterate_result r = run(&c, &how, c.x);
    OSLA_ASSERT_MSG(r.end == OSLA_ITERATE_CONVERGED && r.sweeps == expected,
                    "%s after %lld sweeps, %lld expected", osla_iterate_end_name(r.end),
                    (long long)r.sweeps, (long long)expected);
    OSLA_ASSERT_CLOSE(r.residual, r.start * pow(rho, (double)r.sweeps), 1e-9 * r.residual);
    CU_ASSERT(r.least == r.sweeps && r.most == r.sweeps && r.mean == (double)r.sweeps);
    CU_ASSERT(r.residual <= 1e-4 * r.norm && r.norm == r.start);
    free_cube(&c);
  }
}

/* SYNC mode gives the same x on any number of ranks. */
static void test_same_x(void)
{
  osla_diffusion_options o = {.points = {9, 8, 11}};
  osla_iterate_options how = {0};
  cube c;
  int64_t first[3], n[3], bad = 0;
  if (!make_cube(&c, &o)) return;
  how.mode = OSLA_ITERATE_SYNC;
  how.tolerance = -1;
  how.sweeps = 37;
  const osla_iterate_result r = run(&c, &how, c.x);
  CU_ASSERT(r.end == OSLA_ITERATE_SWEEPS && r.sweeps == (c.p.length > 0 ? 37 : r.sweeps));
  /* Each rank also solves the problem of the whole grid alone. */
  osla_transport *self;
  osla_diffusion *whole;
  OSLA_ASSERT_OK(osla_transport_create(MPI_COMM_SELF, NULL, &self));
  OSLA_ASSERT_OK(osla_diffusion_create(self, &o, &whole));
  cube alone = {self, whole, osla_diffusion_problem(whole), NULL};
  alone.x = osla_test_allocate((size_t)alone.p.length, sizeof *alone.x);
  osla_diffusion_fill(whole, alone.x);
  (void)run(&alone, &how, alone.x);
  osla_diffusion_own(c.d, first, n);
  for (int64_t k = 0; k < n[2]; k++)
    for (int64_t j = 0; j < n[1]; j++)
      for (int64_t i = 0; i < n[0]; i++) {
        const double mine = c.x[(i + 1) + (n[0] + 2) * ((j + 1) + (n[1] + 2) * (k + 1))];
        const double theirs =
          alone.x[(first[0] + i + 1) + 11 * ((first[1] + j + 1) + 10 * (first[2] + k + 1))];
        bad += mine != theirs;
      }
  OSLA_ASSERT_MSG(bad == 0, "%lld points differ", (long long)bad);
  free_cube(&alone);
  free_cube(&c);
}

static void expect_solution(cube *c, const osla_iterate_options *how, const osla_iterate_result *r)
{
  const double residual = true_residual(c, c->x);
  OSLA_ASSERT_MSG(r->end == OSLA_ITERATE_CONVERGED, "mode %d: %s, residual %g of %g",
                  (int)how->mode, osla_iterate_end_name(r->end), r->residual, r->norm);
  CU_ASSERT(r->residual <= (how->tolerance > 0 ? how->tolerance : 1e-6) * r->norm);
  OSLA_ASSERT_CLOSE(residual, r->residual, 1e-12 * r->norm + 1e-6 * r->residual + r->rounding);
  CU_ASSERT(r->rounding > 0 && r->rounding < 1e-12 * (1.0 + r->norm) * 1e3);
  CU_ASSERT(r->least <= r->sweeps && r->sweeps <= r->most && r->mean <= (double)r->most);
}

/* All modes find the same solution, and the returned x has the reported residual. */
static void test_modes(void)
{
  static const struct {
    int mode, period, lead, in_flight;
    double omega;
  } ways[] = {{OSLA_ITERATE_SYNC, 1, -1, 2, 1.0}, {OSLA_ITERATE_SYNC, 3, -1, 2, 1.0},
              {OSLA_ITERATE_SYNC, 1, -1, 1, 0.8}, {OSLA_ITERATE_ASYNC, 1, -1, 2, 1.0},
              {OSLA_ITERATE_ASYNC, 1, 1, 1, 1.0}, {OSLA_ITERATE_ASYNC, 4, 9, 7, 0.9},
              {OSLA_ITERATE_RACY, 1, -1, 2, 1.0}, {OSLA_ITERATE_RACY, 2, 2, 2, 1.0}};
  osla_diffusion_options o = {.points = {13, 11, 12}};
  cube c;
  if (!make_cube(&c, &o)) return;
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    osla_iterate_options how = {0};
    how.mode = (osla_iterate_mode)ways[i].mode;
    how.period = ways[i].period;
    how.lead = ways[i].lead;
    how.in_flight = ways[i].in_flight;
    how.omega = ways[i].omega;
    osla_diffusion_fill(c.d, c.x);
    const osla_iterate_result r = run(&c, &how, c.x);
    expect_solution(&c, &how, &r);
  }
  free_cube(&c);
}

/* The grid has fewer points than there are ranks, so that some ranks own no points. */
static void test_few_points(void)
{
  for (int mode = OSLA_ITERATE_ASYNC; mode <= OSLA_ITERATE_SYNC; mode++) {
    osla_diffusion_options o = {.points = {2, 1, 1}};
    osla_iterate_options how = {0};
    cube c;
    if (!make_cube(&c, &o)) return;
    how.mode = (osla_iterate_mode)mode;
    const osla_iterate_result r = run(&c, &how, c.x);
    CU_ASSERT(r.end == OSLA_ITERATE_CONVERGED && r.residual <= 1e-6 * r.norm);
    CU_ASSERT((c.p.length == 0) == (osla_test_rank() >= 2));
    free_cube(&c);
  }
}

/* Several runs of one iteration object, from different initial x. */
static void test_again(void)
{
  for (int mode = OSLA_ITERATE_ASYNC; mode <= OSLA_ITERATE_SYNC; mode++) {
    osla_diffusion_options o = {.points = {8, 7, 9}};
    osla_iterate_options how = {0};
    osla_iteration *it;
    cube c;
    if (!make_cube(&c, &o)) return;
    how.mode = (osla_iterate_mode)mode;
    OSLA_ASSERT_OK(osla_iteration_create(c.t, &c.p, &how, &it));
    for (int again = 0; again < 6; again++) {
      osla_iterate_result r;
      osla_diffusion_fill(c.d, c.x);
      OSLA_ASSERT_OK(osla_iterate(it, c.x, &r));
      expect_solution(&c, &how, &r);
      /* starts from the solution, with a smaller tolerance */
      OSLA_ASSERT_OK(osla_iterate(it, c.x, &r));
      CU_ASSERT(r.end == OSLA_ITERATE_CONVERGED || r.end == OSLA_ITERATE_STAGNATED);
    }
    osla_iteration_destroy(&it);
    free_cube(&c);
  }
}

/* Runs with a tolerance below rounding error, with too few sweeps, or with divergence. */
static void test_ends(void)
{
  osla_diffusion_options o = {.points = {6, 6, 6}};
  cube c;
  if (!make_cube(&c, &o)) return;
  for (int mode = OSLA_ITERATE_ASYNC; mode <= OSLA_ITERATE_SYNC; mode++) {
    osla_iterate_options how = {0};
    how.mode = (osla_iterate_mode)mode;
    how.tolerance = -1;
    osla_diffusion_fill(c.d, c.x);
    osla_iterate_result r = run(&c, &how, c.x);
    OSLA_ASSERT_MSG(r.end == OSLA_ITERATE_STAGNATED ||
                      (r.end == OSLA_ITERATE_CONVERGED && r.residual == 0),
                    "mode %d: %s", mode, osla_iterate_end_name(r.end));
    CU_ASSERT(r.residual <= r.rounding && r.rounding < 1e-11);

    how.sweeps = 5;
    osla_diffusion_fill(c.d, c.x);
    r = run(&c, &how, c.x);
    CU_ASSERT(r.end == OSLA_ITERATE_SWEEPS && r.most == 5);
    OSLA_ASSERT_CLOSE(true_residual(&c, c.x), r.residual, 1e-9 * r.start);
    CU_ASSERT(r.residual < r.start && r.residual > 0);

    how.sweeps = 100000;
    how.omega = 2.5;
    osla_diffusion_fill(c.d, c.x);
    r = run(&c, &how, c.x);
    OSLA_ASSERT_MSG(r.end == OSLA_ITERATE_DIVERGED, "mode %d: %s", mode,
                    osla_iterate_end_name(r.end));
    CU_ASSERT(!(r.residual < 1e9 * r.start));
  }
  free_cube(&c);
}

/* The rate alpha of the error bound lies between rho and 1. The bound must hold for the error,
 * which is measured against a much more accurate solution. */
static void test_bound(void)
{
  osla_diffusion_options o = {.points = {9, 8, 7}};
  osla_iterate_options how = {0};
  osla_iterate_result r;
  osla_iteration *it;
  double alpha = 0, first;
  cube c;
  if (!make_cube(&c, &o)) return;
  const double rho = osla_diffusion_radius(c.d);
  OSLA_ASSERT_OK(osla_iteration_create(c.t, &c.p, &how, &it));
  OSLA_ASSERT_OK(osla_iterate_bound(it, 1, &first));
  /* with the vector of ones alpha is 1, because of rows in the middle of the grid */
  OSLA_ASSERT_CLOSE(first, 1.0, 1e-14);
  OSLA_ASSERT_OK(osla_iterate_bound(it, 400, &alpha));
  OSLA_ASSERT_MSG(alpha < 1.0 && alpha > rho && alpha < rho + 0.01, "alpha %.9f, rho %.9f", alpha,
                  rho);
  for (int mode = OSLA_ITERATE_ASYNC; mode <= OSLA_ITERATE_SYNC; mode++) {
    osla_iteration *now;
    how.mode = (osla_iterate_mode)mode;
    how.tolerance = 1e-3;
    how.omega = 0.9;
    OSLA_ASSERT_OK(osla_iteration_create(c.t, &c.p, &how, &now));
    OSLA_ASSERT_OK(osla_iterate_bound(now, 400, &alpha));
    osla_diffusion_fill(c.d, c.x);
    OSLA_ASSERT_OK(osla_iterate(now, c.x, &r));
    double *rough = osla_test_allocate((size_t)c.p.length + 1, sizeof *rough), largest = 0;
    memcpy(rough, c.x, (size_t)c.p.length * sizeof *rough);
    osla_iteration_destroy(&now);
    how.tolerance = 1e-13;
    how.omega = 1.0;
    (void)run(&c, &how, c.x);
    for (int64_t i = 0; i < c.p.length; i++)
      /* v <= 1, so this error in the maximum norm is at most the bound */
      largest = fmax(largest, fabs(rough[i] - c.x[i]));
    OSLA_ASSERT_MSG(r.error > 0 && largest <= r.error, "mode %d: error %g, bound %g", mode, largest,
                    r.error);
    free(rough);
  }
  osla_iteration_destroy(&it);
  free_cube(&c);
}

/* ---- false convergence ---- */

/* The diffusion problem in which sweeps ignore the halos of two arrays of x until `snapshots`
 * snapshots were taken. */
typedef struct frozen {
  osla_fixed_point inner;
  const double *states[2]; /* the caller's x, and the array that the first sweep writes */
  int snapshots, looks;
} frozen;

static double frozen_sweep(void *arg, double omega, const double *x, double *y)
{
  frozen *f = arg;
  if (x == f->states[0] && !f->states[1]) f->states[1] = y;
  return f->inner.sweep(f->inner.arg, omega, x, y);
}

static void frozen_pack(void *arg, int h, const double *x, double *message)
{
  const frozen *f = arg;
  f->inner.pack(f->inner.arg, h, x, message);
}

static void frozen_unpack(void *arg, int h, const double *message, double *x)
{
  frozen *f = arg;
  const bool is_swept = x == f->states[0] || x == f->states[1];
  f->looks += h == 0 && !is_swept;
  if (!is_swept || f->looks >= f->snapshots) f->inner.unpack(f->inner.arg, h, message, x);
}

/* Halos are ignored until the residuals of all ranks seem to be 0. The run must not end at that
 * moment. */
static void test_frozen(void)
{
  for (int mode = OSLA_ITERATE_ASYNC; mode <= OSLA_ITERATE_RACY; mode++) {
    osla_diffusion_options o = {.points = {7, 6, 11}};
    osla_iterate_options how = {0};
    osla_iterate_result r;
    osla_iteration *it;
    cube c;
    if (!make_cube(&c, &o)) return;
    const bool many = osla_test_size() > 1;
    frozen f = {.inner = c.p, .states = {c.x}, .snapshots = 4};
    osla_fixed_point p = c.p;
    p.arg = &f;
    p.sweep = frozen_sweep;
    p.sweep_edge = NULL;
    p.pack = frozen_pack;
    p.unpack = frozen_unpack;
    p.magnitude = NULL;
    p.bound_sweep = NULL;
    p.distance = NULL;
    how.mode = (osla_iterate_mode)mode;
    how.tolerance = 1e-8;
    OSLA_ASSERT_OK(osla_iteration_create(c.t, &p, &how, &it));
    OSLA_ASSERT_OK(osla_iterate(it, c.x, &r));
    OSLA_ASSERT_MSG(r.snapshots >= (many ? 5 : 1), "mode %d: %d snapshots", mode, (int)r.snapshots);
    CU_ASSERT(r.end == OSLA_ITERATE_CONVERGED && r.residual <= 1e-8 * r.start);
    OSLA_ASSERT_CLOSE(true_residual(&c, c.x), r.residual, 1e-13 * r.start);
    osla_iteration_destroy(&it);
    free_cube(&c);
  }
}

/* ---- wrong input of iterations ---- */

static void refuse(cube *c, const osla_iterate_options *how, const char *text)
{
  osla_iteration *it = (osla_iteration *)(void *)c;
  OSLA_ASSERT_ERR(osla_iteration_create(c->t, &c->p, how, &it), OSLA_ERR_ARG);
  CU_ASSERT(it == NULL);
  OSLA_ASSERT_TEXT(text);
  OSLA_ASSERT_SAME_TEXT();
}

static void test_refused(void)
{
  const osla_iterate_options good = {0};
  osla_diffusion_options o = {.points = {6, 5, 4}};
  osla_iterate_options how = good;
  osla_diffusion *none;
  cube c;
  if (!make_cube(&c, &o)) return;
  how.tolerance = -1e-4;
  refuse(&c, &how, "tolerance = -0.0001 is negative and not -1");
  how = good;
  how.omega = -0.5;
  refuse(&c, &how, "omega = -0.5 is not positive");
  how = good;
  how.period = -1;
  refuse(&c, &how, "period = -1");
  how = good;
  how.lead = -2;
  refuse(&c, &how, "lead = -2 is less than -1");
  how = good;
  how.sweeps = -2;
  refuse(&c, &how, "sweeps = -2");
  how = good;
  how.mode = (osla_iterate_mode)3;
  refuse(&c, &how, "mode = 3");
  how = good;
  if (osla_test_size() > 1) {
    if (osla_test_rank() == 1) how.period = 2;
    refuse(&c, &how, "period is 1 on rank 0, but 2 on rank 1");
  }
  const int64_t wrong[][3] = {{0, 5, 4}, {6, INT64_C(1) << 21, 4}};
  for (int i = 0; i < 2; i++) {
    osla_diffusion_options bad = {.points = {wrong[i][0], wrong[i][1], wrong[i][2]}};
    OSLA_ASSERT_ERR(osla_diffusion_create(c.t, &bad, &none), OSLA_ERR_ARG);
  }
  osla_diffusion_options bad = {.points = {6, 5, 4}};
  bad.ranks[0] = 7;
  OSLA_ASSERT_ERR(osla_diffusion_create(c.t, &bad, &none), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("7 ranks along x for 6 points");
  free_cube(&c);
}

/* An initial x that is not finite is refused with its rank; later runs are possible. */
static void test_not_finite(void)
{
  for (int mode = OSLA_ITERATE_ASYNC; mode <= OSLA_ITERATE_SYNC; mode++) {
    osla_diffusion_options o = {.points = {6, 5, 14}};
    osla_iterate_options how = {0};
    osla_iterate_result r;
    osla_iteration *it;
    int64_t first[3], n[3];
    cube c;
    if (!make_cube(&c, &o)) return;
    how.mode = (osla_iterate_mode)mode;
    OSLA_ASSERT_OK(osla_iteration_create(c.t, &c.p, &how, &it));
    osla_diffusion_own(c.d, first, n);
    const int64_t row = n[0] + 2, at = 1 + row + row * (n[1] + 2);
    if (osla_test_rank() == 0) c.x[at] = NAN; /* at is the index of point (0, 0, 0) in x */
    OSLA_ASSERT_ERR(osla_iterate(it, c.x, &r), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("not finite, or too large; seen on rank ");
    OSLA_ASSERT_SAME_TEXT();
    osla_diffusion_fill(c.d, c.x);
    OSLA_ASSERT_OK(osla_iterate(it, c.x, &r));
    expect_solution(&c, &how, &r);
    osla_iteration_destroy(&it);
    free_cube(&c);
  }
}

static const osla_test_case cases[] = {
  {"rate", test_rate},

  {"same_x", test_same_x},
  {"modes", test_modes},
  {"few_points", test_few_points},
  {"again", test_again},
  {"ends", test_ends},
  {"bound", test_bound},
  {"frozen", test_frozen},
  {"refused", test_refused},
  {"not_finite", test_not_finite},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_iterate, cases);
