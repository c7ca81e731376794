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

/* Runs the steps on a device. In step k the update by panel k is queued in LANE_MAIN. Then this
 * rank waits for the next panels in LANE_PANEL, so the update and the next panels run at the same
 * time. Panel k is finished one step later, when the update by panel k is complete. */
static osla_err run_on_device(const osla_pipeline *p)
{
  const device_queue *q = p->queue;
  int64_t ready = 0;
  (void)osli_device_lane(LANE_PANEL);
  for (int64_t k = 0; k < p->steps; k++) {
    const int64_t next = k + p->look_ahead < p->steps ? k + p->look_ahead + 1 : p->steps;
    osla_at_step(osli_panels_transport(p->panels), p->name, k);
    if (k == 0) OSLA_CALL(advance_panel(p, ready++, k));
    const uint64_t last_update = q->ops->mark(q->state, LANE_MAIN);
    /* the work in LANE_PANEL starts after the previous update, because the next panels need its
     * results */
    OSLA_CALL(osli_device_after(q, LANE_PANEL));
    (void)osli_device_lane(LANE_MAIN);
    OSLA_CALL(p->apply(p->kernel, k, next, INT64_MAX));
    (void)osli_device_lane(LANE_PANEL);
    for (; ready < next; ready++)
      OSLA_CALL(advance_panel(p, ready, k));
    osli_device_keep_error(q->ops->wait(q->state, last_update));
    if (k > 0) osli_panels_finish(p->panels, k - 1);
  }
  (void)osli_device_lane(LANE_MAIN);
  osli_device_settle_kept(SETTLE_NOTIFY);
  osli_panels_finish(p->panels, p->steps - 1);
  osli_panels_drain(p->panels);
  return OSLA_OK;
}

osla_err osli_pipeline_run(const osla_pipeline *p)
{
  /* number of panels that are factored so far */
  int64_t ready = 0;
  if (p->queue && p->look_ahead > 0 && p->steps > 0) {
    osla_err err = run_on_device(p);
    (void)osli_device_lane(LANE_MAIN);
    return err;
  }
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
