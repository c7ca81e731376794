/* ScaLAPACK on the memory of OSLA's matrices. See bench_reference.h.
 *
 * ScaLAPACK has no C header, so its prototypes are declared here, with the arguments in the order
 * of its Users' Guide (Blackford et al., SIAM 1997). The hidden lengths of character arguments are
 * omitted where all of them are 1. */
#include "config.h"

#include "bench/bench_reference.h"

#include <inttypes.h>

#ifdef HAVE_SCALAPACK

#include <limits.h>
#include <stdlib.h>
#include <string.h>

void Cblacs_get(int context, int what, int *value);
void Cblacs_gridmap(int *context, int *usermap, int ldumap, int nprow, int npcol);
void Cblacs_gridexit(int context);
void descinit_(int *desc, const int *m, const int *n, const int *mb, const int *nb,
               const int *irsrc, const int *icsrc, const int *context, const int *lld, int *info);

/* Types of the routines. Scalars and matrices have the type void *, so that all precisions share a
 * prototype. */
typedef void gemm_routine(const char *transa, const char *transb, const int *m, const int *n,
                          const int *k, const void *alpha, const void *a, const int *ia,
                          const int *ja, const int *desca, const void *b, const int *ib,
                          const int *jb, const int *descb, const void *beta, void *c, const int *ic,
                          const int *jc, const int *descc);
typedef void syrk_routine(const char *uplo, const char *trans, const int *n, const int *k,
                          const void *alpha, const void *a, const int *ia, const int *ja,
                          const int *desca, const void *beta, void *c, const int *ic, const int *jc,
                          const int *descc);
typedef void symm_routine(const char *side, const char *uplo, const int *m, const int *n,
                          const void *alpha, const void *a, const int *ia, const int *ja,
                          const int *desca, const void *b, const int *ib, const int *jb,
                          const int *descb, const void *beta, void *c, const int *ic, const int *jc,
                          const int *descc);
typedef void trmm_routine(const char *side, const char *uplo, const char *trans, const char *diag,
                          const int *m, const int *n, const void *alpha, const void *a,
                          const int *ia, const int *ja, const int *desca, void *b, const int *ib,
                          const int *jb, const int *descb);
typedef void gemv_routine(const char *trans, const int *m, const int *n, const void *alpha,
                          const void *a, const int *ia, const int *ja, const int *desca,
                          const void *x, const int *ix, const int *jx, const int *descx,
                          const int *incx, const void *beta, void *y, const int *iy, const int *jy,
                          const int *descy, const int *incy);
typedef void symv_routine(const char *uplo, const int *n, const void *alpha, const void *a,
                          const int *ia, const int *ja, const int *desca, const void *x,
                          const int *ix, const int *jx, const int *descx, const int *incx,
                          const void *beta, void *y, const int *iy, const int *jy, const int *descy,
                          const int *incy);
typedef void getrf_routine(const int *m, const int *n, void *a, const int *ia, const int *ja,
                           const int *desca, int *ipiv, int *info);
typedef void getri_routine(const int *n, void *a, const int *ia, const int *ja, const int *desca,
                           const int *ipiv, void *work, const int *lwork, int *iwork,
                           const int *liwork, int *info);
/* `length` is the hidden length of the CHARACTER argument; see src/blas/lapack.c. */
typedef void getrs_routine(const char *trans, const int *n, const int *nrhs, const void *a,
                           const int *ia, const int *ja, const int *desca, const int *ipiv, void *b,
                           const int *ib, const int *jb, const int *descb, int *info,
                           size_t length);
typedef void potrf_routine(const char *uplo, const int *n, void *a, const int *ia, const int *ja,
                           const int *desca, int *info, size_t length);
typedef potrf_routine potri_routine;
typedef void potrs_routine(const char *uplo, const int *n, const int *nrhs, const void *a,
                           const int *ia, const int *ja, const int *desca, void *b, const int *ib,
                           const int *jb, const int *descb, int *info, size_t length);

