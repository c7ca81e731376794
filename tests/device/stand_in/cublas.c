/* A stand-in for cuBLAS, whose operations are work of the fake device (stand_in.h). */
#include "tests/device/stand_in/stand_in.h"

#include <cublas_v2.h>
#include <stdlib.h>

struct cublasContext {
  int device;
  cudaStream_t stream;
  bool on_device; /* true if scalars lie in device memory */
};

cublasStatus_t cublasCreate_v2(cublasHandle_t *out)
{
  *out = calloc(1, sizeof **out);
  if (!*out) return CUBLAS_STATUS_ALLOC_FAILED;
  (void)cudaGetDevice(&(*out)->device);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle)
{
  free(handle);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream)
{
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}

const char *cublasGetStatusString(cublasStatus_t status)
{
  return status == CUBLAS_STATUS_INVALID_VALUE ? "CUBLAS_STATUS_INVALID_VALUE"
                                               : "CUBLAS_STATUS_EXECUTION_FAILED";
}

static cublasStatus_t push(cublasHandle_t h, device_work w)
{
  int device = -1;
  (void)cudaGetDevice(&device);
  if (device != h->device) return CUBLAS_STATUS_ARCH_MISMATCH;
  return stand_in_push(h->stream, (stand_in_entry){.work = w}) == cudaSuccess
           ? CUBLAS_STATUS_SUCCESS
           : CUBLAS_STATUS_EXECUTION_FAILED;
}

static osla_trans trans_of(cublasOperation_t op)
{
  return op == CUBLAS_OP_N ? OSLA_NOTRANS : op == CUBLAS_OP_T ? OSLA_TRANS : OSLA_CONJTRANS;
}

static osla_uplo uplo_of(cublasFillMode_t uplo)
{
  return uplo == CUBLAS_FILL_MODE_LOWER ? OSLA_LOWER : OSLA_UPPER;
}

/* Returns INVALID_VALUE from the enclosing function if an operand is wrong. */
#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) return CUBLAS_STATUS_INVALID_VALUE;                                          \
  } while (0)

static osla_complex scalar_at(const void *at, osla_dtype dtype)
{
  switch (dtype) {
    case OSLA_FLOAT: return *(const float *)at;
    case OSLA_DOUBLE: return *(const double *)at;
    case OSLA_COMPLEX_FLOAT: return *(const float _Complex *)at;
    default: return *(const double _Complex *)at;
  }
}

cublasStatus_t cublasGemmEx_64(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb,
                               int64_t m, int64_t n, int64_t k, const void *alpha, const void *a,
                               cudaDataType a_type, int64_t lda, const void *b, cudaDataType b_type,
                               int64_t ldb, const void *beta, void *c, cudaDataType c_type,
                               int64_t ldc, cublasComputeType_t compute, cublasGemmAlgo_t algo)
{
  const osla_dtype dtype = c_type == CUDA_R_32F   ? OSLA_FLOAT
                           : c_type == CUDA_R_64F ? OSLA_DOUBLE
                           : c_type == CUDA_C_32F ? OSLA_COMPLEX_FLOAT
                                                  : OSLA_COMPLEX_DOUBLE;
  const size_t e = osla_dtype_size(dtype);
  const bool single = dtype == OSLA_FLOAT || dtype == OSLA_COMPLEX_FLOAT;
  CHECK(a_type == c_type && b_type == c_type && algo == CUBLAS_GEMM_DEFAULT);
  CHECK(compute == (single ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_64F));
  CHECK(stand_in_matrix(a, ta == CUBLAS_OP_N ? m : k, ta == CUBLAS_OP_N ? k : m, lda, e));
  CHECK(stand_in_matrix(b, tb == CUBLAS_OP_N ? k : n, tb == CUBLAS_OP_N ? n : k, ldb, e));
  CHECK(stand_in_matrix(c, m, n, ldc, e));
  return push(h, (device_work){DEVICE_GEMM, dtype, .transa = trans_of(ta), .transb = trans_of(tb),
                               .m = m, .n = n, .k = k, .alpha = scalar_at(alpha, dtype),
                               .beta = scalar_at(beta, dtype), .a = a, .b = b, .c = c, .lda = lda,
                               .ldb = ldb, .ldc = ldc});
}

