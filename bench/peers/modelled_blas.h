/* Functions that charge modelled work on simulated machines (modelled_blas.c). */
#ifndef OSLA_MODELLED_BLAS_H
#define OSLA_MODELLED_BLAS_H

#include "src/blas/work.h"

/* Lets simulated time pass: the time that a core of the machine takes for the work. */
void charge(osla_work_kind kind, double m, double n, double k);

/* Charges a pass over a matrix. Up to 4 MiB, as in panels, the matrix is assumed to be in the
 * cache: dger then takes 0.22 to 0.29 ns for an element, and 1.1 ns from memory. */
static inline void charge_pass(double m, double n)
{
  const double cached = 1 << 19;
  if (m * n <= cached)
    charge(OSLA_WORK_VECTOR, 1, m * n, 1);
  else
    charge(OSLA_WORK_GEMV, m, n, 1);
}

#endif
