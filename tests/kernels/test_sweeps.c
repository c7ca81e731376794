/* Tests of sweeps used as a preconditioner, and of flexible CG with a preconditioner that changes.
 */
#include "osla_krylov.h"
#include "osla_random.h"
#include "osla_splitting.h"
#include "osla_sweeps.h"
#include "tests/osla_test_help.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A diffusion problem on a grid of side x side points, discretised by finite differences. In two
 * quarters of the grid the conductivity is `jump`, elsewhere 1. */
typedef struct grid_of {
  int64_t side;
  double jump;
} grid_of;

typedef struct system_of {
  osla_transport *t;
  osla_csr *a;
  osla_operator op;
  int64_t rows, first;
  double *b, *x, *solution;
} system_of;

static double conducts(const grid_of *g, int64_t x, int64_t y)
{
  return (2 * x < g->side) == (2 * y < g->side) ? g->jump : 1.0;
}

/* Fills row i of the symmetric matrix. It is positive definite, because values outside the grid are
 * 0. */
static int64_t fill_row(const grid_of *g, int64_t i, int64_t *column, double *value)
{
  static const int64_t dx[] = {0, -1, 1, 0}, dy[] = {-1, 0, 0, 1};
  const int64_t x = i % g->side, y = i / g->side;
  const double own = conducts(g, x, y);
  int64_t n = 1;
  column[0] = i;
  value[0] = 0.0;
  for (int k = 0; k < 4; k++) {
    const int64_t u = x + dx[k], v = y + dy[k];
    const bool inside = u >= 0 && u < g->side && v >= 0 && v < g->side;
    const double other = inside ? conducts(g, u, v) : own;
    const double joint = 2.0 * own * other / (own + other);
    value[0] += joint;
    if (inside) column[n] = u + v * g->side, value[n++] = -joint;
  }
  return n;
}

static bool make_system(osla_transport *t, const grid_of *g, system_of *s)
{
  const int rank = osla_test_rank(), size = osla_test_size();
  int64_t *start = osla_test_allocate((size_t)size + 1, sizeof *start);
  osla_even_blocks(g->side * g->side, size, start);
  *s = (system_of){.t = t, .first = start[rank], .rows = start[rank + 1] - start[rank]};
  int64_t *first = osla_test_allocate((size_t)s->rows + 1, sizeof *first);
  int64_t *column = osla_test_allocate(5 * (size_t)s->rows + 1, sizeof *column);
  double *value = osla_test_allocate(5 * (size_t)s->rows + 1, sizeof *value);
  for (int64_t i = 0; i < s->rows; i++)
    first[i + 1] = first[i] + fill_row(g, s->first + i, column + first[i], value + first[i]);
  const bool made = OSLA_ASSERT_OK(osla_csr_create(t, start, start, first, column, value, &s->a));
  free(start);
  free(first);
  free(column);
  free(value);
  if (!made) return false;
  s->op = osla_csr_operator(s->a);
  s->b = osla_test_allocate((size_t)s->rows + 1, sizeof *s->b);
  s->x = osla_test_allocate((size_t)s->rows + 1, sizeof *s->x);
  s->solution = osla_test_allocate((size_t)s->rows + 1, sizeof *s->solution);
  for (int64_t i = 0; i < s->rows; i++)
    s->solution[i] = (double)osla_test_choose(3, s->first + i, 9) - 4.0;
  return OSLA_ASSERT_OK(osla_spmv(OSLA_NOTRANS, s->a, s->solution, 0.0, s->b));
}

static void free_system(system_of *s)
{
  free(s->b);
  free(s->x);
  free(s->solution);
  OSLA_ASSERT_OK(osla_csr_destroy(&s->a));
}

/* Solves the system by CG from x = 0, and returns the number of steps. */
static int64_t solve(system_of *s, const osla_preconditioner *m, bool flexible)
{
  const osla_krylov_options how = {.tolerance = 1e-11, .iterations = 2000, .flexible = flexible};
  osla_krylov_result r;
  double error = 0.0;
  memset(s->x, 0, (size_t)s->rows * sizeof *s->x);
  OSLA_ASSERT_OK(osla_cg(&s->op, m, s->b, s->x, &how, &r));
  OSLA_ASSERT_MSG(r.end == OSLA_KRYLOV_CONVERGED, "CG ended with %d after %d, left %g", (int)r.end,
                  (int)r.iterations, r.left);
  for (int64_t i = 0; i < s->rows; i++)
    error = fmax(error, fabs(s->x[i] - s->solution[i]));
  OSLA_ASSERT_CLOSE(error, 0.0, 1e-7);
  return r.iterations;
}

