/* State of a device of the plug-in for CUDA (internal to src/device/cuda). */
#ifndef CUDA_STATE_H
#define CUDA_STATE_H

#include "src/device/device.h"

#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cusolverDn.h>
#include <cusparse.h>
#include <pthread.h>

/* Number of events of a lane. Mark number i uses event i modulo EVENTS. If a later mark has already
 * reused the event, a wait for mark i also waits for later work of the lane, which is longer than
 * needed but correct. */
enum { EVENTS = 32 };

/* A lane of a device: a CUDA stream, the handles of cuBLAS, cuSOLVER and cuSPARSE that queue work
 * on this stream, and work memory for this work. */
typedef struct cuda_lane {
  cudaStream_t stream;
  bool borrowed; /* true if the stream belongs to the user, who may queue work on it, too */
  bool unmarked; /* true if work was submitted to the lane after its latest mark */
  cublasHandle_t blas;
  cusolverDnHandle_t solver;
  cusparseHandle_t sparse;
  unsigned char *memory; /* device memory for the lane's queued work; NULL: none yet */
  size_t memory_bytes;
  uint64_t number; /* number of the latest mark; 0: no mark */
  cudaEvent_t events[EVENTS];
} cuda_lane;

/* Type of cuStreamWriteValue64 and of cuStreamWaitValue64. */
typedef CUresult cuda_word_operation(CUstream stream, CUdeviceptr word, cuuint64_t value,
                                     unsigned flags);

struct device_state {
  pthread_mutex_t mutex; /* guards the members of all lanes */
  int ordinal;
  cudaError_t failed;  /* error of an earlier call that could not return it, or cudaSuccess */
  cudaStream_t beside; /* stream of copies that do not wait for queued work */
  /* event that follow_stream records on a stream of the caller; the lanes wait for it */
  cudaEvent_t followed;
  cusolverDnParams_t params;
  /* cuStreamWriteValue64 and cuStreamWaitValue64, or NULL if the driver does not have them */
  cuda_word_operation *write_value, *wait_value;
  cuda_lane lanes[LANES];
};

/* Table of the functions of libosla that the plug-in calls, set when libosla loads the plug-in. */
extern const device_host *osli_cuda_host;

/* osli_cuda_enter makes the device current for this thread, and returns the number of the device
 * that was current before. osli_cuda_leave makes device number `before` current again, because the
 * user's program may call CUDA itself and rely on its current device. */
int osli_cuda_enter(const device_state *state);
void osli_cuda_leave(const device_state *state, int before);

/* Each of these functions converts a status of the CUDA runtime, cuBLAS, cuSOLVER or cuSPARSE to an
 * osla_err, and records the text of an error; `what` is the text of the call that returned the
 * status. Errors: MEM (no memory), UNSUPPORTED (not possible on this machine), STATE (any other
 * error; after an error of a kernel each later call of CUDA returns this error again). */
osla_err osli_cuda_runtime(cudaError_t code, const char *what);
osla_err osli_cuda_blas(cublasStatus_t status, const char *what);
osla_err osli_cuda_solver(cusolverStatus_t status, const char *what);
osla_err osli_cuda_sparse(cusparseStatus_t status, const char *what);
/* Records and returns the error `err` of the call `what`, which a library describes by `text`. */
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

/* ---- cuda_signal.c ---- */

/* Sets write_value and wait_value of a device. */
void osli_cuda_find_signals(device_state *state);
/* Queues work of kind SIGNAL or AWAIT in a lane of the device, under the conditions of
 * osli_cuda_work. Errors: UNSUPPORTED (the driver or the GPU does not have the operation), those of
 * CUDA. */
osla_err osli_cuda_signal(const device_state *state, const cuda_lane *lane,
                          const device_work *work);

/* ---- cuda_sparse.c ---- */

/* Implementations of csr_plan and csr_drop of device_ops. */
osla_err osli_cuda_csr_plan(device_state *state, device_csr *csr);
void osli_cuda_csr_drop(device_state *state, device_csr *csr);
/* osli_cuda_multiply_csr queues work of kind SPMV, and osli_cuda_vectors work of kind DOT, DIVIDE,
 * AXPY or XPAY, both under the conditions of osli_cuda_work. */
osla_err osli_cuda_multiply_csr(const cuda_lane *lane, const device_work *work);
osla_err osli_cuda_vectors(const cuda_lane *lane, const device_work *work);

#endif
