/* Implements signals between devices by operations of the CUDA driver on words in pinned host
 * memory. No kernel polls a word. */
#include "src/device/cuda/cuda_state.h"

#include <string.h>

/* Returns a function of the driver, or NULL if the driver does not have the function. The plug-in
 * is not linked with the driver's library, which a machine without a GPU may lack. */
static cuda_word_operation *find_operation(const char *name)
{
  void *symbol = NULL;
  enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  const cudaError_t code =
    cudaGetDriverEntryPointByVersion(name, &symbol, 12000, cudaEnableDefault, &found);
#else
  const cudaError_t code = cudaGetDriverEntryPoint(name, &symbol, cudaEnableDefault, &found);
#endif
  cuda_word_operation *operation = NULL;
  if (code != cudaSuccess) (void)cudaGetLastError();
  if (code == cudaSuccess && found == cudaDriverEntryPointSuccess)
    memcpy(&operation, &symbol, sizeof operation);
  return operation;
}

void osli_cuda_find_signals(device_state *d)
{
  d->write_value = find_operation("cuStreamWriteValue64");
  d->wait_value = find_operation("cuStreamWaitValue64");
}

osla_err osli_cuda_signal(const device_state *d, const cuda_lane *l, const device_work *w)
{
  const bool waits = w->kind == DEVICE_AWAIT;
  const char *name = waits ? "cuStreamWaitValue64" : "cuStreamWriteValue64";
  cuda_word_operation *operation = waits ? d->wait_value : d->write_value;
  void *word = NULL; /* device address of the word */
  if (!operation)
    return osli_cuda_host->error_set(OSLA_ERR_UNSUPPORTED,
                                     "device \"cuda\": the driver does not have %s", name);
  CUDA_CALL(cudaHostGetDevicePointer(&word, (void *)w->word, 0));
  const CUresult code = operation(l->stream, (CUdeviceptr)(uintptr_t)word, w->value,
                                  waits ? CU_STREAM_WAIT_VALUE_GEQ : CU_STREAM_WRITE_VALUE_DEFAULT);
  if (code == CUDA_SUCCESS) return OSLA_OK;
  return osli_cuda_host->error_set(code == CUDA_ERROR_NOT_SUPPORTED ? OSLA_ERR_UNSUPPORTED
                                                                    : OSLA_ERR_STATE,
                                   "device \"cuda\": %s: CUDA error %d", name, (int)code);
}
