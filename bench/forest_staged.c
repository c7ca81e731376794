/* Reference implementations for values on a device: `mpi` copies the values to host memory, sends
 * them by MPI, and copies the results to the device; `copy` copies them within the device. See
 * bench_forest.h. */
#include "bench/bench_forest.h"
#include "src/device/device.h"

/* --- mpi --- */

/* Returns the device of this rank's values if host memory can be pinned for it, else NULL. */
static device_queue *pinning_device(const forest_data *d)
{
  device_queue *queue = osli_device_of(d->n_roots > 0 ? d->roots_on : d->leaves_on);
  return queue && queue->ops->pin && queue->ops->unpin ? queue : NULL;
}

/* Pins the values in host memory, so that the copies are as fast as possible. Values that cannot be
 * pinned are copied without. */
static osla_err create_staged(forest_data *d)
{
  OSLA_CALL(forest_mpi.create(d));
  OSLA_CALL(forest_device_create(d));
  const device_queue *queue = pinning_device(d);
  const size_t bytes = (size_t)(d->before + d->graph->n_edges - d->roots) * sizeof *d->roots;
  d->pinned = queue && bytes > 0 && queue->ops->pin(queue->state, d->roots, bytes) == OSLA_OK;
  return OSLA_OK;
}

static void destroy_staged(forest_data *d)
{
  const device_queue *queue = d->pinned ? pinning_device(d) : NULL;
  if (queue) queue->ops->unpin(queue->state, d->roots);
  d->pinned = false;
  forest_device_free(d);
  forest_mpi.destroy(d);
}

static osla_err bcast_staged(forest_data *d)
{
  forest_device_get(d, FOREST_ROOTS);
  OSLA_CALL(forest_mpi.bcast(d));
  forest_device_put(d, FOREST_LEAVES);
  return OSLA_OK;
}

/* PINGPONG replaces all roots, so their old values need not be copied. */
static osla_err reduce_staged(forest_data *d)
{
  forest_device_get(d, d->graph->which == FOREST_PINGPONG ? FOREST_LEAVES
                                                          : FOREST_ROOTS | FOREST_LEAVES);
  OSLA_CALL(forest_mpi.reduce(d));
  forest_device_put(d, FOREST_ROOTS);
  return OSLA_OK;
}

static osla_err fetch_staged(forest_data *d)
{
  forest_device_get(d, FOREST_ROOTS | FOREST_LEAVES);
  OSLA_CALL(forest_mpi.fetch(d));
  forest_device_put(d, FOREST_ROOTS | FOREST_BEFORE);
  return OSLA_OK;
}

const forest_method forest_staged = {.create = create_staged,
                                     .bcast = bcast_staged,
                                     .reduce = reduce_staged,
                                     .fetch = fetch_staged,
                                     .destroy = destroy_staged};

/* --- copy: leaf i belongs to root i of the same rank --- */

static osla_err create_copy(forest_data *d)
{
  OSLA_CALL(forest_values_create(d));
  return forest_device_create(d);
}

static void destroy_copy(forest_data *d)
{
  forest_device_free(d);
  forest_values_free(d);
}

static osla_err bcast_copy(forest_data *d)
{
  const size_t bytes = (size_t)d->graph->n_edges * sizeof(forest_value);
  if (bytes > 0) osli_device_copy_bytes(bytes, d->roots_on, d->leaves_on);
  return OSLA_OK;
}

static osla_err reduce_copy(forest_data *d)
{
  const size_t bytes = (size_t)d->graph->n_edges * sizeof(forest_value);
  if (bytes > 0) osli_device_copy_bytes(bytes, d->leaves_on, d->roots_on);
  return OSLA_OK;
}

const forest_method forest_copy = {
  .create = create_copy, .bcast = bcast_copy, .reduce = reduce_copy, .destroy = destroy_copy};
