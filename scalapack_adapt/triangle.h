/* p?trmm and p?trsm: what a triangle does to B from one side. The two have the same arguments, and
 * refuse the same ones.
 */
#ifndef OSLA_ADAPT_TRIANGLE_H
#define OSLA_ADAPT_TRIANGLE_H

#include "scalapack_adapt/adapt.h"

typedef struct triangle_args {
  osla_dtype dtype;
  const char *side, *uplo, *trans, *diag;
  const int *m, *n;
  const void *alpha, *a;
  const int *ia, *ja, *desca;
  void *b;
  const int *ib, *jb, *descb;
} triangle_args;

/* The same as the library has it. */
enum { TRIANGLE_A, TRIANGLE_B };
typedef struct triangle {
  osla_side side;
  osla_uplo uplo;
  osla_trans trans;
  osla_diag diag;
  osla_complex alpha; /* not 0 */
  adapt_sub subs[2];  /* TRIANGLE_A, TRIANGLE_B */
  double flops;
} triangle;

/* A call from its beginning to its end. `offload` runs it, or refuses it (false): then the real
 * routine does. */
void adapt_triangle(adapt_routine routine, const triangle_args *x,
                    bool (*offload)(adapt_call *call, triangle *t));

/* Copies the triangle to where all ranks reach it. */
osla_err adapt_triangle_stage(adapt_call *call, const triangle *t, adapt_border border,
                              adapt_staged *out);

#define TRIANGLE_ROUTINE(name, dtype, routine, offload)                                            \
  void name(const char *side, const char *uplo, const char *trans, const char *diag, const int *m, \
            const int *n, const void *alpha, const void *a, const int *ia, const int *ja,          \
            const int *desca, void *b, const int *ib, const int *jb, const int *descb);            \
  void name(const char *side, const char *uplo, const char *trans, const char *diag, const int *m, \
            const int *n, const void *alpha, const void *a, const int *ia, const int *ja,          \
            const int *desca, void *b, const int *ib, const int *jb, const int *descb)             \
  {                                                                                                \
    adapt_triangle(routine,                                                                        \
                   &(triangle_args){dtype, side, uplo, trans, diag, m, n, alpha, a, ia, ja, desca, \
                                    b, ib, jb, descb},                                             \
                   offload);                                                                       \
  }

#endif
