/* State of a device and of a segment (internal to src/memory). */
#ifndef SEGMENT_STATE_H
#define SEGMENT_STATE_H

#include "osla_device.h"
#include "src/device/device.h"
#include "src/memory/segment.h"

struct osla_device {
  osla_transport *t;
  device_queue *queue;
};

struct osla_segment {
  osla_transport *t;
  osla_live_object alive;
  osla_region *region;
  int n_purposes;
  osla_notifiers notifiers; /* if index_of is NULL, the index of an origin is its rank */
  size_t origin_bytes;
  size_t bytes;
  size_t data; /* offset of the data area in the region */
  osla_device
    *device;          /* device on which the data area lies; NULL: the data area is in the region */
  void **device_data; /* [ranks] device addresses of the data areas; NULL without a device */
};

/* osli_segment_device_allocate allocates the data area of `bytes` bytes on the segment's device,
 * and maps those of the other ranks (errors, on all ranks together: MEM, MPI, UNSUPPORTED).
 * osli_segment_device_free frees and unmaps them; it does nothing without a device. Collective. */
osla_err osli_segment_device_allocate(osla_segment *segment);
void osli_segment_device_free(osla_segment *segment);

/* Do a get or a put of *left bytes, and set *left = 0, if the data area or the caller's buffer lies
 * on a device. osli_segment_device_put always waits for the work on devices, and keeps its errors
 * for the next osli_device_settle. Local. Errors: UNSUPPORTED (this rank cannot map the memory of
 * the other one); get: those of queued work. */
osla_err osli_segment_device_get(const osla_segment *segment, int rank, size_t offset, void *dest,
                                 size_t *left);
osla_err osli_segment_device_put(const osla_segment *segment, int rank, size_t offset,
                                 const void *source, size_t *left);

#endif
