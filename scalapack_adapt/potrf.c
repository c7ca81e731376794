/* p?potrf: L L^H or U^H U = sub(A): the triangle is overwritten by the factor. */
#include "scalapack_adapt/lapack.h"

typedef void potrf_routine(const char *uplo, const int *n, void *a, const int *ia, const int *ja,
                           const int *desca, int *info);
/* The real one, as Fortran calls it: with the lengths of the letters. */
typedef void potrf_real(const char *uplo, const int *n, void *a, const int *ia, const int *ja,
                        const int *desca, int *info, size_t);

static void potrf(osla_dtype dtype, const char *uplo, const int *n, void *a, const int *ia,
                  const int *ja, const int *desca, int *info)
{
  adapt_call call = adapt_call_begin(ADAPT_POTRF, dtype);
  const lapack_args args = {
    .uplo = uplo, .n = n, .a = a, .ia = ia, .ja = ja, .desca = desca, .info = info};
  if (!lapack_take(&call, &args))
    ((potrf_real *)adapt_call_pass(&call))(uplo, n, a, ia, ja, desca, info, 1);
  adapt_call_end(&call);
}

/* --- the names --- */

potrf_routine pspotrf_, pdpotrf_, pcpotrf_, pzpotrf_;

void pspotrf_(const char *uplo, const int *n, void *a, const int *ia, const int *ja,
              const int *desca, int *info)
{
  potrf(OSLA_FLOAT, uplo, n, a, ia, ja, desca, info);
}

void pdpotrf_(const char *uplo, const int *n, void *a, const int *ia, const int *ja,
              const int *desca, int *info)
{
  potrf(OSLA_DOUBLE, uplo, n, a, ia, ja, desca, info);
}

void pcpotrf_(const char *uplo, const int *n, void *a, const int *ia, const int *ja,
              const int *desca, int *info)
{
  potrf(OSLA_COMPLEX_FLOAT, uplo, n, a, ia, ja, desca, info);
}

void pzpotrf_(const char *uplo, const int *n, void *a, const int *ia, const int *ja,
              const int *desca, int *info)
{
  potrf(OSLA_COMPLEX_DOUBLE, uplo, n, a, ia, ja, desca, info);
}