/* A preconditioner that consists of sweeps, with one block of the splitting for each rank. */
typedef struct preconditioner {
  osla_splitting *split;
  osla_sweeps *sweeps;
  osla_preconditioner m;
  double *right;
} preconditioner;

static bool open_sweeps(const system_of *s, int mode, int64_t sweeps, double omega,
                        preconditioner *p)
{
  const osla_splitting_options all = {.block = INT64_MAX};
  osla_iterate_options how = {0};
  how.mode = (osla_iterate_mode)mode;
  how.sweeps = sweeps;
  how.omega = omega;
  p->right = osla_test_allocate((size_t)s->rows + 1, sizeof *p->right);
  if (!OSLA_ASSERT_OK(osla_splitting_create(s->a, p->right, &all, &p->split))) return false;
  const osla_fixed_point f = osla_splitting_problem(p->split);
  if (!OSLA_ASSERT_OK(osla_sweeps_create(s->t, &f, s->rows, p->right, &how, &p->sweeps)))
    return false;
  p->m = osla_sweeps_use(p->sweeps);
  return true;
}

static void close_sweeps(preconditioner *p)
{
  osla_sweeps_destroy(&p->sweeps);
  osla_splitting_destroy(&p->split);
  CU_ASSERT(p->sweeps == NULL);
  free(p->right);
}

static int64_t solve_by_sweeps(system_of *s, int mode, int64_t sweeps, bool flexible)
{
  preconditioner p;
  if (!open_sweeps(s, mode, sweeps, 1.0, &p)) return 0;
  const int64_t steps = solve(s, &p.m, flexible);
  close_sweeps(&p);
  return steps;
}

/* ---- test cases ---- */

static const grid_of grids[] = {{17, 1.0}, {14, 1000.0}};

static void test_without_waiting(void)
{
  const int64_t sweeps[] = {1, 3, 10};
  osla_transport *t = osla_test_transport();
  for (int g = 0; g < 2; g++) {
    system_of s;
    if (!make_system(t, &grids[g], &s)) continue;
    const int64_t plain = solve(&s, NULL, false);
    for (int mode = OSLA_ITERATE_ASYNC; mode <= OSLA_ITERATE_RACY; mode++)
      for (int i = 0; i < 3; i++) {
        const int64_t steps = solve_by_sweeps(&s, mode, sweeps[i], true);
        OSLA_ASSERT_MSG(steps < plain, "%lld steps after %lld sweeps, %lld without",
                        (long long)steps, (long long)sweeps[i], (long long)plain);
        if (osla_test_size() == 1)
          /* the only rank has one block, so the preconditioner is a direct solve */
          CU_ASSERT(steps <= 2);
      }
    free_system(&s);
  }
  osla_transport_destroy(&t);
}

/* With a constant preconditioner, plain and flexible CG take equal numbers of steps, and more
 * sweeps give fewer steps. */
static void test_lock_step(void)
{
  osla_transport *t = osla_test_transport();
  for (int g = 0; g < 2; g++) {
    system_of s;
    if (!make_system(t, &grids[g], &s)) continue;
    const int64_t plain = solve(&s, NULL, false);
    int64_t before = plain;
    for (int64_t sweeps = 1; sweeps <= 9; sweeps += 4) {
      const int64_t flexible = solve_by_sweeps(&s, OSLA_ITERATE_SYNC, sweeps, true);
      const int64_t fixed = solve_by_sweeps(&s, OSLA_ITERATE_SYNC, sweeps, false);
      OSLA_ASSERT_MSG(llabs(flexible - fixed) <= 1, "%lld steps, flexible %lld", (long long)fixed,
                      (long long)flexible);
      OSLA_ASSERT_MSG(fixed <= before && fixed < plain, "%lld steps after %lld", (long long)fixed,
                      (long long)before);
      before = fixed;
    }
    free_system(&s);
  }
  osla_transport_destroy(&t);
}

/* One SYNC sweep from 0 equals a block-Jacobi preconditioner. */
static void test_one_sweep(void)
{
  osla_transport *t = osla_test_transport();
  system_of s;
  preconditioner p;
  osla_jacobi *jacobi;
  if (make_system(t, &grids[0], &s) && open_sweeps(&s, OSLA_ITERATE_SYNC, 1, 1.0, &p)) {
    double *z = osla_test_allocate((size_t)s.rows + 1, sizeof *z);
    OSLA_ASSERT_OK(osla_jacobi_create(s.a, INT64_MAX, 0.0, &jacobi));
    const osla_preconditioner blocks = osla_jacobi_use(jacobi);
    OSLA_ASSERT_OK(p.m.apply(p.m.arg, s.b, s.x));
    OSLA_ASSERT_OK(blocks.apply(blocks.arg, s.b, z));
    for (int64_t i = 0; i < s.rows; i++)
      OSLA_ASSERT_CLOSE(s.x[i], z[i], 1e-12);
    osla_jacobi_destroy(&jacobi);
    free(z);
    close_sweeps(&p);
    free_system(&s);
  }
  osla_transport_destroy(&t);
}

