/* The work of the fake device, done by the host's BLAS and LAPACK. */
#include "src/device/fake/fake_work.h"
#include "osla_blas.h"

#include <complex.h>
#include <string.h>

static void copy_columns(const device_work *w)
{
  const unsigned char *from = w->a;
  unsigned char *to = w->c;
  const int64_t e = (int64_t)w->element;
  for (int64_t c = 0; c < w->n; c++)
    memmove(to + c * w->ldc * e, from + c * w->lda * e, (size_t)(w->m * e));
}

/* Computes C := alpha A + beta C, whose elements have the given type; C is not read if beta = 0. */
#define ADD(type)                                                                                  \
  do {                                                                                             \
    const type *from = w->a;                                                                       \
    type *to = w->c;                                                                               \
    for (int64_t c = 0; c < w->n; c++)                                                             \
      for (int64_t r = 0; r < w->m; r++) {                                                         \
        type kept = w->beta == 0 ? 0 : (type)w->beta * to[r + c * w->ldc];                         \
        to[r + c * w->ldc] = kept + (type)w->alpha * from[r + c * w->lda];                         \
      }                                                                                            \
  } while (0)

static void add_columns(const device_work *w)
{
  switch (w->dtype) {
    case OSLA_FLOAT: ADD(float); break;
    case OSLA_DOUBLE: ADD(double); break;
    case OSLA_COMPLEX_FLOAT: ADD(float _Complex); break;
    case OSLA_COMPLEX_DOUBLE: ADD(double _Complex); break;
  }
}

static void combine_elements(const device_work *w)
{
  const combine_loop loop = osli_combine_loop(w, w->lists, w->a, w->c);
  const int64_t refused = combine_all(&loop);
  if (w->info) *w->info = refused;
}

static void combine_vertices(const device_work *w)
{
  vertices_loop l = *w->vertices;
  l.to.base = w->c;
  l.from.base = (unsigned char *)(uintptr_t)w->a;
  l.before.base = (unsigned char *)(uintptr_t)w->b;
  vertices_all(&l);
}

/* ---- vectors of doubles ---- */

static void multiply_csr(const device_work *w)
{
  const double alpha = creal(w->alpha), beta = creal(w->beta), *x = w->b;
  double *y = w->c;
  for (int64_t i = 0; i < w->csr->rows; i++) {
    double sum = 0.0;
    for (int32_t e = w->csr->first[i]; e < w->csr->first[i + 1]; e++)
      sum += w->csr->value[e] * x[w->csr->column[e]];
    y[i] = beta == 0.0 ? alpha * sum : alpha * sum + beta * y[i];
  }
}

static void work_on_vectors(const device_work *w)
{
  const double *a = w->a, *b = w->b, alpha = creal(w->alpha);
  double *c = w->c, sum = 0.0;
  switch (w->kind) {
    case DEVICE_DOT:
      for (int64_t i = 0; i < w->m; i++)
        sum += a[i] * b[i];
      *c = sum;
      break;
    case DEVICE_DIVIDE: *c = *a / *b; break;
    case DEVICE_AXPY:
      for (int64_t i = 0; i < w->m; i++)
        c[i] += *b * a[i];
      break;
    default: /* the only other kind is DEVICE_XPAY */
      for (int64_t i = 0; i < w->m; i++)
        c[i] = alpha * a[i] + *b * c[i];
  }
}

osla_err osli_fake_work(const device_work *w)
{
  switch (w->kind) {
    case DEVICE_GEMM:
      return osla_blas_gemm(w->dtype, w->transa, w->transb, w->m, w->n, w->k, w->alpha, w->a,
                            w->lda, w->b, w->ldb, w->beta, w->c, w->ldc);
    case DEVICE_SYRK:
      return osla_blas_syrk(w->dtype, w->uplo, w->transa, w->n, w->k, creal(w->alpha), w->a, w->lda,
                            creal(w->beta), w->c, w->ldc);
    case DEVICE_TRSM:
      return osla_blas_trsm(w->dtype, w->side, w->uplo, w->transa, w->diag, w->m, w->n, w->a,
                            w->lda, w->c, w->ldc);
    case DEVICE_POTRF: return osla_lapack_potrf(w->dtype, w->uplo, w->n, w->c, w->ldc, w->info);
    case DEVICE_GETRF:
      return osla_lapack_getrf(w->dtype, w->m, w->n, w->c, w->ldc, w->pivots, w->info);
    case DEVICE_LASWP:
      return osla_lapack_laswp(w->dtype, w->n, w->c, w->ldc, w->k, w->pivots, w->backward);
    case DEVICE_ADD: add_columns(w); break;
    case DEVICE_COPY: copy_columns(w); break;
    case DEVICE_COMBINE: combine_elements(w); break;
    case DEVICE_VERTICES: combine_vertices(w); break;
    case DEVICE_SPMV: multiply_csr(w); break;
    case DEVICE_DOT:
    case DEVICE_DIVIDE:
    case DEVICE_AXPY:
    case DEVICE_XPAY: work_on_vectors(w); break;
    case DEVICE_SIGNAL:
    case DEVICE_AWAIT: break; /* done by fake_lanes.c */
  }
  return OSLA_OK;
}
