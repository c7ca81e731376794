/* The columns left of the panels (internal). */
#ifndef OSLA_LU_LEFT_H
#define OSLA_LU_LEFT_H

#include "kernels/lu/lu.h"

/* Applies the later steps' interchanges to the columns left of them, which hold L. Collective. */
osla_err osli_lu_permute_left(lu *f);

#endif
