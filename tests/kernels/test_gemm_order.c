/* Test of the order in which partial sums of a product with layers are added: the owner of an
 * element of C adds the partial sums of the other layers to its own in the order of the layers. In
 * this test each layer has one index of k, so each partial sum is one element of B, without
 * rounding, and the result depends only on the order. On a grid of one process row, a rank's layer
 * is its process column. */
#include "osla_gemm.h"
#include "osla_random.h"
#include "tests/kernels/kernel_reference.h"
#include "tests/osla_test_help.h"

/* Elements of A (`one`) and of B (`summand`). */
static double one(int64_t i, int64_t j, void *arg)
{
  (void)i, (void)j, (void)arg;
  return 1;
}
static double summand(int64_t k, int64_t j, void *arg)
{
  (void)arg;
  return osla_random_normal(23, (uint64_t)k, (uint64_t)j);
}

/* Returns the sum of the elements of column j of B, of which each layer has one: first that of
 * layer `own`, then those of the other layers in ascending or descending order. */
static double sum_of_layers(int64_t j, int own, bool descending)
{
  const int n = osla_test_size();
  double sum = summand(own, j, NULL);
  for (int i = 0; i < n; i++) {
    const int layer = descending ? n - 1 - i : i;
    if (layer != own) sum += summand(layer, j, NULL);
  }
  return sum;
}

static void test_order(void)
{
  enum { M = 2, COLS = 32 };
  osla_transport *t = osla_test_transport();
  const int size = osla_test_size();
  const osla_gemm_options options = {.layers = size};
  osla_grid *grid;
  OSLA_ASSERT_OK(osla_grid_create(t, 1, size, &grid));
  const int own = osla_grid_pcol(grid);
  kernel_matrix a = kernel_make(grid, OSLA_DOUBLE, M, size, M, 1, false);
  kernel_matrix b = kernel_make(grid, OSLA_DOUBLE, size, COLS * size, size, COLS, false);
  kernel_matrix c = kernel_make(grid, OSLA_DOUBLE, M, COLS * size, M, COLS, false);
  OSLA_ASSERT_OK(osla_matrix_fill_with(a.a, one, NULL));
  OSLA_ASSERT_OK(osla_matrix_fill_with(b.a, summand, NULL));
  for (int run = 0; run < 4; run++) {
    delays d;
    int wrong = 0, sensitive = 0;
    delays_begin(&d, t, (uint64_t)run);
    OSLA_ASSERT_OK(osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, 1, osla_whole(a.a), osla_whole(b.a), 0,
                             osla_whole(c.a), &options));
    delays_end(&d);
    for (int j = 0; j < COLS; j++) {
      const double expected = sum_of_layers(own * COLS + j, own, false);
      sensitive += sum_of_layers(own * COLS + j, own, true) != expected;
      wrong += ((double *)osla_matrix_local(c.a))[j * osla_matrix_lld(c.a, own)] != expected;
    }
    OSLA_ASSERT_MSG(wrong == 0, "run %d: %d columns added in another order", run, wrong);
    OSLA_ASSERT_MSG(sensitive > 0 || size < 3, "no sum of %d numbers depends on the order", size);
  }
  kernel_free(&a), kernel_free(&b), kernel_free(&c);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"order", test_order},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_gemm_order, cases);
