/* The part of the stand-in for CUDA that stores numbers in words in pinned memory and waits for
 * them. The plug-in finds both functions by cudaGetDriverEntryPointByVersion. */
#include "tests/device/stand_in/stand_in.h"

#include <cuda.h>
#include <string.h>

static CUresult push(stand_in_kind kind, CUstream stream, CUdeviceptr word, cuuint64_t value,
                     unsigned flags)
{
  void *at = (void *)(uintptr_t)word;
  if (flags != 0 || word % sizeof value != 0 || !stand_in_pinned(at))
    return CUDA_ERROR_INVALID_VALUE;
  const cudaError_t code =
    stand_in_push(stream, (stand_in_entry){.kind = kind, .word = at, .end = value});
  return (CUresult)code; /* CUresult and cudaError_t have equal numbers for equal errors */
}

static CUresult write_value(CUstream stream, CUdeviceptr word, cuuint64_t value, unsigned flags)
{
  return push(STAND_IN_SIGNAL, stream, word, value, flags);
}

static CUresult wait_value(CUstream stream, CUdeviceptr word, cuuint64_t value, unsigned flags)
{
  return push(STAND_IN_AWAIT, stream, word, value, flags);
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **out, unsigned version,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *found)
{
  CUresult (*function)(CUstream, CUdeviceptr, cuuint64_t, unsigned) =
    strcmp(symbol, "cuStreamWriteValue64") == 0  ? write_value
    : strcmp(symbol, "cuStreamWaitValue64") == 0 ? wait_value
                                                 : NULL;
  if (stand_in_planted("no-signals")) function = NULL;
  if (version < 12000 || flags != cudaEnableDefault) return cudaErrorInvalidValue;
  *found = function ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  memcpy(out, &function, sizeof *out);
  return cudaSuccess;
}

cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **out, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *found)
{
  return cudaGetDriverEntryPointByVersion(symbol, out, 12000, flags, found);
}

cudaError_t cudaHostGetDevicePointer(void **out, void *host, unsigned flags)
{
  if (flags != 0 || !stand_in_pinned(host)) return cudaErrorInvalidValue;
  *out = host;
  return cudaSuccess;
}
