/* The part of the stand-in for the CUDA runtime that copies or fills memory, or returns constants.
 */
#include "tests/device/stand_in/stand_in.h"

#include <stdlib.h>
#include <string.h>

const char *cudaGetErrorString(cudaError_t code)
{
  return code == cudaSuccess                 ? "no error"
         : code == cudaErrorIllegalAddress   ? "an illegal memory access was encountered"
         : code == cudaErrorMemoryAllocation ? "out of memory"
                                             : "error of the stand-in";
}

cudaError_t cudaDriverGetVersion(int *version)
{
  *version = stand_in_planted("no-driver")    ? 0
             : stand_in_planted("old-driver") ? 11040
                                              : CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *lowest, int *greatest)
{
  *lowest = 0;
  *greatest = -5;
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t s)
{
  if (!stand_in_on_device(to, bytes)) return cudaErrorInvalidValue;
  return stand_in_push(
    s, (stand_in_entry){.kind = STAND_IN_FILL, .work = {.c = to}, .value = value, .bytes = bytes});
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *out, const void *address)
{
  memset(out, 0, sizeof *out);
  out->device = stand_in_device(address);
  out->type = out->device >= 0           ? cudaMemoryTypeDevice
              : stand_in_pinned(address) ? cudaMemoryTypeHost
                                         : cudaMemoryTypeUnregistered;
  return cudaSuccess;
}

static bool kind_fits(enum cudaMemcpyKind kind, const void *from, const void *to)
{
  const bool from_device = stand_in_on_device(from, 0), to_device = stand_in_on_device(to, 0);
  return kind == cudaMemcpyDefault ||
         kind == (from_device ? to_device ? cudaMemcpyDeviceToDevice : cudaMemcpyDeviceToHost
                  : to_device ? cudaMemcpyHostToDevice
                              : cudaMemcpyHostToHost);
}

/* Queues a copy. If the source is host memory that is not pinned, its data are first copied to
 * memory of the stand-in. If the target is host memory that is not pinned, the copy is complete on
 * return. */
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t s)
{
  stand_in_entry e = {.work = {DEVICE_COPY, .element = 1, .m = (int64_t)width, .n = (int64_t)height,
                               .a = from, .c = to, .lda = (int64_t)from_pitch,
                               .ldc = (int64_t)to_pitch}};
  const size_t from_bytes = height ? (height - 1) * from_pitch + width : 0;
  const size_t to_bytes = height ? (height - 1) * to_pitch + width : 0;
  const bool from_device = stand_in_on_device(from, 0), to_device = stand_in_on_device(to, 0);
  if (from_pitch < width || to_pitch < width) return cudaErrorInvalidPitchValue;
  if ((from_device && !stand_in_on_device(from, from_bytes)) ||
      (to_device && !stand_in_on_device(to, to_bytes)) || !kind_fits(kind, from, to))
    return cudaErrorInvalidValue;
  if (!from_device && !stand_in_pinned(from) && from_bytes > 0) {
    e.staged = malloc(from_bytes);
    if (!e.staged) abort();
    memcpy(e.staged, from, from_bytes);
    e.work.a = e.staged;
  }
  cudaError_t code = stand_in_push(s, e);
  if (code == cudaSuccess && !to_device && !stand_in_pinned(to)) code = cudaStreamSynchronize(s);
  return code;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t s)
{
  return cudaMemcpy2DAsync(to, bytes, from, bytes, bytes, 1, kind, s);
}