/* A diagonal preconditioner with elements from 1 to 1.75, which changes in each step. */
typedef struct changing {
  const system_of *s;
  uint64_t step;
} changing;

static osla_err scale(void *arg, const double *r, double *z)
{
  changing *c = arg;
  c->step++;
  for (int64_t i = 0; i < c->s->rows; i++)
    z[i] = r[i] * (1.0 + 0.25 * (double)osla_test_choose(c->step, c->s->first + i, 4));
  return OSLA_OK;
}

/* With a preconditioner that changes strongly, plain CG takes at least twice as many steps as
 * flexible CG. */
static void test_changing(void)
{
  osla_transport *t = osla_test_transport();
  system_of s;
  if (make_system(t, &grids[0], &s)) {
    changing c = {&s, 0};
    const osla_preconditioner m = {scale, &c};
    const int64_t flexible = solve(&s, &m, true);
    c.step = 0;
    const int64_t fixed = solve(&s, &m, false);
    OSLA_ASSERT_MSG(2 * flexible < fixed, "%lld steps, flexible %lld", (long long)fixed,
                    (long long)flexible);
    free_system(&s);
  }
  osla_transport_destroy(&t);
}

static void test_zero(void)
{
  osla_transport *t = osla_test_transport();
  for (int mode = OSLA_ITERATE_ASYNC; mode <= OSLA_ITERATE_SYNC; mode++)
    /* side 0 gives no rows, and side 2 may give fewer rows than ranks */
    for (int64_t side = 0; side <= 4; side += 2) {
      const grid_of g = {side, 1.0};
      system_of s;
      preconditioner p;
      if (!make_system(t, &g, &s) || !open_sweeps(&s, mode, 2, 1.0, &p)) continue;
      for (int64_t i = 0; i < s.rows; i++)
        s.b[i] = 0.0, s.x[i] = 7.0;
      OSLA_ASSERT_OK(p.m.apply(p.m.arg, s.b, s.x));
      for (int64_t i = 0; i < s.rows; i++)
        CU_ASSERT(s.x[i] == 0.0);
      OSLA_ASSERT_OK(osla_spmv(OSLA_NOTRANS, s.a, s.solution, 0.0, s.b));
      (void)solve(&s, &p.m, true);
      close_sweeps(&p);
      free_system(&s);
    }
  osla_transport_destroy(&t);
}

/* ---- dense matrices ---- */

static double element(int64_t i, int64_t j, void *arg)
{
  int64_t column[5];
  double value[5];
  const int64_t n = fill_row(arg, i, column, value);
  for (int64_t k = 0; k < n; k++)
    if (column[k] == j) return value[k];
  return 0.0;
}

static void test_dense(void)
{
  osla_transport *t = osla_test_transport();
  grid_of g = {9, 10.0};
  const osla_splitting_options all = {.block = INT64_MAX};
  osla_splitting *split;
  osla_sweeps *sweeps;
  system_of s;
  if (make_system(t, &g, &s)) {
    double *right = osla_test_allocate((size_t)s.rows + 1, sizeof *right);
    osla_matrix *dense = osla_test_make(t, 0, OSLA_DOUBLE, 81, 81, 8, 8);
    OSLA_ASSERT_OK(osla_matrix_fill_with(dense, element, &g));
    OSLA_ASSERT_OK(osla_splitting_create_dense(OSLA_LOWER, dense, right, &all, &split));
    const osla_fixed_point f = osla_splitting_problem(split);
    OSLA_ASSERT_OK(osla_sweeps_create(t, &f, s.rows, right, NULL, &sweeps));
    const osla_preconditioner m = osla_sweeps_use(sweeps);
    const int64_t plain = solve(&s, NULL, false), steps = solve(&s, &m, true);
    OSLA_ASSERT_MSG(steps < plain, "%lld steps, %lld without", (long long)steps, (long long)plain);
    osla_sweeps_destroy(&sweeps);
    osla_splitting_destroy(&split);
    osla_test_destroy(dense);
    free(right);
    free_system(&s);
  }
  osla_transport_destroy(&t);
}

/* ---- preconditioners that are refused ---- */

