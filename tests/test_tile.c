/* Tiles of products (kernels/common/tile.h): they follow the measured rate, are even, and stay
 * large enough. Rates are made by saying when a tile began. */
#include "osla_clock.h"
#include "osla_random.h"
#include "osla_test_help.h"
#include "panels_state.h"
#include "tile.h"

#include <inttypes.h>

enum { DEPTH = 64 };

static osla_panels passing(void)
{
  return (osla_panels){.t = osla_test_transport(), .hooked = true};
}

/* A tile of 1000 x 1000 took so long. */
static void take(osla_panels *p, double seconds)
{
  p->tile_since = osla_clock() - seconds;
  osla_tile_done(p, 1000, 1000, DEPTH);
}

/* Multiplications in a tile of a large product. */
static double products(osla_panels *p)
{
  osla_tile tile = osla_tile_choose(p, 100000, 100000, DEPTH);
  return (double)tile.rows * (double)tile.cols * DEPTH;
}

static void test_rate(void)
{
  osla_panels p = passing();
  take(&p, 0.010); /* 6.4e6 multiplications a millisecond; the clock goes on meanwhile */
  OSLA_ASSERT_MSG(products(&p) > 5e6 && products(&p) < 8e6, "slow: %g", products(&p));
  take(&p, 0.001); /* 64e6 */
  OSLA_ASSERT_MSG(products(&p) > 40e6 && products(&p) < 72e6, "fast: %g", products(&p));
  take(&p, 1.0); /* interrupted */
  OSLA_ASSERT_MSG(products(&p) > 36e6, "one was interrupted: %g", products(&p));
  for (int i = 0; i < 200; i++)
    take(&p, 0.010);
  OSLA_ASSERT_MSG(products(&p) < 8e6, "it has become slow: %g", products(&p));
  for (int i = 0; i < 200; i++)
    take(&p, 1e3);
  OSLA_ASSERT_MSG(products(&p) > 0.8 * 192 * 192 * DEPTH, "least: %g", products(&p));
  osla_tile_done(&p, 1, 1, 1); /* tells nothing */
  OSLA_ASSERT_MSG(products(&p) > 0.8 * 192 * 192 * DEPTH, "a product of one: %g", products(&p));
}

/* Parts of one length differ by the last one alone, which is not a sliver. */
static int uneven(int64_t length, int64_t part)
{
  if (part >= length) return 0;
  int64_t count = (length + part - 1) / part, last = length - (count - 1) * part;
  return last < part - 16 * count;
}

static void test_shapes(void)
{
  osla_panels p = passing();
  int wrong = 0;
  p.tile_rate = 20e9;
  for (uint64_t i = 0; i < 5000; i++) {
    int64_t rows = (int64_t)(osla_random_bits(1, i, 0) % 4000);
    int64_t cols = (int64_t)(osla_random_bits(1, i, 1) % 4000);
    int64_t depth = (int64_t)(osla_random_bits(1, i, 2) % 300);
    osla_tile tile = osla_tile_choose(&p, rows, cols, depth);
    double one = (double)tile.rows * (double)tile.cols * (double)depth;
    wrong += rows > 0 && cols > 0 && (tile.rows < 1 || tile.cols < 1);
    wrong += uneven(rows, tile.rows) + uneven(cols, tile.cols);
    if (tile.rows < rows || tile.cols < cols) wrong += one > 1.3 * 20e6;
    if ((double)rows * (double)cols * (double)depth <= 20e6)
      wrong += tile.rows < rows || tile.cols < cols;
  }
  OSLA_ASSERT_MSG(wrong == 0, "%d tiles", wrong);
}

static void test_nothing_passes(void)
{
  osla_panels p = {.t = osla_test_transport()};
  osla_tile tile = osla_tile_choose(&p, 100000, 50000, DEPTH);
  OSLA_ASSERT_MSG(tile.rows == 100000 && tile.cols == 50000, "%" PRId64 " x %" PRId64, tile.rows,
                  tile.cols);
}

int main(int argc, char **argv)
{
  static const osla_test_case cases[] = {{"rate", test_rate},
                                         {"shapes", test_shapes},
                                         {"nothing_passes", test_nothing_passes},
                                         {NULL, NULL}};
  return osla_test_main(argc, argv, cases);
}
