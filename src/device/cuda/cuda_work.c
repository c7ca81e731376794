/* Queues pieces of work on CUDA streams: calls of cuBLAS and cuSOLVER, copies, and the plug-in's
 * own kernels. */
#include "src/device/cuda/cuda_kernels.h"
#include "src/device/cuda/cuda_state.h"

#include <complex.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- arguments ---- */

static cublasOperation_t operation(osla_trans trans)
{
  return trans == OSLA_NOTRANS ? CUBLAS_OP_N : trans == OSLA_TRANS ? CUBLAS_OP_T : CUBLAS_OP_C;
}

static cublasFillMode_t triangle(osla_uplo uplo)
{
  return uplo == OSLA_LOWER ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
}

static cudaDataType data_type(osla_dtype dtype)
{
  static const cudaDataType types[] = {[OSLA_FLOAT] = CUDA_R_32F,
                                       [OSLA_DOUBLE] = CUDA_R_64F,
                                       [OSLA_COMPLEX_FLOAT] = CUDA_C_32F,
                                       [OSLA_COMPLEX_DOUBLE] = CUDA_C_64F};
  return types[dtype];
}

static bool is_single(osla_dtype dtype)
{
  return dtype == OSLA_FLOAT || dtype == OSLA_COMPLEX_FLOAT;
}

/* A scalar of any of the four element types. A call of cuBLAS gets the address of the member with
 * the type of its matrices. */
typedef union scalar {
  float s;
  double d;
  cuComplex c;
  cuDoubleComplex z;
} scalar;

static scalar scalar_of(osla_dtype dtype, osla_complex value)
{
  const double re = creal(value), im = cimag(value);
  switch (dtype) {
    case OSLA_FLOAT: return (scalar){.s = (float)re};
    case OSLA_DOUBLE: return (scalar){.d = re};
    case OSLA_COMPLEX_FLOAT: return (scalar){.c = {(float)re, (float)im}};
    default: return (scalar){.z = {re, im}};
  }
}

/* ---- BLAS ---- */

static osla_err multiply(const cuda_lane *l, const device_work *w)
{
  const cudaDataType type = data_type(w->dtype);
  const scalar alpha = scalar_of(w->dtype, w->alpha), beta = scalar_of(w->dtype, w->beta);
  BLAS_CALL(cublasGemmEx_64(l->blas, operation(w->transa), operation(w->transb), w->m, w->n, w->k,
                            &alpha, w->a, type, w->lda, w->b, type, w->ldb, &beta, w->c, type,
                            w->ldc, is_single(w->dtype) ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_64F,
                            CUBLAS_GEMM_DEFAULT));
  return OSLA_OK;
}

/* Queues the update of a triangle: by xSYRK for real types, and by xHERK, whose factors alpha and
 * beta are real, for complex types. */
static osla_err update_triangle(const cuda_lane *l, const device_work *w)
{
  const cublasOperation_t t = w->transa == OSLA_NOTRANS                           ? CUBLAS_OP_N
                              : w->dtype == OSLA_FLOAT || w->dtype == OSLA_DOUBLE ? CUBLAS_OP_T
                                                                                  : CUBLAS_OP_C;
  const double alpha = creal(w->alpha), beta = creal(w->beta);
  const float alpha_s = (float)alpha, beta_s = (float)beta;
  const cublasFillMode_t u = triangle(w->uplo);
  switch (w->dtype) {
    case OSLA_FLOAT:
      BLAS_CALL(
        cublasSsyrk_64(l->blas, u, t, w->n, w->k, &alpha_s, w->a, w->lda, &beta_s, w->c, w->ldc));
      break;
    case OSLA_DOUBLE:
      BLAS_CALL(
        cublasDsyrk_64(l->blas, u, t, w->n, w->k, &alpha, w->a, w->lda, &beta, w->c, w->ldc));
      break;
    case OSLA_COMPLEX_FLOAT:
      BLAS_CALL(
        cublasCherk_64(l->blas, u, t, w->n, w->k, &alpha_s, w->a, w->lda, &beta_s, w->c, w->ldc));
      break;
    case OSLA_COMPLEX_DOUBLE:
      BLAS_CALL(
        cublasZherk_64(l->blas, u, t, w->n, w->k, &alpha, w->a, w->lda, &beta, w->c, w->ldc));
      break;
  }
  return OSLA_OK;
}

