/* Inverses where one rank lacks memory, at each allocation of the call: all ranks fail together
 * with its text and A is as before; or where the call can do without, the inverse is what it is
 * else. */
#include "kernel_reference.h"
#include "lacking_memory.h"
#include "osla_inverse.h"
#include "osla_test_help.h"

enum { N = 40, NB = 6 };

static osla_err invert(void *a)
{
  int64_t info;
  return osla_potri(OSLA_LOWER, a, NULL, &info);
}

/* Returns whether the call failed; *hit: it came to the allocation that fails. */
static bool try_once(osla_matrix *a, const dense *factor, const dense *inverse, int number,
                     int *hit)
{
  dense_scatter(factor, a);
  const osla_err err = lacking_memory(number, invert, a, hit);
  kernel_expect(a, err == OSLA_OK ? inverse : factor, "allocation %d", number);
  return err != OSLA_OK;
}

static void test_each_allocation(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = kernel_grid(t, kernel_n_grids(t) > 2 ? 1 : 0); /* 2 x 2 of four ranks */
  kernel_matrix a = kernel_make(grid, OSLA_DOUBLE, N, N, NB, NB, false);
  int64_t info = -1;
  int failures = 0, hit = 1;
  OSLA_ASSERT_OK(osla_matrix_fill(a.a, OSLA_FILL_SPD, 3)); /* its triangle will do as a factor */
  dense factor = dense_gather(a.a);
  OSLA_ASSERT_OK(osla_potri(OSLA_LOWER, a.a, NULL, &info));
  dense inverse = dense_gather(a.a);
  for (int number = 0; hit; number++)
    failures += try_once(a.a, &factor, &inverse, number, &hit);
  OSLA_ASSERT_MSG(failures >= 5, "only %d allocations failed", failures);
  dense_free(&factor), dense_free(&inverse);
  kernel_free(&a);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

int main(int argc, char **argv)
{
  static const osla_test_case cases[] = {
    {"each_allocation", test_each_allocation},
    {NULL, NULL},
  };
  return osla_test_main(argc, argv, cases);
}
