/* Memory that a solve needs on a rank, computed from sizes. Both triangular solves and the
 * interchanges hold memory at the same time. */
#include "kernels/common/interchange.h"
#include "kernels/solve/rhs.h"
#include "kernels/solve/trsm.h"
#include "osla_solve.h"

static uint64_t larger(uint64_t x, uint64_t y)
{
  return x > y ? x : y;
}

/* Returns the bytes of one triangular solve: the larger of a transposed solve, which sends sums,
 * and of one without transposition, which sends solved rows. */
static uint64_t triangular(const osla_shape *s, int64_t widest)
{
  size_t nb = (size_t)s->nb, row = nb * (size_t)widest * s->element;
  size_t column = s->nodes > 1 ? (size_t)(s->rows > 1 ? s->rows : 1) * nb * s->element : 0;
  osla_panels_plan plan = {.look_ahead = 1, .readable = true};
  plan.kind[PANEL_ROWS] = (osla_panels_kind){.used = true, .in_column = true, .room = row};
  int64_t strip = s->nprow > 1 ? osli_trsm_strip(s->nb, widest, s->nprow, s->element) : 0;
  size_t piece = nb * (size_t)strip * s->element;
  uint64_t sums =
    osli_pieces_memory((size_t)s->nprow * piece, 1, s) + (uint64_t)osli_pieces_depth_for(1) * piece;
  return 2 * column + larger(sums, osli_panels_memory(&plan, s));
}

uint64_t osla_getrs_memory(const osla_shape *s, int64_t nrhs)
{
  int64_t widest = osli_rhs_width(nrhs, s->npcol, s->nodes);
  bool fans = s->nodes > 1 && s->npcol > 1 && osli_trsm_is_stationary(s->n, nrhs);
  uint64_t moving = 2 * triangular(s, widest), fan = 0;
  if (fans)
    fan = osli_trsm_stationary_memory(s, nrhs, false) + osli_trsm_stationary_memory(s, nrhs, true);
  return larger(moving, fan) + osli_interchange_memory(s, OSLA_ROWS, widest) +
         (uint64_t)s->n * sizeof(int64_t);
}
