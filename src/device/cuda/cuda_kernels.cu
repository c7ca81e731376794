/* The kernels of the plug-in for CUDA, and the functions that queue them. */
#include "src/device/cuda/cuda_kernels.h"

static const int64_t threads = 256, most_grid_rows = 65535, most_blocks = 1 << 20;

/* Runs all visits of a combine_loop and adds the number of refused elements to *refused. The loop's
 * columns are distributed over the y dimension of CUDA's grid, and the entries of the row list of a
 * column over the threads of the x dimension. */
__global__ static void combine(combine_loop l, unsigned long long *refused)
{
  const int64_t first = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  const int64_t step = (int64_t)gridDim.x * blockDim.x;
  unsigned long long mine = 0;
  for (int64_t c = blockIdx.y; c < l.cols; c += gridDim.y)
    for (int64_t r = l.begin[c] + first; r < l.end[c]; r += step)
      mine += (unsigned long long)combine_visit(&l, c, r);
  if (mine > 0) atomicAdd(refused, mine);
}

cudaError_t osli_cuda_combine(const combine_loop *loop, unsigned long long *refused,
                              cudaStream_t stream)
{
  combine_loop l = *loop;
  void *arguments[] = {&l, &refused};
  const int64_t columns = l.cols < most_grid_rows ? l.cols : most_grid_rows;
  const dim3 grid((unsigned)((l.rows + threads - 1) / threads), (unsigned)columns);
  return cudaLaunchKernel((const void *)combine, grid, dim3((unsigned)threads), arguments, 0, stream);
}

__global__ static void vertices(vertices_loop l)
{
  const int64_t first = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  const int64_t step = (int64_t)gridDim.x * blockDim.x;
  for (int64_t k = first; k < l.n * l.count; k += step)
    vertices_visit(&l, k);
}

cudaError_t osli_cuda_vertices(const vertices_loop *loop, cudaStream_t stream)
{
  vertices_loop l = *loop;
  void *arguments[] = {&l};
  const int64_t blocks = (l.n * l.count + threads - 1) / threads;
  const dim3 grid((unsigned)(blocks < most_blocks ? blocks : most_blocks));
  return cudaLaunchKernel((const void *)vertices, grid, dim3((unsigned)threads), arguments, 0, stream);
}
