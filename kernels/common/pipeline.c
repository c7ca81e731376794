#include "pipeline.h"

#include <math.h>

/* Brings panel k up to date with the steps from `from` on, and factors it. */
static osla_err advance_panel(const osla_pipeline *p, int64_t k, int64_t from)
{
  if (!p->owns(p->kernel, k)) return OSLA_OK;
  for (int64_t i = from; i < k; i++)
    OSLA_CALL(p->apply(p->kernel, i, k, k + 1));
  OSLA_CALL(p->factor(p->kernel, k));
  osla_panels_progress(p->panels);
  return OSLA_OK;
}

osla_err osla_pipeline_run(const osla_pipeline *p)
{
  int64_t ready = 0; /* panels before this one are factored; their columns have had all steps */
  for (int64_t k = 0; k < p->steps; k++) {
    osla_at_step(osla_panels_transport(p->panels), p->name, k);
    for (; ready <= k + p->look_ahead && ready < p->steps; ready++)
      OSLA_CALL(advance_panel(p, ready, k));
    OSLA_CALL(p->apply(p->kernel, k, ready, INT64_MAX));
    osla_panels_finish(p->panels, k);
  }
  osla_panels_drain(p->panels);
  return OSLA_OK;
}

osla_tile osla_pipeline_tile(const osla_panels *panels, int64_t rows, int64_t cols, int64_t depth)
{
  /* Some 1 ms: beyond that lines stand idle, below it copying operands costs. Flat tiles would copy
   * more (OpenBLAS, depth 128: 3072 x 64 94 %, 384 x 384 97 % of the rate of the whole). */
  const double tile_flops = 40e6;
  enum { UNIT = 64 };
  osla_tile all = {rows, cols};
  if (!osla_panels_relay(panels) || depth < 1) return all;
  double side = sqrt(tile_flops / (2.0 * (double)depth));
  if (side * side >= (double)rows * (double)cols) return all;
  osla_tile tile = {(int64_t)side / UNIT * UNIT + UNIT, (int64_t)side / UNIT * UNIT + UNIT};
  if (tile.rows > rows) tile = (osla_tile){rows, tile.cols * tile.rows / rows};
  if (tile.cols > cols) tile = (osla_tile){tile.rows * tile.cols / cols, cols};
  return tile;
}
