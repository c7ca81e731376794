/* Checks of the parts that a kernel gets as operands (internal). In all checks, `call` is the
 * function's name and `name` the operand's name for the error text. */
#ifndef PART_CHECKS_H
#define PART_CHECKS_H

#include "osla_part.h"

#include <stdbool.h>

/* Checks that the part lies inside its matrix. Local. Errors: ARG. */
osla_err osli_part_inside(const char *call, const osla_part *part, const char *name);

/* Checks that the part lies inside its matrix. A part of a triangular matrix must also lie below
 * the diagonal, begin and end on it, or be empty. Local. Errors: ARG, UNSUPPORTED. */
osla_err osli_part_check_stored(const char *call, const osla_part *part, const char *name);

/* Checks that the part lies inside its matrix. A part of a triangular matrix must also lie below
 * the diagonal or be empty. If it begins and ends on the diagonal, `advice` ends the message.
 * Local. Errors: ARG, UNSUPPORTED. */
osla_err osli_part_check_rectangle(const char *call, const osla_part *part, const char *name,
                                   const char *advice);

/* Checks that the matrix is not triangular, and that the part lies inside it. Local. Errors: ARG,
 * UNSUPPORTED. */
osla_err osli_part_check(const char *call, const osla_part *part, const char *name);

/* Position and size of a part, and whether its matrix is triangular, as entries of the list of
 * arguments that osla_agree_same compares across ranks. */
/* clang-format off */
#define OSLA_PART_ARGUMENTS(name, part)                                                            \
  {name ".i", (part).i}, {name ".j", (part).j}, {name ".m", (part).m}, {name ".n", (part).n},    \
  {"layout of " name " (1: triangular)", osla_matrix_is_triangle((part).matrix)}
/* clang-format on */

/* True if the parts share an element, in one matrix or in memory of this rank that several matrices
 * use. Elements (i, j) and (j, i) of a triangular matrix are one element. Exact for parts of one
 * matrix and for arrays with one leading dimension; otherwise true if the address ranges overlap.
 * Local. */
bool osli_parts_overlap(const osla_part *x, const osla_part *y);

#endif
