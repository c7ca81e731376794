/* Checks of operands that all products of this folder make (internal). */
#ifndef PRODUCT_CHECK_H
#define PRODUCT_CHECK_H

#include "osla_part.h"

typedef struct product_operand {
  const char *name;
  const osla_part *part;
} product_operand;

/* Checks that the operands are inside their matrices and have one type and one transport, and that
 * the last operand, which is written, shares no element with the others. `call` begins the error
 * message. Local. Errors: ARG. */
osla_err osli_product_check(const char *call, const product_operand *operands, int count);

#endif