static cublasStatus_t rank_k(cublasHandle_t h, osla_dtype dtype, cublasFillMode_t uplo,
                             cublasOperation_t t, int64_t n, int64_t k, double alpha, const void *a,
                             int64_t lda, double beta, void *c, int64_t ldc)
{
  const size_t e = osla_dtype_size(dtype);
  const bool is_real = dtype == OSLA_FLOAT || dtype == OSLA_DOUBLE;
  CHECK(t != (is_real ? CUBLAS_OP_C : CUBLAS_OP_T)); /* cuBLAS itself accepts OP_C for real types */
  CHECK(stand_in_matrix(a, t == CUBLAS_OP_N ? n : k, t == CUBLAS_OP_N ? k : n, lda, e));
  CHECK(stand_in_matrix(c, n, n, ldc, e));
  return push(h, (device_work){DEVICE_SYRK, dtype, .uplo = uplo_of(uplo), .transa = trans_of(t),
                               .m = n, .n = n, .k = k, .alpha = alpha, .beta = beta, .a = a, .c = c,
                               .lda = lda, .ldc = ldc});
}

#define RANK_K(name, dtype, type, real)                                                            \
  cublasStatus_t name(cublasHandle_t h, cublasFillMode_t uplo, cublasOperation_t t, int64_t n,     \
                      int64_t k, const real *alpha, const type *a, int64_t lda, const real *beta,  \
                      type *c, int64_t ldc)                                                        \
  {                                                                                                \
    return rank_k(h, dtype, uplo, t, n, k, (double)*alpha, a, lda, (double)*beta, c, ldc);         \
  }
RANK_K(cublasSsyrk_v2_64, OSLA_FLOAT, float, float)
RANK_K(cublasDsyrk_v2_64, OSLA_DOUBLE, double, double)
RANK_K(cublasCherk_v2_64, OSLA_COMPLEX_FLOAT, cuComplex, float)
RANK_K(cublasZherk_v2_64, OSLA_COMPLEX_DOUBLE, cuDoubleComplex, double)

static cublasStatus_t solve(cublasHandle_t h, osla_dtype dtype, cublasSideMode_t side,
                            cublasFillMode_t uplo, cublasOperation_t t, cublasDiagType_t diag,
                            int64_t m, int64_t n, osla_complex alpha, const void *a, int64_t lda,
                            void *b, int64_t ldb)
{
  const size_t e = osla_dtype_size(dtype);
  const int64_t order = side == CUBLAS_SIDE_LEFT ? m : n;
  CHECK(alpha == 1 && stand_in_matrix(a, order, order, lda, e) && stand_in_matrix(b, m, n, ldb, e));
  return push(h, (device_work){DEVICE_TRSM, dtype,
                               .side = side == CUBLAS_SIDE_LEFT ? OSLA_LEFT : OSLA_RIGHT,
                               .uplo = uplo_of(uplo), .transa = trans_of(t),
                               .diag = diag == CUBLAS_DIAG_UNIT ? OSLA_UNIT : OSLA_NONUNIT, .m = m,
                               .n = n, .a = a, .lda = lda, .c = b, .ldc = ldb});
}

static cublasStatus_t add(cublasHandle_t h, osla_dtype dtype, cublasOperation_t ta,
                          cublasOperation_t tb, int64_t m, int64_t n, osla_complex alpha,
                          const void *a, int64_t lda, osla_complex beta, const void *b, int64_t ldb,
                          void *c, int64_t ldc)
{
  const size_t e = osla_dtype_size(dtype);
  CHECK(ta == CUBLAS_OP_N && tb == CUBLAS_OP_N && b == c &&
        ldb == ldc); /* the plug-in's only case */
  CHECK(a != c || lda == ldc);
  CHECK(stand_in_matrix(a, m, n, lda, e) && stand_in_matrix(c, m, n, ldc, e));
  return push(h, (device_work){DEVICE_ADD, dtype, .m = m, .n = n, .alpha = alpha, .beta = beta,
                               .a = a, .lda = lda, .c = c, .ldc = ldc});
}

static cublasStatus_t copy(cublasHandle_t h, size_t e, int64_t n, const void *a, int64_t a_step,
                           void *c, int64_t c_step)
{
  CHECK((uintptr_t)a % e == 0 && (uintptr_t)c % e == 0);
  CHECK(stand_in_matrix(a, 1, n, a_step, e) && stand_in_matrix(c, 1, n, c_step, e));
  return push(h, (device_work){DEVICE_COPY, .element = e, .m = 1, .n = n, .a = a, .lda = a_step,
                               .c = c, .ldc = c_step});
}

#define COPY(name, type)                                                                           \
  cublasStatus_t name(cublasHandle_t h, int64_t n, const type *a, int64_t a_step, type *c,         \
                      int64_t c_step)                                                              \
  {                                                                                                \
    return copy(h, sizeof(type), n, a, a_step, c, c_step);                                         \
  }
