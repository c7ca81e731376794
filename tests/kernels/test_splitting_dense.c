/* Tests of dense systems that are solved as fixed-point iterations, on all grids and in all modes.
 * Ranks read rows by one-sided access, from one stored triangle or from the whole matrix. */
#include "osla_chol.h"
#include "osla_hessian.h"
#include "osla_random.h"
#include "osla_solve.h"
#include "osla_splitting.h"
#include "tests/osla_test_help.h"

#include <math.h>
#include <stdlib.h>

/* A matrix of order n of which `uplo` is stored. Elements outside the stored triangle of a
 * symmetric matrix are NaN. */
typedef struct element_of {
  int64_t n;
  osla_uplo uplo;
  bool symmetric;
  bool cyclic; /* the largest elements are beside the diagonal, so LU must interchange rows */
} element_of;

/* Element (i, j) of a random matrix that is strictly diagonally dominant: one element of each row
 * is n + 1, and the magnitudes of all others sum to at most n - 1. */
static double true_element(const element_of *e, int64_t i, int64_t j)
{
  if (j == (e->cyclic ? i / 3 * 3 + (i + 1) % 3 : i)) return (double)e->n + 1.0;
  const int64_t low = i > j || !e->symmetric ? i : j, high = i > j || !e->symmetric ? j : i;
  return (double)osla_test_choose(11, low * e->n + high, 17) / 8.0 - 1.0;
}

static double stored_element(int64_t i, int64_t j, void *arg)
{
  const element_of *e = arg;
  if ((e->uplo == OSLA_LOWER && j > i) || (e->uplo == OSLA_UPPER && i > j)) return NAN;
  return true_element(e, i, j);
}

static double solution(int64_t i)
{
  return (double)osla_test_choose(5, i, 9) - 4.0;
}

typedef struct problem {
  osla_transport *t;
  element_of e;
  osla_matrix *a;
  int64_t first, rows;
  double *b;
} problem;

static int64_t *even_blocks(int64_t n)
{
  int64_t *start = osla_test_allocate((size_t)osla_test_size() + 1, sizeof *start);
  osla_even_blocks(n, osla_test_size(), start);
  return start;
}

static problem make_problem(osla_transport *t, int which, element_of e, int64_t block)
{
  problem p = {.t = t, .e = e};
  int64_t *start = even_blocks(e.n);
  p.first = start[osla_test_rank()];
  p.rows = start[osla_test_rank() + 1] - p.first;
  free(start);
  p.a = osla_test_make(t, which, OSLA_DOUBLE, e.n, e.n, block, block);
  OSLA_ASSERT_OK(osla_matrix_fill_with(p.a, stored_element, &p.e));
  p.b = osla_test_allocate((size_t)p.rows + 1, sizeof *p.b);
  for (int64_t i = 0; i < p.rows; i++)
    for (int64_t j = 0; j < e.n; j++)
      p.b[i] += true_element(&e, p.first + i, j) * solution(j);
  return p;
}

static void free_problem(problem *p)
{
  osla_test_destroy(p->a);
  free(p->b);
}

/* Solves a system from x = 0. Returns the largest number of sweeps that a rank made. */
static int64_t solve(const problem *p, osla_splitting_options o, int mode)
{
  osla_splitting *split;
  osla_iteration *it;
  osla_iterate_result r = {0};
  osla_iterate_options how = {0};
  how.mode = (osla_iterate_mode)mode;
  how.tolerance = 1e-11;
  how.check = 1;
  if (!OSLA_ASSERT_OK(osla_splitting_create_dense(p->e.uplo, p->a, p->b, &o, &split))) return 0;
  const osla_fixed_point f = osla_splitting_problem(split);
  double *x = osla_test_allocate((size_t)f.length + 1, sizeof *x), error = 0.0, alpha = 0.0;
  OSLA_ASSERT_OK(osla_iteration_create(p->t, &f, &how, &it));
  if (o.block == 1) {
    OSLA_ASSERT_OK(osla_iterate_bound(it, 20, &alpha));
    OSLA_ASSERT_MSG(alpha < 1.0 && (p->e.n <= 1 || alpha > 0.0), "alpha %g", alpha);
  }
  OSLA_ASSERT_OK(osla_iterate(it, x, &r));
  OSLA_ASSERT_MSG(r.end == OSLA_ITERATE_CONVERGED, "n %lld, block %lld, mode %d: %s",
                  (long long)p->e.n, (long long)o.block, mode, osla_iterate_end_name(r.end));
  for (int64_t i = 0; i < p->rows; i++)
    error = fmax(error, fabs(x[i] - solution(p->first + i)));
  OSLA_ASSERT_MSG(error <= 1e-9, "n %lld, block %lld, mode %d: error %g", (long long)p->e.n,
                  (long long)o.block, mode, error);
  if (o.block == 1) OSLA_ASSERT_MSG(error <= r.error + 1e-14, "%g above %g", error, r.error);
  free(x);
  osla_iteration_destroy(&it);
  osla_splitting_destroy(&split);
  return r.most;
}

