/* Stand-ins for the libraries of CUDA, for tests of the plug-in on machines without a GPU.
 *
 * The memory is that of the fake device: an access by the host crashes. The work of a stream runs
 * as late as possible, when somebody waits for it; events and waits between streams are honoured.
 * OSLA_FAKE_DEVICE=early runs work at once. A function that finds a wrong argument returns the
 * error that the real function returns.
 *
 * OSLA_STAND_IN plants a fault: no-driver, old-driver, no-device, no-ipc, other-memory (an import
 * maps memory of this process), fail (the next work fails). */
#ifndef STAND_IN_H
#define STAND_IN_H

#include "src/device/device.h"

#include <cuda_runtime_api.h>

typedef enum stand_in_kind {
  STAND_IN_WORK,     /* `work`, as the fake device does it; for POTRF, GETRF and LASWP see below */
  STAND_IN_FILL,     /* `bytes` bytes of work.c become `value` */
  STAND_IN_FACTOR,   /* POTRF or GETRF: `info` and `pivots` on the device, as cuSOLVER has them */
  STAND_IN_SWAP,     /* LASWP: 32-bit `pivots` on the device, counted from 1 */
  STAND_IN_COMBINE,  /* the loop in `staged`; adds the number of refused elements to `info` */
  STAND_IN_VERTICES, /* the loop over vertices in `staged` */
  STAND_IN_AFTER     /* runs the work of stream `other` up to number `end` */
} stand_in_kind;

/* An entry of a stream. */
typedef struct stand_in_entry {
  stand_in_kind kind;
  device_work work;
  int value;
  size_t bytes;
  void *staged; /* copy of host memory that was not pinned; freed after the work */
  void *info, *pivots, *workspace;
  cudaStream_t other;
  uint64_t end;
} stand_in_entry;

/* Appends an entry to a stream. Errors: InvalidResourceHandle (no stream, or of another device than
 * the current one), an earlier error of work. */
cudaError_t stand_in_push(cudaStream_t stream, stand_in_entry entry);

/* True if `bytes` bytes from the address on lie in one piece of device memory. */
bool stand_in_on_device(const void *address, size_t bytes);

/* Runs a loop over vertices. data_at: memory of the host in which the data of an address are. */
void stand_in_run_vertices(const stand_in_entry *entry, void *data_at(const void *address));

/* True if the address lies in pinned host memory. */
bool stand_in_pinned(const void *address);

/* True if an m x n matrix with elements of e bytes lies on the device, and its leading dimension is
 * at least 1 and m. */
bool stand_in_matrix(const void *a, int64_t m, int64_t n, int64_t ld, size_t e);

#endif
