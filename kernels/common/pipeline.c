#include "kernels/common/pipeline.h"

/* Applies all steps from `from` to k - 1 to panel k, then factors the panel. */
static osla_err advance_panel(const osla_pipeline *p, int64_t k, int64_t from)
{
  if (!p->owns(p->kernel, k)) return OSLA_OK;
  for (int64_t i = from; i < k; i++)
    OSLA_CALL(p->apply(p->kernel, i, k, k + 1));
  OSLA_CALL(p->factor(p->kernel, k));
  osli_panels_progress(p->panels);
  return OSLA_OK;
}

osla_err osli_pipeline_run(const osla_pipeline *p)
{
  /* number of panels that are factored so far */
  int64_t ready = 0;
  for (int64_t k = 0; k < p->steps; k++) {
    osla_at_step(osli_panels_transport(p->panels), p->name, k);
    for (; ready <= k + p->look_ahead && ready < p->steps; ready++)
      OSLA_CALL(advance_panel(p, ready, k));
    OSLA_CALL(p->apply(p->kernel, k, ready, INT64_MAX));
    osli_panels_finish(p->panels, k);
  }
  osli_panels_drain(p->panels);
  return OSLA_OK;
}
