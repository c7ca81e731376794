/* Private to ga_adapt: the adaptor's state between calls, Global Arrays as OSLA describes them,
 * and matrices made from them. */
#ifndef GA_INTERNAL_H
#define GA_INTERNAL_H

#include "osla_ga.h"
#include "osla_matrix.h"
#include "osla_transport.h"

/* --- state between calls (ga_session.c) --- */

/* Returns the transport on GA's world group. The first call creates it; osla_ga_terminate or
 * MPI_Finalize frees it. Warns once about unsuitable environment variables. Collective, so callers
 * make all local checks before. */
osla_err osli_ga_session_transport(osla_transport **transport);

/* Checks that GA is running and that GA's default group is the world group. Local, with the same
 * result on all ranks. Errors: STATE. */
osla_err osli_ga_session_check(void);

/* --- arrays (ga_array.c, ga_local.c) --- */

/* A rectangle of an array in this process's memory, column-major. */
typedef struct ga_patch {
  /* global indices of the first element, from 0; numbers of rows and columns */
  int64_t i, j, rows, cols;
  int64_t ld;        /* leading dimension: elements from one column to the next */
  unsigned char *at; /* address of the first element */
} ga_patch;

/* A Global Array of one or two dimensions as a column-major matrix. The dimensions of GA's C
 * interface are in reverse order here. A vector is one column. */
typedef struct ga_array {
  int handle, ndim;
  osla_dtype dtype;
  int64_t m, n;
  /* distribution over a process grid, approximate if the blocks are unequal; nprow = 0 if the array
   * is not distributed over a grid */
  osla_layout layout;
  /* position of this process in the process grid; -1 if this process is not in the grid */
  int prow, pcol;
  ga_patch *patches; /* patches of the array in this process's memory */
  int64_t n_patches;
} ga_array;

/* Fills the members handle, ndim, dtype, m and n; touches no data. `name` is the argument's name
 * for messages. Local, with the same result on all ranks. Errors: STATE, ARG, UNSUPPORTED. */
osla_err osli_ga_array_check(int handle, const char *name, ga_array *array);

/* Fills the other members of an array that was checked. Collective. Errors, on all ranks together:
 * MEM, UNSUPPORTED. */
osla_err osli_ga_array_open(osla_transport *transport, ga_array *array);

/* True if this rank's part of an opened array is laid out as the local array of an osla_matrix
 * with the layout array->layout: every block is whole and at its position. Then *local is the
 * first element of the part (NULL if the part is empty) and *lld its leading dimension. Local;
 * ranks may differ. */
bool osli_ga_array_local(const ga_array *array, void **local, int64_t *lld);

/* Frees what osli_ga_array_open allocated. Local. */
void osli_ga_array_close(ga_array *array);

/* --- matrices (ga_matrix.c) --- */

/* Rules for making a matrix from an array. */
typedef struct ga_making {
  osla_ga_blocks blocks;
  /* the matrix whose grid and row blocks are used, with one block of columns for each process
   * column, as right-hand sides need; or NULL */
  osla_matrix *like;
  /* true if the call overwrites all elements: then the matrix is zero, and nothing is copied */
  bool overwritten;
  /* true if no rank accesses another rank's part; then the matrix uses the array's memory without
   * a copy if the array is laid out as a matrix */
  bool own;
} ga_making;

/* Makes a matrix with the contents of an array that was checked before. Takes ownership of
 * `array`, also on failure. Collective. */
osla_err osli_ga_matrix_open(ga_array *array, ga_making how, osla_ga_matrix **out);

/* Functions that convert a letter of the BLAS, in lower or upper case, to an enumerator: 'l' and
 * 'u', or 'n', 't' and 'c'. Local. Errors: ARG.
 */
osla_err osli_ga_uplo(char letter, osla_uplo *uplo);
osla_err osli_ga_trans(char letter, const char *name, osla_trans *trans);

#endif
