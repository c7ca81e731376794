/* Prototypes of ScaLAPACK in double precision (LP64), as plain ScaLAPACK programs call it:
 * bench/scalapack_program.c, bench/peers, tests. */
#ifndef SCALAPACK_CALLS_H
#define SCALAPACK_CALLS_H

#include <stddef.h>

void Cblacs_get(int context, int what, int *value);
void Cblacs_gridinit(int *context, const char *order, int nprow, int npcol);
void Cblacs_gridinfo(int context, int *nprow, int *npcol, int *prow, int *pcol);
void Cblacs_gridexit(int context);
int numroc_(const int *n, const int *nb, const int *iproc, const int *source, const int *nprocs);
void descinit_(int *desc, const int *m, const int *n, const int *mb, const int *nb,
               const int *irsrc, const int *icsrc, const int *context, const int *lld, int *info);
void pdgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
             const double *alpha, const double *a, const int *ia, const int *ja, const int *desca,
             const double *b, const int *ib, const int *jb, const int *descb, const double *beta,
             double *c, const int *ic, const int *jc, const int *descc);
void pdsyrk_(const char *uplo, const char *trans, const int *n, const int *k, const double *alpha,
             const double *a, const int *ia, const int *ja, const int *desca, const double *beta,
             double *c, const int *ic, const int *jc, const int *descc);
void pdsymm_(const char *side, const char *uplo, const int *m, const int *n, const double *alpha,
             const double *a, const int *ia, const int *ja, const int *desca, const double *b,
             const int *ib, const int *jb, const int *descb, const double *beta, double *c,
             const int *ic, const int *jc, const int *descc);
void pssymm_(const char *side, const char *uplo, const int *m, const int *n, const void *alpha,
             const void *a, const int *ia, const int *ja, const int *desca, const void *b,
             const int *ib, const int *jb, const int *descb, const void *beta, void *c,
             const int *ic, const int *jc, const int *descc);
void pcsymm_(const char *side, const char *uplo, const int *m, const int *n, const void *alpha,
             const void *a, const int *ia, const int *ja, const int *desca, const void *b,
             const int *ib, const int *jb, const int *descb, const void *beta, void *c,
             const int *ic, const int *jc, const int *descc);
void pzsymm_(const char *side, const char *uplo, const int *m, const int *n, const void *alpha,
             const void *a, const int *ia, const int *ja, const int *desca, const void *b,
             const int *ib, const int *jb, const int *descb, const void *beta, void *c,
             const int *ic, const int *jc, const int *descc);
void pdtrmm_(const char *side, const char *uplo, const char *trans, const char *diag, const int *m,
             const int *n, const double *alpha, const double *a, const int *ia, const int *ja,
             const int *desca, double *b, const int *ib, const int *jb, const int *descb);
void pdtrsm_(const char *side, const char *uplo, const char *trans, const char *diag, const int *m,
             const int *n, const double *alpha, const double *a, const int *ia, const int *ja,
             const int *desca, double *b, const int *ib, const int *jb, const int *descb);
void pdgeadd_(const char *trans, const int *m, const int *n, const double *alpha, const double *a,
              const int *ia, const int *ja, const int *desca, const double *beta, double *c,
              const int *ic, const int *jc, const int *descc);
void pdgetrf_(const int *m, const int *n, double *a, const int *ia, const int *ja, const int *desca,
              int *ipiv, int *info);
void pdpotrf_(const char *uplo, const int *n, double *a, const int *ia, const int *ja,
              const int *desca, int *info, size_t length);
void pdgetrs_(const char *trans, const int *n, const int *nrhs, const double *a, const int *ia,
              const int *ja, const int *desca, const int *ipiv, double *b, const int *ib,
              const int *jb, const int *descb, int *info, size_t length);
void pdpotrs_(const char *uplo, const int *n, const int *nrhs, const double *a, const int *ia,
              const int *ja, const int *desca, double *b, const int *ib, const int *jb,
              const int *descb, int *info, size_t length);

#endif
