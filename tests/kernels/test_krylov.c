/* Tests of the Krylov solvers CG and LSQR. */
#include "osla_krylov.h"
#include "tests/kernels/sparse_model.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- conjugate gradients (CG) ---- */

typedef struct system {
  osla_transport *t;
  sparse_model m;
  osla_csr *a;
  osla_operator op;
  double *whole;      /* the known solution, with the elements of all ranks */
  double *b;          /* this rank's part of the right-hand side */
  double *x;          /* this rank's part of the computed solution */
  const double *mine; /* this rank's part of `whole` */
} system_;

/* Makes a system with a known solution by b := A times the solution. */
static system_ open_system(osla_transport *t, sparse_kind kind, int64_t m, int64_t n)
{
  system_ s = {.t = t, .m = sparse_model_make(kind, m, n, false)};
  s.a = sparse_model_matrix(s.t, &s.m);
  s.op = osla_csr_operator(s.a);
  s.whole = sparse_model_vector(s.m.n, 9);
  s.mine = s.whole + s.m.column_start[osla_test_rank()];
  s.b = osla_test_allocate((size_t)s.op.rows + 1, sizeof *s.b);
  s.x = osla_test_allocate((size_t)s.op.columns + 1, sizeof *s.x);
  OSLA_ASSERT_OK(osla_spmv(OSLA_NOTRANS, s.a, s.mine, 0.0, s.b));
  return s;
}

static void close_system(system_ *s)
{
  free(s->whole);
  free(s->b);
  free(s->x);
  OSLA_ASSERT_OK(osla_csr_destroy(&s->a));
  sparse_model_free(&s->m);
}

static double worst(const system_ *s)
{
  double most = 0.0;
  for (int64_t j = 0; j < s->op.columns; j++)
    most = fmax(most, fabs(s->x[j] - s->mine[j]));
  return most;
}

static void solve_by_cg(system_ *s, const osla_preconditioner *m, int64_t *iterations)
{
  const osla_krylov_options options = {.tolerance = 1e-12, .iterations = 500};
  osla_krylov_result r;
  memset(s->x, 0, (size_t)s->op.columns * sizeof *s->x);
  OSLA_ASSERT_OK(osla_cg(&s->op, m, s->b, s->x, &options, &r));
  OSLA_ASSERT_MSG(r.end == OSLA_KRYLOV_CONVERGED, "ended with %d after %d iterations", (int)r.end,
                  (int)r.iterations);
  OSLA_ASSERT_CLOSE(worst(s), 0.0, 1e-9);
  OSLA_ASSERT_CLOSE(r.left, 0.0, 1e-12);
  *iterations = r.iterations;
}

static void test_cg(void)
{
  osla_transport *t = osla_test_transport();
  const sparse_kind kinds[] = {SPARSE_GRID, SPARSE_DIAGONAL, SPARSE_ARROW};
  const int64_t n_of[] = {0, 1, 5, 100, 900};
  for (int kind = 0; kind < 3; kind++)
    for (int i = 0; i < 5; i++) {
      system_ s = open_system(t, kinds[kind], n_of[i], n_of[i]);
      int64_t plain, jacobi, blocks;
      osla_jacobi *j;
      solve_by_cg(&s, NULL, &plain);
      OSLA_ASSERT_OK(osla_jacobi_create(s.a, 1, 0.0, &j));
      osla_preconditioner m = osla_jacobi_use(j);
      solve_by_cg(&s, &m, &jacobi);
      osla_jacobi_destroy(&j);
      OSLA_ASSERT_OK(osla_jacobi_create(s.a, n_of[i] < 100 ? INT64_MAX : 50, 0.0, &j));
      m = osla_jacobi_use(j);
      solve_by_cg(&s, &m, &blocks);
      osla_jacobi_destroy(&j);
      OSLA_ASSERT_MSG(kinds[kind] != SPARSE_GRID || n_of[i] < 100 || blocks <= plain,
                      "%d iterations with blocks, %d without", (int)blocks, (int)plain);
      if (kinds[kind] == SPARSE_DIAGONAL) CU_ASSERT(jacobi <= 1);
      close_system(&s);
    }
  osla_transport_destroy(&t);
}

