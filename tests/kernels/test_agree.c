/* Tests of arguments of matrix calls and dense kernels that are wrong on one rank only. All ranks
 * must refuse the call, with the message of that rank, or with the message that the argument
 * differs between ranks. */
#include "osla_chol.h"
#include "osla_gemm.h"
#include "osla_lu.h"
#include "osla_solve.h"
#include "tests/osla_test_help.h"

enum { N = 12, NB = 4 };

/* Asserts that the call fails on all ranks together, and that every message contains `part`. */
#define REFUSED(call, code, part)                                                                  \
  do {                                                                                             \
    OSLA_ASSERT_ERR(call, code);                                                                   \
    OSLA_ASSERT_TEXT(part);                                                                        \
    OSLA_ASSERT_SAME_TEXT();                                                                       \
  } while (0)

typedef struct matrices {
  osla_transport *t;
  osla_matrix *a, *b, *x, *wide, *square; /* n x n, n x 2, n x 2, n x 3, n x n */
} matrices;

/* Expected message for a wrong argument that must be equal on all ranks: `alone` if there is one
 * rank, `among_several` (the argument differs between ranks) otherwise. */
static const char *wrong(const char *alone, const char *among_several)
{
  return osla_test_size() == 1 ? alone : among_several;
}

static matrices make(void)
{
  matrices m = {.t = osla_test_transport()};
  m.a = osla_test_make(m.t, 0, OSLA_DOUBLE, N, N, NB, NB);
  osla_grid *grid = osla_matrix_grid(m.a);
  OSLA_ASSERT_OK(osla_matrix_create(grid, OSLA_DOUBLE, N, 2, NB, 1, &m.b));
  OSLA_ASSERT_OK(osla_matrix_create(grid, OSLA_DOUBLE, N, 2, NB, 1, &m.x));
  OSLA_ASSERT_OK(osla_matrix_create(grid, OSLA_DOUBLE, N, 3, NB, 1, &m.wide));
  OSLA_ASSERT_OK(osla_matrix_create(grid, OSLA_DOUBLE, N, N, NB, NB, &m.square));
  OSLA_ASSERT_OK(osla_matrix_fill(m.a, OSLA_FILL_SPD, 1));
  OSLA_ASSERT_OK(osla_matrix_fill(m.b, OSLA_FILL_UNIFORM, 2));
  return m;
}

static void drop(matrices *m)
{
  osla_matrix_destroy(&m->b);
  osla_matrix_destroy(&m->x);
  osla_matrix_destroy(&m->wide);
  osla_matrix_destroy(&m->square);
  osla_test_destroy(m->a);
  osla_transport_destroy(&m->t);
}

static void check_matrices(const matrices *m, bool odd)
{
  double value;
  REFUSED(osla_matrix_norm(m->a, odd ? (osla_norm)9 : OSLA_NORM_ONE, &value), OSLA_ERR_ARG, "9");
  REFUSED(osla_matrix_norm(m->a, odd ? (osla_norm)9 : OSLA_NORM_FRO, &value), OSLA_ERR_ARG, "9");
  REFUSED(osla_matrix_norm(m->a, odd ? (osla_norm)-1 : OSLA_NORM_INF, &value), OSLA_ERR_ARG, "-1");
  REFUSED(osla_matrix_fill(m->x, odd ? (osla_fill)77 : OSLA_FILL_ZERO, 0), OSLA_ERR_ARG, "77");
  REFUSED(osla_matrix_copy(m->b, odd ? m->wide : m->x), OSLA_ERR_ARG,
          wrong("12 x 3", "dest.n is "));
  REFUSED(osla_matrix_mirror(m->a, odd ? OSLA_GENERAL : OSLA_LOWER), OSLA_ERR_ARG,
          wrong("uplo = 2", "from is "));
  REFUSED(osla_matrix_transpose(odd ? OSLA_NOTRANS : OSLA_TRANS, m->a, m->a), OSLA_ERR_ARG, "");
}

static void check_products(const matrices *m, bool odd)
{
  const osla_gemm_options narrow = {.panel = -3};
  osla_part a = osla_whole(m->a), b = osla_whole(m->b), x = osla_whole(m->x);
  REFUSED(osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, 1.0, a, b, 0.0, x, odd ? &narrow : NULL),
          OSLA_ERR_ARG, "-3");
  REFUSED(osla_syrk(odd ? OSLA_GENERAL : OSLA_LOWER, OSLA_NOTRANS, 1.0, b, 0.0, a, NULL),
          OSLA_ERR_ARG, wrong("uplo = 2", "uplo is "));
}

