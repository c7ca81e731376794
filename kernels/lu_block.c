/* Recursive LU of a block: halve the columns, as in Toledo, "Locality of reference in LU
 * decomposition with partial pivoting" (SIAM J. Matrix Anal. Appl. 18, 1997), here without pivots.
 */
#include "lu_block.h"
#include "osla_blas.h"

enum { SMALL = 16 };

static int64_t small_d(int64_t n, double *a, int64_t lda)
{
  int64_t info = 0;
  for (int64_t k = 0; k < n; k++) {
    double pivot = a[k + k * lda];
    if (pivot == 0.0 && info == 0) info = k + 1;
    for (int64_t i = k + 1; i < n; i++)
      a[i + k * lda] /= pivot;
    for (int64_t j = k + 1; j < n; j++)
      for (int64_t i = k + 1; i < n; i++)
        a[i + j * lda] -= a[i + k * lda] * a[k + j * lda];
  }
  return info;
}

static int64_t small_s(int64_t n, float *a, int64_t lda)
{
  int64_t info = 0;
  for (int64_t k = 0; k < n; k++) {
    float pivot = a[k + k * lda];
    if (pivot == 0.0f && info == 0) info = k + 1;
    for (int64_t i = k + 1; i < n; i++)
      a[i + k * lda] /= pivot;
    for (int64_t j = k + 1; j < n; j++)
      for (int64_t i = k + 1; i < n; i++)
        a[i + j * lda] -= a[i + k * lda] * a[k + j * lda];
  }
  return info;
}

osla_err osla_lu_block(osla_dtype dtype, int64_t n, void *a, int64_t lda, int64_t *info)
{
  if (n <= SMALL) {
    *info = dtype == OSLA_DOUBLE ? small_d(n, a, lda) : small_s(n, a, lda);
    return OSLA_OK;
  }
  size_t e = osla_dtype_size(dtype);
  int64_t n1 = n / 2, n2 = n - n1, info1, info2;
  unsigned char *a11 = a, *a21 = a11 + (size_t)n1 * e;
  unsigned char *a12 = a11 + (size_t)(n1 * lda) * e, *a22 = a12 + (size_t)n1 * e;
  OSLA_CALL(osla_lu_block(dtype, n1, a11, lda, &info1));
  OSLA_CALL(osla_blas_trsm(dtype, OSLA_LEFT, OSLA_LOWER, OSLA_NOTRANS, OSLA_UNIT, n1, n2, a11, lda,
                           a12, lda));
  OSLA_CALL(osla_blas_trsm(dtype, OSLA_RIGHT, OSLA_UPPER, OSLA_NOTRANS, OSLA_NONUNIT, n2, n1, a11,
                           lda, a21, lda));
  OSLA_CALL(osla_blas_gemm(dtype, OSLA_NOTRANS, OSLA_NOTRANS, n2, n2, n1, -1.0, a21, lda, a12, lda,
                           1.0, a22, lda));
  OSLA_CALL(osla_lu_block(dtype, n2, a22, lda, &info2));
  *info = info1 > 0 ? info1 : info2 > 0 ? n1 + info2 : 0;
  return OSLA_OK;
}
