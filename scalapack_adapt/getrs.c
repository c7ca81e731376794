/* p?getrs: op(sub(A)) X = sub(B) with the factors of p?getrf: sub(B) is overwritten by X. */
#include "scalapack_adapt/lapack.h"

typedef void getrs_routine(const char *trans, const int *n, const int *nrhs, const void *a,
                           const int *ia, const int *ja, const int *desca, const int *ipiv, void *b,
                           const int *ib, const int *jb, const int *descb, int *info);
/* The real one, as Fortran calls it: with the lengths of the letters. */
typedef void getrs_real(const char *trans, const int *n, const int *nrhs, const void *a,
                        const int *ia, const int *ja, const int *desca, const int *ipiv, void *b,
                        const int *ib, const int *jb, const int *descb, int *info, size_t);

static void getrs(osla_dtype dtype, const char *trans, const int *n, const int *nrhs, const void *a,
                  const int *ia, const int *ja, const int *desca, const int *ipiv, void *b,
                  const int *ib, const int *jb, const int *descb, int *info)
{
  adapt_call call = adapt_call_begin(ADAPT_GETRS, dtype);
  const lapack_args args = {.trans = trans,
                            .n = n,
                            .nrhs = nrhs,
                            .a = (void *)a,
                            .ia = ia,
                            .ja = ja,
                            .desca = desca,
                            .ipiv = (int *)ipiv,
                            .b = b,
                            .ib = ib,
                            .jb = jb,
                            .descb = descb,
                            .info = info};
  if (!lapack_take(&call, &args))
    ((getrs_real *)adapt_call_pass(&call))(trans, n, nrhs, a, ia, ja, desca, ipiv, b, ib, jb, descb,
                                           info, 1);
  adapt_call_end(&call);
}

/* --- the names --- */

getrs_routine psgetrs_, pdgetrs_, pcgetrs_, pzgetrs_;

void psgetrs_(const char *trans, const int *n, const int *nrhs, const void *a, const int *ia,
              const int *ja, const int *desca, const int *ipiv, void *b, const int *ib,
              const int *jb, const int *descb, int *info)
{
  getrs(OSLA_FLOAT, trans, n, nrhs, a, ia, ja, desca, ipiv, b, ib, jb, descb, info);
}

void pdgetrs_(const char *trans, const int *n, const int *nrhs, const void *a, const int *ia,
              const int *ja, const int *desca, const int *ipiv, void *b, const int *ib,
              const int *jb, const int *descb, int *info)
{
  getrs(OSLA_DOUBLE, trans, n, nrhs, a, ia, ja, desca, ipiv, b, ib, jb, descb, info);
}

void pcgetrs_(const char *trans, const int *n, const int *nrhs, const void *a, const int *ia,
              const int *ja, const int *desca, const int *ipiv, void *b, const int *ib,
              const int *jb, const int *descb, int *info)
{
  getrs(OSLA_COMPLEX_FLOAT, trans, n, nrhs, a, ia, ja, desca, ipiv, b, ib, jb, descb, info);
}

void pzgetrs_(const char *trans, const int *n, const int *nrhs, const void *a, const int *ia,
              const int *ja, const int *desca, const int *ipiv, void *b, const int *ib,
              const int *jb, const int *descb, int *info)
{
  getrs(OSLA_COMPLEX_DOUBLE, trans, n, nrhs, a, ia, ja, desca, ipiv, b, ib, jb, descb, info);
}
