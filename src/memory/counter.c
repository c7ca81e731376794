#include "osla_counter.h"
#include "osla_trace.h"
#include "src/device/device.h"
#include "src/transport/transport_ops.h"

#include <stdlib.h>

struct osla_counter {
  osla_transport *t;
  osla_region *region;
};

osla_err osla_counter_create(osla_transport *t, osla_counter **out)
{
  void *memory;
  *out = NULL;
  OSLA_CALL(osli_agree_calloc(t, sizeof(osla_counter), "counter object", &memory));
  osla_counter *counter = memory;
  osla_err err = t->ops->region_alloc(t, t->rank == 0 ? sizeof(int64_t) : 0, &counter->region);
  if (err != OSLA_OK) {
    free(counter);
    return err;
  }
  counter->t = t;
  *out = counter;
  return OSLA_OK;
}

void osla_counter_destroy(osla_counter **handle)
{
  osla_counter *counter = handle ? *handle : NULL;
  if (!counter) return;
  counter->t->ops->region_free(&counter->region);
  free(counter);
  *handle = NULL;
}

osla_err osla_counter_next(osla_counter *counter, int64_t step, int64_t *before)
{
  double since = osla_trace_now(counter->t);
  OSLA_CALL(osli_device_settle(SETTLE_COLLECTIVE));
  osla_err err = counter->t->ops->fetch_add(counter->region, 0, 0, step, before);
  osla_trace_add(counter->t, OSLA_TRACE_FETCH_ADD, since, 0);
  return err;
}
