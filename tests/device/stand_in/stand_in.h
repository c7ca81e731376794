/* Stand-ins for the libraries of CUDA, for tests of the plug-in on machines without a GPU.
 *
 * Device memory is memory of the fake device, so an access by the host crashes. Work of a stream
 * runs as late as possible, when a call waits for it, and in the order that events require. Work up
 * to a signal runs one to two milliseconds after the signal was submitted, in a thread of the
 * stand-in. With OSLA_FAKE_DEVICE=early work runs at once. A function that finds a wrong argument
 * returns the error that the real function returns.
 *
 * The environment variable OSLA_STAND_IN plants a fault: with no-driver, old-driver or no-device
 * the machine cannot use CUDA; with no-ipc device memory cannot be mapped by another process; with
 * other-memory an import maps new memory of this process instead; with no-signals the driver has no
 * operations on words; with fail the next work fails. */
#ifndef STAND_IN_H
#define STAND_IN_H

#include "src/device/device.h"

#include <cuda_runtime_api.h>

typedef enum stand_in_kind {
  STAND_IN_WORK,     /* lets the fake device do `work`, which is not POTRF, GETRF or LASWP */
  STAND_IN_FILL,     /* sets `bytes` bytes from work.c on to `value` */
  STAND_IN_FACTOR,   /* does POTRF or GETRF, with `info` and `pivots` in device memory */
  STAND_IN_SWAP,     /* does LASWP, with 32-bit `pivots`, counted from 1, in device memory */
  STAND_IN_COMBINE,  /* runs the combine_loop in `staged`; counts refused elements in `info` */
  STAND_IN_VERTICES, /* runs the vertices_loop in `staged` */
  STAND_IN_SIGNAL,   /* stores `end` in `word` */
  STAND_IN_AWAIT,    /* waits until `word` is at least `end` */
  STAND_IN_AFTER     /* runs the work of the stream `other` whose number is below `end` */
} stand_in_kind;

/* Work, or a wait for another stream, that is queued in a stream. */
typedef struct stand_in_entry {
  stand_in_kind kind;
  device_work work;
  int value;
  size_t bytes;
  void *staged; /* copy of host memory that was not pinned; freed after the work */
  void *info, *pivots, *workspace;
  _Atomic uint64_t *word;
  cudaStream_t other;
  uint64_t end;
} stand_in_entry;

/* Appends an entry to a stream. Errors: InvalidResourceHandle (the stream is NULL, or belongs to a
 * device that is not current), an earlier error of work. */
cudaError_t stand_in_push(cudaStream_t stream, stand_in_entry entry);

/* True if `bytes` bytes from the address on lie in one piece of device memory. */
bool stand_in_on_device(const void *address, size_t bytes);

/* Number of the device in whose memory an address lies; -1 for host memory. */
int stand_in_device(const void *address);

/* Runs the loop over vertices of an entry. data_at returns the host address of the data that belong
 * to a device address. */
void stand_in_run_vertices(const stand_in_entry *entry, void *data_at(const void *address));

/* True if the address lies in pinned host memory. */
bool stand_in_pinned(const void *address);

/* True if OSLA_STAND_IN plants the fault. */
bool stand_in_planted(const char *fault);

/* Each of these functions runs an entry of the kind FACTOR, SWAP or COMBINE. data_at returns the
 * address at which the host can access the data of a device address. */
osla_err stand_in_run_factor(const stand_in_entry *entry, void *data_at(const void *address));
osla_err stand_in_run_swap(const stand_in_entry *entry, void *data_at(const void *address));
void stand_in_run_combine(const stand_in_entry *entry, void *data_at(const void *address));

/* True if the m x n matrix `a` with leading dimension ld and elements of e bytes lies on the
 * device, and ld is at least 1 and m. */
bool stand_in_matrix(const void *a, int64_t m, int64_t n, int64_t ld, size_t e);

#endif
