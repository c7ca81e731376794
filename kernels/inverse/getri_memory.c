/* Memory that an inverse from LU needs on a rank, computed from sizes alone. The set-up uses the
 * same functions. */
#include "kernels/inverse/getri.h"

size_t osli_getri_block_bytes(const getri *f)
{
  return (size_t)(f->v.nb * f->v.nb) * f->v.element;
}

/* No panel is read in place, because its block row or block column changes in the step that
 * publishes it. */
osla_panels_plan osli_getri_plan(const getri *f)
{
  const local_view *v = &f->v;
  size_t width = (size_t)v->nb * v->element;
  size_t rows = (size_t)osla_index_count(v->n, v->nb, 0, v->p);
  size_t cols = (size_t)osla_index_count(v->n, v->nb, 0, v->q);
  osla_panels_plan plan = {.steps = f->steps, .look_ahead = f->look_ahead, .forward = f->forward};
  plan.kind[PANEL_LEFT] = (osla_panels_kind){.used = v->q > 1, .room = rows * width};
  plan.kind[PANEL_TOP] =
    (osla_panels_kind){.used = v->p > 1, .in_column = true, .room = cols * width};
  return plan;
}

uint64_t osla_getri_memory(const osla_shape *s)
{
  getri f = {
    .v = {.element = s->element, .n = s->n, .nb = s->nb, .p = s->nprow, .q = s->npcol},
    .look_ahead = 1,
    .steps = (s->n + s->nb - 1) / s->nb,
  };
  osla_panels_plan plan = osli_getri_plan(&f);
  return osli_getri_block_bytes(&f) + osli_panels_memory(&plan, s) +
         osli_interchange_memory(s, OSLA_COLUMNS, s->rows) + (uint64_t)s->n * sizeof(int64_t);
}