static void test_cg_ends(void)
{
  osla_transport *t = osla_test_transport();
  system_ s = open_system(t, SPARSE_GRID, 100, 100);
  osla_krylov_options options = {0};
  osla_krylov_result r;
  options.iterations = 2;
  OSLA_ASSERT_OK(osla_cg(&s.op, NULL, s.b, s.x, &options, &r));
  CU_ASSERT(r.end == OSLA_KRYLOV_ITERATIONS && r.iterations == 2 && r.left > 1e-8);
  /* continues from the x of the last call */
  OSLA_ASSERT_OK(osla_cg(&s.op, NULL, s.b, s.x, NULL, &r));
  CU_ASSERT(r.end == OSLA_KRYLOV_CONVERGED);
  if (osla_test_rank() == 0 && s.op.rows > 0) s.b[0] = NAN;
  OSLA_ASSERT_OK(osla_cg(&s.op, NULL, s.b, s.x, NULL, &r));
  CU_ASSERT(r.end == OSLA_KRYLOV_NOT_FINITE);
  options.tolerance = -1.0;
  OSLA_ASSERT_ERR(osla_cg(&s.op, NULL, s.b, s.x, &options, &r), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("tolerance -1 is not");
  close_system(&s);

  sparse_model m = sparse_model_make(SPARSE_GRID, 100, 100, false);
  for (int64_t e = 0; e < m.first[m.m]; e++)
    m.value[e] = -m.value[e];
  osla_csr *a = sparse_model_matrix(t, &m);
  osla_operator op = osla_csr_operator(a);
  osla_jacobi *j;
  double *b = osla_test_allocate((size_t)op.rows + 1, sizeof *b);
  double *x = osla_test_allocate((size_t)op.rows + 1, sizeof *x);
  for (int64_t i = 0; i < op.rows; i++)
    b[i] = 1.0;
  OSLA_ASSERT_OK(osla_cg(&op, NULL, b, x, NULL, &r));
  CU_ASSERT(r.end == OSLA_KRYLOV_INDEFINITE);
  OSLA_ASSERT_ERR(osla_jacobi_create(a, 1, 0.0, &j), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("diagonal element -5 of row 0");
  OSLA_ASSERT_ERR(osla_jacobi_create(a, 10, 0.0, &j), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("block-Jacobi: the block of rows 0 to ");
  OSLA_ASSERT_SAME_TEXT();
  free(b);
  free(x);
  OSLA_ASSERT_OK(osla_csr_destroy(&a));
  sparse_model_free(&m);
  osla_transport_destroy(&t);
}

/* ---- least squares by LSQR ---- */

/* Checks that |A^T (b - A x) - damping^2 x / scale^2| over all ranks is small compared with |A^T
 * b|. */
static void check_normal_equations(system_ *s, double damping, const double *scale)
{
  double *r = osla_test_allocate((size_t)s->op.rows + 1, sizeof *r);
  double *g = osla_test_allocate((size_t)s->op.columns + 1, sizeof *g);
  double sum[2] = {0.0};
  OSLA_ASSERT_OK(osla_spmv(OSLA_TRANS, s->a, s->b, 0.0, g));
  for (int64_t j = 0; j < s->op.columns; j++)
    sum[1] += g[j] * g[j];
  OSLA_ASSERT_OK(osla_spmv(OSLA_NOTRANS, s->a, s->x, 0.0, r));
  for (int64_t i = 0; i < s->op.rows; i++)
    r[i] = s->b[i] - r[i];
  OSLA_ASSERT_OK(osla_spmv(OSLA_TRANS, s->a, r, 0.0, g));
  for (int64_t j = 0; j < s->op.columns; j++) {
    const double scaled = scale ? s->x[j] / (scale[j] * scale[j]) : s->x[j];
    const double left = g[j] - damping * damping * scaled;
    sum[0] += left * left;
  }
  OSLA_ASSERT_OK(osla_allreduce(s->t, sum, 2, MPI_DOUBLE, MPI_SUM));
  OSLA_ASSERT_CLOSE(sqrt(sum[0]), 0.0, 1e-8 * sqrt(sum[1]) + 1e-300);
  free(r);
  free(g);
}

static void test_lsqr(void)
{
  osla_transport *t = osla_test_transport();
  const int64_t sizes[][2] = {{0, 0}, {4, 0}, {0, 4}, {1, 1}, {60, 20}, {20, 60}, {300, 150}};
  const double dampings[] = {0.0, 0.7, 30.0};
  const osla_krylov_options options = {.tolerance = 1e-11, .iterations = 3000};
  for (int i = 0; i < 7; i++)
    for (int d = 0; d < 3; d++)
      for (int scaled = 0; scaled < 2; scaled++) {
        system_ s = open_system(t, SPARSE_RANDOM, sizes[i][0], sizes[i][1]);
        osla_krylov_result r;
        double *scale = osla_test_allocate((size_t)s.op.columns + 1, sizeof *scale);
        for (int64_t j = 0; j < s.op.columns; j++)
          scale[j] = 1.0 / (double)(1 + j % 4);
        for (int64_t k = 0; k < s.op.rows; k++)
          s.b[k] += (double)(k % 3); /* the overdetermined A x = b then has no solution */
        OSLA_ASSERT_OK(
          osla_lsqr(&s.op, s.b, dampings[d], scaled ? scale : NULL, s.x, &options, &r));
        OSLA_ASSERT_MSG(r.end == OSLA_KRYLOV_CONVERGED, "ended with %d after %d, left %g",
                        (int)r.end, (int)r.iterations, r.left);
        check_normal_equations(&s, dampings[d], scaled ? scale : NULL);
        free(scale);
        close_system(&s);
      }
  osla_transport_destroy(&t);
}

/* LSQR solves a square system, and the residual of x agrees with the residual norm that LSQR's
 * recurrences give. */
static void test_lsqr_square(void)
{
  osla_transport *t = osla_test_transport();
  system_ s = open_system(t, SPARSE_GRID, 400, 400);
  const osla_krylov_options options = {.tolerance = 1e-13, .iterations = 1000};
  osla_krylov_result r;
  OSLA_ASSERT_OK(osla_lsqr(&s.op, s.b, 0.0, NULL, s.x, &options, &r));
  CU_ASSERT(r.end == OSLA_KRYLOV_CONVERGED);
  OSLA_ASSERT_CLOSE(worst(&s), 0.0, 1e-8);
  const double bad = -1.0;
  OSLA_ASSERT_ERR(osla_lsqr(&s.op, s.b, bad, NULL, s.x, &options, &r), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("LSQR: damping = -1");
  if (s.op.columns > 0) s.x[0] = 0.0;
  double *scale = osla_test_allocate((size_t)s.op.columns + 1, sizeof *scale);
  OSLA_ASSERT_ERR(osla_lsqr(&s.op, s.b, 0.0, scale, s.x, &options, &r), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("LSQR: scale[0] = 0");
  free(scale);
  if (osla_test_rank() == 0 && s.op.rows > 0) s.b[0] = INFINITY;
  OSLA_ASSERT_OK(osla_lsqr(&s.op, s.b, 0.0, NULL, s.x, &options, &r));
  CU_ASSERT(r.end == OSLA_KRYLOV_NOT_FINITE);
  close_system(&s);
  osla_transport_destroy(&t);
}

/* ---- arguments that differ between ranks ---- */

/* Options that differ on one rank are refused. With different limits, ranks would wait for one
 * another. */
static void test_other_options(void)
{
  osla_transport *t = osla_test_transport();
  system_ s = open_system(t, SPARSE_GRID, 100, 100);
  const bool other = osla_test_rank() > 0 && osla_test_rank() == osla_test_size() - 1;
  const osla_krylov_options options[] = {{.tolerance = other ? 0.1 : 0.01},
                                         {.iterations = other ? 2 : 3}};
  const char *const names[] = {"tolerance is 0.01 on rank 0, but 0.10000000000000001 on rank ",
                               "iterations is 3 on rank 0, but 2 on rank "};
  osla_krylov_result r;
  for (int i = 0; i < 2 && osla_test_size() > 1; i++) {
    OSLA_ASSERT_ERR(osla_cg(&s.op, NULL, s.b, s.x, &options[i], &r), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("osla_cg: ");
    OSLA_ASSERT_TEXT(names[i]);
    OSLA_ASSERT_SAME_TEXT();
    OSLA_ASSERT_ERR(osla_lsqr(&s.op, s.b, 0.0, NULL, s.x, &options[i], &r), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("osla_lsqr: ");
    OSLA_ASSERT_TEXT(names[i]);
  }
  if (osla_test_size() > 1) {
    OSLA_ASSERT_ERR(osla_lsqr(&s.op, s.b, other ? 1.0 : 2.0, NULL, s.x, NULL, &r), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("osla_lsqr: damping is 2 on rank 0, but 1 on rank ");
  }
  close_system(&s);
  osla_transport_destroy(&t);
}

/* ---- numbers near the ends of the range of double ---- */

typedef enum range_solver {
  BY_CG,
  BY_CG_JACOBI,
  BY_LSQR,
  BY_LSQR_DAMPED,
  BY_LSQR_SCALED
} range_solver;

enum { RANGE_N = 100 };

/* Solves 2^of_a A x = 2^of_b b from x = 0 by the solver `by`. x [out]: this rank's part, followed
 * by zeros. */
static osla_krylov_result solve_at(osla_transport *t, range_solver by, int of_a, int of_b,
                                   double x[RANGE_N])
{
  const osla_krylov_options options = {.tolerance = 1e-12, .iterations = 500};
  osla_krylov_result r;
  sparse_model m = sparse_model_make(SPARSE_GRID, RANGE_N, RANGE_N, false);
  memset(x, 0, RANGE_N * sizeof *x);
  for (int64_t e = 0; e < m.first[m.m]; e++)
    m.value[e] = ldexp(m.value[e], of_a);
  osla_csr *a = sparse_model_matrix(t, &m);
  const osla_operator op = osla_csr_operator(a);
  double *b = osla_test_allocate((size_t)op.rows + 1, sizeof *b);
  double *scale = osla_test_allocate((size_t)op.rows + 1, sizeof *scale);
  for (int64_t i = 0; i < op.rows; i++) {
    b[i] = ldexp((double)(1 + (m.row_start[osla_test_rank()] + i) % 7), of_b);
    scale[i] = ldexp(1.0 / (double)(1 + i % 4), -of_a);
  }
  if (by == BY_CG) OSLA_ASSERT_OK(osla_cg(&op, NULL, b, x, &options, &r));
  if (by == BY_CG_JACOBI) {
    osla_jacobi *j;
    OSLA_ASSERT_OK(osla_jacobi_create(a, 1, 0.0, &j));
    const osla_preconditioner inverse = osla_jacobi_use(j);
    OSLA_ASSERT_OK(osla_cg(&op, &inverse, b, x, &options, &r));
    osla_jacobi_destroy(&j);
  }
  if (by >= BY_LSQR)
    OSLA_ASSERT_OK(osla_lsqr(&op, b, by == BY_LSQR_DAMPED ? ldexp(0.7, of_a) : 0.0,
                             by == BY_LSQR_SCALED ? scale : NULL, x, &options, &r));
  free(b);
  free(scale);
  OSLA_ASSERT_OK(osla_csr_destroy(&a));
  sparse_model_free(&m);
  return r;
}

/* On each rank the matrix is diag(1 .. 6) times `size`; the preconditioner multiplies by `size`
 * only. */
enum { DIAGONAL_N = 6 };

static osla_err multiply_diagonal(void *size, osla_trans op, const double *x, double beta,
                                  double *y)
{
  (void)op;
  for (int64_t i = 0; i < DIAGONAL_N; i++)
    y[i] = (double)(i + 1) * *(const double *)size * x[i] + (beta == 0.0 ? 0.0 : beta * y[i]);
  return OSLA_OK;
}

static osla_err multiply_size(void *size, const double *r, double *z)
{
  for (int64_t i = 0; i < DIAGONAL_N; i++)
    z[i] = *(const double *)size * r[i];
  return OSLA_OK;
}

/* A, the preconditioner M and x have very different magnitudes, M is far from the inverse of A, and
 * on rank 0 x is 2^-1000 times as large as on other ranks. */
static void test_far_sizes(void)
{
  const double sizes[][3] = {{1, 1, 1},           {1, 1e90, 1e-234},       {1, 1e100, 1e-220},
                             {1, 1e-100, 1e220},  {1, 1e-300, 1},          {1e300, 1e300, 1},
                             {4e-320, 1, 1},      {1e300, 1e-300, 1e-100}, {1, 1, 2.8e150},
                             {1, 1e-150, 2.8e150}};
  osla_transport *t = osla_test_transport();
  const osla_krylov_options options = {.tolerance = 1e-12};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    double a = sizes[k][0], m = sizes[k][1], x[DIAGONAL_N] = {0}, b[DIAGONAL_N];
    const bool is_small = osla_test_size() > 1 && osla_test_rank() == 0;
    const double own = is_small ? sizes[k][2] * 0x1p-1000 : sizes[k][2];
    const osla_operator op = {t, DIAGONAL_N, DIAGONAL_N, multiply_diagonal, &a};
    const osla_preconditioner by = {multiply_size, &m};
    osla_krylov_result r;
    for (int i = 0; i < DIAGONAL_N; i++)
      b[i] = (double)(i + 1) * a * own;
    for (int solver = 0; solver < 3; solver++) {
      memset(x, 0, sizeof x);
      OSLA_ASSERT_OK(solver == 2 ? osla_lsqr(&op, b, 0.0, NULL, x, &options, &r)
                                 : osla_cg(&op, solver == 0 ? NULL : &by, b, x, &options, &r));
      OSLA_ASSERT_MSG(r.end == OSLA_KRYLOV_CONVERGED, "case %zu, solver %d: end %d", k, solver,
                      r.end);
      for (int i = 0; i < DIAGONAL_N; i++)
        OSLA_ASSERT_MSG(fabs(x[i] - own) <= 1e-9 * sizes[k][2], "case %zu, solver %d: x %g, not %g",
                        k, solver, x[i], own);
    }
  }
  osla_transport_destroy(&t);
}

/* With a damping much larger than |A|, x is A^T b / damping^2. */
static void test_large_damping(void)
{
  osla_transport *t = osla_test_transport();
  system_ s = open_system(t, SPARSE_GRID, 100, 100);
  double *expected = osla_test_allocate((size_t)s.op.rows + 1, sizeof *expected);
  osla_krylov_result r;
  OSLA_ASSERT_OK(osla_spmv(OSLA_TRANS, s.a, s.b, 0.0, expected));
  for (int64_t i = 0; i < s.op.rows; i++)
    s.b[i] = ldexp(s.b[i], 600);
  OSLA_ASSERT_OK(osla_lsqr(&s.op, s.b, 0x1p513, NULL, s.x, NULL, &r)); /* 2.7e154 */
  CU_ASSERT(r.end == OSLA_KRYLOV_CONVERGED);
  for (int64_t j = 0; j < s.op.columns; j++)
    OSLA_ASSERT_CLOSE(ldexp(s.x[j], 2 * 513 - 600), expected[j], 1e-9);
  free(expected);
  close_system(&s);
  osla_transport_destroy(&t);
}

/* Multiplying A and b by powers of two changes neither x nor the number of steps, except for the
 * rounding of hypot, which depends on the size of its arguments. */
static void test_range(void)
{
  /* 2^508 is 3e152, and 2^-565 is 1e-170. The last two cases are near the ends of the range of
   * double. */
  const int of[][2] = {{0, -565},   {508, 0},    {-525, 0},    {-565, -565},
                       {-565, 300}, {700, -200}, {1018, 1016}, {-900, -1020}};
  enum { N_OF = sizeof of / sizeof *of };
  osla_transport *t = osla_test_transport();
  double usual[RANGE_N], x[RANGE_N];
  for (range_solver by = BY_CG; by <= BY_LSQR_SCALED; by++) {
    const osla_krylov_result expected = solve_at(t, by, 0, 0, usual);
    CU_ASSERT(expected.end == OSLA_KRYLOV_CONVERGED && expected.iterations > 5);
    for (int i = 0; i < N_OF; i++) {
      const osla_krylov_result r = solve_at(t, by, of[i][0], of[i][1], x);
      OSLA_ASSERT_MSG(r.end == OSLA_KRYLOV_CONVERGED &&
                        llabs(r.iterations - expected.iterations) <= 1,
                      "solver %d, A of 2^%d, b of 2^%d: end %d after %d iterations, not %d", by,
                      of[i][0], of[i][1], r.end, (int)r.iterations, (int)expected.iterations);
      OSLA_ASSERT_CLOSE(ldexp(r.residual, -of[i][1]), expected.residual, 1e-8);
      for (int64_t j = 0; j < RANGE_N; j++)
        OSLA_ASSERT_CLOSE(ldexp(x[j], of[i][0] - of[i][1]), usual[j], 1e-9);
    }
    /* x would overflow with (-600, 600), and underflow with (600, -600) */
    CU_ASSERT(solve_at(t, by, -600, 600, x).end == OSLA_KRYLOV_NOT_FINITE);
    CU_ASSERT(solve_at(t, by, 600, -600, x).end == OSLA_KRYLOV_NOT_FINITE);
  }
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {{"CG", test_cg},
                                       {"ends of CG", test_cg_ends},
                                       {"LSQR", test_lsqr},
                                       {"LSQR, square", test_lsqr_square},
                                       {"options that differ by rank", test_other_options},
                                       {"ends of the range of double", test_range},
                                       {"sizes far from one another", test_far_sizes},
                                       {"damping that is far larger than A", test_large_damping},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_krylov, cases);