gemm_routine psgemm_, pdgemm_, pcgemm_, pzgemm_;
syrk_routine pssyrk_, pdsyrk_, pcherk_, pzherk_;
symm_routine pssymm_, pdsymm_, pcsymm_, pzsymm_;
trmm_routine pstrmm_, pdtrmm_, pctrmm_, pztrmm_;
gemv_routine psgemv_, pdgemv_, pcgemv_, pzgemv_;
symv_routine pssymv_, pdsymv_;
getrf_routine psgetrf_, pdgetrf_, pcgetrf_, pzgetrf_;
getri_routine psgetri_, pdgetri_, pcgetri_, pzgetri_;
getrs_routine psgetrs_, pdgetrs_, pcgetrs_, pzgetrs_;
potrf_routine pspotrf_, pdpotrf_, pcpotrf_, pzpotrf_;
potri_routine pspotri_, pdpotri_, pcpotri_, pzpotri_;
potrs_routine pspotrs_, pdpotrs_, pcpotrs_, pzpotrs_;

static const int one = 1;

osla_err reference_scalapack_open(osla_grid *grid, int *context)
{
  int nprow = osla_grid_nprow(grid), npcol = osla_grid_npcol(grid);
  *context = -1;
  int *map = malloc((size_t)nprow * (size_t)npcol * sizeof *map);
  OSLA_CALL(osla_agree(osla_grid_transport(grid),
                       map ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "map of the BLACS grid")));
  for (int pcol = 0; pcol < npcol; pcol++)
    for (int prow = 0; prow < nprow; prow++)
      map[prow + pcol * nprow] = osla_grid_rank_at(grid, prow, pcol);
  /* BLACS's default context uses the communicator MPI_COMM_WORLD, as the transport does. */
  Cblacs_get(-1, 0, context);
  Cblacs_gridmap(context, map, nprow, nprow, npcol);
  free(map);
  if (osla_grid_prow(grid) < 0) *context = -1;
  return OSLA_OK;
}

void reference_scalapack_close(int *context)
{
  if (*context >= 0) Cblacs_gridexit(*context);
  *context = -1;
}

typedef struct operand {
  int desc[9];
  int m, n;
  void *at;
} operand;

static osla_err describe(int context, osla_matrix *matrix, operand *out)
{
  osla_layout l = osla_matrix_layout(matrix);
  osla_transport *t = osla_grid_transport(osla_matrix_grid(matrix));
  int64_t lld = osla_matrix_lld(matrix, osla_transport_rank(t));
  int64_t largest = l.m;
  if (l.n > largest) largest = l.n;
  if (l.mb > largest) largest = l.mb;
  if (l.nb > largest) largest = l.nb;
  OSLA_CHECK(largest <= INT_MAX && lld <= INT_MAX, OSLA_ERR_RANGE,
             "size %" PRId64 " does not fit ScaLAPACK's int", largest);
  int mb = (int)l.mb, nb = (int)l.nb, ld = (int)lld, zero = 0, info = 0;
  out->m = (int)l.m;
  out->n = (int)l.n;
  out->at = osla_matrix_local(matrix);
  descinit_(out->desc, &out->m, &out->n, &mb, &nb, &zero, &zero, &context, &ld, &info);
  OSLA_CHECK(info == 0, OSLA_ERR_ARG, "descinit refused argument %d", -info);
  return OSLA_OK;
}

/* The constants 1 and 0 of each type, indexed by osla_dtype. */
static const float ones_c[2] = {1, 0}, zeros_c[2] = {0, 0};
static const double ones_z[2] = {1, 0}, zeros_z[2] = {0, 0};
static const void *const ones[] = {ones_c, ones_z, ones_c, ones_z};
static const void *const zeros[] = {zeros_c, zeros_z, zeros_c, zeros_z};