/* Tests orders that are not multiples of the block size, n = 1, n = 0, and fewer rows than ranks.
 * The blocks of the matrix have another size than those of the splitting. */
static void test_sizes(void)
{
  const int64_t n_of[] = {0, 1, 3, 37};
  const osla_uplo kept[] = {OSLA_LOWER, OSLA_UPPER, OSLA_GENERAL};
  osla_transport *t = osla_test_transport();
  for (int i = 0; i < 4; i++)
    for (int u = 0; u < 3; u++)
      for (int mode = OSLA_ITERATE_ASYNC; mode <= OSLA_ITERATE_SYNC; mode++) {
        problem p = make_problem(t, 0, (element_of){n_of[i], kept[u], true, false}, 5);
        const int64_t all = solve(&p, (osla_splitting_options){.block = INT64_MAX}, mode);
        (void)solve(&p, (osla_splitting_options){.block = 1}, mode);
        (void)solve(&p, (osla_splitting_options){.block = 3, .factor = OSLA_SPLITTING_LU}, mode);
        if (mode == OSLA_ITERATE_SYNC && osla_test_size() == 1) CU_ASSERT(all <= 2);
        free_problem(&p);
      }
  osla_transport_destroy(&t);
}

/* Tests matrices so large that the stored triangle is transposed in strips of 128 rows, and
 * unsymmetric matrices with LU, on all grids. */
static void test_grids(void)
{
  osla_transport *t = osla_test_transport();
  for (int which = 0; which < osla_test_n_grids(t); which++) {
    problem p = make_problem(t, which, (element_of){301, OSLA_LOWER, true, false}, 16);
    (void)solve(&p, (osla_splitting_options){.block = INT64_MAX}, OSLA_ITERATE_ASYNC);
    free_problem(&p);
    p = make_problem(t, which, (element_of){41, OSLA_GENERAL, false, false}, 7);
    (void)solve(&p, (osla_splitting_options){.block = INT64_MAX, .factor = OSLA_SPLITTING_LU},
                OSLA_ITERATE_SYNC);
    (void)solve(&p, (osla_splitting_options){.block = INT64_MAX, .factor = OSLA_SPLITTING_LU},
                OSLA_ITERATE_ASYNC);
    free_problem(&p);
  }
  osla_transport_destroy(&t);
}

/* Each rank has two blocks of three rows, in which LU must interchange rows. */
static void test_pivots(void)
{
  const element_of cyclic = {6 * osla_test_size(), OSLA_GENERAL, false, true};
  osla_transport *t = osla_test_transport();
  problem p = make_problem(t, 0, cyclic, 4);
  for (int mode = OSLA_ITERATE_ASYNC; mode <= OSLA_ITERATE_SYNC; mode++) {
    (void)solve(&p, (osla_splitting_options){.block = 3, .factor = OSLA_SPLITTING_LU}, mode);
    (void)solve(&p, (osla_splitting_options){.block = INT64_MAX, .factor = OSLA_SPLITTING_LU},
                mode);
  }
  free_problem(&p);
  osla_transport_destroy(&t);
}

/* ---- an accumulated Hessian, and its Cholesky factor ---- */

enum { UNKNOWNS = 45, SHARE = 3 };

static void assemble(osla_hessian *h)
{
  const int size = osla_test_size();
  for (int64_t i = osla_test_rank(); i < UNKNOWNS; i += size) {
    const int64_t ix[SHARE] = {i, (i + 7) % UNKNOWNS, (i + 20) % UNKNOWNS};
    const double g[SHARE] = {1.0, -0.5, 0.25}, damping = 2.0;
    OSLA_ASSERT_OK(osla_hessian_update(h, SHARE, ix, 1, g, 1));
    OSLA_ASSERT_OK(osla_hessian_update(h, 1, &i, 1, &damping, 1));
    OSLA_ASSERT_OK(osla_hessian_update_gradient(h, SHARE, ix, (const double[]){1.0, 2.0, 3.0}));
  }
  OSLA_ASSERT_OK(osla_hessian_commit(h));
}

static double gradient_element(int64_t i, int64_t j, void *arg)
{
  return ((const double *)arg)[i + j];
}

/* Solves with an accumulated Hessian H by an iteration, then factors H in place and solves by
 * osla_potrs. */
