/* Combines values of an update with elements of H, for each pair of types and each operation
 * (internal). */
#ifndef OSLA_HESSIAN_COMBINE_H
#define OSLA_HESSIAN_COMBINE_H

#include "kernels/hessian/hessian_fixed.h"
#include "osla_hessian.h"

typedef struct combiner combiner;

/* Combines `count` values with elements of one column of H, one after another: value r is
 * values[position[r]], and its element is dest[row[r]]. row = NULL: dest[r]; position = NULL:
 * values[r]; with row = NULL position is NULL, too. dest[ahead + row[r]] is prefetched: it is used
 * next. Returns false if a value was refused, which happens in order-independent mode only. */
typedef bool combine_column(const combiner *c, int64_t count, const int64_t *row,
                            const int64_t *position, const void *values, void *dest, int64_t ahead);

struct combiner {
  combine_column *column;
  osla_dtype dtype, update_dtype; /* types of H and of the values */
  osla_combine_function *function;
  void *context;
  fixed_point fixed; /* scale and bound of order-independent mode */
};

/* Fills a combiner from the options. Errors: ARG (unknown operation, missing function). Local. */
osla_err osli_combiner_make(const osla_hessian_options *options, combiner *out);

/* Value of every element of H before the first update. */
double osli_combiner_initial(const osla_hessian_options *options);

/* Types of H, and of G and U. */
osla_dtype osli_hessian_dtype(const osla_hessian_options *options);
osla_dtype osli_update_dtype(const osla_hessian_options *options);

#endif
