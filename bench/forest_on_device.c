/* Values of star forests in device memory. Each array on the device has a copy in host memory,
 * where the benchmark sets the values before the first transfer, and checks them after the last
 * one. See bench_forest.h. */
#include "bench/bench_forest.h"
#include "osla_forest.h"
#include "src/device/device.h"

static osla_err array_create(const bench_job *job, int64_t n, forest_value **out)
{
  void *memory = NULL;
  const osla_err err = osla_vertices_create_on(job->device, (size_t)n * sizeof **out, &memory);
  *out = memory;
  return err;
}

/* Puts the arrays of --plain into a segment, from which other ranks do not read in place. */
static osla_err plain_create(forest_data *d)
{
  const int64_t n_roots = d->roots_on_device ? d->n_roots : 0;
  const int64_t n_leaves = d->leaves_on_device ? d->graph->n_edges : 0;
  const size_t bytes = (size_t)(n_roots + 2 * n_leaves) * sizeof(forest_value);
  OSLA_CALL(osla_segment_create_on(d->graph->job->device, bytes, 0, &d->segment));
  forest_value *memory = osla_segment_local(d->segment);
  if (d->roots_on_device) d->roots_on = memory;
  if (d->leaves_on_device) {
    d->leaves_on = memory + n_roots;
    d->before_on = d->leaves_on + n_leaves;
  }
  return OSLA_OK;
}

osla_err forest_device_create(forest_data *d)
{
  const forest_graph *g = d->graph;
  if (!d->roots_on_device && !d->leaves_on_device) return OSLA_OK;
  if (g->job->settings->plain) return plain_create(d);
  if (d->roots_on_device) OSLA_CALL(array_create(g->job, d->n_roots, &d->roots_on));
  if (!d->leaves_on_device) return OSLA_OK;
  OSLA_CALL(array_create(g->job, g->n_edges, &d->leaves_on));
  return array_create(g->job, g->n_edges, &d->before_on);
}

void forest_device_free(forest_data *d)
{
  forest_value **const arrays[] = {&d->roots_on, &d->leaves_on, &d->before_on};
  for (int i = 0; i < 3; i++) {
    void *memory = *arrays[i];
    if (memory && !d->segment) (void)osla_vertices_free(d->graph->job->transport, &memory);
    *arrays[i] = NULL;
  }
  osla_segment_destroy(&d->segment);
}

static void copy_arrays(const forest_data *d, unsigned arrays, bool to_device)
{
  forest_value *const on_device[] = {d->roots_on, d->leaves_on, d->before_on};
  forest_value *const on_host[] = {d->roots, d->leaves, d->before};
  const int64_t n[] = {d->n_roots, d->graph->n_edges, d->graph->n_edges};
  for (int i = 0; i < 3; i++)
    if (arrays >> i & 1 && on_device[i] && n[i] > 0)
      osli_device_copy_bytes((size_t)n[i] * sizeof(forest_value),
                             to_device ? on_host[i] : on_device[i],
                             to_device ? on_device[i] : on_host[i]);
}

void forest_device_put(const forest_data *d, unsigned arrays)
{
  copy_arrays(d, arrays, true);
}

void forest_device_get(const forest_data *d, unsigned arrays)
{
  copy_arrays(d, arrays, false);
}

osla_err forest_device_complete(void)
{
  return osli_device_settle(SETTLE_COPY);
}
