/* Tests that the local layout of a matrix is ScaLAPACK's. ScaLAPACK's own grids (row- and
 * column-major), descriptors, norms and element access are used on a wrapped matrix. */
#include "../bench/scalapack_calls.h"
#include "osla_matrix.h"
#include "osla_random.h"
#include "tests/osla_test_help.h"

#include <inttypes.h>
#include <stdlib.h>

/* ScaLAPACK and BLACS have no C header. Fortran passes the lengths of character arguments last. */
void pdelset_(double *a, const int *i, const int *j, const int *desc, const double *value);
void pdelget_(const char *scope, const char *topology, double *value, const double *a, const int *i,
              const int *j, const int *desc, size_t, size_t);
double pdlange_(const char *norm, const int *m, const int *n, const double *a, const int *i,
                const int *j, const int *desc, double *work, size_t);

static const int zero = 0, one = 1;

/* A matrix that ScaLAPACK has distributed. */
typedef struct reference {
  int context, nprow, npcol, prow, pcol;
  int m, n, mb, nb, lld, desc[9];
  double *local;
} reference;

static double element(int i, int j)
{
  return osla_random_uniform(5, (uint64_t)i, (uint64_t)j);
}

/* The ranks of the grid set every element by ScaLAPACK's pdelset. */
static void distribute(reference *r)
{
  if (r->prow < 0) return;
  int rows = numroc_(&r->m, &r->mb, &r->prow, &zero, &r->nprow), info = 0;
  int cols = numroc_(&r->n, &r->nb, &r->pcol, &zero, &r->npcol);
  r->lld = rows + 2 > 1 ? rows + 2 : 1;
  r->local = calloc((size_t)(r->lld * cols) + 1, sizeof *r->local);
  descinit_(r->desc, &r->m, &r->n, &r->mb, &r->nb, &zero, &zero, &r->context, &r->lld, &info);
  CU_ASSERT(info == 0);
  for (int j = 1; j <= r->n; j++)
    for (int i = 1; i <= r->m; i++) {
      double value = element(i - 1, j - 1);
      pdelset_(r->local, &i, &j, r->desc, &value);
    }
}

static void compare_norms(const reference *r, osla_matrix *a)
{
  /* ScaLAPACK's letters of the norms, in the order of the enum osla_norm */
  static const char letters[] = "MOIF";
  double *work = malloc((size_t)(r->m + r->n + 1) * sizeof *work);
  for (int norm = OSLA_NORM_MAX; norm <= OSLA_NORM_FRO; norm++) {
    double ours = -1.0, theirs = -1.0;
    OSLA_ASSERT_OK(osla_matrix_norm(a, (osla_norm)norm, &ours));
    if (r->prow >= 0)
      theirs = pdlange_(&letters[norm], &r->m, &r->n, r->local, &one, &one, r->desc, work, 1);
    MPI_Allreduce(MPI_IN_PLACE, &theirs, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    OSLA_ASSERT_CLOSE(ours, theirs, 1e-13 * theirs);
  }
  free(work);
}

/* osla_matrix_get_block reads the elements that ScaLAPACK set, and pdelget_ reads those that
 * osla_matrix_put_block wrote. */
static void compare_elements(const reference *r, osla_matrix *a)
{
  osla_transport *t = osla_grid_transport(osla_matrix_grid(a));
  double *whole = malloc((size_t)(r->m * r->n) * sizeof *whole);
  int wrong = 0;
  OSLA_ASSERT_OK(osla_barrier(t));
  OSLA_ASSERT_OK(osla_matrix_get_block(a, 0, 0, r->m, r->n, whole, r->m));
  for (int k = 0; k < r->m * r->n; k++)
    if (whole[k] != element(k % r->m, k / r->m)) wrong++;
  OSLA_ASSERT_MSG(wrong == 0, "%d elements seen by get", wrong);

  OSLA_ASSERT_OK(osla_barrier(t));
  /* a range of elements that crosses blocks */
  int i = r->m / 3, j = r->n / 4, m = r->m / 2, n = r->n / 2;
  for (int k = 0; k < m * n; k++)
    whole[k] = 1000.0 + k;
  if (osla_transport_rank(t) == osla_transport_size(t) - 1)
    OSLA_ASSERT_OK(osla_matrix_put_block(a, i, j, m, n, whole, m));
  OSLA_ASSERT_OK(osla_barrier(t));
  wrong = 0;
  for (int k = 0; k < m * n && r->prow >= 0; k += 3) {
    double value = 0.0;
    int row = i + k % m + 1, col = j + k / m + 1;
    pdelget_("A", " ", &value, r->local, &row, &col, r->desc, 1, 1);
    if (value != whole[k]) wrong++;
  }
  OSLA_ASSERT_MSG(wrong == 0, "%d elements seen by pdelget", wrong);
  free(whole);
}

static void check_grid(osla_transport *t, const char *order, int nprow, int npcol)
{
  reference r = {.prow = -1, .pcol = -1, .m = 29, .n = 23, .mb = 4, .nb = 3, .lld = 1};
  osla_grid *grid = NULL;
  osla_matrix *a = NULL;
  Cblacs_get(0, 0, &r.context);
  Cblacs_gridinit(&r.context, order, nprow, npcol);
  if (r.context >= 0) Cblacs_gridinfo(r.context, &r.nprow, &r.npcol, &r.prow, &r.pcol);
  distribute(&r);
  OSLA_ASSERT_OK(osla_grid_create_at(t, nprow, npcol, r.prow, r.pcol, &grid));
  if (OSLA_ASSERT_OK(
        osla_matrix_wrap(grid, OSLA_DOUBLE, r.m, r.n, r.mb, r.nb, r.local, r.lld, &a))) {
    compare_norms(&r, a);
    compare_elements(&r, a);
    osla_matrix_destroy(&a);
  }
  osla_grid_destroy(&grid);
  free(r.local);
  if (r.prow >= 0) Cblacs_gridexit(r.context);
}

static void for_shapes(const char *order)
{
  osla_transport *t = osla_test_transport();
  int size = osla_test_size();
  check_grid(t, order, 1, size);
  if (size > 1) check_grid(t, order, size, 1);
  if (size > 2)
    check_grid(t, order, 2, size / 2); /* if the number of ranks is odd, one rank is idle */
  osla_transport_destroy(&t);
}

static void test_row_major(void)
{
  for_shapes("Row");
}

static void test_column_major(void)
{
  for_shapes("Column");
}

static const osla_test_case cases[] = {
  {"row_major", test_row_major},
  {"column_major", test_column_major},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_scalapack_layout, cases);
