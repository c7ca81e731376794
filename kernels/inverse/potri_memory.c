/* Memory that an inverse from a Cholesky factor needs on a rank, computed from sizes alone. The
 * set-up uses the same functions. */
#include "kernels/inverse/potri.h"

size_t osli_potri_x_rows_bytes(const chol *c)
{
  return (size_t)c->n_rows * (size_t)c->v.nb * c->v.element;
}

size_t osli_potri_block_bytes(const chol *c)
{
  return (size_t)(c->v.nb * c->v.nb) * c->v.element;
}

/* No panel is read in place, because its block row or block column changes in the step that
 * publishes it. */
osla_panels_plan osli_potri_plan(const chol *c)
{
  size_t width = (size_t)c->v.nb * c->v.element;
  bool lower = c->uplo == OSLA_LOWER;
  size_t rows = (size_t)osla_index_count(c->v.n, c->v.nb, 0, c->n_prows);
  size_t cols = (size_t)osla_index_count(c->v.n, c->v.nb, 0, c->n_pcols);
  /* number of blocks that one owner sends for one block row */
  size_t shared = (size_t)((c->steps + c->lcm - 1) / c->lcm);
  osla_panels_plan plan = {.steps = c->steps, .look_ahead = c->look_ahead, .forward = c->forward};
  plan.kind[PANEL_L] =
    (osla_panels_kind){.used = c->n_pcols > 1, .in_column = !lower, .room = rows * width};
  plan.kind[PANEL_X] =
    (osla_panels_kind){.used = c->n_prows > 1, .in_column = lower, .room = cols * width};
  plan.kind[PANEL_X_ROWS] = (osla_panels_kind){.used = c->n_pcols > 1,
                                               .in_column = !lower,
                                               .stride = c->common,
                                               .room = shared * osli_potri_block_bytes(c)};
  return plan;
}

uint64_t osla_potri_memory(const osla_shape *s)
{
  chol c = {.v = {.element = s->element, .n = s->n, .nb = s->nb},
            .uplo = OSLA_LOWER,
            .look_ahead = 1,
            .n_prows = s->nprow,
            .n_pcols = s->npcol,
            .n_rows = s->rows,
            .steps = (s->n + s->nb - 1) / s->nb};
  osli_chol_set_lcm(&c);
  osla_panels_plan plan = osli_potri_plan(&c);
  return osli_potri_x_rows_bytes(&c) + osli_potri_block_bytes(&c) + osli_panels_memory(&plan, s);
}
