/* Checks of the parts that a kernel gets as operands (internal). */
#ifndef PART_CHECKS_H
#define PART_CHECKS_H

#include "osla_part.h"

#include <stdbool.h>

/* Checks that the part lies inside its matrix, and that the matrix is no triangle. `call` is the
 * function's name and `name` the operand's, for the error text. Local. Errors: ARG, UNSUPPORTED. */
osla_err osli_part_check(const char *call, const osla_part *part, const char *name);

/* The four indices of a part, as entries of the list of arguments that osla_agree_same compares
 * across ranks. */
/* clang-format off */
#define OSLA_PART_ARGUMENTS(name, part)                                                            \
  {name ".i", (part).i}, {name ".j", (part).j}, {name ".m", (part).m}, {name ".n", (part).n}
/* clang-format on */

/* True if the parts share an element, in one matrix or in memory of this rank that several matrices
 * wrap. Exact for arrays with one leading dimension; otherwise true if the address ranges overlap.
 * Local. */
bool osli_parts_overlap(const osla_part *x, const osla_part *y);

#endif