COPY(cublasScopy_v2_64, float)
COPY(cublasDcopy_v2_64, double)
COPY(cublasZcopy_v2_64, cuDoubleComplex)

#define SOLVE_AND_ADD(x, dtype, type)                                                              \
  cublasStatus_t cublas##x##trsm_v2_64(                                                            \
    cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t t,           \
    cublasDiagType_t diag, int64_t m, int64_t n, const type *alpha, const type *a, int64_t lda,    \
    type *b, int64_t ldb)                                                                          \
  {                                                                                                \
    return solve(h, dtype, side, uplo, t, diag, m, n, scalar_at(alpha, dtype), a, lda, b, ldb);    \
  }                                                                                                \
  cublasStatus_t cublas##x##geam_64(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb,  \
                                    int64_t m, int64_t n, const type *alpha, const type *a,        \
                                    int64_t lda, const type *beta, const type *b, int64_t ldb,     \
                                    type *c, int64_t ldc)                                          \
  {                                                                                                \
    return add(h, dtype, ta, tb, m, n, scalar_at(alpha, dtype), a, lda, scalar_at(beta, dtype), b, \
               ldb, c, ldc);                                                                       \
  }
SOLVE_AND_ADD(S, OSLA_FLOAT, float)
SOLVE_AND_ADD(D, OSLA_DOUBLE, double)
SOLVE_AND_ADD(C, OSLA_COMPLEX_FLOAT, cuComplex)
SOLVE_AND_ADD(Z, OSLA_COMPLEX_DOUBLE, cuDoubleComplex)

/* ---- vectors of doubles ---- */

cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t h, cublasPointerMode_t mode)
{
  h->on_device = mode == CUBLAS_POINTER_MODE_DEVICE;
  return CUBLAS_STATUS_SUCCESS;
}

static bool is_vector(const double *x, int64_t n, int64_t step)
{
  return n > 0 && step == 1 && stand_in_on_device(x, (size_t)n * sizeof *x);
}

cublasStatus_t cublasDdot_v2_64(cublasHandle_t h, int64_t n, const double *x, int64_t step_x,
                                const double *y, int64_t step_y, double *sum)
{
  CHECK(is_vector(x, n, step_x) && is_vector(y, n, step_y));
  CHECK(h->on_device && stand_in_on_device(sum, sizeof *sum));
  return push(h, (device_work){DEVICE_DOT, OSLA_DOUBLE, .m = n, .a = x, .b = y, .c = sum});
}

cublasStatus_t cublasDaxpy_v2_64(cublasHandle_t h, int64_t n, const double *alpha, const double *x,
                                 int64_t step_x, double *y, int64_t step_y)
{
  CHECK(is_vector(x, n, step_x) && is_vector(y, n, step_y));
  CHECK(h->on_device == stand_in_on_device(alpha, sizeof *alpha));
  if (h->on_device)
    return push(h, (device_work){DEVICE_AXPY, OSLA_DOUBLE, .m = n, .a = x, .b = alpha, .c = y});
  return push(h, (device_work){DEVICE_ADD, OSLA_DOUBLE, .m = n, .n = 1, .alpha = *alpha, .beta = 1,
                               .a = x, .c = y, .lda = n, .ldc = n});
}

cublasStatus_t cublasDscal_v2_64(cublasHandle_t h, int64_t n, const double *alpha, double *x,
                                 int64_t step)
{
  CHECK(is_vector(x, n, step) && h->on_device == stand_in_on_device(alpha, sizeof *alpha));
  if (h->on_device)
    return push(h, (device_work){DEVICE_XPAY, OSLA_DOUBLE, .m = n, .a = x, .b = alpha, .c = x});
  return push(h, (device_work){DEVICE_ADD, OSLA_DOUBLE, .m = n, .n = 1, .alpha = *alpha, .a = x,
                               .c = x, .lda = n, .ldc = n});
}

cublasStatus_t cublasDtrsv_v2_64(cublasHandle_t h, cublasFillMode_t uplo, cublasOperation_t t,
                                 cublasDiagType_t diag, int64_t n, const double *a, int64_t lda,
                                 double *x, int64_t step)
{
  (void)uplo, (void)t;
  CHECK(n == 1 && lda == 1 && diag == CUBLAS_DIAG_NON_UNIT); /* the plug-in's only case */
  CHECK(is_vector(x, n, step) && stand_in_matrix(a, n, n, lda, sizeof *a));
  return push(h, (device_work){DEVICE_DIVIDE, OSLA_DOUBLE, .m = 1, .a = x, .b = a, .c = x});
}
