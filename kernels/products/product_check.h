/* Checks that all products of this wing make of their operands (internal). */
#ifndef PRODUCT_CHECK_H
#define PRODUCT_CHECK_H

#include "osla_part.h"

typedef struct product_operand {
  const char *name;
  const osla_part *part;
} product_operand;

/* Are they inside their matrices, of one type and one transport, and does the last one, which is
 * written, share no element with the others? `call` begins the line. Local. Errors: ARG. */
osla_err osli_product_check(const char *call, const product_operand *operands, int count);

#endif
