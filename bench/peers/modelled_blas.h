/* Work that is only modelled (modelled_blas.c). */
#ifndef OSLA_MODELLED_BLAS_H
#define OSLA_MODELLED_BLAS_H

#include "src/blas/work.h"

/* Lets the time pass that a core of this machine takes for it. */
void charge(osla_work_kind kind, double m, double n, double k);

/* A pass over a matrix. What fits a cache of 4 MiB, as panels do, is there already: dger of 256 to
 * 4096 rows and 16 to 128 columns takes 0.22 to 0.29 ns an element, from memory 1.1. */
static inline void charge_pass(double m, double n)
{
  const double cached = 1 << 19;
  if (m * n <= cached)
    charge(OSLA_WORK_VECTOR, 1, m * n, 1);
  else
    charge(OSLA_WORK_GEMV, m, n, 1);
}

#endif
