/* Products with sparse matrices by cuSPARSE, and operations on vectors by cuBLAS with scalars in
 * device memory. */
#include "src/device/cuda/cuda_state.h"

#include <complex.h>
#include <stdlib.h>

/* What cuSPARSE needs for products y := alpha A x + beta y with one matrix A: the descriptors of A,
 * x and y, and work memory. */
typedef struct csr_plan {
  cusparseSpMatDescr_t matrix;
  cusparseDnVecDescr_t x, y;
  void *memory;
} csr_plan;

/* The algorithm of all products. It is the only one of cuSPARSE for matrices in compressed rows
 * that gives equal bits from run to run. */
static const cusparseSpMVAlg_t algorithm = CUSPARSE_SPMV_CSR_ALG2;

osla_err osli_cuda_sparse(cusparseStatus_t status, const char *what)
{
  if (status == CUSPARSE_STATUS_SUCCESS) return OSLA_OK;
  const osla_err err =
    status == CUSPARSE_STATUS_ALLOC_FAILED || status == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES
      ? OSLA_ERR_MEM
      : OSLA_ERR_STATE;
  return osli_cuda_library(err, what, cusparseGetErrorString(status));
}

/* Creates the plan of a matrix. Each product sets the addresses of the two vectors. Until the first
 * product the descriptors of the vectors hold the address of the matrix's values, because cuSPARSE
 * refuses NULL. */
static osla_err make_plan(device_state *d, const device_csr *csr, csr_plan *p)
{
  const double one = 1.0, zero = 0.0;
  const cusparseHandle_t handle = d->lanes[LANE_MAIN].sparse;
  void *first = (void *)(uintptr_t)csr->first, *column = (void *)(uintptr_t)csr->column;
  void *value = (void *)(uintptr_t)csr->value;
  size_t bytes = 0;
  SPARSE_CALL(cusparseCreateCsr(&p->matrix, csr->rows, csr->columns, csr->entries, first, column,
                                value, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
  SPARSE_CALL(cusparseCreateDnVec(&p->x, csr->columns, value, CUDA_R_64F));
  SPARSE_CALL(cusparseCreateDnVec(&p->y, csr->rows, value, CUDA_R_64F));
  SPARSE_CALL(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, p->matrix,
                                      p->x, &zero, p->y, CUDA_R_64F, algorithm, &bytes));
  CUDA_CALL(cudaMalloc(&p->memory, bytes + 1));
  return OSLA_OK;
}

static void free_plan(csr_plan *p)
{
  if (!p) return;
  if (p->matrix) (void)cusparseDestroySpMat(p->matrix);
  if (p->x) (void)cusparseDestroyDnVec(p->x);
  if (p->y) (void)cusparseDestroyDnVec(p->y);
  if (p->memory) (void)cudaFree(p->memory);
  free(p);
}

osla_err osli_cuda_csr_plan(device_state *d, device_csr *csr)
{
  if (csr->entries == 0) return OSLA_OK;
  csr_plan *p = calloc(1, sizeof *p);
  if (!p) return osli_cuda_host->error_set(OSLA_ERR_MEM, "plan of a sparse matrix");
  const int before = osli_cuda_enter(d);
  (void)pthread_mutex_lock(&d->mutex);
  const osla_err err = make_plan(d, csr, p);
  (void)pthread_mutex_unlock(&d->mutex);
  if (err != OSLA_OK) free_plan(p);
  osli_cuda_leave(d, before);
  if (err == OSLA_OK) csr->plan = p;
  return err;
}

void osli_cuda_csr_drop(device_state *d, device_csr *csr)
{
  const int before = osli_cuda_enter(d);
  free_plan(csr->plan);
  osli_cuda_leave(d, before);
  csr->plan = NULL;
}

osla_err osli_cuda_multiply_csr(const cuda_lane *l, const device_work *w)
{
  const double alpha = creal(w->alpha), beta = creal(w->beta);
  const csr_plan *p = w->csr->plan;
  if (!p && beta == 0.0)
    CUDA_CALL(cudaMemsetAsync(w->c, 0, (size_t)w->csr->rows * sizeof(double), l->stream));
  else if (!p)
    BLAS_CALL(cublasDscal_64(l->blas, w->csr->rows, &beta, w->c, 1));
  if (!p) return OSLA_OK;
  SPARSE_CALL(cusparseDnVecSetValues(p->x, (void *)(uintptr_t)w->b));
  SPARSE_CALL(cusparseDnVecSetValues(p->y, w->c));
  SPARSE_CALL(cusparseSpMV(l->sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, p->matrix, p->x,
                           &beta, p->y, CUDA_R_64F, algorithm, p->memory));
  return OSLA_OK;
}

/* ---- vectors ---- */

/* Queues work of kind DOT, DIVIDE, AXPY or XPAY, whose scalars lie in device memory. cuBLAS has no
 * division of scalars, so DIVIDE is a triangular solve of order 1. */
static osla_err work_with_scalars(const cuda_lane *l, const device_work *w)
{
  const double *a = w->a, *b = w->b;
  double *c = w->c;
  switch (w->kind) {
    case DEVICE_DOT: BLAS_CALL(cublasDdot_64(l->blas, w->m, a, 1, b, 1, c)); break;
    case DEVICE_DIVIDE:
      CUDA_CALL(cudaMemcpyAsync(c, a, sizeof *c, cudaMemcpyDeviceToDevice, l->stream));
      BLAS_CALL(cublasDtrsv_64(l->blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT,
                               1, b, 1, c, 1));
      break;
    case DEVICE_AXPY: BLAS_CALL(cublasDaxpy_64(l->blas, w->m, b, a, 1, c, 1)); break;
    default: BLAS_CALL(cublasDscal_64(l->blas, w->m, b, c, 1)); /* XPAY: C := *B C */
  }
  return OSLA_OK;
}

osla_err osli_cuda_vectors(const cuda_lane *l, const device_work *w)
{
  const double alpha = creal(w->alpha);
  if (w->kind == DEVICE_DOT && w->m == 0) {
    CUDA_CALL(cudaMemsetAsync(w->c, 0, sizeof(double), l->stream));
    return OSLA_OK;
  }
  BLAS_CALL(cublasSetPointerMode(l->blas, CUBLAS_POINTER_MODE_DEVICE));
  const osla_err err = work_with_scalars(l, w);
  BLAS_CALL(cublasSetPointerMode(l->blas, CUBLAS_POINTER_MODE_HOST));
  if (err == OSLA_OK && w->kind == DEVICE_XPAY)
    BLAS_CALL(cublasDaxpy_64(l->blas, w->m, &alpha, w->a, 1, w->c, 1));
  return err;
}
