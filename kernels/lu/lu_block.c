/* Recursive LU factorisation of a block without pivoting. The columns are halved, as in S. Toledo,
 * "Locality of reference in LU decomposition with partial pivoting" (SIAM J. Matrix Anal. Appl. 18,
 * 1997). */
#include "kernels/lu/lu_parts.h"
#include "osla_blas.h"
#include "src/blas/work.h"

enum { SMALL = 16 };

osla_complex osli_lu_value(osla_dtype dtype, const void *at)
{
  if (osli_work_modelled) return osli_work_random();
  switch (dtype) {
    case OSLA_FLOAT: return *(const float *)at;
    case OSLA_DOUBLE: return *(const double *)at;
    case OSLA_COMPLEX_FLOAT: return *(const float _Complex *)at;
    default: return *(const double _Complex *)at;
  }
}

static osla_err factor_small(osla_dtype dtype, int64_t n, unsigned char *a, int64_t lda,
                             int64_t *info)
{
  size_t e = osla_dtype_size(dtype), column = (size_t)lda * e;
  *info = 0;
  for (int64_t k = 0; k < n; k++) {
    unsigned char *diagonal = a + (size_t)k * (column + e);
    osla_complex pivot = osli_lu_value(dtype, diagonal);
    if (pivot == 0 && *info == 0) *info = k + 1;
    OSLA_CALL(osla_blas_scal(dtype, n - k - 1, 1 / pivot, diagonal + e));
    OSLA_CALL(osla_blas_ger(dtype, n - k - 1, n - k - 1, -1, diagonal + e, 1, diagonal + column,
                            lda, diagonal + column + e, lda));
  }
  return OSLA_OK;
}

osla_err osli_lu_block(osla_dtype dtype, int64_t n, void *a, int64_t lda, int64_t *info)
{
  if (n <= SMALL) return factor_small(dtype, n, a, lda, info);
  size_t e = osla_dtype_size(dtype);
  int64_t n1 = n / 2, n2 = n - n1, info1, info2;
  unsigned char *a11 = a, *a21 = a11 + (size_t)n1 * e;
  unsigned char *a12 = a11 + (size_t)(n1 * lda) * e, *a22 = a12 + (size_t)n1 * e;
  OSLA_CALL(osli_lu_block(dtype, n1, a11, lda, &info1));
  OSLA_CALL(osla_blas_trsm(dtype, OSLA_LEFT, OSLA_LOWER, OSLA_NOTRANS, OSLA_UNIT, n1, n2, a11, lda,
                           a12, lda));
  OSLA_CALL(osla_blas_trsm(dtype, OSLA_RIGHT, OSLA_UPPER, OSLA_NOTRANS, OSLA_NONUNIT, n2, n1, a11,
                           lda, a21, lda));
  OSLA_CALL(osla_blas_gemm(dtype, OSLA_NOTRANS, OSLA_NOTRANS, n2, n2, n1, -1.0, a21, lda, a12, lda,
                           1.0, a22, lda));
  OSLA_CALL(osli_lu_block(dtype, n2, a22, lda, &info2));
  *info = info1 > 0 ? info1 : info2 > 0 ? n1 + info2 : 0;
  return OSLA_OK;
}
