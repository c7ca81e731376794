/* Tests factors of Global Arrays and solves with them: against GA_Lu_solve and GA_Llt_solve, and
 * by the scaled residual |b - A x| / ((|A| |x| + |b|) n eps) in maximum norms, which must be of
 * order 1. */
#include "osla_chol.h"
#include "tests/adaptors/ga_help.h"

#include <complex.h>
#include <float.h>
#include <ga.h>
#include <inttypes.h>
#include <macdecls.h>
#include <math.h>
#include <stdlib.h>

static const int some_block[2] = {4, 4};

/* Rule for the elements of a matrix: order and seed. */
typedef struct content {
  uint64_t seed;
  int64_t n;
  bool symmetric;
} content;

static double matrix_element(int64_t i, int64_t j, void *arg)
{
  const content *c = arg;
  uint64_t seed = c->seed;
  bool swap = c->symmetric && i < j;
  double value = ga_whole(swap ? j : i, swap ? i : j, &seed);
  return i == j ? (c->symmetric ? 16 * (double)c->n : value + 10) : value;
}

/* A linear system. Hermitian systems use only real arrays, because the imaginary part of a complex
 * array would be symmetric. */
typedef struct linear_system {
  int a, b;
  int64_t n, nrhs;
  osla_complex *a0, *b0; /* contents of the arrays a and b before the solve */
} linear_system;

static linear_system make_system(ga_kind kind, osla_dtype dtype, int64_t n, int64_t nrhs,
                                 bool symmetric)
{
  linear_system s = {.n = n, .nrhs = nrhs};
  content c = {5, n, symmetric};
  uint64_t seed = 6;
  s.a = ga_make(kind, dtype, n, n, some_block);
  s.b = ga_make(kind, dtype, nrhs, n, some_block);
  ga_fill(s.a, matrix_element, &c);
  ga_fill(s.b, ga_whole, &seed);
  s.a0 = ga_contents(s.a, matrix_element, &c);
  s.b0 = ga_contents(s.b, ga_whole, &seed);
  return s;
}

static void free_system(linear_system *s)
{
  GA_Destroy(s->a);
  GA_Destroy(s->b);
  free(s->a0);
  free(s->b0);
}

/* Element (i, j) of op(A), where A is the matrix in memory, the transpose of the array. */
static osla_complex of(const linear_system *s, char trans, int64_t i, int64_t j)
{
  osla_complex value = trans == 'n' ? s->a0[j * s->n + i] : s->a0[i * s->n + j];
  return trans == 'c' ? conj(value) : value;
}

/* Scaled residual of the solutions; each row of the array holds a solution. */
static double residual_of(const linear_system *s, char trans, double eps)
{
  osla_complex *x = ga_read(s->b);
  double worst = 0;
  for (int64_t r = 0; r < s->nrhs; r++)
    for (int64_t i = 0; i < s->n; i++) {
      osla_complex rest = s->b0[r * s->n + i];
      double scale = cabs(rest);
      for (int64_t j = 0; j < s->n; j++) {
        osla_complex term = of(s, trans, i, j) * x[r * s->n + j];
        rest -= term;
        scale += cabs(term);
      }
      double here = cabs(rest) / (scale * (double)s->n * eps);
      if (!(here <= worst)) worst = here;
    }
  free(x);
  return worst;
}

static double eps_of(osla_dtype dtype)
{
  bool narrow = dtype == OSLA_FLOAT || dtype == OSLA_COMPLEX_FLOAT;
  return narrow ? (double)FLT_EPSILON : DBL_EPSILON;
}

static void check_lu(ga_kind kind, osla_dtype dtype, char trans, int64_t n, int64_t nrhs)
{
  linear_system s = make_system(kind, dtype, n, nrhs, false);
  int64_t info = -1;
  OSLA_ASSERT_OK(osla_ga_lu_solve(trans, s.a, s.b, &info));
  double residual = residual_of(&s, trans, eps_of(dtype));
  OSLA_ASSERT_MSG(info == 0 && residual < 16,
                  "%c, %c, %s, n = %" PRId64 ": info %" PRId64 ", residual %g",
                  osla_dtype_letter(dtype), trans, ga_kind_name(kind), n, info, residual);
  CU_ASSERT(ga_count_wrong(s.a, s.a0, 0) == 0);
  free_system(&s);
}

static void test_lu_solve(void)
{
  static const char letters[] = "ntc";
  ga_start();
  for (int kind = 0; kind<GA_KINDS; kind += osla_test_size()> 2 ? 3 : 1)
    check_lu(kind, OSLA_DOUBLE, kind % 2 ? 't' : 'n', 33 + kind, kind % 3 + 1);
  for (int dtype = OSLA_FLOAT; dtype <= OSLA_COMPLEX_DOUBLE; dtype += osla_test_size() > 2 ? 3 : 1)
    check_lu(GA_REGULAR, dtype, letters[dtype % 3], 30, 2);
  check_lu(GA_REGULAR, OSLA_COMPLEX_DOUBLE, 'c', 150, 5);
  check_lu(GA_SCALAPACK, OSLA_DOUBLE, 'n', 1, 1);
}

