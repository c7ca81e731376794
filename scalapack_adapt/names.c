/* Entry points of libosla_scalapack.so: each routine under the names that Fortran programs, C
 * programs and other Fortran compilers use. All arguments are addresses. After them, Fortran passes
 * the length of each CHARACTER argument, which C programs leave out; here it is always 1. */
#include "scalapack_adapt/caller.h"

#include <stddef.h>

#define PARAMETERS_7  void *a, void *b, void *c, void *d, void *e, void *f, void *g
#define PARAMETERS_8  PARAMETERS_7, void *h
#define PARAMETERS_12 PARAMETERS_8, void *i, void *j, void *k, void *l
#define PARAMETERS_13 PARAMETERS_12, void *m
#define PARAMETERS_14 PARAMETERS_13, void *n
#define PARAMETERS_15 PARAMETERS_14, void *o
#define PARAMETERS_18 PARAMETERS_15, void *p, void *q, void *r
#define PARAMETERS_19 PARAMETERS_18, void *s
#define ARGUMENTS_7   a, b, c, d, e, f, g
#define ARGUMENTS_8   ARGUMENTS_7, h
#define ARGUMENTS_12  ARGUMENTS_8, i, j, k, l
#define ARGUMENTS_13  ARGUMENTS_12, m
#define ARGUMENTS_14  ARGUMENTS_13, n
#define ARGUMENTS_15  ARGUMENTS_14, o
#define ARGUMENTS_18  ARGUMENTS_15, p, q, r
#define ARGUMENTS_19  ARGUMENTS_18, s
#define LENGTHS_0
#define LENGTHS_1 , size_t
#define LENGTHS_2 LENGTHS_1, size_t
#define LENGTHS_4 LENGTHS_2, size_t, size_t
#define ONES_0
#define ONES_1 , 1
#define ONES_2 ONES_1, 1
#define ONES_4 ONES_2, 1, 1

/* Defines a routine with `count` arguments, `characters` of which are CHARACTER. */
#define ROUTINE(lower, upper, count, characters)                                                   \
  void lower##_(PARAMETERS_##count);                                                               \
  void lower##_(PARAMETERS_##count)                                                                \
  {                                                                                                \
    static const char symbol[] = #lower "_";                                                       \
    adapt_function *target = adapt_target(symbol, __builtin_return_address(0));                    \
    ((void (*)(PARAMETERS_##count LENGTHS_##characters))target)(                                   \
      ARGUMENTS_##count ONES_##characters);                                                        \
  }                                                                                                \
  extern __typeof__(lower##_) lower __attribute__((alias(#lower "_")));                            \
  extern __typeof__(lower##_) upper __attribute__((alias(#lower "_")));

ROUTINE(psgemm, PSGEMM, 19, 2)
ROUTINE(pdgemm, PDGEMM, 19, 2)
ROUTINE(pcgemm, PCGEMM, 19, 2)
ROUTINE(pzgemm, PZGEMM, 19, 2)
ROUTINE(pssyrk, PSSYRK, 14, 2)
ROUTINE(pdsyrk, PDSYRK, 14, 2)
ROUTINE(pcsyrk, PCSYRK, 14, 2)
ROUTINE(pzsyrk, PZSYRK, 14, 2)
ROUTINE(pcherk, PCHERK, 14, 2)
ROUTINE(pzherk, PZHERK, 14, 2)
ROUTINE(pssymm, PSSYMM, 18, 2)
ROUTINE(pdsymm, PDSYMM, 18, 2)
ROUTINE(pcsymm, PCSYMM, 18, 2)
ROUTINE(pzsymm, PZSYMM, 18, 2)
ROUTINE(pchemm, PCHEMM, 18, 2)
ROUTINE(pzhemm, PZHEMM, 18, 2)
ROUTINE(pstrmm, PSTRMM, 15, 4)
ROUTINE(pdtrmm, PDTRMM, 15, 4)
ROUTINE(pctrmm, PCTRMM, 15, 4)
ROUTINE(pztrmm, PZTRMM, 15, 4)
ROUTINE(pstrsm, PSTRSM, 15, 4)
ROUTINE(pdtrsm, PDTRSM, 15, 4)
ROUTINE(pctrsm, PCTRSM, 15, 4)
ROUTINE(pztrsm, PZTRSM, 15, 4)
ROUTINE(psgeadd, PSGEADD, 13, 1)
ROUTINE(pdgeadd, PDGEADD, 13, 1)
ROUTINE(psgetrf, PSGETRF, 8, 0)
ROUTINE(pdgetrf, PDGETRF, 8, 0)
ROUTINE(pcgetrf, PCGETRF, 8, 0)
ROUTINE(pzgetrf, PZGETRF, 8, 0)
ROUTINE(psgetrs, PSGETRS, 13, 1)
ROUTINE(pdgetrs, PDGETRS, 13, 1)
ROUTINE(pcgetrs, PCGETRS, 13, 1)
ROUTINE(pzgetrs, PZGETRS, 13, 1)
ROUTINE(psgesv, PSGESV, 12, 0)
ROUTINE(pdgesv, PDGESV, 12, 0)
ROUTINE(pcgesv, PCGESV, 12, 0)
ROUTINE(pzgesv, PZGESV, 12, 0)
ROUTINE(pspotrf, PSPOTRF, 7, 1)
ROUTINE(pdpotrf, PDPOTRF, 7, 1)
ROUTINE(pcpotrf, PCPOTRF, 7, 1)
ROUTINE(pzpotrf, PZPOTRF, 7, 1)
ROUTINE(pspotrs, PSPOTRS, 12, 1)
ROUTINE(pdpotrs, PDPOTRS, 12, 1)
ROUTINE(pcpotrs, PCPOTRS, 12, 1)
ROUTINE(pzpotrs, PZPOTRS, 12, 1)
ROUTINE(psposv, PSPOSV, 12, 1)
ROUTINE(pdposv, PDPOSV, 12, 1)
ROUTINE(pcposv, PCPOSV, 12, 1)
ROUTINE(pzposv, PZPOSV, 12, 1)