static void test_hessian(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = osla_test_square_grid(t);
  osla_hessian *hessian;
  osla_matrix *h, *direct;
  osla_splitting *split;
  osla_iteration *it;
  osla_iterate_result r;
  osla_iterate_options how = {0};
  const osla_splitting_options all = {.block = INT64_MAX};
  int64_t *start = even_blocks(UNKNOWNS), info;
  const int64_t first = start[osla_test_rank()], rows = start[osla_test_rank() + 1] - first;
  double x[UNKNOWNS] = {0}, exact[UNKNOWNS];
  how.tolerance = 1e-12;

  OSLA_ASSERT_OK(osla_hessian_create(grid, UNKNOWNS, NULL, &hessian));
  assemble(hessian);
  const double *gradient = osla_hessian_gradient(hessian);
  OSLA_ASSERT_OK(osla_hessian_matrix(hessian, &h));
  OSLA_ASSERT_OK(osla_splitting_create_dense(OSLA_LOWER, h, gradient + first, &all, &split));
  const osla_fixed_point f = osla_splitting_problem(split);
  OSLA_ASSERT_OK(osla_iteration_create(t, &f, &how, &it));
  OSLA_ASSERT_OK(osla_iterate(it, x, &r));
  CU_ASSERT(r.end == OSLA_ITERATE_CONVERGED);

  OSLA_ASSERT_OK(
    osla_matrix_create(grid, OSLA_DOUBLE, UNKNOWNS, 1, osla_matrix_layout(h).nb, 1, &direct));
  OSLA_ASSERT_OK(osla_matrix_fill_with(direct, gradient_element, (void *)(uintptr_t)gradient));
  OSLA_ASSERT_OK(osla_potrf(OSLA_LOWER, h, NULL, &info));
  OSLA_ASSERT_OK(osla_potrs(OSLA_LOWER, h, direct));
  OSLA_ASSERT_OK(osla_barrier(t));
  OSLA_ASSERT_OK(osla_matrix_get_block(direct, 0, 0, UNKNOWNS, 1, exact, UNKNOWNS));
  for (int64_t i = 0; i < rows; i++)
    OSLA_ASSERT_CLOSE(x[i], exact[first + i], 1e-10);
  free(start);
  osla_iteration_destroy(&it);
  osla_splitting_destroy(&split);
  OSLA_ASSERT_OK(osla_barrier(t));
  osla_matrix_destroy(&direct);
  osla_hessian_destroy(&hessian);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* ---- dense matrices that are refused ---- */

static double ones(int64_t i, int64_t j, void *arg)
{
  (void)arg;
  return i == j || i + j == 1 ? 1.0 : 0.0;
}

static void test_refused(void)
{
  osla_transport *t = osla_test_transport();
  const osla_splitting_options lu = {.block = INT64_MAX, .factor = OSLA_SPLITTING_LU},
                               cholesky = {.block = INT64_MAX};
  const double b[10] = {0.0};
  osla_splitting *split;
  osla_matrix *a = osla_test_make(t, 0, OSLA_DOUBLE, 5, 6, 2, 2);
  OSLA_ASSERT_ERR(osla_splitting_create_dense(OSLA_GENERAL, a, b, NULL, &split), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("the matrix is not square: 5 x 6");
  osla_test_destroy(a);
  a = osla_test_make(t, 0, OSLA_FLOAT, 5, 5, 2, 2);
  OSLA_ASSERT_ERR(osla_splitting_create_dense(OSLA_GENERAL, a, b, NULL, &split), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("type s");
  osla_test_destroy(a);
  /* two rows for each rank; those of rank 0 are equal, so that their block is singular */
  const int64_t n = 2 * osla_test_size();
  a = osla_test_make(t, 0, OSLA_DOUBLE, n, n, 2, 2);
  OSLA_ASSERT_ERR(osla_splitting_create_dense((osla_uplo)5, a, b, NULL, &split), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("uplo = 5 is not an osla_uplo");
  OSLA_ASSERT_ERR(osla_splitting_create_dense(OSLA_LOWER, a, b, NULL, &split), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("the diagonal element of row 0 is 0");
  OSLA_ASSERT_OK(osla_matrix_fill_with(a, ones, NULL));
  OSLA_ASSERT_ERR(osla_splitting_create_dense(OSLA_GENERAL, a, b, &lu, &split), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("the block of rows 0 to 1 is singular (pivot 2)");
  OSLA_ASSERT_SAME_TEXT();
  CU_ASSERT(split == NULL);
  OSLA_ASSERT_ERR(osla_splitting_create_dense(OSLA_UPPER, a, b, &cholesky, &split), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("the block of rows 0 to 1 is not positive definite");
  osla_test_destroy(a);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {{"sizes", test_sizes},     {"grids", test_grids},
                                       {"pivots", test_pivots},   {"hessian", test_hessian},
                                       {"refused", test_refused}, {NULL, NULL}};
OSLA_TEST_SUITE(test_splitting_dense, cases);
