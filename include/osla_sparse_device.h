/* Sparse matrices in device memory: products and CG on a GPU (layer 3).
 *
 * osla_csr_to_device copies a matrix to the device of each rank. Afterwards osla_spmv (not
 * transposed), and osla_cg without a preconditioner, run on the device and need vectors in its
 * memory, for example in a segment of osla_segment_create_on. Calls that read the elements of the
 * matrix (osla_csr_row, osla_csr_multiply, ...) still use the matrix in host memory.
 *
 * If x lies in memory of osla_vertices_create_on, ranks of a node read its values in place, from
 * device to device. osla_cg allocates the vector that it multiplies in such memory. Values of other
 * vectors, and values for other nodes, are packed on the device and pass through host memory.
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
 * on the transport of the matrix, and must outlive the matrix; osla_csr_destroy frees the copy. The
 * copy needs 12 bytes of device memory per entry and 8 per row and ghost. Errors, on all ranks
 * together: ARG (the device is NULL or of another transport; the matrix already has a copy on a
 * device), UNSUPPORTED (several ranks, and a plug-in that was compiled without nvcc), RANGE (2^31 -
 * 1 entries or more on a rank), MEM, MPI, those of the device. */
OSLA_API osla_err osla_csr_to_device(osla_csr *matrix, osla_device *device);

/* Returns the device to which osla_csr_to_device has copied the matrix, or NULL. Local. */
OSLA_API osla_device *osla_csr_device(const osla_csr *matrix);

#ifdef __cplusplus
}
#endif
#endif
