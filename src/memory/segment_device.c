/* Allocates the data areas of segments on devices, maps those of the other ranks of the node, and
 * transfers data from and to device memory. Transfers between nodes pass through host memory. */
#include "src/memory/segment_state.h"

#include <stdlib.h>

/* Description of a rank's data area on its device, which the rank sends to all other ranks. */
typedef struct published {
  void *address;
  uint64_t bytes;
  device_handle handle;
} published;

static osla_err import_all(osla_segment *s, const published *all)
{
  for (int rank = 0; rank < s->t->size; rank++)
    if (!osla_transport_same_node(s->t, rank))
      s->device_data[rank] = all[rank].address;
    else if (rank != s->t->rank)
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
  if (memory) s->device_data[s->t->rank] = mine.address = memory;
  if (err == OSLA_OK && s->t->n_nodes < s->t->size)
    err = q->ops->expose(q->state, memory, &mine.handle);
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
    if (rank != s->t->rank && osla_transport_same_node(s->t, rank))
      osli_device_free(s->device_data[rank]);
  (void)osla_barrier(s->t); /* after this barrier no other rank maps this rank's memory */
  if (s->device_data) osli_device_free(s->device_data[s->t->rank]);
  free(s->device_data);
}

/* ---- transfers ---- */

void *osla_segment_peer(const osla_segment *s, int rank)
{
  if (s->device) return osla_transport_same_node(s->t, rank) ? s->device_data[rank] : NULL;
  unsigned char *base = s->t->ops->peer_ptr(s->region, rank);
  return base ? base + s->data : NULL;
}

/* Copies bytes between host memory and the data area of a rank that this rank cannot map. */
static osla_err copy_by_host(const osla_segment *s, int rank, size_t offset, void *host,
                             bool is_put, size_t bytes)
{
  osla_handle handle = OSLA_HANDLE_DONE;
  if (s->device)
    return osli_device_service_copy(s->device->service, rank,
                                    (unsigned char *)s->device_data[rank] + offset, host, bytes,
                                    is_put);
  if (!is_put) OSLA_CALL(s->t->ops->get(s->region, rank, s->data + offset, host, bytes, &handle));
  if (is_put) OSLA_CALL(s->t->ops->put(s->region, rank, s->data + offset, host, bytes, &handle));
  OSLA_CALL(s->t->ops->wait(s->t, &handle));
  return is_put ? s->t->ops->flush(s->region, rank) : OSLA_OK;
}

/* Copies bytes between the caller's buffer and the data area of a rank that this rank cannot map.
 * If the buffer lies on a device, the data pass through host memory in pieces. The copy is complete
 * on return. */
static osla_err copy_in_pieces(const osla_segment *s, int rank, size_t offset,
                               unsigned char *buffer, bool is_put, size_t bytes)
{
  enum { MOST = 1 << 20 };
  const size_t most = bytes < MOST || !osli_device_of(buffer) ? bytes : MOST;
  void *host = osli_device_of(buffer) ? malloc(most) : buffer;
  osla_err err = host ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "%zu bytes for a transfer", most);
  for (size_t done = 0, n; done < bytes && err == OSLA_OK; done += n) {
    n = bytes - done < most ? bytes - done : most;
    if (is_put && host != buffer) osli_device_copy_bytes(n, buffer + done, host);
    err = copy_by_host(s, rank, offset + done, host, is_put, n);
    if (!is_put && host != buffer) osli_device_copy_bytes(n, host, buffer + done);
  }
  if (host != buffer) free(host);
  return err;
}

/* Copies *left bytes between the caller's buffer and the data area of a rank, and sets *left to 0,
 * if the buffer or the data area lies on a device. Otherwise does nothing. If both lie in device
 * memory that this rank can access, the copy is only queued; every other copy is complete on
 * return. */
static osla_err copy(const osla_segment *s, int rank, size_t offset, void *buffer, bool is_put,
                     size_t *left)
{
  if (*left == 0 || (!s->device && !osli_device_of(buffer))) return OSLA_OK;
  unsigned char *peer = osla_segment_peer(s, rank);
  const osla_err err = peer ? OSLA_OK : copy_in_pieces(s, rank, offset, buffer, is_put, *left);
  if (peer)
    osli_device_copy_bytes(*left, is_put ? buffer : peer + offset, is_put ? peer + offset : buffer);
  *left = 0;
  return err;
}

osla_err osli_segment_device_get(const osla_segment *s, int rank, size_t offset, void *dest,
                                 size_t *left)
{
  if (*left == 0) return OSLA_OK; /* a get of no bytes waits for no work */
  OSLA_CALL(copy(s, rank, offset, dest, false, left));
  return *left == 0 ? osli_device_settle(SETTLE_COPY) : OSLA_OK;
}

osla_err osli_segment_device_put(const osla_segment *s, int rank, size_t offset, const void *source,
                                 size_t *left)
{
  osla_err err = copy(s, rank, offset, (void *)(uintptr_t)source, true, left);
  osli_device_settle_kept(SETTLE_NOTIFY);
  return err;
}

osla_device *osla_segment_device(const osla_segment *s)
{
  return s->device;
}