static osla_err solve_triangle(const cuda_lane *l, const device_work *w)
{
  const cublasSideMode_t side = w->side == OSLA_LEFT ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
  const cublasDiagType_t diag = w->diag == OSLA_UNIT ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
  const scalar one = scalar_of(w->dtype, 1);
#define SOLVE(x, member)                                                                           \
  BLAS_CALL(cublas##x##trsm_64(l->blas, side, triangle(w->uplo), operation(w->transa), diag, w->m, \
                               w->n, &one.member, w->a, w->lda, w->c, w->ldc));                    \
  break
  switch (w->dtype) {
    case OSLA_FLOAT: SOLVE(S, s);
    case OSLA_DOUBLE: SOLVE(D, d);
    case OSLA_COMPLEX_FLOAT: SOLVE(C, c);
    case OSLA_COMPLEX_DOUBLE: SOLVE(Z, z);
  }
  return OSLA_OK;
}

/* Queues C := alpha A + beta C. If beta = 0, geam of cuBLAS does not read its second matrix, C. */
static osla_err add(const cuda_lane *l, const device_work *w)
{
  const scalar alpha = scalar_of(w->dtype, w->alpha), beta = scalar_of(w->dtype, w->beta);
#define ADD(x, member)                                                                             \
  BLAS_CALL(cublas##x##geam_64(l->blas, CUBLAS_OP_N, CUBLAS_OP_N, w->m, w->n, &alpha.member, w->a, \
                               w->lda, &beta.member, w->c, w->ldc, w->c, w->ldc));                 \
  break
  switch (w->dtype) {
    case OSLA_FLOAT: ADD(S, s);
    case OSLA_DOUBLE: ADD(D, d);
    case OSLA_COMPLEX_FLOAT: ADD(C, c);
    case OSLA_COMPLEX_DOUBLE: ADD(Z, z);
  }
  return OSLA_OK;
}

static bool is_on_device(const void *address)
{
  struct cudaPointerAttributes found;
  return cudaPointerGetAttributes(&found, address) == cudaSuccess &&
         found.type == cudaMemoryTypeDevice;
}

/* Copies a row of elements between two matrices on devices by a copy kernel of cuBLAS.
 * cudaMemcpy2DAsync, which copies each element of such a row alone, is therefore not used. */
static osla_err copy_row(const cuda_lane *l, const device_work *w)
{
  if (w->element == sizeof(float))
    BLAS_CALL(cublasScopy_64(l->blas, w->n, w->a, w->lda, w->c, w->ldc));
  else if (w->element == sizeof(double))
    BLAS_CALL(cublasDcopy_64(l->blas, w->n, w->a, w->lda, w->c, w->ldc));
  else
    BLAS_CALL(cublasZcopy_64(l->blas, w->n, w->a, w->lda, w->c, w->ldc));
  return OSLA_OK;
}

static osla_err copy(const cuda_lane *l, const device_work *w)
{
  const size_t e = w->element, width = (size_t)w->m * e;
  const bool has_type = e == sizeof(float) || e == sizeof(double) || e == 2 * sizeof(double);
  if (w->n == 1 || (w->lda == w->m && w->ldc == w->m))
    CUDA_CALL(cudaMemcpyAsync(w->c, w->a, width * (size_t)w->n, cudaMemcpyDefault, l->stream));
  else if (w->m == 1 && has_type && is_on_device(w->a) && is_on_device(w->c))
    return copy_row(l, w);
  else
    CUDA_CALL(cudaMemcpy2DAsync(w->c, (size_t)w->ldc * e, w->a, (size_t)w->lda * e, width,
                                (size_t)w->n, cudaMemcpyDefault, l->stream));
  return OSLA_OK;
}

/* ---- LAPACK ---- */

/* Makes sure that the lane's work memory has at least `bytes` bytes. Before smaller memory is
 * freed, the function waits for the queued work of the lane, which may use this memory. */
