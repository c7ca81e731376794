/* Calls into CBLAS and LAPACK, by type. */
#include "config.h"

#include "osla_blas.h"

#include <cblas.h>
#include <complex.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>

/* LAPACK's Fortran entries: every implementation has them, headers differ. */
void spotrf_(const char *uplo, const int *n, float *a, const int *lda, int *info);
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);

/* The one place where sizes become the BLAS's int. */
static osla_err narrow(int count, const int64_t *value, int *out)
{
  for (int i = 0; i < count; i++) {
    OSLA_CHECK(value[i] >= 0 && value[i] <= INT_MAX, OSLA_ERR_RANGE,
               "size %" PRId64 " does not fit the int of this BLAS", value[i]);
    out[i] = (int)value[i];
  }
  return OSLA_OK;
}

static CBLAS_TRANSPOSE cblas_trans(osla_trans trans)
{
  if (trans == OSLA_CONJTRANS) return CblasConjTrans;
  return trans == OSLA_TRANS ? CblasTrans : CblasNoTrans;
}

static CBLAS_UPLO cblas_uplo(osla_uplo uplo)
{
  return uplo == OSLA_UPPER ? CblasUpper : CblasLower;
}

static osla_err not_served(const char *what, osla_dtype dtype)
{
  return osla_error_set(OSLA_ERR_UNSUPPORTED, "%s is not there for type '%c'", what,
                        osla_dtype_letter(dtype));
}

osla_err osla_blas_gemm(osla_dtype dtype, osla_trans transa, osla_trans transb, int64_t m,
                        int64_t n, int64_t k, osla_complex alpha, const void *a, int64_t lda,
                        const void *b, int64_t ldb, osla_complex beta, void *c, int64_t ldc)
{
  int s[6] = {0};
  OSLA_CALL(narrow(6, (int64_t[]){m, n, k, lda, ldb, ldc}, s));
  if (m == 0 || n == 0) return OSLA_OK;
  int im = s[0], in = s[1], ik = s[2], ia = s[3], ib = s[4], ic = s[5];
  CBLAS_TRANSPOSE ta = cblas_trans(transa), tb = cblas_trans(transb);
  switch (dtype) {
    case OSLA_FLOAT:
      cblas_sgemm(CblasColMajor, ta, tb, im, in, ik, (float)creal(alpha), a, ia, b, ib,
                  (float)creal(beta), c, ic);
      break;
    case OSLA_DOUBLE:
      cblas_dgemm(CblasColMajor, ta, tb, im, in, ik, creal(alpha), a, ia, b, ib, creal(beta), c,
                  ic);
      break;
    case OSLA_COMPLEX_FLOAT: {
      float _Complex al = (float _Complex)alpha, be = (float _Complex)beta;
      cblas_cgemm(CblasColMajor, ta, tb, im, in, ik, &al, a, ia, b, ib, &be, c, ic);
      break;
    }
    case OSLA_COMPLEX_DOUBLE:
      cblas_zgemm(CblasColMajor, ta, tb, im, in, ik, &alpha, a, ia, b, ib, &beta, c, ic);
      break;
  }
  return OSLA_OK;
}

osla_err osla_blas_syrk(osla_dtype dtype, osla_uplo uplo, osla_trans trans, int64_t n, int64_t k,
                        double alpha, const void *a, int64_t lda, double beta, void *c, int64_t ldc)
{
  int s[4] = {0};
  OSLA_CALL(narrow(4, (int64_t[]){n, k, lda, ldc}, s));
  if (n == 0) return OSLA_OK;
  int in = s[0], ik = s[1], ia = s[2], ic = s[3];
  if (dtype == OSLA_DOUBLE)
    cblas_dsyrk(CblasColMajor, cblas_uplo(uplo), cblas_trans(trans), in, ik, alpha, a, ia, beta, c,
                ic);
  else if (dtype == OSLA_FLOAT)
    cblas_ssyrk(CblasColMajor, cblas_uplo(uplo), cblas_trans(trans), in, ik, (float)alpha, a, ia,
                (float)beta, c, ic);
  else
    return not_served("syrk", dtype);
  return OSLA_OK;
}

osla_err osla_blas_trsm(osla_dtype dtype, osla_side side, osla_uplo uplo, osla_trans trans,
                        osla_diag diag, int64_t m, int64_t n, const void *a, int64_t lda, void *b,
                        int64_t ldb)
{
  int s[4] = {0};
  OSLA_CALL(narrow(4, (int64_t[]){m, n, lda, ldb}, s));
  if (m == 0 || n == 0) return OSLA_OK;
  int im = s[0], in = s[1], ia = s[2], ib = s[3];
  CBLAS_SIDE cside = side == OSLA_LEFT ? CblasLeft : CblasRight;
  CBLAS_DIAG cdiag = diag == OSLA_UNIT ? CblasUnit : CblasNonUnit;
  if (dtype == OSLA_DOUBLE)
    cblas_dtrsm(CblasColMajor, cside, cblas_uplo(uplo), cblas_trans(trans), cdiag, im, in, 1.0, a,
                ia, b, ib);
  else if (dtype == OSLA_FLOAT)
    cblas_strsm(CblasColMajor, cside, cblas_uplo(uplo), cblas_trans(trans), cdiag, im, in, 1.0f, a,
                ia, b, ib);
  else
    return not_served("trsm", dtype);
  return OSLA_OK;
}

/* OpenBLAS 0.3.21's xPOTRF takes a NaN for a positive pivot; LAPACK's own stops there since 3.2.
 * The order of the first minor whose pivot is NaN, or info. */
static int first_bad_pivot(osla_dtype dtype, int n, const void *a, int64_t lda, int info)
{
  int good = info > 0 ? info - 1 : n;
  for (int64_t i = 0; i < good; i++) {
    int64_t at = i + i * lda;
    if (dtype == OSLA_DOUBLE ? isnan(((const double *)a)[at]) : isnan(((const float *)a)[at]))
      return (int)i + 1;
  }
  return info;
}

osla_err osla_lapack_potrf(osla_dtype dtype, osla_uplo uplo, int64_t n, void *a, int64_t lda,
                           int64_t *info)
{
  int s[2] = {0}, result = 0;
  const char *letter = uplo == OSLA_UPPER ? "U" : "L";
  *info = 0;
  OSLA_CALL(narrow(2, (int64_t[]){n, lda}, s));
  if (n == 0) return OSLA_OK;
  int in = s[0], ia = s[1];
  if (dtype == OSLA_DOUBLE)
    dpotrf_(letter, &in, a, &ia, &result);
  else if (dtype == OSLA_FLOAT)
    spotrf_(letter, &in, a, &ia, &result);
  else
    return not_served("potrf", dtype);
  OSLA_CHECK(result >= 0, OSLA_ERR_ARG, "xPOTRF refused argument %d", -result);
  *info = first_bad_pivot(dtype, in, a, lda, result);
  return OSLA_OK;
}

#ifdef HAVE_OPENBLAS

const char *osla_blas_describe(void)
{
  return openblas_get_config();
}
int osla_blas_threads(void)
{
  return openblas_get_num_threads();
}
void osla_blas_set_threads(int threads)
{
  openblas_set_num_threads(threads);
}

#else

const char *osla_blas_describe(void)
{
  return "a CBLAS that does not tell its name";
}
int osla_blas_threads(void)
{
  return 0;
}
void osla_blas_set_threads(int threads)
{
  (void)threads;
}

#endif
