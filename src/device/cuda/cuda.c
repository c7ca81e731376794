/* Opens devices with CUDA, manages their lanes and their memory, and submits and awaits work. */
#include "src/device/cuda/cuda_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const device_host *osli_cuda_host;

/* ---- errors ---- */

/* Returns the length of the name of the function in the text of a call: all characters before the
 * parenthesis. */
static int name_length(const char *what)
{
  return (int)strcspn(what, "(");
}

osla_err osli_cuda_runtime(cudaError_t code, const char *what)
{
  if (code == cudaSuccess) return OSLA_OK;
  /* clears the error, so that a program that calls cudaGetLastError itself does not get it */
  (void)cudaGetLastError();
  const osla_err err = code == cudaErrorMemoryAllocation ? OSLA_ERR_MEM
                       : code == cudaErrorNotSupported   ? OSLA_ERR_UNSUPPORTED
                                                         : OSLA_ERR_STATE;
  return osli_cuda_host->error_set(err, "device \"cuda\": %.*s: %s (CUDA error %d)",
                                   name_length(what), what, cudaGetErrorString(code), (int)code);
}

osla_err osli_cuda_blas(cublasStatus_t status, const char *what)
{
  if (status == CUBLAS_STATUS_SUCCESS) return OSLA_OK;
  const osla_err err = status == CUBLAS_STATUS_ALLOC_FAILED ? OSLA_ERR_MEM : OSLA_ERR_STATE;
  return osli_cuda_library(err, what, cublasGetStatusString(status));
}

osla_err osli_cuda_library(osla_err err, const char *what, const char *text)
{
  return osli_cuda_host->error_set(err, "device \"cuda\": %.*s: %s (CUDA: %s)", name_length(what),
                                   what, text, cudaGetErrorString(cudaGetLastError()));
}

osla_err osli_cuda_solver(cusolverStatus_t status, const char *what)
{
  if (status == CUSOLVER_STATUS_SUCCESS) return OSLA_OK;
  const osla_err err = status == CUSOLVER_STATUS_ALLOC_FAILED ? OSLA_ERR_MEM : OSLA_ERR_STATE;
  char text[40];
  (void)snprintf(text, sizeof text, "cuSOLVER status %d", (int)status);
  return osli_cuda_library(err, what, text);
}

/* ---- devices ---- */

static int make_current(int ordinal)
{
  int before = ordinal;
  (void)cudaGetDevice(&before);
  if (before != ordinal) (void)cudaSetDevice(ordinal);
  return before;
}

int osli_cuda_enter(const device_state *d)
{
  return make_current(d->ordinal);
}

void osli_cuda_leave(const device_state *d, int before)
{
  if (before != d->ordinal) (void)cudaSetDevice(before);
}

static osla_err count_devices(int *out)
{
  int driver = 0, runtime = 0;
  const cudaError_t code = cudaGetDeviceCount(out);
  if (code != cudaErrorInsufficientDriver && code != cudaErrorNoDevice)
    return osli_cuda_runtime(code, "cudaGetDeviceCount");
  (void)cudaGetLastError();
  (void)cudaDriverGetVersion(&driver);
  (void)cudaRuntimeGetVersion(&runtime);
  if (code == cudaErrorNoDevice)
    return osli_cuda_host->error_set(OSLA_ERR_UNSUPPORTED,
                                     "device \"cuda\": this rank sees no GPU; check nvidia-smi and "
                                     "CUDA_VISIBLE_DEVICES");
  if (driver == 0)
    return osli_cuda_host->error_set(OSLA_ERR_UNSUPPORTED,
                                     "device \"cuda\": this machine has no NVIDIA driver; run on a "
                                     "machine with a GPU");
  return osli_cuda_host->error_set(OSLA_ERR_UNSUPPORTED,
                                   "device \"cuda\": the driver serves CUDA %d.%d, and the plug-in "
                                   "needs %d.%d; install a newer driver",
                                   driver / 1000, driver % 1000 / 10, runtime / 1000,
                                   runtime % 1000 / 10);
}

static osla_err describe_device(int ordinal, char *text, size_t size)
{
  struct cudaDeviceProp properties;
  size_t available = 0, all = 0;
  CUDA_CALL(cudaGetDeviceProperties(&properties, ordinal));
  const int before = make_current(ordinal);
  const osla_err err = osli_cuda_runtime(cudaMemGetInfo(&available, &all), "cudaMemGetInfo");
  (void)make_current(before);
  (void)snprintf(text, size, "%s, %zu MiB of memory, %zu MiB free", properties.name, all >> 20,
                 available >> 20);
  return err;
}

