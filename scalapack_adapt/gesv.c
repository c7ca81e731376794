/* p?gesv: sub(A) X = sub(B) by p?getrf and p?getrs with one copy of sub(A). */
#include "scalapack_adapt/lapack.h"

typedef void gesv_routine(const int *n, const int *nrhs, void *a, const int *ia, const int *ja,
                          const int *desca, int *ipiv, void *b, const int *ib, const int *jb,
                          const int *descb, int *info);

static void gesv(osla_dtype dtype, const int *n, const int *nrhs, void *a, const int *ia,
                 const int *ja, const int *desca, int *ipiv, void *b, const int *ib, const int *jb,
                 const int *descb, int *info)
{
  adapt_call call = adapt_call_begin(ADAPT_GESV, dtype);
  const lapack_args args = {.n = n,
                            .nrhs = nrhs,
                            .a = a,
                            .ia = ia,
                            .ja = ja,
                            .desca = desca,
                            .ipiv = ipiv,
                            .b = b,
                            .ib = ib,
                            .jb = jb,
                            .descb = descb,
                            .info = info};
  if (!lapack_take(&call, &args))
    ((gesv_routine *)adapt_call_pass(&call))(n, nrhs, a, ia, ja, desca, ipiv, b, ib, jb, descb,
                                             info);
  adapt_call_end(&call);
}

/* --- the names --- */

gesv_routine psgesv_, pdgesv_, pcgesv_, pzgesv_;

void psgesv_(const int *n, const int *nrhs, void *a, const int *ia, const int *ja, const int *desca,
             int *ipiv, void *b, const int *ib, const int *jb, const int *descb, int *info)
{
  gesv(OSLA_FLOAT, n, nrhs, a, ia, ja, desca, ipiv, b, ib, jb, descb, info);
}

void pdgesv_(const int *n, const int *nrhs, void *a, const int *ia, const int *ja, const int *desca,
             int *ipiv, void *b, const int *ib, const int *jb, const int *descb, int *info)
{
  gesv(OSLA_DOUBLE, n, nrhs, a, ia, ja, desca, ipiv, b, ib, jb, descb, info);
}

void pcgesv_(const int *n, const int *nrhs, void *a, const int *ia, const int *ja, const int *desca,
             int *ipiv, void *b, const int *ib, const int *jb, const int *descb, int *info)
{
  gesv(OSLA_COMPLEX_FLOAT, n, nrhs, a, ia, ja, desca, ipiv, b, ib, jb, descb, info);
}

void pzgesv_(const int *n, const int *nrhs, void *a, const int *ia, const int *ja, const int *desca,
             int *ipiv, void *b, const int *ib, const int *jb, const int *descb, int *info)
{
  gesv(OSLA_COMPLEX_DOUBLE, n, nrhs, a, ia, ja, desca, ipiv, b, ib, jb, descb, info);
}
