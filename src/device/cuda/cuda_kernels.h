/* Functions that queue the kernels of the plug-in for CUDA. nvcc compiles the functions; C and C++
 * call them (internal to src/device/cuda). */
#ifndef CUDA_KERNELS_H
#define CUDA_KERNELS_H

#include "src/device/combine.h"
#include "src/device/vertices.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Queues all visits of a combine_loop on a stream. The arrays of the loop, and *refused, lie in
 * device memory. The kernel adds the number of refused elements to *refused. */
cudaError_t osli_cuda_combine(const combine_loop *loop, unsigned long long *refused,
                              cudaStream_t stream);
/* Queues all visits of a vertices_loop on a stream. The arrays of the loop lie in device memory. */
cudaError_t osli_cuda_vertices(const vertices_loop *loop, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
