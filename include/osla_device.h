/* Device memory: matrices and segments in the memory of a GPU (layers 1 and 2).
 *
 * A rank opens a device and creates segments or matrices on it. A program works on such segments
 * and matrices by the same calls as on those in host memory; doc/devices.md lists the calls that
 * work on a device. Every other call returns UNSUPPORTED and changes nothing. All matrices of a
 * call must lie on one device, or all in host memory. Only osla_matrix_get_block,
 * osla_matrix_put_block, osla_matrix_copy and osla_matrix_transpose also copy between a device and
 * host memory.
 *
 * The host must not load from or store to a device pointer (of osla_matrix_local, osla_matrix_peer,
 * osla_segment_local or osla_segment_peer). When a collective call returns, its results are
 * complete, except those of a transfer of a star forest: only work that is queued later on the
 * device sees them, and osla_device_wait waits until they are complete. If queued work of a rank
 * fails, the next collective call that agrees on errors returns the error on all ranks. If this
 * rank calls osla_device_wait, osla_barrier, a get or a flush earlier, then only that call on this
 * rank returns the error.
 *
 * There are two kinds of devices. "fake" simulates a device in host memory, for tests without a
 * GPU: an access by the host to its memory crashes the program (src/device/README.md). "cuda" is an
 * NVIDIA GPU, and needs the plug-in libosla_cuda.so. Between nodes data pass through host memory.
 *
 * Threads: as osla_transport.h says of collective and of local calls.
 * Part: may change in any release (osla_unstable.h).
 */
#ifndef OSLA_DEVICE_H
#define OSLA_DEVICE_H

#include "osla_api.h"
#include "osla_segment.h"
#include "osla_transport.h"
#include "osla_types.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct osla_device osla_device;
typedef struct osla_grid osla_grid;
typedef struct osla_matrix osla_matrix;

typedef struct osla_device_options {
  const char *kind; /* "fake" or "cuda"; NULL stands for the environment variable OSLA_DEVICE */
  bool chosen;      /* true if `ordinal` selects the device; if false, OSLA selects the device whose
                     * number is the rank's index on its node modulo the number of devices */
  int32_t ordinal;  /* number of the device, from 0; ignored unless `chosen` is true */
  void *stream; /* cudaStream_t of the caller on which the device queues work; if NULL, the device
                 * creates a stream */
  uint64_t reserved[8];
} osla_device_options;

/* Opens a device for this rank. Collective over the transport, which must outlive the device. Each
 * rank may pass its own ordinal and stream. `options` may be NULL; OSLA_DEVICE then names the kind.
 * The caller closes *out by osla_device_close. Errors, on all ranks together: ARG (an unknown kind,
 * no such device, a stream of another device, a stream that was destroyed, if CUDA notices it, a
 * wrong value of OSLA_DEVICE_PANELS or OSLA_DEVICE_SIGNALS, ranks that differ in the kind or in
 * these variables, a word of `reserved` that is not 0), MEM, MPI, UNSUPPORTED (a simulation, ranks
 * of a node that cannot map each other's device memory, or "cuda" without its plug-in, a driver or
 * a GPU). */
OSLA_API osla_err osla_device_open(osla_transport *transport, const osla_device_options *options,
                                   osla_device **out);

/* Closes a device, after all its queued work is complete. The program must first destroy or free,
 * on all ranks, everything that lies on the device: segments, matrices, copies of sparse matrices,
 * and memory of osla_vertices_create_on. An error of queued work is not reported here;
 * osla_device_wait reports it. Local. Accepts NULL, and sets the handle to NULL. */
OSLA_API void osla_device_close(osla_device **device);

/* Waits until all work that this rank has queued on the device so far is complete. A program calls
 * it before host code uses results of queued work, and before a stream other than that of the
 * options uses them. Local. Errors: those of queued work; the call clears the error that it
 * returns. */
OSLA_API osla_err osla_device_wait(osla_device *device);

