/* State of a device and of a segment (internal to src/memory). */
#ifndef SEGMENT_STATE_H
#define SEGMENT_STATE_H

#include "osla_device.h"
#include "src/device/device.h"
#include "src/memory/segment.h"

/* Copies between nodes, for all devices of a transport. */
typedef struct device_service device_service;

struct osla_device {
  osla_transport *t;
  device_queue *queue;
  device_service *service; /* NULL if the job has one node */
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
  /* device on which the data area lies; NULL: the data area is in the region */
  osla_device *device;
  /* [ranks] device addresses of the data areas, for ranks of other nodes in the owner's address
   * space; NULL without a device */
  void **device_data;
};

/* osli_segment_device_allocate allocates the data area of `bytes` bytes on the segment's device,
 * and maps those of the other ranks (errors, on all ranks together: MEM, MPI, UNSUPPORTED).
 * osli_segment_device_free frees and unmaps them; it does nothing without a device. Collective. */
osla_err osli_segment_device_allocate(osla_segment *segment);
void osli_segment_device_free(osla_segment *segment);

/* Do a get or a put of *left bytes, and set *left = 0, if the data area or the caller's buffer lies
 * on a device. osli_segment_device_put always waits for the work on devices, and keeps its errors
 * for the next osli_device_settle. Local. Errors: MEM, MPI, those of the other rank's device; get:
 * those of queued work. */
osla_err osli_segment_device_get(const osla_segment *segment, int rank, size_t offset, void *dest,
                                 size_t *left);
osla_err osli_segment_device_put(const osla_segment *segment, int rank, size_t offset,
                                 const void *source, size_t *left);

/* ---- devices of other nodes ---- */

/* Finds the service of a transport with several nodes, or starts it; osla_transport_destroy ends
 * it. Collective. Errors, on all ranks together: MEM, MPI. */
osla_err osli_device_service_open(osla_transport *t, device_service **out);

/* _pin lets a device pin the memory of the service, for faster copies, unless another device has
 * done so. _unpin unpins it before the device is closed. Local. */
void osli_device_service_pin(device_service *service, device_queue *queue);
void osli_device_service_unpin(device_service *service, device_queue *queue);

/* Copies bytes from device memory of `owner`, a rank of another node, to host memory of this rank,
 * or to device memory if is_put is true. `address` is valid in the owner's address space. Complete
 * on return, and independent of the owner's progress if MPI's gets and puts are. Local,
 * thread-safe. Errors: MPI, those of the owner's device. */
osla_err osli_device_service_copy(device_service *service, int owner, const void *address,
                                  void *host, size_t bytes, bool is_put);

#endif
