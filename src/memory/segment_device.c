/* Data areas of segments on devices, which the ranks of a node map from one another. */
#include "src/memory/segment_state.h"

#include <stdlib.h>

/* What a rank publishes about its memory on its device. */
typedef struct published {
  uint64_t bytes;
  device_handle handle;
} published;

static osla_err import_all(osla_segment *s, const published *all)
{
  for (int rank = 0; rank < s->t->size; rank++)
    if (rank != s->t->rank)
      OSLA_CALL(osli_device_import(s->device->queue, &all[rank].handle, (size_t)all[rank].bytes,
                                   &s->device_data[rank]));
  return OSLA_OK;
}

osla_err osli_segment_device_allocate(osla_segment *s)
{
  device_queue *q = s->device->queue;
  published mine = {.bytes = s->bytes};
  published *all = calloc((size_t)s->t->size, sizeof *all);
  s->device_data = calloc((size_t)s->t->size, sizeof *s->device_data);
  osla_err err =
    all && s->device_data ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "table of %d ranks", s->t->size);
  void *memory = NULL;
  if (err == OSLA_OK) err = osli_device_alloc(q, s->bytes, true, &memory);
  if (memory) s->device_data[s->t->rank] = memory;
  if (err == OSLA_OK) err = q->ops->expose(q->state, memory, &mine.handle);
  OSLA_TRY(osla_agree(s->t, err));
  OSLA_TRY(osli_allgather(s->t, &mine, all, sizeof mine));
  err = osla_agree(s->t, import_all(s, all));
cleanup:
  free(all);
  return err;
}

void osli_segment_device_free(osla_segment *s)
{
  if (!s->device) return;
  for (int rank = 0; rank < s->t->size && s->device_data; rank++)
    if (rank != s->t->rank) osli_device_free(s->device_data[rank]);
  (void)osla_barrier(s->t); /* after this barrier no other rank maps this rank's memory */
  if (s->device_data) osli_device_free(s->device_data[s->t->rank]);
  free(s->device_data);
}

osla_device *osla_segment_device(const osla_segment *s)
{
  return s->device;
}