/* Records an event on a stream of the caller or of a lane. Errors: ARG (the stream belongs to
 * another device or was destroyed), those of CUDA. */
static osla_err record_event(cudaEvent_t event, cudaStream_t stream)
{
  const cudaError_t code = cudaEventRecord(event, stream);
  if (code != cudaErrorInvalidResourceHandle) return osli_cuda_runtime(code, "cudaEventRecord");
  (void)cudaGetLastError();
  return osli_cuda_host->error_set(
    OSLA_ERR_ARG, "device \"cuda\": the stream that was passed belongs to another device, or was "
                  "destroyed: pass a stream that exists, of the device of this rank");
}

static osla_err open_lane(cuda_lane *l, void *stream, int priority)
{
  l->stream = stream;
  l->borrowed = stream != NULL;
  if (!stream) CUDA_CALL(cudaStreamCreateWithPriority(&l->stream, cudaStreamDefault, priority));
  for (int i = 0; i < EVENTS; i++)
    CUDA_CALL(cudaEventCreateWithFlags(&l->events[i], cudaEventDisableTiming));
  OSLA_CALL(record_event(l->events[0], l->stream));
  BLAS_CALL(cublasCreate(&l->blas));
  BLAS_CALL(cublasSetStream(l->blas, l->stream));
  SOLVER_CALL(cusolverDnCreate(&l->solver));
  SOLVER_CALL(cusolverDnSetStream(l->solver, l->stream));
  SPARSE_CALL(cusparseCreate(&l->sparse));
  SPARSE_CALL(cusparseSetStream(l->sparse, l->stream));
  return OSLA_OK;
}

static void close_lane(cuda_lane *l)
{
  if (l->sparse) (void)cusparseDestroy(l->sparse);
  if (l->solver) (void)cusolverDnDestroy(l->solver);
  if (l->blas) (void)cublasDestroy(l->blas);
  if (l->memory) (void)cudaFree(l->memory);
  for (int i = 0; i < EVENTS; i++)
    if (l->events[i]) (void)cudaEventDestroy(l->events[i]);
  if (l->stream && !l->borrowed) (void)cudaStreamDestroy(l->stream);
}

static void close_device(device_state *d)
{
  const int before = osli_cuda_enter(d);
  for (int i = 0; i < LANES; i++)
    close_lane(&d->lanes[i]);
  if (d->params) (void)cusolverDnDestroyParams(d->params);
  if (d->followed) (void)cudaEventDestroy(d->followed);
  if (d->beside) (void)cudaStreamDestroy(d->beside);
  (void)cudaGetLastError();
  osli_cuda_leave(d, before);
  (void)pthread_mutex_destroy(&d->mutex);
  free(d);
}

