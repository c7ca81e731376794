#include "tile.h"

#include "osla_clock.h"
#include "panels_state.h"

#include <math.h>

/* Flat tiles would copy more (OpenBLAS, depth 128: 3072 x 64 94 %, 384 x 384 97 % of the rate of
 * the whole); so would tiles below LEAST (at depth 64, 128: 192 x 192 98, 96 %, 128 x 128 96, 91 %
 * of 384 x 384). */
enum { UNIT = 16, LEAST = 192 };
static const double TILE_SECONDS = 1e-3;
static const double FIRST_RATE = 20e9; /* multiplications a second, before one is measured */

/* The length of parts that are at most about `most` long, none of them much shorter. */
static int64_t divide(int64_t length, double most)
{
  double parts = ceil((double)length / most);
  return ((int64_t)((double)length / parts) + UNIT) / UNIT * UNIT;
}

osla_tile osla_tile_choose(osla_panels *p, int64_t rows, int64_t cols, int64_t depth)
{
  osla_tile all = {rows, cols};
  if (!osla_panels_relay(p) || depth < 1) return all;
  p->tile_since = osla_clock();
  double rate = p->tile_rate > 0 ? p->tile_rate : FIRST_RATE;
  double side = fmax(sqrt(TILE_SECONDS * rate / (double)depth), LEAST);
  if (side * side >= (double)rows * (double)cols) return all;
  if ((double)rows <= side) return (osla_tile){rows, divide(cols, side * side / (double)rows)};
  if ((double)cols <= side) return (osla_tile){divide(rows, side * side / (double)cols), cols};
  return (osla_tile){divide(rows, side), divide(cols, side)};
}

/* A tile that another process interrupts shows a rate that is too low, none shows one that is too
 * high: so up at once, down slowly. */
static void note_rate(osla_panels *p, double products)
{
  double seconds = osla_clock() - p->tile_since;
  if (seconds <= 0) return;
  double rate = products / seconds, slow = p->tile_rate + (rate - p->tile_rate) / 16;
  p->tile_rate = fmax(rate, slow);
}

void osla_tile_done(osla_panels *p, int64_t rows, int64_t cols, int64_t depth)
{
  const double enough = 2e6; /* smaller ones have rates of their own */
  double products = (double)rows * (double)cols * (double)depth;
  if (!osla_panels_relay(p)) return;
  if (products >= enough) note_rate(p, products);
  osla_progress(p->t);
  p->tile_since = osla_clock();
}
