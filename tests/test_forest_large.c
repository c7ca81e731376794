/* Star forests: more than 1 GiB goes to the next rank and back, in pieces. */
#include "osla_forest.h"
#include "osla_test_help.h"

#include <stdlib.h>

/* Not multiples of anything that a part may hold. */
enum { EDGES = 10007, COUNT = 13441, VALUES = EDGES * COUNT };
_Static_assert((int64_t)VALUES *(int64_t)sizeof(double) > 1 << 30, "1 GiB");

static double value_of(int rank, int64_t i)
{
  return (double)(rank * (int64_t)VALUES + i);
}

/* The index of the first wrong one; -1: none. */
static int64_t first_wrong(const double *values, int rank, int times)
{
  for (int64_t i = 0; i < VALUES; i++)
    if (values[i] != times * value_of(rank, i)) return i;
  return -1;
}

static void test_large(void)
{
  osla_transport *t = osla_test_transport();
  const int me = osla_test_rank(), next = (me + 1) % osla_test_size();
  const osla_unit unit = {OSLA_UNIT_DOUBLE, COUNT, 0};
  osla_root *root = osla_test_allocate(EDGES, sizeof *root);
  osla_forest *f = NULL;
  double *roots = osla_test_allocate(VALUES, sizeof *roots),
         *leaves = osla_test_allocate(VALUES, sizeof *leaves);
  for (int64_t i = 0; i < EDGES; i++)
    root[i] = (osla_root){next, i};
  for (int64_t i = 0; i < VALUES; i++)
    roots[i] = value_of(me, i);
  OSLA_ASSERT_OK(osla_forest_create(t, EDGES, EDGES, NULL, root, &f));
  OSLA_ASSERT_OK(osla_forest_bcast(f, unit, roots, leaves, OSLA_REPLACE));
  CU_ASSERT_EQUAL(first_wrong(leaves, next, 1), -1);
  OSLA_ASSERT_OK(osla_forest_reduce(f, unit, leaves, roots, OSLA_SUM));
  CU_ASSERT_EQUAL(first_wrong(roots, me, 2), -1);
  OSLA_ASSERT_OK(osla_forest_destroy(&f));
  free(root);
  free(roots);
  free(leaves);
  osla_transport_destroy(&t);
}

int main(int argc, char **argv)
{
  const osla_test_case cases[] = {
    {"large", test_large},
    {NULL, NULL},
  };
  return osla_test_main(argc, argv, cases);
}
