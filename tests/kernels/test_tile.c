/* Tests of the tiles into which products are cut (kernels/common/panels.h). The tiles must be
 * nearly equal, and neither too large nor too small. */
#include "kernels/common/panels_state.h"
#include "osla_random.h"
#include "tests/osla_test_help.h"

#include <inttypes.h>
#include <math.h>

/* True if a length, cut into parts of size `part`, leaves a last part that is much smaller. */
static int uneven(int64_t length, int64_t part)
{
  if (part >= length) return 0;
  int64_t count = (length + part - 1) / part, last = length - (count - 1) * part;
  return last < part - 16 * count;
}

static void test_shapes(void)
{
  const osla_panels passing = {.hooked = true};
  int wrong = 0, cut = 0;
  for (uint64_t i = 0; i < 5000; i++) {
    int64_t rows = (int64_t)(osla_random_bits(1, i, 0) % 9000);
    int64_t cols = (int64_t)(osla_random_bits(1, i, 1) % 9000);
    double all = (double)rows * (double)cols;
    osla_tile tile = osli_tile_choose(&passing, rows, cols);
    bool whole = tile.rows >= rows && tile.cols >= cols;
    double one = (double)tile.rows * (double)tile.cols, side = fmax(cbrt(80 * all), 256);
    cut += !whole;
    wrong += rows > 0 && cols > 0 && (tile.rows < 1 || tile.cols < 1);
    wrong += uneven(rows, tile.rows) + uneven(cols, tile.cols);
    wrong += !whole && (one > 1.2 * side * side || one < 0.2 * side * side);
    wrong += all <= 256 * 256 && !whole;
    wrong += all > 1000 * 1000 && whole;
  }
  OSLA_ASSERT_MSG(wrong == 0 && cut > 4000, "%d tiles; %d products are cut", wrong, cut);
}

static void test_nothing_passes(void)
{
  const osla_panels still = {.hooked = false};
  osla_tile tile = osli_tile_choose(&still, 100000, 50000);
  OSLA_ASSERT_MSG(tile.rows == 100000 && tile.cols == 50000, "%" PRId64 " x %" PRId64, tile.rows,
                  tile.cols);
}

static const osla_test_case cases[] = {
  {"shapes", test_shapes}, {"nothing_passes", test_nothing_passes}, {NULL, NULL}};
OSLA_TEST_SUITE(test_tile, cases);
