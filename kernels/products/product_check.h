/* Checks of operands that all products of this folder make (internal). */
#ifndef PRODUCT_CHECK_H
#define PRODUCT_CHECK_H

#include "osla_part.h"

#include <stdbool.h>

typedef struct product_operand {
  const char *name;
  const osla_part *part;
  bool symmetric; /* true if the operand is symmetric or Hermitian, and may be triangular */
} product_operand;

/* Checks that the operands are inside their matrices and have one type and one transport, and that
 * the last operand, which is written, shares no element with the others. A `symmetric` operand in a
 * triangular matrix must begin on the diagonal; any other operand must pass osli_part_check_stored.
 * `call` begins the error message. Local. Errors: ARG, UNSUPPORTED (any other part of a triangular
 * matrix). */
osla_err osli_product_check(const char *call, const product_operand *operands, int count);

#endif
