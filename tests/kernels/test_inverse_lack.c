/* Tests of inverses in which one allocation fails on one rank, for each allocation of the call in
 * turn. All ranks must fail together with the message of that rank and leave A unchanged; or, if
 * the call can continue without the memory, the inverse is the same as usual. */
#include "osla_inverse.h"
#include "tests/failing_allocation.h"
#include "tests/kernels/kernel_reference.h"
#include "tests/osla_test_help.h"

#include <stdlib.h>

enum { N = 40, NB = 6 };

typedef struct inversion {
  osla_matrix *a;
  int64_t *ipiv;  /* pivots of the LU factors; NULL for Cholesky factors */
  dense original; /* the LU or Cholesky factors before the inversion */
  dense inverse;
} inversion;

static osla_err invert(void *arg)
{
  inversion *x = arg;
  int64_t info;
  return x->ipiv ? osla_getri(x->a, x->ipiv, NULL, &info)
                 : osla_potri(OSLA_LOWER, x->a, NULL, &info);
}

/* Makes the call while allocation `number` fails. Returns whether the call failed. *hit: whether
 * the call made that many allocations. */
static bool try_once(inversion *x, int number, int *hit)
{
  dense_scatter(&x->original, x->a);
  const osla_err err = call_with_failing_allocation(number, invert, x, hit);
  kernel_expect(x->a, err == OSLA_OK ? &x->inverse : &x->original, "allocation %d", number);
  return err != OSLA_OK;
}

/* The elements of a random matrix can be used as factors. */
static void check_each_allocation(bool lu)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = kernel_grid(t, kernel_n_grids(t) > 2 ? 1 : 0); /* a 2 x 2 grid on four ranks */
  kernel_matrix a = kernel_make(grid, OSLA_DOUBLE, N, N, NB, NB, false);
  inversion x = {.a = a.a};
  int failures = 0, hit = 1;
  OSLA_ASSERT_OK(osla_matrix_fill(a.a, OSLA_FILL_SPD, 3));
  x.original = dense_gather(a.a);
  if (lu) x.ipiv = calloc((size_t)osla_matrix_local_rows(a.a) + 1, sizeof *x.ipiv);
  osla_layout l = osla_matrix_layout(a.a);
  for (int64_t i = 0; lu && i < osla_matrix_local_rows(a.a); i++) {
    int64_t row = osla_index_global(i, NB, osla_grid_prow(grid), l.nprow);
    /* pivot: each row is interchanged with itself or with a row below it */
    x.ipiv[i] = 1 + row + (N - 1 - row) / 2;
  }
  OSLA_ASSERT_OK(invert(&x));
  x.inverse = dense_gather(a.a);
  for (int number = 0; hit; number++)
    failures += try_once(&x, number, &hit);
  OSLA_ASSERT_MSG(failures >= (lu ? 8 : 5), "only %d allocations failed", failures);
  dense_free(&x.original), dense_free(&x.inverse);
  free(x.ipiv);
  kernel_free(&a);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static void test_cholesky(void)
{
  check_each_allocation(false);
}

static void test_lu(void)
{
  check_each_allocation(true);
}

static const osla_test_case cases[] = {
  {"cholesky", test_cholesky},
  {"lu", test_lu},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_inverse_lack, cases);
