/* Sparse matrices in device memory: products and CG on a GPU (layer 3).
 *
 * osla_csr_to_device copies a matrix to the device of each rank. osla_spmv (not transposed), and
 * osla_cg without a preconditioner, then need vectors in the memory of this device, for example in
 * a segment of osla_segment_create_on. Calls that read the matrix itself (osla_csr_row,
 * osla_csr_multiply, ...) work as before, in host memory.
 *
 * Between ranks the values of ghosts pass through host memory.
 *
 * Threads: as osla_transport.h says of collective and of local calls.
 * Part: may change in any release (osla_unstable.h).
 */
#ifndef OSLA_SPARSE_DEVICE_H
#define OSLA_SPARSE_DEVICE_H

#include "osla_api.h"
#include "osla_device.h"
#include "osla_sparse.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Copies this rank's rows of the matrix to the device. Collective. The device must have been opened
 * on the transport of the matrix, and must outlive the matrix; osla_csr_destroy frees the copy.
 * Device memory: 12 bytes per entry, 8 per row and ghost. Host memory, with several ranks: 8 bytes
 * per column. Errors, on all ranks together: ARG (the device is NULL or of another transport; the
 * matrix has a copy on a device), RANGE (2^31 entries on a rank), MEM, MPI, those of the device. */
OSLA_API osla_err osla_csr_to_device(osla_csr *matrix, osla_device *device);

/* The device with a copy of the matrix; NULL: there is none. Local. */
OSLA_API osla_device *osla_csr_device(const osla_csr *matrix);

#ifdef __cplusplus
}
#endif
#endif
