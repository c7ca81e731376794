/* Entry points of the drop-in's LAPACK routines. Each offloads its call, or passes it on to the
 * real routine. Real routines get, as all Fortran routines do, the length of each CHARACTER
 * argument after the other arguments. */
#include "scalapack_adapt/lapack.h"

/* Initialisers of the members of lapack_args that describe sub(A) and sub(B). */
#define SUB_A .a = (void *)a, .ia = ia, .ja = ja, .desca = desca
#define SUB_B .b = b, .ib = ib, .jb = jb, .descb = descb

/* p?getrf: P L U = sub(A), with partial pivoting. sub(A) is overwritten by the factors. */
#define GETRF_PARAMETERS                                                                           \
  const int *m, const int *n, void *a, const int *ia, const int *ja, const int *desca, int *ipiv,  \
    int *info
typedef void getrf_routine(GETRF_PARAMETERS);

static void getrf(osla_dtype dtype, GETRF_PARAMETERS)
{
  adapt_call call = adapt_call_begin(ADAPT_GETRF, dtype);
  const lapack_args args = {.m = m, .n = n, SUB_A, .ipiv = ipiv, .info = info};
  if (!lapack_offload(&call, &args))
    ((getrf_routine *)adapt_call_pass(&call))(m, n, a, ia, ja, desca, ipiv, info);
  adapt_call_end(&call);
}

ADAPT_ENTRIES(getrf, getrf, (GETRF_PARAMETERS), m, n, a, ia, ja, desca, ipiv, info)

/* p?getrs: solves op(sub(A)) X = sub(B) with the factors of p?getrf. sub(B) is overwritten by X. */
#define GETRS_PARAMETERS                                                                           \
  const char *trans, const int *n, const int *nrhs, const void *a, const int *ia, const int *ja,   \
    const int *desca, const int *ipiv, void *b, const int *ib, const int *jb, const int *descb,    \
    int *info
typedef void getrs_routine(GETRS_PARAMETERS, size_t);

static void getrs(osla_dtype dtype, GETRS_PARAMETERS)
{
  adapt_call call = adapt_call_begin(ADAPT_GETRS, dtype);
  const lapack_args args = {
    .trans = trans, .n = n, .nrhs = nrhs, SUB_A, .ipiv = (int *)ipiv, SUB_B, .info = info};
  if (!lapack_offload(&call, &args))
    ((getrs_routine *)adapt_call_pass(&call))(trans, n, nrhs, a, ia, ja, desca, ipiv, b, ib, jb,
                                              descb, info, 1);
  adapt_call_end(&call);
}

ADAPT_ENTRIES(getrs, getrs, (GETRS_PARAMETERS), trans, n, nrhs, a, ia, ja, desca, ipiv, b, ib, jb,
              descb, info)

/* p?gesv: solves sub(A) X = sub(B) as p?getrf and p?getrs do, with one copy of sub(A). */
#define GESV_PARAMETERS                                                                            \
  const int *n, const int *nrhs, void *a, const int *ia, const int *ja, const int *desca,          \
    int *ipiv, void *b, const int *ib, const int *jb, const int *descb, int *info
typedef void gesv_routine(GESV_PARAMETERS);

static void gesv(osla_dtype dtype, GESV_PARAMETERS)
{
  adapt_call call = adapt_call_begin(ADAPT_GESV, dtype);
  const lapack_args args = {.n = n, .nrhs = nrhs, SUB_A, .ipiv = ipiv, SUB_B, .info = info};
  if (!lapack_offload(&call, &args))
    ((gesv_routine *)adapt_call_pass(&call))(n, nrhs, a, ia, ja, desca, ipiv, b, ib, jb, descb,
                                             info);
  adapt_call_end(&call);
}

ADAPT_ENTRIES(gesv, gesv, (GESV_PARAMETERS), n, nrhs, a, ia, ja, desca, ipiv, b, ib, jb, descb,
              info)

/* p?potrf: L L^H or U^H U = sub(A). The triangle is overwritten by the factor. */
#define POTRF_PARAMETERS                                                                           \
  const char *uplo, const int *n, void *a, const int *ia, const int *ja, const int *desca, int *info
typedef void potrf_routine(POTRF_PARAMETERS, size_t);

static void potrf(osla_dtype dtype, POTRF_PARAMETERS)
{
  adapt_call call = adapt_call_begin(ADAPT_POTRF, dtype);
  const lapack_args args = {.uplo = uplo, .n = n, SUB_A, .info = info};
  if (!lapack_offload(&call, &args))
    ((potrf_routine *)adapt_call_pass(&call))(uplo, n, a, ia, ja, desca, info, 1);
  adapt_call_end(&call);
}

ADAPT_ENTRIES(potrf, potrf, (POTRF_PARAMETERS), uplo, n, a, ia, ja, desca, info)

/* p?potrs: solves sub(A) X = sub(B) with the factor of p?potrf. sub(B) is overwritten by X. */
#define POTRS_PARAMETERS                                                                           \
  const char *uplo, const int *n, const int *nrhs, const void *a, const int *ia, const int *ja,    \
    const int *desca, void *b, const int *ib, const int *jb, const int *descb, int *info
typedef void potrs_routine(POTRS_PARAMETERS, size_t);

static void potrs(osla_dtype dtype, POTRS_PARAMETERS)
{
  adapt_call call = adapt_call_begin(ADAPT_POTRS, dtype);
  const lapack_args args = {.uplo = uplo, .n = n, .nrhs = nrhs, SUB_A, SUB_B, .info = info};
  if (!lapack_offload(&call, &args))
    ((potrs_routine *)adapt_call_pass(&call))(uplo, n, nrhs, a, ia, ja, desca, b, ib, jb, descb,
                                              info, 1);
  adapt_call_end(&call);
}

ADAPT_ENTRIES(potrs, potrs, (POTRS_PARAMETERS), uplo, n, nrhs, a, ia, ja, desca, b, ib, jb, descb,
              info)

/* p?posv: solves sub(A) X = sub(B) as p?potrf and p?potrs do, with one copy of the triangle. */
#define POSV_PARAMETERS                                                                            \
  const char *uplo, const int *n, const int *nrhs, void *a, const int *ia, const int *ja,          \
    const int *desca, void *b, const int *ib, const int *jb, const int *descb, int *info
typedef void posv_routine(POSV_PARAMETERS, size_t);

static void posv(osla_dtype dtype, POSV_PARAMETERS)
{
  adapt_call call = adapt_call_begin(ADAPT_POSV, dtype);
  const lapack_args args = {.uplo = uplo, .n = n, .nrhs = nrhs, SUB_A, SUB_B, .info = info};
  if (!lapack_offload(&call, &args))
    ((posv_routine *)adapt_call_pass(&call))(uplo, n, nrhs, a, ia, ja, desca, b, ib, jb, descb,
                                             info, 1);
  adapt_call_end(&call);
}

ADAPT_ENTRIES(posv, posv, (POSV_PARAMETERS), uplo, n, nrhs, a, ia, ja, desca, b, ib, jb, descb,
              info)
