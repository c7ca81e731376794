/* Combination of listed values with listed elements of an array: the loop of DEVICE_COMBINE, as C
 * for the fake device and as CUDA (layer 0, internal, pure).
 *
 * The loop visits columns of values. Value `position[r]` of column c is combined with element
 * `row[r]` of the column of elements that begins at target[c]. Equal rows, and columns with equal
 * targets, follow one another in the lists and have equal ranges [begin, end). The visit of the
 * first of them combines the values of all of them, in the order of the lists. So no element is
 * changed by two visits, all visits may run at the same time, and the bits of a sum do not depend
 * on their order. */
#ifndef OSLA_COMBINE_H
#define OSLA_COMBINE_H

#include "src/base/fixed_point.h"

typedef enum combine_operation {
  COMBINE_SET,
  COMBINE_SUM,
  COMBINE_MIN,
  COMBINE_MAX,
  /* the elements are fixed-point numbers in the memory of doubles; a value beyond the bound is
   * refused and not added; a sum beyond the range of FIXED_DANGER is refused */
  COMBINE_FIXED_SUM,
  /* operations without values. CHECK_DOUBLES refuses doubles, and CHECK_NUMBERS fixed-point
   * numbers, that are beyond the bound; both change nothing. */
  COMBINE_CHECK_DOUBLES,
  COMBINE_CHECK_NUMBERS,
  COMBINE_TO_FIXED,
  COMBINE_TO_DOUBLES
} combine_operation;

typedef struct combine_loop {
  combine_operation operation;
  bool single, single_values; /* true: the elements, or the values, are floats, else doubles */
  int64_t rows, cols;
  double constant; /* all values, if `values` is NULL */
  fixed_point fixed;
  /* [cols] target: index in `elements` of the first element of the column. start: index in `values`
   * of the value with position 0, which need not exist. [begin, end): range of the row list. */
  const int64_t *target, *start, *begin, *end;
  /* [rows] element of the column, and position of the value, for each entry of the row list; both
   * NULL: entry r stands for element r and position r */
  const int64_t *row, *position;
  const void *values;
  void *elements;
} combine_loop;

OSLI_EVERYWHERE double combine_value(const combine_loop *l, int64_t value)
{
  if (!l->values) return l->constant;
  return l->single_values ? (double)((const float *)l->values)[value]
                          : ((const double *)l->values)[value];
}

/* Combines a value with an element. Returns whether it was refused. A sum in double of two floats,
 * rounded to float, has the bits of the sum in float. */
OSLI_EVERYWHERE bool combine_one(const combine_loop *l, int64_t element, int64_t value)
{
  double *wide = (double *)l->elements + element;
  float *narrow = (float *)l->elements + element;
  int64_t *number = (int64_t *)l->elements + element;
  double result;
  if (l->operation <= COMBINE_MAX) {
    const double v = combine_value(l, value);
    if (l->operation == COMBINE_SET) {
      result = v;
    } else {
      const double old = l->single ? (double)*narrow : *wide;
      result = l->operation == COMBINE_SUM   ? old + v
               : l->operation == COMBINE_MIN ? (v < old ? v : old)
                                             : (v > old ? v : old);
    }
    if (l->single)
      *narrow = (float)result;
    else
      *wide = result;
    return false;
  }
  if (l->operation == COMBINE_CHECK_DOUBLES) return !fixed_holds(&l->fixed, *wide);
  if (l->operation == COMBINE_CHECK_NUMBERS) return fixed_outside(*number, l->fixed.limit) >> 63;
  if (l->operation == COMBINE_FIXED_SUM) {
    const int64_t more = fixed_of(combine_value(l, value), l->fixed.scale);
    const bool outside = fixed_outside(more, l->fixed.limit) >> 63;
    /* a sum beyond the range stays there, even if more values of this visit would wrap it around */
    if (fixed_danger(*number) >> 63) return true;
    *number = fixed_sum(*number, outside ? 0 : more);
    return outside || fixed_danger(*number) >> 63;
  }
  if (l->operation == COMBINE_TO_FIXED)
    *number = fixed_of(*wide, l->fixed.scale);
  else
    *wide = fixed_value(*number, l->fixed.unit);
  return false;
}

/* Visits entry r of the row list in column c. Returns the number of refused values or elements. */
OSLI_EVERYWHERE int64_t combine_visit(const combine_loop *l, int64_t c, int64_t r)
{
  const int64_t row = l->row ? l->row[r] : r;
  int64_t refused = 0;
  if (c > 0 && l->target[c - 1] == l->target[c]) return 0;
  if (l->row && r > l->begin[c] && l->row[r - 1] == row) return 0;
  for (int64_t j = c; j < l->cols && l->target[j] == l->target[c]; j++)
    for (int64_t i = r; i < l->end[j] && (i == r || (l->row && l->row[i] == row)); i++)
      refused +=
        combine_one(l, l->target[c] + row, l->start[j] + (l->position ? l->position[i] : i));
  return refused;
}

static inline int64_t combine_all(const combine_loop *l)
{
  int64_t refused = 0;
  for (int64_t c = 0; c < l->cols; c++)
    for (int64_t r = l->begin[c]; r < l->end[c]; r++)
      refused += combine_visit(l, c, r);
  return refused;
}

#endif
