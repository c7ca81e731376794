/* One number of a forest's unit, of any type: drawn from a seed, loaded, stored, and combined as
 * osla_forest.h says, written once more and plainly. */
#ifndef MODEL_VALUE_H
#define MODEL_VALUE_H

#include "osla_forest.h"

typedef struct model_value {
  int64_t i;        /* signed integers */
  uint64_t u;       /* unsigned ones and bytes */
  long double x, y; /* floating point, and the imaginary part */
  int64_t at;
} model_value;

size_t model_size(osla_unit_type type);
size_t model_align(osla_unit_type type);
const char *model_type_name(osla_unit_type type);
const char *model_combine_name(osla_forest_combine combine);

/* Is there such a combination? */
bool model_allows(osla_unit_type type, osla_forest_combine combine);

/* The at-th number of an array of them. */
model_value model_load(osla_unit_type type, const void *array, int64_t at);
void model_store(osla_unit_type type, void *array, int64_t at, model_value value);
bool model_equal(model_value a, model_value b);

/* old (combine) value. */
model_value model_combine(osla_unit_type type, osla_forest_combine combine, model_value old,
                          model_value value);

/* Draws a value that depends only on the arguments. Sums of 200 values (13 of 8 bits) and products
 * of 4 are exact in every order, but not in a smaller type. Values with an index tie; integers use
 * all bits. */
model_value model_draw(osla_unit_type type, osla_forest_combine combine, uint64_t seed, uint64_t i,
                       uint64_t j);

#endif