static osla_err reserve(cuda_lane *l, size_t bytes)
{
  if (bytes <= l->memory_bytes) return OSLA_OK;
  CUDA_CALL(cudaStreamSynchronize(l->stream));
  CUDA_CALL(cudaFree(l->memory));
  l->memory = NULL;
  l->memory_bytes = 0;
  CUDA_CALL(cudaMalloc((void **)&l->memory, bytes));
  l->memory_bytes = bytes;
  return OSLA_OK;
}

static size_t whole_units(size_t bytes)
{
  return (bytes + 255) / 256 * 256;
}

/* Work memory of a cuSOLVER call. The lane's device memory holds cuSOLVER's work memory, the pivots
 * and info, in this order. */
typedef struct solver_memory {
  size_t on_device, /* bytes of cuSOLVER's work memory on the device */
    on_host;        /* bytes of cuSOLVER's work memory on the host */
  void *host;       /* cuSOLVER's work memory on the host, freed after the call */
  int64_t *pivots;  /* device memory for the pivots */
  int *info;        /* device memory for LAPACK's info */
} solver_memory;

static osla_err reserve_for_solver(cuda_lane *l, int64_t n_pivots, solver_memory *m)
{
  const size_t pivots = whole_units(m->on_device);
  const size_t info = pivots + whole_units((size_t)n_pivots * sizeof(int64_t));
  OSLA_CALL(reserve(l, info + sizeof(int)));
  m->pivots = (int64_t *)(void *)(l->memory + pivots);
  m->info = (int *)(void *)(l->memory + info);
  m->host = malloc(m->on_host + 1);
  return m->host ? OSLA_OK
                 : osli_cuda_host->error_set(OSLA_ERR_MEM, "%zu bytes for cuSOLVER", m->on_host);
}

/* Waits until the factorisation that the call `what` has queued is complete, and copies LAPACK's
 * info from the device to *info. */
static osla_err fetch_info(const cuda_lane *l, const solver_memory *m, const char *what,
                           int64_t *info)
{
  int narrow = 0;
  CUDA_CALL(cudaMemcpyAsync(&narrow, m->info, sizeof narrow, cudaMemcpyDeviceToHost, l->stream));
  CUDA_CALL(cudaStreamSynchronize(l->stream));
  if (narrow < 0)
    return osli_cuda_host->error_set(OSLA_ERR_ARG, "%s refused argument %d", what, -narrow);
  *info = narrow;
  return OSLA_OK;
}

static bool nan_at(osla_dtype dtype, const unsigned char *element)
{
  float single;
  double full;
  memcpy(&single, element, sizeof single);
  if (is_single(dtype)) return isnan(single);
  memcpy(&full, element, sizeof full);
  return isnan(full);
}

/* Sets *w->info to the index, from 1, of the first diagonal element of a Cholesky factor that is
 * NaN, as LAPACK does. cuSOLVER's potrf instead accepts a NaN as a pivot, which then spreads to all
 * later pivots. So the rest of the diagonal is fetched only if the last diagonal element is NaN. */
static osla_err find_nan_pivot(const cuda_lane *l, const device_work *w)
{
  const size_t e = osla_dtype_size(w->dtype), pitch = ((size_t)w->ldc + 1) * e;
  const unsigned char *diagonal = w->c;
  unsigned char last[16];
  CUDA_CALL(cudaMemcpyAsync(last, diagonal + (size_t)(w->n - 1) * pitch, e, cudaMemcpyDeviceToHost,
                            l->stream));
  CUDA_CALL(cudaStreamSynchronize(l->stream));
  if (!nan_at(w->dtype, last)) return OSLA_OK;
  unsigned char *all = malloc((size_t)w->n * e);
  if (!all) return osli_cuda_host->error_set(OSLA_ERR_MEM, "diagonal of a factor");
  osla_err err = osli_cuda_runtime(
    cudaMemcpy2DAsync(all, e, diagonal, pitch, e, (size_t)w->n, cudaMemcpyDeviceToHost, l->stream),
    "cudaMemcpy2DAsync");
  if (err == OSLA_OK)
    err = osli_cuda_runtime(cudaStreamSynchronize(l->stream), "cudaStreamSynchronize");
  int64_t first = 0;
  while (err == OSLA_OK && first < w->n - 1 && !nan_at(w->dtype, all + (size_t)first * e))
    first++;
  if (err == OSLA_OK) *w->info = first + 1;
  free(all);
  return err;
}