static void check_factors(const matrices *m, bool odd)
{
  int64_t info, ipiv[N];
  osla_lu_result result;
  osla_uplo lower = odd ? OSLA_GENERAL : OSLA_LOWER;
  REFUSED(osla_potrf(lower, m->a, NULL, &info), OSLA_ERR_ARG, wrong("uplo = 2", "uplo is "));
  REFUSED(osla_potrf(OSLA_UPPER, m->a, &(osla_chol_options){.look_ahead = odd ? 3 : 1}, &info),
          OSLA_ERR_ARG, wrong("look_ahead = 3", "look_ahead is "));
  REFUSED(osla_getrf(m->a, ipiv, &(osla_lu_options){.look_ahead = odd ? 3 : 1}, &result),
          OSLA_ERR_ARG, wrong("look_ahead = 3", "look_ahead is "));
}

static void check_solves(const matrices *m, bool odd)
{
  double rcond, anorm = odd ? -4.0 : 1.0, x[2 * N] = {0};
  osla_uplo lower = odd ? OSLA_GENERAL : OSLA_LOWER;
  osla_factors f = osla_factors_cholesky(m->a, OSLA_LOWER);
  osla_refine_options o = {.target = odd ? -5.0 : 1.0};
  osla_matrix *b = odd ? m->a : m->square;
  REFUSED(osla_trsm(OSLA_LEFT, lower, OSLA_NOTRANS, OSLA_UNIT, 1.0, m->a, m->b), OSLA_ERR_ARG,
          wrong("uplo = 2", "uplo is "));
  REFUSED(osla_trsm(OSLA_LEFT, OSLA_LOWER, OSLA_TRANS, OSLA_UNIT, 2.0, m->a, b), OSLA_ERR_ARG,
          "one matrix");
  REFUSED(osla_potrs(lower, m->a, m->b), OSLA_ERR_ARG, wrong("uplo = 2", "uplo is "));
  REFUSED(osla_potrs(OSLA_UPPER, m->a, b), OSLA_ERR_ARG, "one matrix");
  REFUSED(osla_getrs(OSLA_NOTRANS, m->a, NULL, b), OSLA_ERR_ARG, "one matrix");
  REFUSED(osla_potrs_replicated(OSLA_LOWER, m->a, 2, x, odd ? 1 : N), OSLA_ERR_ARG, "ldx = 1");
  REFUSED(osla_pocon(OSLA_LOWER, m->a, anorm, &rcond), OSLA_ERR_ARG, "-4");
  REFUSED(osla_pocon(lower, m->a, 1.0, &rcond), OSLA_ERR_ARG, wrong("uplo = 2", "uplo is "));
  REFUSED(osla_chol_logdet(lower, m->a, &rcond), OSLA_ERR_ARG, wrong("uplo = 2", "uplo is "));
  REFUSED(osla_gecon(m->a, NULL, anorm, &rcond), OSLA_ERR_ARG, "-4");
  REFUSED(osla_refine(m->a, &f, m->b, m->x, &o, NULL), OSLA_ERR_ARG, "-5");
  REFUSED(osla_gesv_mixed(m->a, m->b, odd ? m->wide : m->x, NULL, NULL), OSLA_ERR_ARG, "X 3");
  REFUSED(osla_posv_mixed(lower, m->a, m->b, m->x, NULL, NULL), OSLA_ERR_ARG, "uplo = 2");
}

/* Checks by a factorisation and a solve that the matrices are still usable. */
static void check_result(const matrices *m)
{
  int64_t info;
  double residual;
  osla_matrix *factor = NULL;
  OSLA_ASSERT_OK(osla_matrix_create(osla_matrix_grid(m->a), OSLA_DOUBLE, N, N, NB, NB, &factor));
  OSLA_ASSERT_OK(osla_matrix_copy(m->a, factor));
  OSLA_ASSERT_OK(osla_matrix_copy(m->b, m->x));
  OSLA_ASSERT_OK(osla_potrf(OSLA_LOWER, factor, NULL, &info));
  OSLA_ASSERT_OK(osla_potrs(OSLA_LOWER, factor, m->x));
  OSLA_ASSERT_OK(osla_residual(m->a, m->x, m->b, &residual));
  OSLA_ASSERT_CLOSE(residual, 0.0, 10.0);
  osla_matrix_destroy(&factor);
}

static void run(void (*check)(const matrices *m, bool odd))
{
  int rank = osla_test_rank(), last = osla_test_size() - 1;
  matrices m = make();
  check(&m, rank == last);
  if (last > 0) check(&m, rank == 0);
  check_result(&m);
  drop(&m);
}

static void test_matrices(void)
{
  run(check_matrices);
}

static void test_products(void)
{
  run(check_products);
}

static void test_factors(void)
{
  run(check_factors);
}

static void test_solves(void)
{
  run(check_solves);
}

static const osla_test_case cases[] = {
  {"matrices", test_matrices},
  {"products", test_products},
  {"factors", test_factors},
  {"solves", test_solves},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_agree, cases);
