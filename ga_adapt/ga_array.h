/* Global arrays as OSLA sees them: sizes, type, who has what, where it lies (floor 4). */
#ifndef GA_ARRAY_H
#define GA_ARRAY_H

#include "osla_matrix.h"

/* A rectangle of an array in this process's memory, column-major: first element (i, j). */
typedef struct ga_patch {
  int64_t i, j, rows, cols, ld;
  unsigned char *at;
} ga_patch;

/* As memory lies: the C interface's dims in reverse, a vector is one column. */
typedef struct ga_array {
  int handle, ndim;
  osla_dtype dtype;
  int64_t m, n;
  /* How it is distributed, nearly where its blocks are not equal; nprow = 0: not over a grid. */
  osla_layout layout;
  int prow, pcol; /* mine; -1: none */
  ga_patch *patches;
  int64_t n_patches;
} ga_array;

/* Fills handle, ndim, dtype, m, n; touches no data. `name` is the argument's, for messages. Local,
 * the same on all ranks. Errors: STATE, ARG, UNSUPPORTED. */
osla_err osli_ga_array_check(int handle, const char *name, ga_array *array);

/* Fills the rest of a checked array. Collective. Errors, on all ranks together: MEM, UNSUPPORTED.
 */
osla_err osli_ga_array_open(osla_transport *transport, ga_array *array);

/* Of an opened array: is my part an osla_matrix's local array of that layout, whole blocks at their
 * positions? Then *local is its first element (NULL: I have none) and *lld its leading dimension.
 * Local; ranks may differ. */
bool osli_ga_array_local(const ga_array *array, void **local, int64_t *lld);

/* Local. */
void osli_ga_array_close(ga_array *array);

#endif
