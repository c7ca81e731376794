/* Checks of the parts that a kernel gets as operands (internal). */
#ifndef PART_CHECKS_H
#define PART_CHECKS_H

#include "osla_part.h"

#include <stdbool.h>

/* Checks that the part lies inside its matrix. `call` is the function's name and `name` the
 * operand's, for the error text. Local. Errors: ARG. */
osla_err osli_part_inside(const char *call, const osla_part *part, const char *name);

/* osli_part_inside for calls that use the elements that a matrix stores. Errors: also UNSUPPORTED,
 * unless a part of a triangular matrix lies below the diagonal, or begins and ends on it. */
osla_err osli_part_check_stored(const char *call, const osla_part *part, const char *name);

/* osli_part_check_stored for calls that need the part as a rectangle. Errors: also UNSUPPORTED, if
 * the part begins and ends on the diagonal of a triangular matrix. `advice` ends the message. */
osla_err osli_part_check_rectangle(const char *call, const osla_part *part, const char *name,
                                   const char *advice);

/* osli_part_inside for calls that do not serve triangular matrices. Errors: also UNSUPPORTED, if
 * the matrix is a triangle. */
osla_err osli_part_check(const char *call, const osla_part *part, const char *name);

/* The four indices of a part and the layout of its matrix, as entries of the list of arguments that
 * osla_agree_same compares across ranks. */
/* clang-format off */
#define OSLA_PART_ARGUMENTS(name, part)                                                            \
  {name ".i", (part).i}, {name ".j", (part).j}, {name ".m", (part).m}, {name ".n", (part).n},    \
  {"layout of " name " (1: triangular)", osla_matrix_is_triangle((part).matrix)}
/* clang-format on */

/* True if the parts share an element, in one matrix or in memory of this rank that several matrices
 * wrap. Elements (i, j) and (j, i) of a triangular matrix are one element. Exact for parts of one
 * matrix and for arrays with one leading dimension; otherwise true if the address ranges overlap.
 * Local. */
bool osli_parts_overlap(const osla_part *x, const osla_part *y);

#endif