static osla_err open_parts(device_state *d, void *stream)
{
  int least = 0, greatest = 0;
  CUDA_CALL(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  OSLA_CALL(open_lane(&d->lanes[LANE_MAIN], stream, least));
  OSLA_CALL(open_lane(&d->lanes[LANE_PANEL], NULL, greatest));
  CUDA_CALL(cudaStreamCreateWithFlags(&d->beside, cudaStreamNonBlocking));
  CUDA_CALL(cudaEventCreateWithFlags(&d->followed, cudaEventDisableTiming));
  SOLVER_CALL(cusolverDnCreateParams(&d->params));
  osli_cuda_find_signals(d);
  return OSLA_OK;
}

static osla_err open_device(int ordinal, void *stream, device_state **out)
{
  device_state *d = calloc(1, sizeof *d);
  if (!d) return osli_cuda_host->error_set(OSLA_ERR_MEM, "state of a CUDA device");
  d->ordinal = ordinal;
  (void)pthread_mutex_init(&d->mutex, NULL);
  const int before = osli_cuda_enter(d);
  const osla_err err = open_parts(d, stream);
  osli_cuda_leave(d, before);
  if (err != OSLA_OK) close_device(d);
  *out = err == OSLA_OK ? d : NULL;
  return err;
}

/* ---- memory ---- */

/* Returns the number of free bytes of device memory. If CUDA cannot report this number, returns the
 * largest one, so that the caller attempts to allocate and gets the error of the allocation. */
static uint64_t available_bytes(device_state *d)
{
  size_t available = 0, all = 0;
  const int before = osli_cuda_enter(d);
  const cudaError_t code = cudaMemGetInfo(&available, &all);
  osli_cuda_leave(d, before);
  return code == cudaSuccess ? available : UINT64_MAX;
}

/* Allocates device memory. Only zeroed memory may be exposed to other processes. It therefore fills
 * whole units of 2 MiB: CUDA cuts smaller pieces out of one block, and the handle of a piece would
 * expose the whole block. Each piece has one byte more than requested, so that the address behind
 * the requested bytes belongs to no other piece. */
static osla_err alloc_memory(device_state *d, size_t bytes, bool zeroed, void **out)
{
  const size_t unit = zeroed ? (size_t)2 << 20 : 256;
  const size_t whole = (bytes / unit + 1) * unit;
  void *memory = NULL;
  const int before = osli_cuda_enter(d);
  osla_err err = osli_cuda_runtime(cudaMalloc(&memory, whole), "cudaMalloc");
  if (err == OSLA_OK && zeroed)
    err = osli_cuda_runtime(cudaMemsetAsync(memory, 0, whole, d->beside), "cudaMemsetAsync");
  if (err == OSLA_OK && zeroed)
    err = osli_cuda_runtime(cudaStreamSynchronize(d->beside), "cudaStreamSynchronize");
  if (err != OSLA_OK && memory) (void)cudaFree(memory);
  osli_cuda_leave(d, before);
  if (err == OSLA_OK) *out = memory;
  return err;
}

static void release_memory(device_state *d, void *memory, size_t bytes)
{
  (void)bytes;
  const int before = osli_cuda_enter(d);
  (void)cudaFree(memory);
  (void)cudaGetLastError();
  osli_cuda_leave(d, before);
}

_Static_assert(sizeof(cudaIpcMemHandle_t) <= sizeof(device_handle), "a handle holds CUDA's handle");

static osla_err expose_memory(device_state *d, const void *memory, device_handle *out)
{
  cudaIpcMemHandle_t handle;
  const int before = osli_cuda_enter(d);
  const cudaError_t code = cudaIpcGetMemHandle(&handle, (void *)(uintptr_t)memory);
  osli_cuda_leave(d, before);
  memcpy(out->bytes, &handle, sizeof handle);
  return osli_cuda_runtime(code, "cudaIpcGetMemHandle");
}

static osla_err import_memory(device_state *d, const device_handle *handle, size_t bytes,
                              void **out)
{
  cudaIpcMemHandle_t of_cuda;
  (void)bytes;
  memcpy(&of_cuda, handle->bytes, sizeof of_cuda);
  const int before = osli_cuda_enter(d);
  const cudaError_t code = cudaIpcOpenMemHandle(out, of_cuda, cudaIpcMemLazyEnablePeerAccess);
  osli_cuda_leave(d, before);
  return osli_cuda_runtime(code, "cudaIpcOpenMemHandle");
}

static void drop_memory(device_state *d, void *memory, size_t bytes)
{
  (void)bytes;
  const int before = osli_cuda_enter(d);
  (void)cudaIpcCloseMemHandle(memory);
  (void)cudaGetLastError();
  osli_cuda_leave(d, before);
}

static int ordinal_of_address(device_state *d, const void *address)
{
  struct cudaPointerAttributes of = {.type = cudaMemoryTypeUnregistered};
  const int before = osli_cuda_enter(d);
  const cudaError_t code = cudaPointerGetAttributes(&of, address);
  if (code != cudaSuccess) (void)cudaGetLastError();
  osli_cuda_leave(d, before);
  return code == cudaSuccess && of.type == cudaMemoryTypeDevice ? of.device : -1;
}

static osla_err pin_memory(device_state *d, void *memory, size_t bytes)
{
  const int before = osli_cuda_enter(d);
  const cudaError_t code = cudaHostRegister(memory, bytes, cudaHostRegisterPortable);
  osli_cuda_leave(d, before);
  return osli_cuda_runtime(code, "cudaHostRegister");
}

static void unpin_memory(device_state *d, void *memory)
{
  const int before = osli_cuda_enter(d);
  (void)cudaHostUnregister(memory);
  (void)cudaGetLastError();
  osli_cuda_leave(d, before);
}

static osla_err copy_now(device_state *d, const void *from, void *to, size_t bytes)
{
  const int before = osli_cuda_enter(d);
  osla_err err = osli_cuda_runtime(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, d->beside),
                                   "cudaMemcpyAsync");
  if (err == OSLA_OK)
    err = osli_cuda_runtime(cudaStreamSynchronize(d->beside), "cudaStreamSynchronize");
  osli_cuda_leave(d, before);
  return err;
}

