/* Checks of parts that a product gets as operands (internal). */
#ifndef PART_CHECKS_H
#define PART_CHECKS_H

#include "osla_part.h"

#include <stdbool.h>

/* Is the part inside its matrix? `call` and `name` begin and end the line. Local. Errors: ARG. */
osla_err osli_part_check(const char *call, const osla_part *part, const char *name);

/* A part among the arguments that osla_agree_same compares. */
/* clang-format off */
#define OSLA_PART_ARGUMENTS(name, part)                                                            \
  {name ".i", (part).i}, {name ".j", (part).j}, {name ".m", (part).m}, {name ".n", (part).n}
/* clang-format on */

/* Do the parts share an element, in one matrix, or in memory of this rank that several matrices
 * wrap? Arrays of one leading dimension share an element if their rows do; others count as shared
 * if their address ranges meet. Local. */
bool osli_parts_overlap(const osla_part *x, const osla_part *y);

#endif
