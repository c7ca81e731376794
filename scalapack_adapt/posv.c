/* p?posv: sub(A) X = sub(B) by p?potrf and p?potrs with one copy of the triangle. */
#include "scalapack_adapt/lapack.h"

typedef void posv_routine(const char *uplo, const int *n, const int *nrhs, void *a, const int *ia,
                          const int *ja, const int *desca, void *b, const int *ib, const int *jb,
                          const int *descb, int *info);
/* The real one, as Fortran calls it: with the lengths of the letters. */
typedef void posv_real(const char *uplo, const int *n, const int *nrhs, void *a, const int *ia,
                       const int *ja, const int *desca, void *b, const int *ib, const int *jb,
                       const int *descb, int *info, size_t);

static void posv(osla_dtype dtype, const char *uplo, const int *n, const int *nrhs, void *a,
                 const int *ia, const int *ja, const int *desca, void *b, const int *ib,
                 const int *jb, const int *descb, int *info)
{
  adapt_call call = adapt_call_begin(ADAPT_POSV, dtype);
  const lapack_args args = {.uplo = uplo,
                            .n = n,
                            .nrhs = nrhs,
                            .a = a,
                            .ia = ia,
                            .ja = ja,
                            .desca = desca,
                            .b = b,
                            .ib = ib,
                            .jb = jb,
                            .descb = descb,
                            .info = info};
  if (!lapack_take(&call, &args))
    ((posv_real *)adapt_call_pass(&call))(uplo, n, nrhs, a, ia, ja, desca, b, ib, jb, descb, info,
                                          1);
  adapt_call_end(&call);
}

/* --- the names --- */

posv_routine psposv_, pdposv_, pcposv_, pzposv_;

void psposv_(const char *uplo, const int *n, const int *nrhs, void *a, const int *ia, const int *ja,
             const int *desca, void *b, const int *ib, const int *jb, const int *descb, int *info)
{
  posv(OSLA_FLOAT, uplo, n, nrhs, a, ia, ja, desca, b, ib, jb, descb, info);
}

void pdposv_(const char *uplo, const int *n, const int *nrhs, void *a, const int *ia, const int *ja,
             const int *desca, void *b, const int *ib, const int *jb, const int *descb, int *info)
{
  posv(OSLA_DOUBLE, uplo, n, nrhs, a, ia, ja, desca, b, ib, jb, descb, info);
}

void pcposv_(const char *uplo, const int *n, const int *nrhs, void *a, const int *ia, const int *ja,
             const int *desca, void *b, const int *ib, const int *jb, const int *descb, int *info)
{
  posv(OSLA_COMPLEX_FLOAT, uplo, n, nrhs, a, ia, ja, desca, b, ib, jb, descb, info);
}

void pzposv_(const char *uplo, const int *n, const int *nrhs, void *a, const int *ia, const int *ja,
             const int *desca, void *b, const int *ib, const int *jb, const int *descb, int *info)
{
  posv(OSLA_COMPLEX_DOUBLE, uplo, n, nrhs, a, ia, ja, desca, b, ib, jb, descb, info);
}
