#include "kernels/common/tile.h"

#include <math.h>

/* Who computes passes no panel on meanwhile, and each node of a ring adds half a tile's time to a
 * step, in proportion to side^2. Tiles of a side copy their operands again, which takes a share of
 * the product in proportion to 1 / side (OpenBLAS, depth 128: of 384 x 384 97 % of the rate of the
 * whole, 192 x 192 93 %). The sum is least where side^3 is so many times the product's elements;
 * flat tiles copy more. Simulated, XT4, LU on 16, 64, 256 ranks, N = 4096, 8192, 16384: 20 takes
 * 0.622, 1.187, 2.459 s, 80 0.618, 1.182, 2.463; 80 with N = 16384 on 64 ranks 7.95, 20 8.02. */
static const double TIMES = 80;
enum { UNIT = 16, LEAST = 256 };

/* The length of parts that are at most about `most` long, none of them much shorter. */
static int64_t divide(int64_t length, double most)
{
  double parts = ceil((double)length / most);
  return ((int64_t)((double)length / parts) + UNIT) / UNIT * UNIT;
}

osla_tile osli_tile_choose(const osla_panels *panels, int64_t rows, int64_t cols)
{
  double all = (double)rows * (double)cols, side = fmax(cbrt(TIMES * all), LEAST);
  if (!osli_panels_forwards(panels) || side * side >= all) return (osla_tile){rows, cols};
  if ((double)rows <= side) return (osla_tile){rows, divide(cols, side * side / (double)rows)};
  if ((double)cols <= side) return (osla_tile){divide(rows, side * side / (double)cols), cols};
  return (osla_tile){divide(rows, side), divide(cols, side)};
}
