/* Calls of CBLAS by element type. */
#include "config.h"

#include "osla_blas.h"
#include "src/blas/blas_library.h"
#include "src/blas/work.h"
#include "src/device/device.h"

#include OSLA_CBLAS_H
#include <complex.h>
#include <math.h>

static CBLAS_TRANSPOSE cblas_trans(osla_trans trans)
{
  if (trans == OSLA_CONJTRANS) return CblasConjTrans;
  return trans == OSLA_TRANS ? CblasTrans : CblasNoTrans;
}

/* Queues work on device memory. If a size is negative, returns an error; if the matrices have no
 * elements, does nothing. */
static osla_err submit(const device_work *w)
{
  OSLA_CHECK(w->m >= 0 && w->n >= 0 && w->k >= 0, OSLA_ERR_RANGE,
             "a size of a BLAS call on device memory is negative");
  return w->m == 0 || w->n == 0 ? OSLA_OK : osli_device_submit(w);
}

static CBLAS_UPLO cblas_uplo(osla_uplo uplo)
{
  return uplo == OSLA_UPPER ? CblasUpper : CblasLower;
}

/* c := alpha op(A) b + beta c, where A is stored as m x n and neither size is 0. OpenBLAS 0.3.21's
 * xGEMM takes 2 to 4 times as long for one column as xGEMV. */
static void multiply_vector(osla_dtype dtype, CBLAS_TRANSPOSE ta, int m, int n, osla_complex alpha,
                            const void *a, int lda, const void *b, osla_complex beta, void *c)
{
  float _Complex alpha_c = (float _Complex)alpha, beta_c = (float _Complex)beta;
  switch (dtype) {
    case OSLA_FLOAT:
      cblas_sgemv(CblasColMajor, ta, m, n, (float)creal(alpha), a, lda, b, 1, (float)creal(beta), c,
                  1);
      break;
    case OSLA_DOUBLE:
      cblas_dgemv(CblasColMajor, ta, m, n, creal(alpha), a, lda, b, 1, creal(beta), c, 1);
      break;
    case OSLA_COMPLEX_FLOAT:
      cblas_cgemv(CblasColMajor, ta, m, n, &alpha_c, a, lda, b, 1, &beta_c, c, 1);
      break;
    case OSLA_COMPLEX_DOUBLE:
      cblas_zgemv(CblasColMajor, ta, m, n, &alpha, a, lda, b, 1, &beta, c, 1);
      break;
  }
}

osla_err osla_blas_gemm(osla_dtype dtype, osla_trans transa, osla_trans transb, int64_t m,
                        int64_t n, int64_t k, osla_complex alpha, const void *a, int64_t lda,
                        const void *b, int64_t ldb, osla_complex beta, void *c, int64_t ldc)
{
  int s[6] = {0};
  if (osli_on_device(a, b, c))
    return submit(&(device_work){DEVICE_GEMM, dtype, .transa = transa, .transb = transb, .m = m,
                                 .n = n, .k = k, .alpha = alpha, .beta = beta,
                                 .a = k > 0 ? a : NULL, .lda = lda, .b = k > 0 ? b : NULL,
                                 .ldb = ldb, .c = c, .ldc = ldc});
  OSLA_CALL(osli_blas_enter(6, (int64_t[]){m, n, k, lda, ldb, ldc}, s));
  if (m == 0 || n == 0) return OSLA_OK;
  int im = s[0], in = s[1], ik = s[2], ia = s[3], ib = s[4], ic = s[5];
  CBLAS_TRANSPOSE ta = cblas_trans(transa), tb = cblas_trans(transb);
  if (n == 1 && k > 0 && transb == OSLA_NOTRANS) {
    bool plain = transa == OSLA_NOTRANS;
    osla_work product = {OSLA_WORK_GEMV, dtype, im, ik, 1};
    if (!osli_work_begin(&product)) return OSLA_OK;
    multiply_vector(dtype, ta, plain ? im : ik, plain ? ik : im, alpha, a, ia, b, beta, c);
    work_end(&product);
    return OSLA_OK;
  }
  osla_work work = {OSLA_WORK_GEMM, dtype, im, in, ik};
  if (!osli_work_begin(&work)) return OSLA_OK;
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
  work_end(&work);
  return OSLA_OK;
}

