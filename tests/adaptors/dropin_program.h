/* Functions for the ScaLAPACK programs of test_dropin.sh. These programs do not use OSLA: each
 * prints its results, and the script compares the output with and without the drop-in. */
#ifndef DROPIN_PROGRAM_H
#define DROPIN_PROGRAM_H

#include <mpi.h>
#include <stdint.h>

void Cblacs_get(int context, int what, int *value);
void Cblacs_gridinit(int *context, const char *order, int nprow, int npcol);
void Cblacs_gridinfo(int context, int *nprow, int *npcol, int *prow, int *pcol);
void Cblacs_gridexit(int context);
int numroc_(const int *n, const int *nb, const int *iproc, const int *source, const int *nprocs);

/* Type of the routines p?gemm. It serves all element types, because all arguments are passed by
 * address. */
typedef void gemm_routine(const char *transa, const char *transb, const int *m, const int *n,
                          const int *k, const void *alpha, const void *a, const int *ia,
                          const int *ja, const int *desca, const void *b, const int *ib,
                          const int *jb, const int *descb, const void *beta, void *c, const int *ic,
                          const int *jc, const int *descc);
typedef void syrk_routine(const char *uplo, const char *trans, const int *n, const int *k,
                          const void *alpha, const void *a, const int *ia, const int *ja,
                          const int *desca, const void *beta, void *c, const int *ic, const int *jc,
                          const int *descc);
typedef void trsm_routine(const char *side, const char *uplo, const char *trans, const char *diag,
                          const int *m, const int *n, const void *alpha, const void *a,
                          const int *ia, const int *ja, const int *desca, void *b, const int *ib,
                          const int *jb, const int *descb);
typedef void geadd_routine(const char *trans, const int *m, const int *n, const void *alpha,
                           const void *a, const int *ia, const int *ja, const int *desca,
                           const void *beta, void *c, const int *ic, const int *jc,
                           const int *descc);
gemm_routine psgemm_, pdgemm_, pcgemm_, pzgemm_;
typedef void symm_routine(const char *side, const char *uplo, const int *m, const int *n,
                          const void *alpha, const void *a, const int *ia, const int *ja,
                          const int *desca, const void *b, const int *ib, const int *jb,
                          const int *descb, const void *beta, void *c, const int *ic, const int *jc,
                          const int *descc);
syrk_routine pssyrk_, pdsyrk_, pcsyrk_, pzsyrk_, pcherk_, pzherk_;
symm_routine pssymm_, pdsymm_, pcsymm_, pzsymm_, pchemm_, pzhemm_;
trsm_routine pstrsm_, pdtrsm_, pctrsm_, pztrsm_;
trsm_routine pstrmm_, pdtrmm_, pctrmm_, pztrmm_;
geadd_routine psgeadd_, pdgeadd_;

/* A BLACS context; prow < 0 on processes outside the context. */
typedef struct context {
  int number, nprow, npcol, prow, pcol;
} context;

/* Creates a context for a grid of nprow x npcol processes. All processes of MPI_COMM_WORLD must
 * call it. */
context context_make(const char *order, int nprow, int npcol);
void context_free(context *c);

/* Returns a random number in [low, high]. All processes get the same sequence. */
int draw(int low, int high);

/* Creates a context on a random grid that fits `size` processes; some contexts leave processes
 * out. All processes of MPI_COMM_WORLD must call it. */
context context_draw(int size);

/* Runs a test on a context, and returns its result. If failing_malloc.c is loaded, repeats the test
 * with each of the drop-in's allocations failing in turn on the last process, and ends the program
 * with a message if a result differs. Called by all processes of MPI_COMM_WORLD. */
typedef uint64_t attempt(const context *c, void *arg);
uint64_t try_without_memory(const context *c, attempt *run, void *arg);

/* A distributed array with a sub-matrix. */
typedef struct array {
  char type; /* type of the elements: s, d, c or z */
  int i, j, desc[9];
  int rows, cols; /* numbers of rows and columns of the local array */
  void *at;
} array;

/* Creates an array that contains an m x n sub-matrix at a random position, with integers in all
 * elements. With `like`, the block sizes and the position of the sub-matrix in its first block are
 * those of `like`. */
array array_make(const context *c, char type, int m, int n, const array *like);
/* Allocates memory for an array with a descriptor, and sets its lld to the smallest value plus
 * `gap`. All elements get integers that depend on their indices and the salt. */
void array_allocate(const context *c, array *a, int gap, unsigned salt);
void array_free(array *a);

/* Sets element (row, col) of the local array. */
void array_set(array *a, int row, int col, double re, double im);

/* Calls visit for each local element; i and j are global indices from 0. */
typedef void array_visit(array *a, int row, int col, int i, int j, void *arg);
void array_walk(const context *c, array *a, array_visit *visit, void *arg);

/* A hash of the array's memory on all processes, gaps between columns included. */
uint64_t array_hash(const context *c, const array *a);

#endif
