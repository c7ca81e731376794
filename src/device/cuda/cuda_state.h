/* State of a device of the plug-in for CUDA (internal to src/device/cuda). */
#ifndef CUDA_STATE_H
#define CUDA_STATE_H

#include "src/device/device.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusolverDn.h>
#include <cusparse.h>
#include <pthread.h>

/* Events of a lane. Mark number i uses event i modulo EVENTS. A later mark that uses the same event
 * names later work of the same lane, so waits for it are longer than needed but right. */
enum { EVENTS = 32 };

/* A stream with the handles and the work memory of its own that cuBLAS, cuSOLVER and
 * cuSPARSE need. */
typedef struct cuda_lane {
  cudaStream_t stream;
  bool borrowed; /* the stream belongs to the caller, who may queue work on it */
  bool unmarked; /* work was submitted after the latest mark */
  cublasHandle_t blas;
  cusolverDnHandle_t solver;
  cusparseHandle_t sparse;
  unsigned char *memory; /* device memory for cuSOLVER: work, pivots, info */
  size_t memory_bytes;
  uint64_t number; /* number of the latest mark; 0: no mark */
  cudaEvent_t events[EVENTS];
} cuda_lane;

struct device_state {
  pthread_mutex_t mutex; /* guards the lanes */
  int ordinal;
  cudaError_t failed;  /* error of a call that cannot return it; cudaSuccess: none */
  cudaStream_t beside; /* stream of copies that do not wait for queued work */
  cusolverDnParams_t params;
  cuda_lane lanes[LANES];
};

/* Functions of libosla. Set when libosla loads the plug-in. */
extern const device_host *osli_cuda_host;

/* Makes the device current for this thread, and returns the number of the device that was current
 * before. osli_cuda_leave makes that one current again, because callers may use CUDA themselves. */
int osli_cuda_enter(const device_state *state);
void osli_cuda_leave(const device_state *state, int before);

/* Record the text of an error of the CUDA runtime, cuBLAS, cuSOLVER or cuSPARSE; `what` names the
 * call. They return OK for success. Errors: MEM (no memory), UNSUPPORTED (not possible on this
 * machine), STATE (everything else; after an error of a kernel each later call returns it, too). */
osla_err osli_cuda_runtime(cudaError_t code, const char *what);
osla_err osli_cuda_blas(cublasStatus_t status, const char *what);
osla_err osli_cuda_solver(cusolverStatus_t status, const char *what);
osla_err osli_cuda_sparse(cusparseStatus_t status, const char *what);
/* Records an error that a library describes by `text`. */
osla_err osli_cuda_library(osla_err err, const char *what, const char *text);

/* Calls a function of the CUDA runtime, cuBLAS, cuSOLVER or cuSPARSE, and returns its error, if
 * any, from the enclosing function. */
#define CUDA_CALL(call)   OSLA_CALL(osli_cuda_runtime((call), #call))
#define BLAS_CALL(call)   OSLA_CALL(osli_cuda_blas((call), #call))
#define SOLVER_CALL(call) OSLA_CALL(osli_cuda_solver((call), #call))
#define SPARSE_CALL(call) OSLA_CALL(osli_cuda_sparse((call), #call))

/* Queues a piece of work on its lane. The caller holds the mutex, and the device is current.
 * Errors: RANGE (a size does not fit the int of cuSOLVER), those of CUDA. */
osla_err osli_cuda_work(device_state *state, const device_work *work);

/* ---- cuda_sparse.c ---- */

/* As csr_plan and csr_drop of device_ops. */
osla_err osli_cuda_csr_plan(device_state *state, device_csr *csr);
void osli_cuda_csr_drop(device_state *state, device_csr *csr);
/* Queue work as osli_cuda_work does: SPMV; DOT, DIVIDE, AXPY and XPAY. */
osla_err osli_cuda_multiply_csr(const cuda_lane *lane, const device_work *work);
osla_err osli_cuda_vectors(const cuda_lane *lane, const device_work *work);

#endif
