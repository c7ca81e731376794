/* Test of LU with partial pivoting, compared with ScaLAPACK's pdgetrf in the same memory layout:
 * the same IPIV array on every process, and nearly the same factors. */
#include "tests/kernels/lu_reference.h"
#include "tests/osla_test_help.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ScaLAPACK and BLACS have no C header. */
void Cblacs_get(int context, int what, int *value);
void Cblacs_gridmap(int *context, int *map, int ldumap, int nprow, int npcol);
void Cblacs_gridexit(int context);
void descinit_(int *desc, const int *m, const int *n, const int *mb, const int *nb,
               const int *row_source, const int *col_source, const int *context, const int *lld,
               int *info);
void pdgetrf_(const int *m, const int *n, double *a, const int *i, const int *j, const int *desc,
              int *ipiv, int *info);

static int open_blacs(osla_grid *grid)
{
  int nprow = osla_grid_nprow(grid), npcol = osla_grid_npcol(grid), context = 0, map[16];
  for (int k = 0; k < nprow * npcol; k++)
    map[k] = osla_grid_rank_at(grid, k % nprow, k / nprow);
  Cblacs_get(-1, 0, &context);
  Cblacs_gridmap(&context, map, nprow, nprow, npcol);
  return osla_grid_prow(grid) < 0 ? -1 : context;
}

/* Factors `theirs`, a copy of A's local array, by ScaLAPACK's pdgetrf. Called only by ranks that
 * are in the grid. */
static void factor_theirs(int context, osla_matrix *a, double *theirs, int *ipiv, int *info)
{
  static const int zero = 0, one = 1;
  osla_layout l = osla_matrix_layout(a);
  int m = (int)l.m, n = (int)l.n, nb = (int)l.nb, desc[9];
  int lld = (int)osla_matrix_lld(a, osla_test_rank());
  descinit_(desc, &m, &n, &nb, &nb, &zero, &zero, &context, &lld, info);
  CU_ASSERT(*info == 0);
  pdgetrf_(&m, &n, theirs, &one, &one, desc, ipiv, info);
}

/* Computes the differences between OSLA's and ScaLAPACK's factors in units of n eps max |u|, and
 * the number of different pivots. */
static void compare(osla_matrix *a, const double *theirs, const int64_t *ipiv,
                    const int *their_ipiv)
{
  osla_layout l = osla_matrix_layout(a);
  osla_grid *grid = osla_matrix_grid(a);
  int64_t lld = osla_matrix_lld(a, osla_test_rank()), rows = osla_matrix_local_rows(a), wrong = 0;
  const double *ours = osla_matrix_local(a);
  double worst = 0.0;
  const char *label = kernel_label(a, true);
  for (int64_t i = 0; i < rows; i++) {
    int64_t row = i / l.nb * l.nb * l.nprow + osla_grid_prow(grid) * l.nb + i % l.nb;
    if (row >= lu_order(l.m, l.n) || ipiv[i] == their_ipiv[i]) continue;
    OSLA_ASSERT_MSG(wrong++ > 0, "%s: ipiv of row %" PRId64 " is %" PRId64 ", theirs %d", label,
                    row, ipiv[i], their_ipiv[i]);
  }
  for (int64_t k = 0; k < lld * osla_matrix_local_cols(a); k++) {
    double difference = k % lld < rows ? fabs(ours[k] - theirs[k]) : 0.0;
    if (!(difference <= worst)) worst = difference;
  }
  /* |A| <= 1/2, and the bound allows for the condition of the factors */
  OSLA_ASSERT_MSG(worst <= 1e-10, "%s: factors differ by %g", label, worst);
}

static void check(osla_grid *grid, int64_t m, int64_t n, int64_t nb, int look_ahead)
{
  kernel_matrix a = kernel_make(grid, OSLA_DOUBLE, m, n, nb, nb, true);
  osla_lu_options options = {.look_ahead = look_ahead};
  osla_lu_result result = {-1, -1.0, false};
  int64_t rows = osla_matrix_local_rows(a.a);
  int64_t *ipiv = osla_test_allocate(1, (size_t)rows * sizeof *ipiv);
  int *their_ipiv = osla_test_allocate(1, (size_t)(rows + nb) * sizeof *their_ipiv);
  double *theirs = osla_test_allocate(1, a.bytes);
  int context = open_blacs(grid), info = 0;
  OSLA_ASSERT_OK(osla_matrix_fill(a.a, OSLA_FILL_UNIFORM, 17));
  if (context >= 0) {
    size_t used = a.bytes - a.shift;
    if (used > 0 && osla_matrix_local(a.a)) memcpy(theirs, osla_matrix_local(a.a), used);
    factor_theirs(context, a.a, theirs, their_ipiv, &info);
    CU_ASSERT(info == 0);
  }
  OSLA_ASSERT_OK(osla_getrf(a.a, ipiv, &options, &result));
  CU_ASSERT(result.info == 0);
  if (context >= 0) {
    compare(a.a, theirs, ipiv, their_ipiv);
    Cblacs_gridexit(context);
  }
  free(ipiv), free(their_ipiv), free(theirs);
  kernel_free(&a);
}

static void test_getrf(void)
{
  static const int64_t sizes[][3] = {{40, 40, 8}, {61, 61, 7},  {53, 30, 5},
                                     {30, 53, 5}, {20, 20, 32}, {90, 90, 32}};
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g++) {
    for (int s = 0; s < 6; s++)
      if (osla_test_size() <= 2 || (g + s) % 3 == 0)
        check(grid, sizes[s][0], sizes[s][1], sizes[s][2], lu_look_ahead(s));
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {{"getrf", test_getrf}, {NULL, NULL}};
OSLA_TEST_SUITE(test_lu_scalapack, cases);
