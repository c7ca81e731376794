/* The loop of DEVICE_COMBINE, which combines listed values with listed elements of an array. It is
 * compiled as C for the fake device and as CUDA for a GPU (layer 0, internal, pure).
 *
 * A visit handles column c of the values and entry r of the row list: it combines value
 * `position[r]` of column c with element `row[r]` of the column of elements that begins at
 * target[c]. Entries with equal rows follow one another in the row list. Columns with equal targets
 * follow one another, too, and have equal ranges [begin, end). The visit of the first of several
 * entries or columns for one element combines the values of all of them, in the order of the lists.
 * So no element is changed by two visits, all visits may run at the same time, and the bits of a
 * sum do not depend on the order of the visits. */
#ifndef OSLA_COMBINE_H
#define OSLA_COMBINE_H

#include "src/base/fixed_point.h"

typedef enum combine_operation {
  COMBINE_SET,
  COMBINE_SUM,
  COMBINE_MIN,
  COMBINE_MAX,
  /* Adds values to fixed-point numbers, which are stored in the memory of doubles. A value is
   * beyond the bound, and is refused and not added, if the absolute value of its fixed-point number
   * exceeds the limit of `fixed`. An element whose sum leaves [-FIXED_DANGER, FIXED_DANGER) is
   * refused. */
  COMBINE_FIXED_SUM,
  /* counts elements of type double beyond the bound as refused, and changes nothing */
  COMBINE_CHECK_DOUBLES,
  /* counts fixed-point elements beyond the bound as refused, and changes nothing */
  COMBINE_CHECK_NUMBERS,
  COMBINE_TO_FIXED,  /* converts elements from double to fixed point, without values */
  COMBINE_TO_DOUBLES /* converts elements from fixed point to double, without values */
} combine_operation;

typedef struct combine_loop {
  combine_operation operation;
  bool single,     /* true if the elements are floats; otherwise they are doubles */
    single_values; /* true if the values are floats; otherwise they are doubles */
  int64_t rows, cols;
  double constant; /* the number that every value has if `values` is NULL */
  fixed_point fixed;
  const int64_t *target, /* [cols] index in `elements` of the first element of the column */
    *start, /* [cols] index in `values` of the value with position 0, which need not exist */
    *begin, /* [cols] first entry of the row list that the column uses */
    *end;   /* [cols] 1 + index of the last entry of the row list that the column uses */
  /* If `row` and `position` are NULL, entry r of the row list means element r and position r. */
  const int64_t *row, /* [rows] index in the column of the element of each entry of the row list */
    *position;        /* [rows] position in the column of the value of each entry */
  const void *values;
  void *elements;
} combine_loop;

OSLI_EVERYWHERE double combine_value(const combine_loop *l, int64_t value)
{
  if (!l->values) return l->constant;
  return l->single_values ? (double)((const float *)l->values)[value]
                          : ((const double *)l->values)[value];
}

/* Combines value number `value` with element number `element`, and returns whether the value or the
 * element was refused. Floats are added in double and then rounded to float, which gives the bits
 * of a sum in float. */
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
    /* a sum outside the range of FIXED_DANGER is not changed any more, because later values of this
     * visit could bring it back into the range by overflow, which would hide the error */
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

/* Makes the visit of column c and entry r of the row list. Returns the number of refused values or
 * elements. */
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