static void test_refused(void)
{
  osla_transport *t = osla_test_transport();
  system_of s;
  preconditioner p;
  osla_krylov_options how = {0};
  osla_krylov_result r;
  for (int mode = OSLA_ITERATE_ASYNC; mode <= OSLA_ITERATE_SYNC; mode++) {
    if (!make_system(t, &grids[0], &s) || !open_sweeps(&s, mode, 30, 50.0, &p)) continue;
    OSLA_ASSERT_ERR(osla_cg(&s.op, &p.m, s.b, s.x, &how, &r), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("sweeps as a preconditioner diverge, or r is not finite: residual ");
    OSLA_ASSERT_SAME_TEXT();
    if (osla_test_rank() == 0) s.b[0] = NAN;
    OSLA_ASSERT_ERR(p.m.apply(p.m.arg, s.b, s.x), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("not finite");
    close_sweeps(&p);
    free_system(&s);
  }
  if (make_system(t, &grids[0], &s) && open_sweeps(&s, OSLA_ITERATE_SYNC, 1, 1.0, &p)) {
    const osla_fixed_point f = osla_splitting_problem(p.split);
    osla_iterate_options none = {0};
    osla_sweeps *sweeps;
    none.sweeps = -1;
    OSLA_ASSERT_ERR(osla_sweeps_create(t, &f, s.rows, p.right, &none, &sweeps), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("sweeps = -1 is less than 1");
    CU_ASSERT(sweeps == NULL);
    const bool last = osla_test_rank() == osla_test_size() - 1;
    const int64_t rows = last ? f.length + 1 : s.rows;
    OSLA_ASSERT_ERR(osla_sweeps_create(t, &f, rows, p.right, NULL, &sweeps), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT(" rows in a state of ");
    OSLA_ASSERT_SAME_TEXT();
    how.flexible = osla_test_rank() > 0;
    if (osla_test_size() > 1) {
      OSLA_ASSERT_ERR(osla_cg(&s.op, &p.m, s.b, s.x, &how, &r), OSLA_ERR_ARG);
      OSLA_ASSERT_TEXT("flexible");
    }
    close_sweeps(&p);
    free_system(&s);
  }
  osla_transport_destroy(&t);
}

/* Preconditioners whose number of rows is not that of the operator are refused. Otherwise they
 * would write beyond z or leave a part of it unset. */
static void test_other_rows(void)
{
  osla_transport *t = osla_test_transport();
  const grid_of other = {16, 1.0};
  const bool last = osla_test_rank() == osla_test_size() - 1;
  system_of s, small;
  preconditioner p;
  osla_krylov_result r;
  osla_jacobi *jacobi;
  if (make_system(t, &grids[0], &s) && open_sweeps(&s, OSLA_ITERATE_SYNC, 1, 1.0, &p)) {
    const osla_fixed_point f = osla_splitting_problem(p.split);
    const int64_t rows[] = {last ? s.rows - 1 : s.rows, f.length};
    double *right = osla_test_allocate((size_t)f.length + 1, sizeof *right);
    for (int i = 0; i < (osla_test_size() > 1 ? 2 : 1); i++) {
      osla_sweeps *sweeps;
      OSLA_ASSERT_OK(osla_sweeps_create(t, &f, rows[i], right, NULL, &sweeps));
      const osla_preconditioner m = osla_sweeps_use(sweeps);
      OSLA_ASSERT_ERR(osla_cg(&s.op, &m, s.b, s.x, NULL, &r), OSLA_ERR_ARG);
      OSLA_ASSERT_TEXT("CG: the preconditioner has ");
      OSLA_ASSERT_SAME_TEXT();
      osla_sweeps_destroy(&sweeps);
    }
    free(right);
    close_sweeps(&p);
    if (make_system(t, &other, &small)) {
      OSLA_ASSERT_OK(osla_jacobi_create(small.a, 1, 0.0, &jacobi));
      const osla_preconditioner m = osla_jacobi_use(jacobi);
      OSLA_ASSERT_ERR(osla_cg(&s.op, &m, s.b, s.x, NULL, &r), OSLA_ERR_ARG);
      OSLA_ASSERT_TEXT("CG: the preconditioner has ");
      osla_jacobi_destroy(&jacobi);
      free_system(&small);
    }
    free_system(&s);
  }
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {{"without waiting", test_without_waiting},
                                       {"lock-step", test_lock_step},
                                       {"one sweep", test_one_sweep},
                                       {"changing", test_changing},
                                       {"zero", test_zero},
                                       {"dense", test_dense},
                                       {"refused", test_refused},
                                       {"other rows", test_other_rows},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_sweeps, cases);
