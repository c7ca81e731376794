/* p?trmm and p?trsm: product of B with a triangle or its inverse, from one side. Both routines
 * have the same arguments, and pass on the same calls. */
#ifndef OSLA_ADAPT_TRIANGLE_H
#define OSLA_ADAPT_TRIANGLE_H

#include "scalapack_adapt/adapt.h"

#define TRIANGLE_PARAMETERS                                                                        \
  const char *side, const char *uplo, const char *trans, const char *diag, const int *m,           \
    const int *n, const void *alpha, const void *a, const int *ia, const int *ja,                  \
    const int *desca, void *b, const int *ib, const int *jb, const int *descb

typedef struct triangle_args {
  osla_dtype dtype;
  const char *side, *uplo, *trans, *diag;
  const int *m, *n;
  const void *alpha, *a;
  const int *ia, *ja, *desca;
  void *b;
  const int *ib, *jb, *descb;
} triangle_args;

/* Arguments of a call, converted to OSLA's types. */
enum { TRIANGLE_A, TRIANGLE_B };
typedef struct triangle {
  osla_side side;
  osla_uplo uplo;
  osla_trans trans;
  osla_diag diag;
  osla_complex alpha; /* scalar factor of the product, never 0 */
  adapt_sub subs[2];  /* sub-matrices of A and B, indexed by TRIANGLE_A and TRIANGLE_B */
  double flops;
} triangle;

/* Runs a whole call of a routine. If `offload` returns false, the call is passed on to the real
 * routine. */
void adapt_triangle(adapt_routine routine, const triangle_args *x,
                    bool (*offload)(adapt_call *call, triangle *t));

/* Copies the triangle of sub(A) to memory that all ranks can access. */
osla_err adapt_triangle_stage(adapt_call *call, const triangle *t, adapt_border border,
                              adapt_staged *out);

/* Defines the entry points of the routine p?NAME, whose calls `offload` performs. */
#define TRIANGLE_ENTRIES(name, routine, offload)                                                   \
  static void name(const triangle_args *x)                                                         \
  {                                                                                                \
    adapt_triangle(routine, x, offload);                                                           \
  }                                                                                                \
  ADAPT_ENTRIES(name, TRIANGLE_CALL, (TRIANGLE_PARAMETERS), name, side, uplo, trans, diag, m, n,   \
                alpha, a, ia, ja, desca, b, ib, jb, descb)
#define TRIANGLE_CALL(dtype, name, ...) name(&(triangle_args){dtype, __VA_ARGS__})

#endif