static osla_err factor_cholesky(device_state *d, cuda_lane *l, const device_work *w)
{
  const cudaDataType type = data_type(w->dtype);
  const cublasFillMode_t uplo = triangle(w->uplo);
  solver_memory m = {0};
  SOLVER_CALL(cusolverDnXpotrf_bufferSize(l->solver, d->params, uplo, w->n, type, w->c, w->ldc,
                                          type, &m.on_device, &m.on_host));
  OSLA_CALL(reserve_for_solver(l, 0, &m));
  osla_err err =
    osli_cuda_solver(cusolverDnXpotrf(l->solver, d->params, uplo, w->n, type, w->c, w->ldc, type,
                                      l->memory, m.on_device, m.host, m.on_host, m.info),
                     "cusolverDnXpotrf");
  if (err == OSLA_OK) err = fetch_info(l, &m, "cusolverDnXpotrf", w->info);
  free(m.host);
  return err == OSLA_OK && *w->info == 0 ? find_nan_pivot(l, w) : err;
}

static osla_err factor_lu(device_state *d, cuda_lane *l, const device_work *w)
{
  const cudaDataType type = data_type(w->dtype);
  const int64_t count = w->m < w->n ? w->m : w->n;
  solver_memory m = {0};
  SOLVER_CALL(cusolverDnXgetrf_bufferSize(l->solver, d->params, w->m, w->n, type, w->c, w->ldc,
                                          type, &m.on_device, &m.on_host));
  OSLA_CALL(reserve_for_solver(l, count, &m));
  osla_err err = osli_cuda_solver(cusolverDnXgetrf(l->solver, d->params, w->m, w->n, type, w->c,
                                                   w->ldc, m.pivots, type, l->memory, m.on_device,
                                                   m.host, m.on_host, m.info),
                                  "cusolverDnXgetrf");
  if (err == OSLA_OK)
    err = osli_cuda_runtime(cudaMemcpyAsync(w->pivots, m.pivots, (size_t)count * sizeof *w->pivots,
                                            cudaMemcpyDeviceToHost, l->stream),
                            "cudaMemcpyAsync");
  if (err == OSLA_OK) err = fetch_info(l, &m, "cusolverDnXgetrf", w->info);
  free(m.host);
  for (int64_t i = 0; err == OSLA_OK && i < count; i++)
    w->pivots[i]--; /* cuSOLVER counts rows from 1, OSLA from 0 */
  return err;
}

/* Queues the interchange of rows. cuSOLVER's laswp has sizes and pivots of 32 bits, so the pivots
 * are first converted into the array `narrow`. As in LAPACK, an increment of -1 applies the pivots
 * in reverse order. cudaMemcpyAsync from pageable host memory has read `narrow` when it returns, so
 * the array is freed at once. */
