/* A stand-in for cuSOLVER, whose operations are work of the fake device (stand_in.h). */
#include "tests/device/stand_in/stand_in.h"

#include <cusolverDn.h>
#include <stdlib.h>

enum { HOST_BYTES = 24 };

struct cusolverDnContext {
  int device;
  cudaStream_t stream;
};

struct cusolverDnParams {
  int unused;
};

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t *out)
{
  *out = calloc(1, sizeof **out);
  if (!*out) return CUSOLVER_STATUS_ALLOC_FAILED;
  (void)cudaGetDevice(&(*out)->device);
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle)
{
  free(handle);
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream)
{
  handle->stream = stream;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t *out)
{
  *out = calloc(1, sizeof **out);
  return *out ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_ALLOC_FAILED;
}

cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t params)
{
  free(params);
  return CUSOLVER_STATUS_SUCCESS;
}

/* Returns INVALID_VALUE from the enclosing function if an argument is wrong. */
#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) return CUSOLVER_STATUS_INVALID_VALUE;                                        \
  } while (0)

static osla_dtype dtype_of(cudaDataType type)
{
  return type == CUDA_R_32F   ? OSLA_FLOAT
         : type == CUDA_R_64F ? OSLA_DOUBLE
         : type == CUDA_C_32F ? OSLA_COMPLEX_FLOAT
                              : OSLA_COMPLEX_DOUBLE;
}

static cusolverStatus_t push(cusolverDnHandle_t h, stand_in_entry entry)
{
  int device = -1;
  (void)cudaGetDevice(&device);
  if (device != h->device) return CUSOLVER_STATUS_ARCH_MISMATCH;
  return stand_in_push(h->stream, entry) == cudaSuccess ? CUSOLVER_STATUS_SUCCESS
                                                        : CUSOLVER_STATUS_EXECUTION_FAILED;
}

static size_t work_bytes(int64_t n, cudaDataType type)
{
  return (size_t)n * osla_dtype_size(dtype_of(type)) + 40;
}

static cusolverStatus_t factor(cusolverDnHandle_t h, const void *params, device_work w,
                               cudaDataType type, cudaDataType compute, int64_t *pivots,
                               void *on_device, size_t device_bytes, void *on_host,
                               size_t host_bytes, int *info)
{
  w.dtype = dtype_of(type);
  CHECK(params && type == compute && w.m > 0 && w.n > 0);
  CHECK(stand_in_matrix(w.c, w.m, w.n, w.ldc, osla_dtype_size(w.dtype)));
  CHECK(device_bytes >= work_bytes(w.n, type) && stand_in_on_device(on_device, device_bytes));
  CHECK(on_host && host_bytes >= HOST_BYTES && stand_in_on_device(info, sizeof *info));
  if (w.kind == DEVICE_GETRF)
    CHECK(stand_in_on_device(pivots, (size_t)(w.m < w.n ? w.m : w.n) * sizeof *pivots));
  return push(h, (stand_in_entry){.kind = STAND_IN_FACTOR,
                                  .work = w,
                                  .bytes = device_bytes,
                                  .info = info,
                                  .pivots = pivots,
                                  .workspace = on_device});
}

cusolverStatus_t cusolverDnXpotrf_bufferSize(cusolverDnHandle_t h, cusolverDnParams_t params,
                                             cublasFillMode_t uplo, int64_t n, cudaDataType type,
                                             const void *a, int64_t lda, cudaDataType compute,
                                             size_t *on_device, size_t *on_host)
{
  CHECK(h && params && n > 0 && a && lda >= n && type == compute &&
        (uplo == CUBLAS_FILL_MODE_LOWER || uplo == CUBLAS_FILL_MODE_UPPER));
  *on_device = work_bytes(n, type);
  *on_host = HOST_BYTES;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t h, cusolverDnParams_t params,
                                  cublasFillMode_t uplo, int64_t n, cudaDataType type, void *a,
                                  int64_t lda, cudaDataType compute, void *on_device,
                                  size_t device_bytes, void *on_host, size_t host_bytes, int *info)
{
  const device_work w = {
    DEVICE_POTRF, .m = n,     .n = n,
    .c = a,       .ldc = lda, .uplo = uplo == CUBLAS_FILL_MODE_LOWER ? OSLA_LOWER : OSLA_UPPER};
  return factor(h, params, w, type, compute, NULL, on_device, device_bytes, on_host, host_bytes,
                info);
}

cusolverStatus_t cusolverDnXgetrf_bufferSize(cusolverDnHandle_t h, cusolverDnParams_t params,
                                             int64_t m, int64_t n, cudaDataType type, const void *a,
                                             int64_t lda, cudaDataType compute, size_t *on_device,
                                             size_t *on_host)
{
  CHECK(h && params && m > 0 && n > 0 && a && lda >= m && type == compute);
  *on_device = work_bytes(n, type);
  *on_host = HOST_BYTES;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnXgetrf(cusolverDnHandle_t h, cusolverDnParams_t params, int64_t m,
                                  int64_t n, cudaDataType type, void *a, int64_t lda,
                                  int64_t *pivots, cudaDataType compute, void *on_device,
                                  size_t device_bytes, void *on_host, size_t host_bytes, int *info)
{
  const device_work w = {DEVICE_GETRF, .m = m, .n = n, .c = a, .ldc = lda};
  return factor(h, params, w, type, compute, pivots, on_device, device_bytes, on_host, host_bytes,
                info);
}

static cusolverStatus_t swap(cusolverDnHandle_t h, osla_dtype dtype, int n, void *a, int lda,
                             int first, int last, const int *pivots, int step)
{
  CHECK(first == 1 && last >= 1 && (step == 1 || step == -1) && n > 0);
  CHECK(stand_in_matrix(a, last, n, lda, osla_dtype_size(dtype)));
  CHECK(stand_in_on_device(pivots, (size_t)last * sizeof *pivots));
  return push(h, (stand_in_entry){.kind = STAND_IN_SWAP,
                                  .work = {DEVICE_LASWP, dtype, .n = n, .k = last, .c = a,
                                           .ldc = lda, .backward = step < 0},
                                  .pivots = (void *)(uintptr_t)pivots});
}

#define SWAP(x, dtype, type)                                                                       \
  cusolverStatus_t cusolverDn##x##laswp(cusolverDnHandle_t h, int n, type *a, int lda, int first,  \
                                        int last, const int *pivots, int step)                     \
  {                                                                                                \
    return swap(h, dtype, n, a, lda, first, last, pivots, step);                                   \
  }
SWAP(S, OSLA_FLOAT, float)
SWAP(D, OSLA_DOUBLE, double)
SWAP(C, OSLA_COMPLEX_FLOAT, cuComplex)
SWAP(Z, OSLA_COMPLEX_DOUBLE, cuDoubleComplex)