osla_err osla_blas_syrk(osla_dtype dtype, osla_uplo uplo, osla_trans trans, int64_t n, int64_t k,
                        double alpha, const void *a, int64_t lda, double beta, void *c, int64_t ldc)
{
  int s[4] = {0};
  if (osli_on_device(a, c, NULL))
    return submit(&(device_work){DEVICE_SYRK, dtype, .uplo = uplo, .transa = trans, .m = n, .n = n,
                                 .k = k, .alpha = alpha, .beta = beta, .a = k > 0 ? a : NULL,
                                 .lda = lda, .c = c, .ldc = ldc});
  OSLA_CALL(osli_blas_enter(4, (int64_t[]){n, k, lda, ldc}, s));
  if (n == 0) return OSLA_OK;
  int in = s[0], ik = s[1], ia = s[2], ic = s[3];
  CBLAS_UPLO up = cblas_uplo(uplo);
  CBLAS_TRANSPOSE t = trans == OSLA_NOTRANS ? CblasNoTrans : CblasConjTrans;
  CBLAS_TRANSPOSE real_t = trans == OSLA_NOTRANS ? CblasNoTrans : CblasTrans;
  osla_work work = {OSLA_WORK_SYRK, dtype, 1, in, ik};
  if (!osli_work_begin(&work)) return OSLA_OK;
  switch (dtype) {
    case OSLA_FLOAT:
      cblas_ssyrk(CblasColMajor, up, real_t, in, ik, (float)alpha, a, ia, (float)beta, c, ic);
      break;
    case OSLA_DOUBLE:
      cblas_dsyrk(CblasColMajor, up, real_t, in, ik, alpha, a, ia, beta, c, ic);
      break;
    case OSLA_COMPLEX_FLOAT:
      cblas_cherk(CblasColMajor, up, t, in, ik, (float)alpha, a, ia, (float)beta, c, ic);
      break;
    case OSLA_COMPLEX_DOUBLE:
      cblas_zherk(CblasColMajor, up, t, in, ik, alpha, a, ia, beta, c, ic);
      break;
  }
  work_end(&work);
  return OSLA_OK;
}

/* x := op(A)^-1 x. Calls xTRSV, which is faster than xTRSM for one column. */
static void solve_vector(osla_dtype dtype, CBLAS_UPLO up, CBLAS_TRANSPOSE t, CBLAS_DIAG dg, int m,
                         const void *a, int lda, void *x)
{
  switch (dtype) {
    case OSLA_FLOAT: cblas_strsv(CblasColMajor, up, t, dg, m, a, lda, x, 1); break;
    case OSLA_DOUBLE: cblas_dtrsv(CblasColMajor, up, t, dg, m, a, lda, x, 1); break;
    case OSLA_COMPLEX_FLOAT: cblas_ctrsv(CblasColMajor, up, t, dg, m, a, lda, x, 1); break;
    case OSLA_COMPLEX_DOUBLE: cblas_ztrsv(CblasColMajor, up, t, dg, m, a, lda, x, 1); break;
  }
}

osla_err osla_blas_trsm(osla_dtype dtype, osla_side side, osla_uplo uplo, osla_trans trans,
                        osla_diag diag, int64_t m, int64_t n, const void *a, int64_t lda, void *b,
                        int64_t ldb)
{
  int s[4] = {0};
  if (osli_on_device(a, b, NULL))
    return submit(&(device_work){DEVICE_TRSM, dtype, .side = side, .uplo = uplo, .transa = trans,
                                 .diag = diag, .m = m, .n = n, .a = a, .lda = lda, .c = b,
                                 .ldc = ldb});
  OSLA_CALL(osli_blas_enter(4, (int64_t[]){m, n, lda, ldb}, s));
  if (m == 0 || n == 0) return OSLA_OK;
  int im = s[0], in = s[1], ia = s[2], ib = s[3];
  CBLAS_SIDE sd = side == OSLA_LEFT ? CblasLeft : CblasRight;
  CBLAS_DIAG dg = diag == OSLA_UNIT ? CblasUnit : CblasNonUnit;
  CBLAS_UPLO up = cblas_uplo(uplo);
  CBLAS_TRANSPOSE t = cblas_trans(trans);
  if (side == OSLA_LEFT && n == 1) {
    osla_work solve = {OSLA_WORK_GEMV, dtype, im, (im + 1) / 2, 1};
    if (!osli_work_begin(&solve)) return OSLA_OK;
    solve_vector(dtype, up, t, dg, im, a, ia, b);
    work_end(&solve);
    return OSLA_OK;
  }
  const float _Complex one_c = 1;
  const double _Complex one_z = 1;
  osla_work work = {side == OSLA_LEFT ? OSLA_WORK_TRSM_LEFT : OSLA_WORK_TRSM_RIGHT, dtype, im, in,
                    1};
  if (!osli_work_begin(&work)) return OSLA_OK;
  switch (dtype) {
    case OSLA_FLOAT: cblas_strsm(CblasColMajor, sd, up, t, dg, im, in, 1, a, ia, b, ib); break;
    case OSLA_DOUBLE: cblas_dtrsm(CblasColMajor, sd, up, t, dg, im, in, 1, a, ia, b, ib); break;
    case OSLA_COMPLEX_FLOAT:
      cblas_ctrsm(CblasColMajor, sd, up, t, dg, im, in, &one_c, a, ia, b, ib);
      break;
    case OSLA_COMPLEX_DOUBLE:
      cblas_ztrsm(CblasColMajor, sd, up, t, dg, im, in, &one_z, a, ia, b, ib);
      break;
  }
  work_end(&work);
  return OSLA_OK;
}

