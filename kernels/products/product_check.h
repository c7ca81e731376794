/* Checks of operands that all products of this folder make (internal). */
#ifndef PRODUCT_CHECK_H
#define PRODUCT_CHECK_H

#include "osla_part.h"

#include <stdbool.h>

typedef struct product_operand {
  const char *name;
  const osla_part *part;
  bool symmetric; /* true if the operand may be a diagonal part of a triangular matrix */
} product_operand;

/* Checks that the operands are inside their matrices and have one type and one transport, and that
 * the last operand, which is written, shares no element with the others. An operand that is not
 * `symmetric` must satisfy osli_part_check_stored; a `symmetric` one in a triangular matrix must
 * begin on the diagonal. `call` begins the error message. Local. Errors: ARG, UNSUPPORTED (another
 * part of a triangular matrix). */
osla_err osli_product_check(const char *call, const product_operand *operands, int count);

#endif