osla_err reference_scalapack_gemm(int context, osla_trans transa, osla_trans transb, osla_matrix *a,
                                  osla_matrix *b, osla_matrix *c)
{
  static gemm_routine *const gemm[] = {psgemm_, pdgemm_, pcgemm_, pzgemm_};
  if (context < 0) return OSLA_OK;
  operand oa, ob, oc;
  const osla_dtype dtype = osla_matrix_dtype(a);
  OSLA_CALL(describe(context, a, &oa));
  OSLA_CALL(describe(context, b, &ob));
  OSLA_CALL(describe(context, c, &oc));
  gemm[dtype](&"NTC"[transa], &"NTC"[transb], &oc.m, &oc.n, transa ? &oa.m : &oa.n, ones[dtype],
              oa.at, &one, &one, oa.desc, ob.at, &one, &one, ob.desc, zeros[dtype], oc.at, &one,
              &one, oc.desc);
  return OSLA_OK;
}

osla_err reference_scalapack_syrk(int context, osla_matrix *a, osla_matrix *c)
{
  /* herk uses only the real parts of alpha and beta */
  static syrk_routine *const syrk[] = {pssyrk_, pdsyrk_, pcherk_, pzherk_};
  if (context < 0) return OSLA_OK;
  operand oa, oc;
  const osla_dtype dtype = osla_matrix_dtype(a);
  OSLA_CALL(describe(context, a, &oa));
  OSLA_CALL(describe(context, c, &oc));
  syrk[dtype]("L", "N", &oc.n, &oa.n, ones[dtype], oa.at, &one, &one, oa.desc, zeros[dtype], oc.at,
              &one, &one, oc.desc);
  return OSLA_OK;
}

osla_err reference_scalapack_symm(int context, osla_matrix *a, osla_matrix *b, osla_matrix *c)
{
  static symm_routine *const symm[] = {pssymm_, pdsymm_, pcsymm_, pzsymm_};
  if (context < 0) return OSLA_OK;
  operand oa, ob, oc;
  const osla_dtype dtype = osla_matrix_dtype(a);
  OSLA_CALL(describe(context, a, &oa));
  OSLA_CALL(describe(context, b, &ob));
  OSLA_CALL(describe(context, c, &oc));
  symm[dtype]("L", "L", &oc.m, &oc.n, ones[dtype], oa.at, &one, &one, oa.desc, ob.at, &one, &one,
              ob.desc, zeros[dtype], oc.at, &one, &one, oc.desc);
  return OSLA_OK;
}

osla_err reference_scalapack_trmm(int context, osla_matrix *a, osla_matrix *b)
{
  static trmm_routine *const trmm[] = {pstrmm_, pdtrmm_, pctrmm_, pztrmm_};
  if (context < 0) return OSLA_OK;
  operand oa, ob;
  const osla_dtype dtype = osla_matrix_dtype(a);
  OSLA_CALL(describe(context, a, &oa));
  OSLA_CALL(describe(context, b, &ob));
  trmm[dtype]("L", "L", "N", "N", &ob.m, &ob.n, ones[dtype], oa.at, &one, &one, oa.desc, ob.at,
              &one, &one, ob.desc);
  return OSLA_OK;
}

osla_err reference_scalapack_gemv(int context, osla_matrix *a, osla_matrix *x, osla_matrix *y)
{
  static gemv_routine *const gemv[] = {psgemv_, pdgemv_, pcgemv_, pzgemv_};
  if (context < 0) return OSLA_OK;
  operand oa, ox, oy;
  const osla_dtype dtype = osla_matrix_dtype(a);
  OSLA_CALL(describe(context, a, &oa));
  OSLA_CALL(describe(context, x, &ox));
  OSLA_CALL(describe(context, y, &oy));
  gemv[dtype]("N", &oa.m, &oa.n, ones[dtype], oa.at, &one, &one, oa.desc, ox.at, &one, &one,
              ox.desc, &one, zeros[dtype], oy.at, &one, &one, oy.desc, &one);
  return OSLA_OK;
}