osla_err osla_blas_ger(osla_dtype dtype, int64_t m, int64_t n, double alpha, const void *x,
                       int64_t incx, const void *y, int64_t incy, void *a, int64_t lda)
{
  int s[5] = {0};
  OSLA_REFUSES_DEVICE("osla_blas_ger", x, y, a);
  OSLA_CALL(osli_blas_enter(5, (int64_t[]){m, n, incx, incy, lda}, s));
  if (m == 0 || n == 0) return OSLA_OK;
  int im = s[0], in = s[1], ix = s[2], iy = s[3], ia = s[4];
  const float _Complex alpha_c = (float)alpha;
  const double _Complex alpha_z = alpha;
  osla_work work = {OSLA_WORK_GEMV, dtype, im, in, 1};
  if (!osli_work_begin(&work)) return OSLA_OK;
  switch (dtype) {
    case OSLA_FLOAT: cblas_sger(CblasColMajor, im, in, (float)alpha, x, ix, y, iy, a, ia); break;
    case OSLA_DOUBLE: cblas_dger(CblasColMajor, im, in, alpha, x, ix, y, iy, a, ia); break;
    case OSLA_COMPLEX_FLOAT:
      cblas_cgeru(CblasColMajor, im, in, &alpha_c, x, ix, y, iy, a, ia);
      break;
    case OSLA_COMPLEX_DOUBLE:
      cblas_zgeru(CblasColMajor, im, in, &alpha_z, x, ix, y, iy, a, ia);
      break;
  }
  work_end(&work);
  return OSLA_OK;
}

osla_err osla_blas_scal(osla_dtype dtype, int64_t n, osla_complex alpha, void *x)
{
  int count = 0;
  OSLA_REFUSES_DEVICE("osla_blas_scal", x);
  OSLA_CALL(osli_blas_enter(1, &n, &count));
  const float _Complex alpha_c = (float _Complex)alpha;
  osla_work work = {OSLA_WORK_VECTOR, dtype, 1, count, 1};
  if (!osli_work_begin(&work)) return OSLA_OK;
  switch (dtype) {
    case OSLA_FLOAT: cblas_sscal(count, (float)creal(alpha), x, 1); break;
    case OSLA_DOUBLE: cblas_dscal(count, creal(alpha), x, 1); break;
    case OSLA_COMPLEX_FLOAT: cblas_cscal(count, &alpha_c, x, 1); break;
    case OSLA_COMPLEX_DOUBLE: cblas_zscal(count, &alpha, x, 1); break;
  }
  work_end(&work);
  return OSLA_OK;
}

osla_err osla_blas_iamax(osla_dtype dtype, int64_t n, const void *x, int64_t *index)
{
  int count = 0;
  OSLA_REFUSES_DEVICE("osla_blas_iamax", x);
  OSLA_CALL(osli_blas_enter(1, &n, &count));
  *index = count > 0 && osli_work_modelled ? (int64_t)(osli_work_random() * (count - 1)) : 0;
  osla_work work = {OSLA_WORK_VECTOR, dtype, 1, count, 1};
  if (!osli_work_begin(&work)) return OSLA_OK;
  switch (dtype) {
    case OSLA_FLOAT: *index = (int64_t)cblas_isamax(count, x, 1); break;
    case OSLA_DOUBLE: *index = (int64_t)cblas_idamax(count, x, 1); break;
    case OSLA_COMPLEX_FLOAT: *index = (int64_t)cblas_icamax(count, x, 1); break;
    case OSLA_COMPLEX_DOUBLE: *index = (int64_t)cblas_izamax(count, x, 1); break;
  }
  work_end(&work);
  return OSLA_OK;
}

/* Largest |x_i|, where `at` is the index that IxAMAX found. IxAMAX does not specify what it does
 * with a NaN; a sum is NaN if any element is. */
static double largest(osla_dtype dtype, int64_t n, const void *x, int64_t at)
{
  switch (dtype) {
    case OSLA_FLOAT: {
      const float *y = x;
      return isnan(cblas_sasum((int)n, y, 1)) ? (double)NAN : fabs((double)y[at]);
    }
    case OSLA_DOUBLE: {
      const double *y = x;
      return isnan(cblas_dasum((int)n, y, 1)) ? (double)NAN : fabs(y[at]);
    }
    default: { /* for complex types, IxAMAX compares |re| + |im| */
      double value = 0;
      for (int64_t i = 0; i < n && !isnan(value); i++) {
        double y = dtype == OSLA_COMPLEX_FLOAT
                     ? cabs((double _Complex)((const float _Complex *)x)[i])
                     : cabs(((const double _Complex *)x)[i]);
        if (!(y <= value)) value = y;
      }
      return value;
    }
  }
}

osla_err osla_blas_max(osla_dtype dtype, int64_t n, const void *x, double *value)
{
  int64_t at;
  OSLA_REFUSES_DEVICE("osla_blas_max", x);
  *value = 0;
  if (n == 0) return OSLA_OK;
  OSLA_CALL(osla_blas_iamax(dtype, n, x, &at));
  *value = osli_work_modelled ? osli_work_random() : largest(dtype, n, x, at);
  return OSLA_OK;
}