static osla_err interchange(cuda_lane *l, const device_work *w)
{
  const size_t bytes = (size_t)w->k * sizeof(int);
  const int n = (int)w->n, ld = (int)w->ldc, count = (int)w->k, step = w->backward ? -1 : 1;
  if (w->n > INT_MAX || w->ldc > INT_MAX)
    return osli_cuda_host->error_set(OSLA_ERR_RANGE,
                                     "an interchange of rows of %lld columns, leading dimension "
                                     "%lld: cuSOLVER serves at most %d",
                                     (long long)w->n, (long long)w->ldc, INT_MAX);
  int *narrow = malloc(bytes);
  if (!narrow) return osli_cuda_host->error_set(OSLA_ERR_MEM, "%zu bytes of pivots", bytes);
  for (int64_t i = 0; i < w->k; i++)
    narrow[i] = (int)w->pivots[i] + 1;
  osla_err err = reserve(l, bytes);
  if (err == OSLA_OK)
    err = osli_cuda_runtime(
      cudaMemcpyAsync(l->memory, narrow, bytes, cudaMemcpyHostToDevice, l->stream),
      "cudaMemcpyAsync");
  free(narrow);
  if (err != OSLA_OK) return err;
  const int *pivots = (const int *)(const void *)l->memory;
#define SWAP(x, type)                                                                              \
  SOLVER_CALL(cusolverDn##x##laswp(l->solver, n, (type *)w->c, ld, 1, count, pivots, step));       \
  break
  switch (w->dtype) {
    case OSLA_FLOAT: SWAP(S, float);
    case OSLA_DOUBLE: SWAP(D, double);
    case OSLA_COMPLEX_FLOAT: SWAP(C, cuComplex);
    case OSLA_COMPLEX_DOUBLE: SWAP(Z, cuDoubleComplex);
  }
  return OSLA_OK;
}

/* ---- kernels ---- */

/* Queues work of kind COMBINE. The lists and a counter of refused elements are copied to the lane's
 * work memory, where later work of the lane may overwrite them. cudaMemcpyAsync from pageable host
 * memory has read the caller's lists when it returns, so the caller may then change them. */
static osla_err combine(cuda_lane *l, const device_work *w)
{
#ifdef HAVE_CUDA_KERNELS
  const size_t bytes = (size_t)w->n_lists * sizeof *w->lists, at = whole_units(bytes);
  unsigned long long refused = 0;
  if (w->info) *w->info = 0;
  if (w->m == 0 || w->n == 0) return OSLA_OK;
  OSLA_CALL(reserve(l, at + sizeof refused));
  unsigned long long *counter = (unsigned long long *)(void *)(l->memory + at);
  CUDA_CALL(cudaMemcpyAsync(l->memory, w->lists, bytes, cudaMemcpyHostToDevice, l->stream));
  CUDA_CALL(cudaMemsetAsync(counter, 0, sizeof *counter, l->stream));
  const combine_loop loop =
    osli_combine_loop(w, (const int64_t *)(const void *)l->memory, w->a, w->c);
  CUDA_CALL(osli_cuda_combine(&loop, counter, l->stream));
  if (!w->info) return OSLA_OK;
  CUDA_CALL(cudaMemcpyAsync(&refused, counter, sizeof refused, cudaMemcpyDeviceToHost, l->stream));
  CUDA_CALL(cudaStreamSynchronize(l->stream));
  *w->info = (int64_t)refused;
  return OSLA_OK;
#else
  (void)l, (void)w;
  return osli_cuda_host->error_set(OSLA_ERR_UNSUPPORTED,
                                   "device \"cuda\": this build of libosla_cuda has no kernels: "
                                   "nvcc was not found; configure with nvcc in PATH");
#endif
}

/* Queues work of kind VERTICES. A plug-in without kernels never gets such work, because forests
 * refuse a device whose has_kernels is false. */
static osla_err combine_vertices(const cuda_lane *l, const device_work *w)
{
#ifdef HAVE_CUDA_KERNELS
  vertices_loop loop = *w->vertices;
  loop.to.base = w->c;
  loop.from.base = (unsigned char *)(uintptr_t)w->a;
  loop.before.base = (unsigned char *)(uintptr_t)w->b;
  CUDA_CALL(osli_cuda_vertices(&loop, l->stream));
#else
  (void)l, (void)w;
#endif
  return OSLA_OK;
}

osla_err osli_cuda_work(device_state *d, const device_work *w)
{
  cuda_lane *l = &d->lanes[w->lane];
  switch (w->kind) {
    case DEVICE_GEMM: return multiply(l, w);
    case DEVICE_SYRK: return update_triangle(l, w);
    case DEVICE_TRSM: return solve_triangle(l, w);
    case DEVICE_POTRF: return factor_cholesky(d, l, w);
    case DEVICE_GETRF: return factor_lu(d, l, w);
    case DEVICE_LASWP: return interchange(l, w);
    case DEVICE_ADD: return add(l, w);
    case DEVICE_COPY: return copy(l, w);
    case DEVICE_COMBINE: return combine(l, w);
    case DEVICE_VERTICES: return combine_vertices(l, w);
    case DEVICE_SPMV: return osli_cuda_multiply_csr(l, w);
    case DEVICE_DOT:
    case DEVICE_DIVIDE:
    case DEVICE_AXPY:
    case DEVICE_XPAY: return osli_cuda_vectors(l, w);
    case DEVICE_SIGNAL:
    case DEVICE_AWAIT: return osli_cuda_signal(d, l, w);
  }
  return osli_cuda_host->error_set(OSLA_ERR_UNSUPPORTED, "work of kind %d on a CUDA device",
                                   (int)w->kind);
}
