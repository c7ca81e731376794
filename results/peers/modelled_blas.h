/* Work that is only modelled (modelled_blas.c). */
#ifndef OSLA_MODELLED_BLAS_H
#define OSLA_MODELLED_BLAS_H

#include "work.h"

/* Lets the time pass that a core of this machine takes for it. */
void charge(osla_work_kind kind, double m, double n, double k);

#endif
