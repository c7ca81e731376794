/* One number of a star forest's unit, of any type. Calls draw it from a seed, load it, store it,
 * and combine two numbers as osla_forest.h says. This plain implementation is compared with the
 * library. */
#ifndef MODEL_VALUE_H
#define MODEL_VALUE_H

#include "osla_forest.h"

typedef struct model_value {
  int64_t i;     /* value of signed integers */
  uint64_t u;    /* value of unsigned integers and bytes */
  long double x; /* value of real numbers, and real part of complex numbers */
  long double y; /* imaginary part of complex numbers */
  int64_t at;
} model_value;

size_t model_size(osla_unit_type type);
size_t model_align(osla_unit_type type);
const char *model_type_name(osla_unit_type type);
const char *model_combine_name(osla_forest_combine combine);

/* True if osla_forest.h allows this combination for this type. */
bool model_allows(osla_unit_type type, osla_forest_combine combine);

/* Element `at` of an array of numbers of this type. */
model_value model_load(osla_unit_type type, const void *array, int64_t at);
void model_store(osla_unit_type type, void *array, int64_t at, model_value value);
bool model_equal(model_value a, model_value b);

/* The result of combining a new value with an old one. */
model_value model_combine(osla_unit_type type, osla_forest_combine combine, model_value old,
                          model_value value);

/* Draws a number that depends only on the arguments. Sums of up to 200 numbers (13 for types of 8
 * bits) and products of up to 4 numbers are exact in any order, but may not fit a smaller type.
 * Values with positions are often equal, and integers use all bits. */
model_value model_draw(osla_unit_type type, osla_forest_combine combine, uint64_t seed, uint64_t i,
                       uint64_t j);

#endif
