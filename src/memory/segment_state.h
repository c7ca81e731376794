/* State of a device and of a segment (internal to src/memory). */
#ifndef SEGMENT_STATE_H
#define SEGMENT_STATE_H

#include "osla_device.h"
#include "src/device/device.h"
#include "src/memory/segment.h"

/* The service of a transport that copies to and from device memory of ranks on other nodes. */
typedef struct device_service device_service;

/* The words by which devices of the ranks of a node signal each other. */
typedef struct device_signals device_signals;

struct osla_device {
  osla_transport *t;
  device_queue *queue;
  device_service *service; /* NULL if the job has one node */
  device_signals *signals; /* NULL if the device uses no signals, so that hosts wait for devices */
  int line;                /* index of the device's line of words (device_signals.c) on all ranks */
  bool has_pinned;         /* true if the device needs the words in pinned memory */
};

struct osla_segment {
  osla_transport *t;
  osla_live_object alive;
  osla_region *region;
  int n_purposes;
  osla_notifiers notifiers; /* if index_of is NULL, the index of an origin is its rank */
  size_t origin_bytes;
  size_t bytes;
  size_t data; /* offset in bytes of the data area in the region, if `device` is NULL */
  /* device on which the data area lies, or NULL if the data area lies in the region */
  osla_device *device;
  /* [ranks] device address of each rank's data area, or NULL if `device` is NULL; for a rank of
   * another node the address is valid in the address space of that rank only */
  void **device_data;
};

/* osli_segment_device_allocate allocates the data area of segment->bytes bytes on the segment's
 * device, and maps the data areas of the other ranks of the node (errors, on all ranks together:
 * MEM, MPI, UNSUPPORTED). osli_segment_device_free unmaps the data areas of the other ranks and
 * frees the one of this rank; it does nothing if the segment has no device. Collective. */
osla_err osli_segment_device_allocate(osla_segment *segment);
void osli_segment_device_free(osla_segment *segment);

/* Do a get or a put of *left bytes, and set *left = 0, if the data area or the caller's buffer lies
 * on a device. osli_segment_device_put always waits for queued work on devices; the next
 * osli_device_settle returns errors of this work. Local. Errors: MEM, MPI, those of the other
 * rank's device. osli_segment_device_get also returns errors of queued work. */
osla_err osli_segment_device_get(const osla_segment *segment, int rank, size_t offset, void *dest,
                                 size_t *left);
osla_err osli_segment_device_put(const osla_segment *segment, int rank, size_t offset,
                                 const void *source, size_t *left);

/* ---- devices of other nodes ---- */

/* Returns the service of a transport with several nodes, and starts the service at the first call.
 * osla_transport_destroy ends the service. Collective. Errors, on all ranks together: MEM, MPI. */
osla_err osli_device_service_open(osla_transport *t, device_service **out);

/* osli_device_service_pin lets a device pin the memory of the service for faster copies, unless
 * another device has pinned it. osli_device_service_unpin must be called before the device is
 * closed; it unpins the memory if this device has pinned it. Local. */
void osli_device_service_pin(device_service *service, device_queue *queue);
void osli_device_service_unpin(device_service *service, device_queue *queue);

/* Copies bytes between device memory of `owner`, a rank of another node, and host memory of this
 * rank: to the device if is_put is true, and otherwise from the device. `address` is valid in the
 * owner's address space. The copy is complete on return. It does not depend on the owner's progress
 * if MPI's gets and puts do not. Local, thread-safe. Errors: MPI, those of the owner's device. */
osla_err osli_device_service_copy(device_service *service, int owner, const void *address,
                                  void *host, size_t bytes, bool is_put);

/* ---- signals between devices of a node ---- */

/* Makes a device use signals (osli_device_signal_ranks in segment.h) if a test on all ranks shows
 * that they work. Otherwise, and if 64 open devices of the transport use signals already, hosts
 * wait for the device. osla_transport_destroy frees the words. Collective. Errors, on all ranks
 * together: MEM, MPI. */
osla_err osli_device_signals_open(osla_device *device);
/* Ends the use of signals. The work of the device must be complete. Local. */
void osli_device_signals_close(osla_device *device);

#endif
