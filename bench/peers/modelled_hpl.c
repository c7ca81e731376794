/* HPL's BLAS and its own copies on simulated machines, like modelled_blas.c: each call takes its
 * time and computes nothing. Only short vectors are copied, since HPL's search for a pivot sends
 * them with the row. */
#include "bench/peers/modelled_blas.h"

enum { LEFT = 141, REALLY = 1024 };

/* --- functions of CBLAS, with only those first arguments on which the time depends --- */

void cblas_dgemm(int order, int transa, int transb, int m, int n, int k)
{
  (void)order, (void)transa, (void)transb;
  charge(OSLA_WORK_GEMM, m, n, k);
}
void cblas_dtrsm(int order, int side, int uplo, int trans, int diag, int m, int n)
{
  (void)order, (void)uplo, (void)trans, (void)diag;
  charge(side == LEFT ? OSLA_WORK_TRSM_LEFT : OSLA_WORK_TRSM_RIGHT, m, n, 1);
}
void cblas_dgemv(int order, int trans, int m, int n)
{
  (void)order, (void)trans;
  charge_pass(m, n);
}
void cblas_dger(int order, int m, int n)
{
  (void)order;
  charge_pass(m, n);
}
void cblas_dtrsv(int order, int uplo, int trans, int diag, int n)
{
  (void)order, (void)uplo, (void)trans, (void)diag;
  charge_pass(n, n / 2.0);
}
void cblas_dscal(int n)
{
  charge(OSLA_WORK_VECTOR, 1, n, 1);
}
void cblas_daxpy(int n)
{
  charge(OSLA_WORK_VECTOR, 1, n, 1);
}
static void charge_copy(int n, int incx, int incy)
{
  int piece = incx == 1 && incy == 1 ? n : 1;
  charge(OSLA_WORK_COPY, piece, piece > 1 ? 1 : n, 1);
}
void cblas_dcopy(int n, const double *x, int incx, double *y, int incy)
{
  charge_copy(n, incx, incy);
  for (int i = 0; i < n && n <= REALLY; i++)
    y[(long)i * incy] = x[(long)i * incx];
}
void cblas_dswap(int n, double *x, int incx)
{
  (void)x; /* dswap_ in modelled_blas.c charges the same cost for an exchange of rows */
  charge(OSLA_WORK_COPY, incx == 1 ? 2.0 * n : 1, incx == 1 ? 1 : n / 2.0, 1);
}
int cblas_idamax(int n)
{
  charge(OSLA_WORK_VECTOR, 1, n, 1);
  return 0;
}

/* --- copies of m x n elements: rows are copied element by element, as in OSLA; a transposed copy
 * costs as much as two copies --- */

#define OF_ROWS(name)                                                                              \
  void name(int m, int n)                                                                          \
  {                                                                                                \
    charge(OSLA_WORK_COPY, 1, (double)m *n, 1);                                                    \
  }
#define OF_COLUMNS(name)                                                                           \
  void name(int m, int n)                                                                          \
  {                                                                                                \
    charge(OSLA_WORK_COPY, m, n, 1);                                                               \
  }
OF_ROWS(HPL_dlaswp00N)
OF_ROWS(HPL_dlaswp01N)
OF_ROWS(HPL_dlaswp01T)
OF_ROWS(HPL_dlaswp02N)
OF_ROWS(HPL_dlaswp03N)
OF_ROWS(HPL_dlaswp03T)
OF_ROWS(HPL_dlaswp05N)
OF_ROWS(HPL_dlaswp05T)
OF_ROWS(HPL_dlaswp06N)
OF_ROWS(HPL_dlaswp06T)
OF_COLUMNS(HPL_dlaswp10N)
OF_COLUMNS(HPL_dlacpy)
void HPL_dlatcpy(int m, int n)
{
  charge(OSLA_WORK_COPY, m, 2.0 * n, 1);
}
void HPL_dlaswp04N(int m0, int m1, int n)
{
  charge(OSLA_WORK_COPY, 1, ((double)m0 + m1) * n, 1);
}
void HPL_dlaswp04T(int m0, int m1, int n)
{
  HPL_dlaswp04N(m0, m1, n);
}
