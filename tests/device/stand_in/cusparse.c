/* A stand-in for cuSPARSE, whose operations are work of the fake device (stand_in.h). */
#include "tests/device/stand_in/stand_in.h"

#include <cusparse.h>
#include <stdlib.h>

struct cusparseContext {
  cudaStream_t stream;
};

struct cusparseSpMatDescr {
  device_csr csr;
};

struct cusparseDnVecDescr {
  int64_t size;
  void *values;
};

/* Bytes of work memory that a product needs and overwrites. */
enum { WORK_BYTES = 64 };

cusparseStatus_t cusparseCreate(cusparseHandle_t *out)
{
  *out = calloc(1, sizeof **out);
  return *out ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_ALLOC_FAILED;
}

cusparseStatus_t cusparseDestroy(cusparseHandle_t handle)
{
  free(handle);
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream)
{
  handle->stream = stream;
  return CUSPARSE_STATUS_SUCCESS;
}

const char *cusparseGetErrorString(cusparseStatus_t status)
{
  return status == CUSPARSE_STATUS_INVALID_VALUE ? "invalid value" : "execution failed";
}

/* Returns INVALID_VALUE from the enclosing function if an operand is wrong. */
#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) return CUSPARSE_STATUS_INVALID_VALUE;                                        \
  } while (0)

cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t *out, int64_t rows, int64_t columns,
                                   int64_t entries, void *first, void *column, void *value,
                                   cusparseIndexType_t first_type, cusparseIndexType_t column_type,
                                   cusparseIndexBase_t base, cudaDataType type)
{
  CHECK(first_type == CUSPARSE_INDEX_32I && column_type == CUSPARSE_INDEX_32I);
  CHECK(base == CUSPARSE_INDEX_BASE_ZERO && type == CUDA_R_64F);
  CHECK(rows > 0 && columns > 0 && entries > 0 && entries <= INT32_MAX);
  CHECK(stand_in_on_device(first, (size_t)(rows + 1) * sizeof(int32_t)));
  CHECK(stand_in_on_device(column, (size_t)entries * sizeof(int32_t)));
  CHECK(stand_in_on_device(value, (size_t)entries * sizeof(double)));
  *out = calloc(1, sizeof **out);
  if (!*out) return CUSPARSE_STATUS_ALLOC_FAILED;
  (*out)->csr = (device_csr){rows, columns, entries, first, column, value, NULL};
  return CUSPARSE_STATUS_SUCCESS;
}

/* Frees a matrix. The caller must wait for queued products first, because they read the matrix. */
cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t matrix)
{
  free((void *)(uintptr_t)matrix);
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t *out, int64_t size, void *values,
                                     cudaDataType type)
{
  CHECK(size > 0 && type == CUDA_R_64F && stand_in_on_device(values, 0));
  *out = calloc(1, sizeof **out);
  if (!*out) return CUSPARSE_STATUS_ALLOC_FAILED;
  (*out)->size = size;
  (*out)->values = values;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t vector)
{
  free((void *)(uintptr_t)vector);
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseDnVecSetValues(cusparseDnVecDescr_t vector, void *values)
{
  CHECK(stand_in_on_device(values, (size_t)vector->size * sizeof(double)));
  vector->values = values;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t handle, cusparseOperation_t op,
                                         const void *alpha, cusparseConstSpMatDescr_t matrix,
                                         cusparseConstDnVecDescr_t x, const void *beta,
                                         cusparseDnVecDescr_t y, cudaDataType type,
                                         cusparseSpMVAlg_t algorithm, size_t *bytes)
{
  (void)op, (void)type, (void)algorithm;
  CHECK(handle && alpha && beta && x->size == matrix->csr.columns && y->size == matrix->csr.rows);
  *bytes = WORK_BYTES;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t op, const void *alpha,
                              cusparseConstSpMatDescr_t matrix, cusparseConstDnVecDescr_t x,
                              const void *beta, cusparseDnVecDescr_t y, cudaDataType type,
                              cusparseSpMVAlg_t algorithm, void *memory)
{
  CHECK(op == CUSPARSE_OPERATION_NON_TRANSPOSE && type == CUDA_R_64F);
  CHECK(algorithm == CUSPARSE_SPMV_CSR_ALG2 && stand_in_on_device(memory, WORK_BYTES));
  CHECK(x->size == matrix->csr.columns && y->size == matrix->csr.rows);
  const device_work fill = {.c = memory};
  const device_work w = {DEVICE_SPMV,
                         OSLA_DOUBLE,
                         .m = matrix->csr.rows,
                         .csr = &matrix->csr,
                         .alpha = *(const double *)alpha,
                         .beta = *(const double *)beta,
                         .b = x->values,
                         .c = y->values};
  const bool pushed =
    stand_in_push(handle->stream, (stand_in_entry){STAND_IN_FILL, fill, 0xff,
                                                   .bytes = WORK_BYTES}) == cudaSuccess &&
    stand_in_push(handle->stream, (stand_in_entry){.work = w}) == cudaSuccess;
  return pushed ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_EXECUTION_FAILED;
}
