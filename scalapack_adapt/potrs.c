/* p?potrs: sub(A) X = sub(B) with the factor of p?potrf: sub(B) is overwritten by X. */
#include "scalapack_adapt/lapack.h"

typedef void potrs_routine(const char *uplo, const int *n, const int *nrhs, const void *a,
                           const int *ia, const int *ja, const int *desca, void *b, const int *ib,
                           const int *jb, const int *descb, int *info);
/* The real one, as Fortran calls it: with the lengths of the letters. */
typedef void potrs_real(const char *uplo, const int *n, const int *nrhs, const void *a,
                        const int *ia, const int *ja, const int *desca, void *b, const int *ib,
                        const int *jb, const int *descb, int *info, size_t);

static void potrs(osla_dtype dtype, const char *uplo, const int *n, const int *nrhs, const void *a,
                  const int *ia, const int *ja, const int *desca, void *b, const int *ib,
                  const int *jb, const int *descb, int *info)
{
  adapt_call call = adapt_call_begin(ADAPT_POTRS, dtype);
  const lapack_args args = {.uplo = uplo,
                            .n = n,
                            .nrhs = nrhs,
                            .a = (void *)a,
                            .ia = ia,
                            .ja = ja,
                            .desca = desca,
                            .b = b,
                            .ib = ib,
                            .jb = jb,
                            .descb = descb,
                            .info = info};
  if (!lapack_take(&call, &args))
    ((potrs_real *)adapt_call_pass(&call))(uplo, n, nrhs, a, ia, ja, desca, b, ib, jb, descb, info,
                                           1);
  adapt_call_end(&call);
}

/* --- the names --- */

potrs_routine pspotrs_, pdpotrs_, pcpotrs_, pzpotrs_;

void pspotrs_(const char *uplo, const int *n, const int *nrhs, const void *a, const int *ia,
              const int *ja, const int *desca, void *b, const int *ib, const int *jb,
              const int *descb, int *info)
{
  potrs(OSLA_FLOAT, uplo, n, nrhs, a, ia, ja, desca, b, ib, jb, descb, info);
}

void pdpotrs_(const char *uplo, const int *n, const int *nrhs, const void *a, const int *ia,
              const int *ja, const int *desca, void *b, const int *ib, const int *jb,
              const int *descb, int *info)
{
  potrs(OSLA_DOUBLE, uplo, n, nrhs, a, ia, ja, desca, b, ib, jb, descb, info);
}

void pcpotrs_(const char *uplo, const int *n, const int *nrhs, const void *a, const int *ia,
              const int *ja, const int *desca, void *b, const int *ib, const int *jb,
              const int *descb, int *info)
{
  potrs(OSLA_COMPLEX_FLOAT, uplo, n, nrhs, a, ia, ja, desca, b, ib, jb, descb, info);
}

void pzpotrs_(const char *uplo, const int *n, const int *nrhs, const void *a, const int *ia,
              const int *ja, const int *desca, void *b, const int *ib, const int *jb,
              const int *descb, int *info)
{
  potrs(OSLA_COMPLEX_DOUBLE, uplo, n, nrhs, a, ia, ja, desca, b, ib, jb, descb, info);
}