osla_err reference_scalapack_symv(int context, osla_matrix *a, osla_matrix *x, osla_matrix *y)
{
  if (context < 0) return OSLA_OK;
  operand oa, ox, oy;
  /* the type is OSLA_FLOAT or OSLA_DOUBLE, because PBLAS has no complex symv */
  const osla_dtype dtype = osla_matrix_dtype(a);
  OSLA_CALL(describe(context, a, &oa));
  OSLA_CALL(describe(context, x, &ox));
  OSLA_CALL(describe(context, y, &oy));
  (dtype == OSLA_FLOAT ? pssymv_ : pdsymv_)("L", &oa.n, ones[dtype], oa.at, &one, &one, oa.desc,
                                            ox.at, &one, &one, ox.desc, &one, zeros[dtype], oy.at,
                                            &one, &one, oy.desc, &one);
  return OSLA_OK;
}

osla_err reference_scalapack_getrf(int context, osla_matrix *a, int *ipiv, int64_t *info)
{
  static getrf_routine *const getrf[] = {psgetrf_, pdgetrf_, pcgetrf_, pzgetrf_};
  operand o;
  int result = 0;
  *info = 0;
  if (context < 0) return OSLA_OK;
  OSLA_CALL(describe(context, a, &o));
  getrf[osla_matrix_dtype(a)](&o.m, &o.n, o.at, &one, &one, o.desc, ipiv, &result);
  *info = result;
  return OSLA_OK;
}

osla_err reference_scalapack_getri(int context, osla_matrix *a, int *ipiv, int64_t *info)
{
  static getri_routine *const getri[] = {psgetri_, pdgetri_, pcgetri_, pzgetri_};
  const osla_dtype dtype = osla_matrix_dtype(a);
  operand o;
  const bool single = dtype == OSLA_FLOAT || dtype == OSLA_COMPLEX_FLOAT;
  double size[2] = {0}; /* room for one element of any type */
  float single_size;
  int result = 0, lwork = -1, liwork = -1, least = 1;
  *info = 0;
  if (context < 0) return OSLA_OK;
  OSLA_CALL(describe(context, a, &o));
  getri[dtype](&o.n, o.at, &one, &one, o.desc, ipiv, size, &lwork, &least, &liwork, &result);
  memcpy(&single_size, size, sizeof single_size);
  lwork = single ? (int)single_size : (int)size[0];
  liwork = least;
  void *work = malloc((size_t)lwork * osla_dtype_size(dtype) + 1);
  int *iwork = malloc((size_t)liwork * sizeof *iwork + 1);
  if (work && iwork)
    getri[dtype](&o.n, o.at, &one, &one, o.desc, ipiv, work, &lwork, iwork, &liwork, &result);
  osla_err err = work && iwork ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "workspace of pxGETRI");
  if (err != OSLA_OK) osla_transport_abort(osla_grid_transport(osla_matrix_grid(a)), err);
  free(work);
  free(iwork);
  *info = result;
  return OSLA_OK;
}

/* Calls p?potrf or p?potri on the lower triangle. */
static osla_err call_potrf(potrf_routine *const *routine, int context, osla_matrix *a,
                           int64_t *info)
{
  operand o;
  int result = 0;
  *info = 0;
  if (context < 0) return OSLA_OK;
  OSLA_CALL(describe(context, a, &o));
  routine[osla_matrix_dtype(a)]("L", &o.n, o.at, &one, &one, o.desc, &result, 1);
  *info = result;
  return OSLA_OK;
}

osla_err reference_scalapack_potrf(int context, osla_matrix *a, int64_t *info)
{
  static potrf_routine *const potrf[] = {pspotrf_, pdpotrf_, pcpotrf_, pzpotrf_};
  return call_potrf(potrf, context, a, info);
}

osla_err reference_scalapack_potri(int context, osla_matrix *a, int64_t *info)
{
  static potri_routine *const potri[] = {pspotri_, pdpotri_, pcpotri_, pzpotri_};
  return call_potrf(potri, context, a, info);
}

