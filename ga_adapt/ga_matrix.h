/* Global arrays as matrices: what the calls of osla_ga.h are made of (floor 4). */
#ifndef GA_MATRIX_H
#define GA_MATRIX_H

#include "ga_adapt/ga_array.h"
#include "osla_ga.h"

/* How the matrix is made. */
typedef struct ga_making {
  osla_ga_blocks blocks;
  osla_matrix *like; /* NULL, or: on the grid of this matrix, in rows of its blocks, one block of
                        columns for each process column; as right-hand sides should be */
  bool overwritten;  /* all of it will be: zero, not the contents */
  bool own; /* no other rank reads or writes a part of it: without a copy, if the array lies
               as a matrix would */
} ga_making;

/* Makes a matrix with the contents of a checked array, which it takes over (also on failure).
 * Collective. */
osla_err osli_ga_matrix_open(ga_array *array, ga_making how, osla_ga_matrix **out);

/* BLAS's letters, 'n', 't' and 'c', 'l' and 'u', small or capital. Local. Errors: ARG. */
osla_err osli_ga_uplo(char letter, osla_uplo *uplo);
osla_err osli_ga_trans(char letter, const char *name, osla_trans *trans);

#endif
