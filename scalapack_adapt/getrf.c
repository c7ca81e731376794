/* p?getrf: P L U = sub(A), with partial pivoting: sub(A) is overwritten by the factors. */
#include "scalapack_adapt/lapack.h"

typedef void getrf_routine(const int *m, const int *n, void *a, const int *ia, const int *ja,
                           const int *desca, int *ipiv, int *info);

static void getrf(osla_dtype dtype, const int *m, const int *n, void *a, const int *ia,
                  const int *ja, const int *desca, int *ipiv, int *info)
{
  adapt_call call = adapt_call_begin(ADAPT_GETRF, dtype);
  const lapack_args args = {
    .m = m, .n = n, .a = a, .ia = ia, .ja = ja, .desca = desca, .ipiv = ipiv, .info = info};
  if (!lapack_take(&call, &args))
    ((getrf_routine *)adapt_call_pass(&call))(m, n, a, ia, ja, desca, ipiv, info);
  adapt_call_end(&call);
}

/* --- the names --- */

getrf_routine psgetrf_, pdgetrf_, pcgetrf_, pzgetrf_;

void psgetrf_(const int *m, const int *n, void *a, const int *ia, const int *ja, const int *desca,
              int *ipiv, int *info)
{
  getrf(OSLA_FLOAT, m, n, a, ia, ja, desca, ipiv, info);
}

void pdgetrf_(const int *m, const int *n, void *a, const int *ia, const int *ja, const int *desca,
              int *ipiv, int *info)
{
  getrf(OSLA_DOUBLE, m, n, a, ia, ja, desca, ipiv, info);
}

void pcgetrf_(const int *m, const int *n, void *a, const int *ia, const int *ja, const int *desca,
              int *ipiv, int *info)
{
  getrf(OSLA_COMPLEX_FLOAT, m, n, a, ia, ja, desca, ipiv, info);
}

void pzgetrf_(const int *m, const int *n, void *a, const int *ia, const int *ja, const int *desca,
              int *ipiv, int *info)
{
  getrf(OSLA_COMPLEX_DOUBLE, m, n, a, ia, ja, desca, ipiv, info);
}