static void test_cholesky(void)
{
  ga_start();
  for (int kind = 0; kind<GA_KINDS; kind += osla_test_size()> 2 ? 2 : 1) {
    osla_dtype dtype = kind % 2 ? OSLA_FLOAT : OSLA_DOUBLE;
    linear_system s = make_system(kind, dtype, 35 + kind, 2, true);
    int64_t info = -1;
    OSLA_ASSERT_OK(kind % 3 == 0 ? osla_ga_solve(s.a, s.b, &info)
                                 : osla_ga_llt_solve(s.a, s.b, &info));
    double residual = residual_of(&s, 'n', eps_of(dtype));
    OSLA_ASSERT_MSG(info == 0 && residual < 16, "%s: info %" PRId64 ", residual %g",
                    ga_kind_name(kind), info, residual);
    CU_ASSERT(ga_count_wrong(s.a, s.a0, 0) == 0);
    free_system(&s);
  }
}

/* Tests the factorisation of an array, the solve with the factors, and right-hand sides in a
 * vector. */
static void test_factors(void)
{
  enum { N = 137 };
  int64_t ipiv[N], info = -1, dims[1] = {N};
  ga_start();
  for (int turn = 0; turn<4; turn += osla_test_size()> 2 ? 3 : 1) {
    bool symmetric = turn % 2;
    linear_system s =
      make_system(turn < 2 ? GA_REGULAR : GA_SCALAPACK, OSLA_DOUBLE, N, 1, symmetric);
    GA_Destroy(s.b);
    s.b = NGA_Create64(C_DBL, 1, dims, "b", NULL);
    uint64_t seed = 9;
    ga_fill(s.b, ga_whole, &seed);
    free(s.b0);
    s.b0 = ga_contents(s.b, ga_whole, &seed);
    if (symmetric) {
      char uplo = turn < 2 ? 'l' : 'U';
      OSLA_ASSERT_OK(osla_ga_potrf(uplo, s.a, &info));
      OSLA_ASSERT_OK(osla_ga_potrs(uplo, s.a, s.b));
    } else {
      OSLA_ASSERT_OK(osla_ga_getrf(s.a, ipiv, &info));
      OSLA_ASSERT_OK(osla_ga_getrs('T', s.a, ipiv, s.b));
    }
    double residual = residual_of(&s, symmetric ? 'n' : 't', DBL_EPSILON);
    OSLA_ASSERT_MSG(info == 0 && residual < 16, "turn %d: info %" PRId64 ", residual %g", turn,
                    info, residual);
    CU_ASSERT(ga_count_wrong(s.a, s.a0, 0) > 0);
    free_system(&s);
  }
}

/* Tests that a kernel on the array's own memory leaves the factor in the array. */
static void test_in_place(void)
{
  int64_t info = -1;
  osla_ga_matrix *m = NULL;
  ga_start();
  linear_system s = make_system(GA_SCALAPACK, OSLA_DOUBLE, 61, 2, true);
  OSLA_ASSERT_OK(osla_ga_matrix_create(s.a, OSLA_GA_IN_PLACE, &m));
  OSLA_ASSERT_OK(osla_potrf(OSLA_LOWER, osla_ga_matrix_get(m), NULL, &info));
  CU_ASSERT(info == 0);
  OSLA_ASSERT_OK(osla_ga_matrix_store(m));
  osla_ga_matrix_destroy(&m);
  OSLA_ASSERT_OK(osla_ga_potrs('l', s.a, s.b));
  CU_ASSERT(residual_of(&s, 'n', DBL_EPSILON) < 16);
  free_system(&s);
}

/* Tests that GA's own solvers, with the same arguments, give the same result up to rounding. */
static void test_as_ga(void)
{
  int64_t info = -1;
  ga_start();
  CU_ASSERT(GA_Initialized());
  if (osla_test_size() > 2)
    return; /* ScaLAPACK's waits spin, so its solve takes half a minute if ranks outnumber cores */
  for (int turn = 0; turn < 2; turn++) {
    bool symmetric = turn == 1;
    linear_system ours = make_system(GA_REGULAR, OSLA_DOUBLE, 70, 3, symmetric);
    linear_system theirs = make_system(GA_REGULAR, OSLA_DOUBLE, 70, 3, symmetric);
    if (symmetric) {
      OSLA_ASSERT_OK(osla_ga_llt_solve(ours.a, ours.b, &info));
      CU_ASSERT(GA_Llt_solve(theirs.a, theirs.b) == 0);
    } else {
      OSLA_ASSERT_OK(osla_ga_lu_solve('n', ours.a, ours.b, &info));
      GA_Lu_solve('n', theirs.a, theirs.b);
    }
    CU_ASSERT(info == 0);
    osla_complex *x = ga_read(theirs.b);
    int64_t wrong = ga_count_wrong(ours.b, x, 1e-9);
    OSLA_ASSERT_MSG(wrong == 0, "%s: %" PRId64 " differ", symmetric ? "Cholesky" : "LU", wrong);
    free(x);
    free_system(&ours);
    free_system(&theirs);
  }
}

