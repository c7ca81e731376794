/* The BLAS of ScaLAPACK, as pdgemm, pdgetrf and pdpotrf call it, on simulated machines: each call
 * takes the time that the machine's model of a core says, and computes nothing (src/blas/work.h).
 * bench/peers/build links it before the real BLAS. Results that decide the control flow are set
 * such that the routines continue: pivots are random rows, and dot products make the diagonal of
 * Cholesky 1. Messages are sent; the packing of BLACS takes no time. */
#include "bench/peers/modelled_blas.h"

#include "src/simulation/sim.h"

#include <stdlib.h>

void charge(osla_work_kind kind, double m, double n, double k)
{
  sim_core *core = &osli_sim_actor()->core;
  osla_work work = {kind, OSLA_DOUBLE, m, n, k};
  if (core->flops == 0) {
    sim_machine machine;
    if (osli_sim_machine_read(sg_host_self(), false, &machine, core) != OSLA_OK) abort();
  }
  if (m > 0 && n > 0 && k > 0) sg_actor_sleep_for(osli_sim_core_seconds(core, &work));
}

/* --- BLAS 3 --- */

void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k)
{
  (void)transa, (void)transb;
  charge(OSLA_WORK_GEMM, *m, *n, *k);
}
void dsyrk_(const char *uplo, const char *trans, const int *n, const int *k)
{
  (void)uplo, (void)trans;
  charge(OSLA_WORK_SYRK, 1, *n, *k);
}
void dtrsm_(const char *side, const char *uplo, const char *trans, const char *diag, const int *m,
            const int *n)
{
  (void)uplo, (void)trans, (void)diag;
  charge(*side == 'L' || *side == 'l' ? OSLA_WORK_TRSM_LEFT : OSLA_WORK_TRSM_RIGHT, *m, *n, 1);
}

/* --- BLAS 2 --- */

void dgemv_(const char *trans, const int *m, const int *n)
{
  (void)trans;
  charge_pass(*m, *n);
}
void dger_(const int *m, const int *n)
{
  charge_pass(*m, *n);
}

/* --- BLAS 1 --- */

void dscal_(const int *n)
{
  charge(OSLA_WORK_VECTOR, 1, *n, 1);
}
void daxpy_(const int *n)
{
  charge(OSLA_WORK_VECTOR, 1, *n, 1);
}
double ddot_(const int *n)
{
  charge(OSLA_WORK_VECTOR, 1, *n, 1);
  return -1;
}
/* Charges a copy: contiguous elements are one piece; otherwise each element is a piece. */
static void charge_copy(int n, int inc)
{
  charge(OSLA_WORK_COPY, inc == 1 ? n : 1, inc == 1 ? 1 : n, 1);
}
void dcopy_(const int *n, const double *x, const int *incx)
{
  (void)x;
  charge_copy(*n, *incx);
}
/* Charges an exchange of two rows as half of two scattered copies, because dswap takes 4 to 7 ns
 * for each pair of elements. */
void dswap_(const int *n, double *x, const int *incx)
{
  (void)x;
  charge(OSLA_WORK_COPY, *incx == 1 ? 2.0 * *n : 1, *incx == 1 ? 1 : *n / 2.0, 1);
}
/* Returns the index of a random element in place of the index of the largest element. The caller
 * reads the value before another rank runs. */
int idamax_(const int *n, double *x, const int *incx)
{
  charge(OSLA_WORK_VECTOR, 1, *n, 1);
  if (*n < 1) return 0;
  int largest = (int)(rand() / (RAND_MAX + 1.0) * *n);
  x[(size_t)largest * (size_t)*incx] = rand() + 1.0;
  return largest + 1;
}

/* --- copies and additions of PBLAS, on m x n elements, mostly in whole columns; a transposed one
 * costs as much as two copies, since one of its matrices passes through the cache --- */

#define OF_COLUMNS(name)                                                                           \
  void name(const int *m, const int *n)                                                            \
  {                                                                                                \
    charge(OSLA_WORK_COPY, *m, *n, 1);                                                             \
  }
#define TRANSPOSED(name)                                                                           \
  void name(const int *m, const int *n)                                                            \
  {                                                                                                \
    charge(OSLA_WORK_COPY, *m, 2.0 * *n, 1);                                                       \
  }
OF_COLUMNS(dmmadd_)
OF_COLUMNS(dmmcadd_)
OF_COLUMNS(dmmdda_)
OF_COLUMNS(dmmddac_)
TRANSPOSED(dmmtadd_)
TRANSPOSED(dmmtcadd_)
TRANSPOSED(dmmddat_)
TRANSPOSED(dmmddact_)

/* Charges half an m x n copy for a triangle that is set to zero or copied. */
void dtzpad_(const char *uplo, const char *herm, const int *m, const int *n)
{
  (void)uplo, (void)herm;
  charge(OSLA_WORK_COPY, *m, *n / 2.0, 1);
}
void dtzpadcpy_(const char *uplo, const char *diag, const int *m, const int *n)
{
  (void)uplo, (void)diag;
  charge(OSLA_WORK_COPY, *m, *n / 2.0, 1);
}

/* Replaces MPI's function, which SMPI 3.32 lacks. BLACS asks for integer types. */
int MPI_Type_match_size(int kind, int size, MPI_Datatype *out)
{
  (void)kind;
  *out = size == 8 ? MPI_INT64_T : MPI_INT32_T;
  return MPI_SUCCESS;
}
