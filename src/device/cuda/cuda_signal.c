/* Implements signals between devices by operations of the CUDA driver on words in pinned host
 * memory. No kernel polls a word. */
#include "src/device/cuda/cuda_state.h"

#include <cuda.h>
#include <string.h>

/* Type of cuStreamWriteValue64 and of cuStreamWaitValue64. */
typedef CUresult word_operation(CUstream stream, CUdeviceptr word, cuuint64_t value,
                                unsigned flags);

/* Finds a function of the driver. The plug-in is not linked with the driver's library, which a
 * machine without a GPU may lack. Errors: UNSUPPORTED (the driver does not have the function). */
static osla_err find_operation(const char *name, word_operation **out)
{
  void *symbol = NULL;
  enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  const cudaError_t code =
    cudaGetDriverEntryPointByVersion(name, &symbol, 12000, cudaEnableDefault, &found);
#else
  const cudaError_t code = cudaGetDriverEntryPoint(name, &symbol, cudaEnableDefault, &found);
#endif
  OSLA_CALL(osli_cuda_runtime(code, name));
  if (found != cudaDriverEntryPointSuccess || !symbol)
    return osli_cuda_host->error_set(OSLA_ERR_UNSUPPORTED,
                                     "device \"cuda\": the driver does not have %s", name);
  memcpy(out, &symbol, sizeof *out);
  return OSLA_OK;
}

osla_err osli_cuda_signal(const cuda_lane *l, const device_work *w)
{
  const bool waits = w->kind == DEVICE_AWAIT;
  const char *name = waits ? "cuStreamWaitValue64" : "cuStreamWriteValue64";
  word_operation *operation = NULL;
  void *word = NULL; /* device address of the word */
  OSLA_CALL(find_operation(name, &operation));
  CUDA_CALL(cudaHostGetDevicePointer(&word, (void *)w->word, 0));
  const CUresult code = operation(l->stream, (CUdeviceptr)(uintptr_t)word, w->value,
                                  waits ? CU_STREAM_WAIT_VALUE_GEQ : CU_STREAM_WRITE_VALUE_DEFAULT);
  if (code == CUDA_SUCCESS) return OSLA_OK;
  return osli_cuda_host->error_set(code == CUDA_ERROR_NOT_SUPPORTED ? OSLA_ERR_UNSUPPORTED
                                                                    : OSLA_ERR_STATE,
                                   "device \"cuda\": %s: CUDA error %d", name, (int)code);
}