/* ---- work ---- */

static osla_err submit_work(device_state *d, const device_work *w)
{
  const int before = osli_cuda_enter(d);
  (void)pthread_mutex_lock(&d->mutex);
  const osla_err err = osli_cuda_work(d, w);
  d->lanes[w->lane].unmarked = true;
  (void)pthread_mutex_unlock(&d->mutex);
  osli_cuda_leave(d, before);
  return err;
}

static uint64_t mark_work(device_state *d, device_lane lane)
{
  cuda_lane *l = &d->lanes[lane];
  const int before = osli_cuda_enter(d);
  (void)pthread_mutex_lock(&d->mutex);
  if (l->unmarked || l->borrowed) {
    l->number++;
    const cudaError_t code = cudaEventRecord(l->events[l->number % EVENTS], l->stream);
    if (code != cudaSuccess) d->failed = code;
    l->unmarked = false;
  }
  const uint64_t mark = LANES * l->number + (uint64_t)lane;
  (void)pthread_mutex_unlock(&d->mutex);
  osli_cuda_leave(d, before);
  return mark;
}

static osla_err wait_work(device_state *d, uint64_t mark)
{
  if (mark < LANES) return OSLA_OK;
  const cuda_lane *l = &d->lanes[mark % LANES];
  const int before = osli_cuda_enter(d);
  cudaError_t code = cudaEventSynchronize(l->events[mark / LANES % EVENTS]);
  (void)pthread_mutex_lock(&d->mutex);
  if (code == cudaSuccess) code = d->failed;
  (void)pthread_mutex_unlock(&d->mutex);
  const osla_err err = osli_cuda_runtime(code, "work on the device");
  osli_cuda_leave(d, before);
  return err;
}

static osla_err order_after(device_state *d, device_lane lane, uint64_t mark)
{
  if (mark < LANES) return OSLA_OK;
  cuda_lane *l = &d->lanes[lane];
  const cudaEvent_t event = d->lanes[mark % LANES].events[mark / LANES % EVENTS];
  const int before = osli_cuda_enter(d);
  (void)pthread_mutex_lock(&d->mutex);
  const osla_err err =
    osli_cuda_runtime(cudaStreamWaitEvent(l->stream, event, 0), "cudaStreamWaitEvent");
  l->unmarked = true;
  (void)pthread_mutex_unlock(&d->mutex);
  osli_cuda_leave(d, before);
  return err;
}

/* All calls use one event, even while lanes still wait for its earlier record: cudaStreamWaitEvent
 * waits for the latest record at the time of the call, and later records do not change the wait. */
static osla_err follow_stream(device_state *d, void *stream)
{
  const int before = osli_cuda_enter(d);
  (void)pthread_mutex_lock(&d->mutex);
  osla_err err = record_event(d->followed, stream);
  for (device_lane lane = LANE_MAIN; err == OSLA_OK && lane < LANES; lane++) {
    err = osli_cuda_runtime(cudaStreamWaitEvent(d->lanes[lane].stream, d->followed, 0),
                            "cudaStreamWaitEvent");
    d->lanes[lane].unmarked = true;
  }
  (void)pthread_mutex_unlock(&d->mutex);
  osli_cuda_leave(d, before);
  return err;
}

static const device_ops ops = {.version = DEVICE_INTERFACE,
                               .name = "cuda",
#ifdef HAVE_CUDA_KERNELS
                               .has_kernels = true,
#endif
                               .count = count_devices,
                               .describe = describe_device,
                               .open = open_device,
                               .close = close_device,
                               .available = available_bytes,
                               .alloc = alloc_memory,
                               .release = release_memory,
                               .expose = expose_memory,
                               .import = import_memory,
                               .drop = drop_memory,
                               .ordinal_of = ordinal_of_address,
                               .pin = pin_memory,
                               .unpin = unpin_memory,
                               .copy_now = copy_now,
                               .csr_plan = osli_cuda_csr_plan,
                               .csr_drop = osli_cuda_csr_drop,
                               .submit = submit_work,
                               .mark = mark_work,
                               .wait = wait_work,
                               .after = order_after,
                               .follow = follow_stream};

/* Returns the table of the plug-in's functions. It is the only exported function. libosla refuses a
 * table whose version is not DEVICE_INTERFACE. */
__attribute__((visibility("default"))) const device_ops *osla_cuda_device_ops(
  const device_host *host);
const device_ops *osla_cuda_device_ops(const device_host *host)
{
  osli_cuda_host = host;
  return &ops;
}