static double rank_one(int64_t i, int64_t j, void *arg)
{
  (void)arg;
  return i < 20 && j < 20 ? (double)(i == j) : 1;
}

static double indefinite(int64_t i, int64_t j, void *arg)
{
  (void)arg;
  return i == j ? (i == 10 ? -1 : 2) : 0;
}

/* Tests the result INFO of failed factorisations. B must be unchanged. */
static void test_failures(void)
{
  enum { N = 24 };
  int64_t ipiv[N], info = -1;
  ga_start();
  linear_system s = make_system(GA_REGULAR, OSLA_DOUBLE, N, 2, false);
  ga_fill(s.a, rank_one, NULL);
  OSLA_ASSERT_OK(osla_ga_lu_solve('n', s.a, s.b, &info));
  CU_ASSERT(info > 20);
  CU_ASSERT(ga_count_wrong(s.b, s.b0, 0) == 0);
  OSLA_ASSERT_OK(osla_ga_solve(s.a, s.b, &info));
  CU_ASSERT(info < -20);
  CU_ASSERT(ga_count_wrong(s.b, s.b0, 0) == 0);
  ga_fill(s.a, indefinite, NULL);
  OSLA_ASSERT_OK(osla_ga_llt_solve(s.a, s.b, &info));
  CU_ASSERT(info == 11);
  CU_ASSERT(ga_count_wrong(s.b, s.b0, 0) == 0);
  free(s.a0);
  s.a0 = ga_contents(s.a, indefinite, NULL);
  OSLA_ASSERT_OK(osla_ga_solve(s.a, s.b, &info));
  CU_ASSERT(info == 11);
  CU_ASSERT(residual_of(&s, 'n', DBL_EPSILON) < 16);
  ga_fill(s.a, rank_one, NULL);
  OSLA_ASSERT_OK(osla_ga_getrf(s.a, ipiv, &info));
  CU_ASSERT(info > 20);
  free_system(&s);
}

static void test_refused(void)
{
  int64_t info, ipiv[9] = {0};
  ga_start();
  int a = ga_make(GA_REGULAR, OSLA_DOUBLE, 9, 9, some_block);
  int flat = ga_make(GA_REGULAR, OSLA_DOUBLE, 9, 8, some_block);
  int single = ga_make(GA_REGULAR, OSLA_FLOAT, 2, 9, some_block);
  OSLA_ASSERT_ERR(osla_ga_lu_solve('n', a, flat, NULL), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("info is NULL");
  OSLA_ASSERT_ERR(osla_ga_matrix_store(NULL), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_ga_lu_solve('n', flat, a, &info), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("not square");
  OSLA_ASSERT_ERR(osla_ga_lu_solve('n', a, flat, &info), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("right-hand sides of 8 elements");
  OSLA_ASSERT_ERR(osla_ga_lu_solve('n', a, single, &info), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_ga_llt_solve(a, a, &info), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_ga_lu_solve('q', a, a, &info), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_ga_getrf(a, NULL, &info), OSLA_ERR_ARG);
  int b = ga_make(GA_REGULAR, OSLA_DOUBLE, 2, 9, some_block);
  /* the pivots are 0, which must be refused */
  OSLA_ASSERT_ERR(osla_ga_getrs('n', a, ipiv, b), OSLA_ERR_ARG);
  OSLA_ASSERT_SAME_TEXT();
  GA_Destroy(a);
  GA_Destroy(b);
  GA_Destroy(flat);
  GA_Destroy(single);
}

static void test_terminate(void)
{
  ga_start();
  osla_ga_terminate();
  CU_ASSERT(!GA_Initialized());
}

static const osla_test_case cases[] = {
  {"lu_solve", test_lu_solve}, {"cholesky", test_cholesky},   {"factors", test_factors},
  {"in_place", test_in_place}, {"as_ga", test_as_ga},         {"failures", test_failures},
  {"refused", test_refused},   {"terminate", test_terminate}, {NULL, NULL}};
OSLA_TEST_SUITE(test_ga_solve, cases);