osla_err reference_scalapack_getrs(int context, osla_matrix *a, int *ipiv, osla_matrix *b)
{
  static getrs_routine *const getrs[] = {psgetrs_, pdgetrs_, pcgetrs_, pzgetrs_};
  operand oa, ob;
  int result = 0;
  if (context < 0) return OSLA_OK;
  OSLA_CALL(describe(context, a, &oa));
  OSLA_CALL(describe(context, b, &ob));
  getrs[osla_matrix_dtype(a)]("N", &oa.n, &ob.n, oa.at, &one, &one, oa.desc, ipiv, ob.at, &one,
                              &one, ob.desc, &result, 1);
  OSLA_CHECK(result == 0, OSLA_ERR_ARG, "pxGETRS refused argument %d", -result);
  return OSLA_OK;
}

osla_err reference_scalapack_potrs(int context, osla_matrix *a, osla_matrix *b)
{
  static potrs_routine *const potrs[] = {pspotrs_, pdpotrs_, pcpotrs_, pzpotrs_};
  operand oa, ob;
  int result = 0;
  if (context < 0) return OSLA_OK;
  OSLA_CALL(describe(context, a, &oa));
  OSLA_CALL(describe(context, b, &ob));
  potrs[osla_matrix_dtype(a)]("L", &oa.n, &ob.n, oa.at, &one, &one, oa.desc, ob.at, &one, &one,
                              ob.desc, &result, 1);
  OSLA_CHECK(result == 0, OSLA_ERR_ARG, "pxPOTRS refused argument %d", -result);
  return OSLA_OK;
}

#else

/* In a build without ScaLAPACK, --ref refuses "scalapack", so these functions are never called. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define NOT_BUILT(name, ...)                                                                       \
  osla_err reference_scalapack_##name(__VA_ARGS__)                                                 \
  {                                                                                                \
    return osla_error_set(OSLA_ERR_UNSUPPORTED, "built without ScaLAPACK");                        \
  }
NOT_BUILT(open, osla_grid *grid, int *context)
NOT_BUILT(gemm, int context, osla_trans transa, osla_trans transb, osla_matrix *a, osla_matrix *b,
          osla_matrix *c)
NOT_BUILT(syrk, int context, osla_matrix *a, osla_matrix *c)
NOT_BUILT(symm, int context, osla_matrix *a, osla_matrix *b, osla_matrix *c)
NOT_BUILT(trmm, int context, osla_matrix *a, osla_matrix *b)
NOT_BUILT(gemv, int context, osla_matrix *a, osla_matrix *x, osla_matrix *y)
NOT_BUILT(symv, int context, osla_matrix *a, osla_matrix *x, osla_matrix *y)
NOT_BUILT(getrf, int context, osla_matrix *a, int *ipiv, int64_t *info)
NOT_BUILT(getri, int context, osla_matrix *a, int *ipiv, int64_t *info)
NOT_BUILT(getrs, int context, osla_matrix *a, int *ipiv, osla_matrix *b)
NOT_BUILT(potrf, int context, osla_matrix *a, int64_t *info)
NOT_BUILT(potri, int context, osla_matrix *a, int64_t *info)
NOT_BUILT(potrs, int context, osla_matrix *a, osla_matrix *b)

void reference_scalapack_close(int *context)
{
  *context = -1;
}

#endif

void reference_scalapack_impls(const bench_settings *settings, int64_t order,
                               const bench_impl *impl, void *sets, size_t set_bytes,
                               reference_names *names, bench_impl *impls, int *n)
{
  bool is_whole = false; /* true if an earlier block size holds the whole matrix in one block */
  for (int i = 0; i < settings->n_ref_nb; i++) {
    if (settings->ref_nb_chosen && is_whole) continue;
    bench_impl *out = &impls[(*n)++];
    *out = *impl;
    out->data = (char *)sets + (size_t)i * set_bytes;
    out->nb = settings->ref_nb[i];
    (void)snprintf(names->text[i], sizeof names->text[i], "scalapack-%" PRId64, out->nb);
    out->name = names->text[i];
    out->ref = settings->ref_nb_chosen ? NULL : "scalapack";
    out->group = settings->ref_nb_chosen ? "scalapack" : NULL;
    is_whole = is_whole || out->nb >= order;
  }
}
