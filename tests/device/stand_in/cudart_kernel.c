/* The part of the stand-in for the CUDA runtime that launches the two kernels of the plug-in. When
 * the plug-in is loaded, code of nvcc registers the kernels by functions that no header of CUDA
 * declares. */
#include "src/device/combine.h"
#include "src/device/vertices.h"
#include "tests/device/stand_in/stand_in.h"

#include <stdlib.h>
#include <string.h>

/* addresses that the plug-in passes to launch its kernels */
static const void *combine_kernel, *vertices_kernel;

void **__cudaRegisterFatBinary(void *binary);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int limit, void *thread, void *block, void *threads, void *grid,
                            int *size);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
cudaError_t __cudaGetKernel(void **out, const void *host);
cudaError_t __cudaLaunchKernel(void *started, dim3 grid, dim3 block, void **arguments,
                               size_t shared, cudaStream_t stream);

void **__cudaRegisterFatBinary(void *binary)
{
  static void *handle;
  handle = binary;
  return &handle;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
  (void)handle;
}

void __cudaUnregisterFatBinary(void **handle)
{
  (void)handle;
}

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int limit, void *thread, void *block, void *threads, void *grid,
                            int *size)
{
  (void)handle, (void)device, (void)limit, (void)thread, (void)block, (void)threads, (void)grid;
  (void)size;
  if (strstr(name, "combine"))
    combine_kernel = host;
  else if (strstr(name, "vertices"))
    vertices_kernel = host;
  else
    abort();
}

/* Fails, because the plug-in does not use the form of a launch that calls this function. */
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
  (void)grid, (void)block, (void)shared, (void)stream;
  return cudaErrorNotSupported;
}

cudaError_t __cudaGetKernel(void **out, const void *host)
{
  (void)out, (void)host;
  return cudaErrorNotSupported;
}

cudaError_t __cudaLaunchKernel(void *started, dim3 grid, dim3 block, void **arguments,
                               size_t shared, cudaStream_t stream)
{
  (void)started, (void)grid, (void)block, (void)arguments, (void)shared, (void)stream;
  return cudaErrorNotSupported;
}

static bool all_on_device(const combine_loop *l, const void *refused)
{
  const size_t cols = (size_t)l->cols * sizeof(int64_t), rows = (size_t)l->rows * sizeof(int64_t);
  return stand_in_on_device(l->target, cols) && stand_in_on_device(l->start, cols) &&
         stand_in_on_device(l->begin, cols) && stand_in_on_device(l->end, cols) &&
         (!l->row || (stand_in_on_device(l->row, rows) && stand_in_on_device(l->position, rows))) &&
         (!l->values || stand_in_on_device(l->values, 1)) && stand_in_on_device(l->elements, 1) &&
         stand_in_on_device(refused, sizeof(uint64_t));
}

static cudaError_t launch_combine(void **arguments, cudaStream_t stream)
{
  combine_loop *l = malloc(sizeof *l);
  if (!l) abort();
  *l = *(const combine_loop *)arguments[0];
  void *refused = *(void **)arguments[1];
  if (all_on_device(l, refused))
    return stand_in_push(stream,
                         (stand_in_entry){.kind = STAND_IN_COMBINE, .staged = l, .info = refused});
  free(l);
  return cudaErrorInvalidValue;
}

static bool side_on_device(const vertex_side *v, int64_t n)
{
  return (!v->base || stand_in_on_device(v->base, 1)) &&
         (!v->at || stand_in_on_device(v->at, (size_t)n * sizeof *v->at));
}

static cudaError_t launch_vertices(void **arguments, cudaStream_t stream)
{
  vertices_loop *l = malloc(sizeof *l);
  if (!l) abort();
  *l = *(const vertices_loop *)arguments[0];
  const size_t end = (size_t)(l->start + l->n) * sizeof *l->earlier;
  const bool has_repeats =
    l->earlier && stand_in_on_device(l->earlier, end) && stand_in_on_device(l->later, end);
  if (side_on_device(&l->to, l->n) && side_on_device(&l->from, l->n) &&
      side_on_device(&l->before, l->n) && (has_repeats || !l->earlier))
    return stand_in_push(stream, (stand_in_entry){.kind = STAND_IN_VERTICES, .staged = l});
  free(l);
  return cudaErrorInvalidValue;
}

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                             size_t shared, cudaStream_t stream)
{
  const bool fits =
    grid.x >= 1 && grid.y >= 1 && grid.y <= 65535 && block.x >= 1 && block.x <= 1024 && shared == 0;
  if (!fits) return cudaErrorInvalidValue;
  if (function == combine_kernel) return launch_combine(arguments, stream);
  if (function == vertices_kernel) return launch_vertices(arguments, stream);
  return cudaErrorInvalidDeviceFunction;
}

void stand_in_run_vertices(const stand_in_entry *entry, void *data_at(const void *address))
{
  vertices_loop l = *(const vertices_loop *)entry->staged;
  vertex_side *sides[] = {&l.to, &l.from, &l.before};
  for (int i = 0; i < 3; i++) {
    sides[i]->base = data_at(sides[i]->base);
    sides[i]->at = data_at(sides[i]->at);
  }
  l.earlier = data_at(l.earlier);
  l.later = data_at(l.later);
  vertices_all(&l);
}