/* Makes a segment whose data area, `bytes` bytes of zeros, lies on the device. The notify slots lie
 * in host memory. Ranks may pass different sizes. n_purposes has the meaning that it has in
 * osla_segment_create. The caller destroys *out by osla_segment_destroy. Collective. The device
 * must outlive the segment. osla_word_post and osla_put_word_post return UNSUPPORTED for the
 * segment. Errors, on all ranks together: those of osla_segment_create, and MEM with the bytes of
 * device memory that are needed and available. */
OSLA_API osla_err osla_segment_create_on(osla_device *device, size_t bytes, int n_purposes,
                                         osla_segment **out);

/* Makes a zero matrix in the memory of the device. The grid must belong to the transport of the
 * device. All other arguments have the meaning that they have in osla_matrix_create. Collective.
 * Errors, on all ranks together: those of osla_matrix_create and osla_segment_create_on. */
OSLA_API osla_err osla_matrix_create_on(osla_device *device, osla_grid *grid, osla_dtype dtype,
                                        int64_t m, int64_t n, int64_t mb, int64_t nb,
                                        osla_matrix **out);

/* Allocates device memory for the values of a star forest, as osla_vertices_create (osla_forest.h)
 * allocates host memory. Devices of other ranks of the node read these values in place. The caller
 * must free the memory by osla_vertices_free before the device is closed. Collective. Errors, on
 * all ranks together: those of osla_vertices_create and osla_segment_create_on. */
OSLA_API osla_err osla_vertices_create_on(osla_device *device, size_t bytes, void **out);

/* osla_device_register enters device memory that the program has allocated, for example by
 * cudaMalloc or by cupy, in the library's table of device memory. The library then accepts the
 * memory as values of star forests, as the arrays G and U of the accumulator (osla_hessian.h), as
 * vectors of osla_spmv and osla_cg, and as the caller's buffer in gets and puts of segments and
 * matrices. Devices of other ranks do not read registered memory in place. The memory still belongs
 * to the program, which must not free it before osla_device_unregister. Pieces may overlap, and a
 * piece may be registered several times. osla_device_unregister with equal arguments ends one
 * registration. It first waits for all work that the device has so far; no transfer under way (of a
 * star forest or a segment) may use the memory. osla_device_close ends all registrations. Local,
 * thread-safe.
 *   memory, bytes [in] address and size of the memory, which lies in one allocation
 * Errors of osla_device_register: ARG (NULL, 0 bytes, memory that does not lie on this device,
 * memory of another rank, memory of another osla_device), MEM. Errors of osla_device_unregister:
 * ARG (not registered). If work of the device has failed, a later call returns this error (see the
 * top of this file). */
OSLA_API osla_err osla_device_register(osla_device *device, void *memory, size_t bytes);
OSLA_API osla_err osla_device_unregister(osla_device *device, void *memory, size_t bytes);

/* Orders work of the device after work of the program: all work that is queued on the device later
 * begins after all work that a stream of the program has so far. The call does not wait. It is not
 * needed for the stream of the options, nor for the legacy default stream if the options name no
 * stream. The opposite order does not exist: streams of the program do not wait for work of the
 * device. Before such a stream reads results, or overwrites values that a transfer has read, the
 * program calls osla_device_wait, osla_device_unregister, or a collective call other than a
 * transfer of a star forest. The stream of the options needs none of these calls. Local,
 * thread-safe.
 *   stream [in] a cudaStream_t of the device, not NULL; cudaStreamLegacy (1) and
 *               cudaStreamPerThread (2) are accepted
 * Errors: ARG (NULL, a stream of another device, a fake device, which has no streams; a stream that
 * was destroyed, if CUDA notices it, otherwise the behaviour is undefined). */
OSLA_API osla_err osla_device_follow(osla_device *device, void *stream);

/* Return the device on which a matrix, or the data area of a segment, lies; NULL if it lies in host
 * memory. Local. */
OSLA_API osla_device *osla_matrix_device(const osla_matrix *matrix);
OSLA_API osla_device *osla_segment_device(const osla_segment *segment);

#ifdef __cplusplus
}
#endif
#endif
