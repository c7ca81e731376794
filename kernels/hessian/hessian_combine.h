/* Combines values of an update with elements of H, for each pair of types and each operation
 * (internal). */
#ifndef OSLA_HESSIAN_COMBINE_H
#define OSLA_HESSIAN_COMBINE_H

#include "osla_hessian.h"
#include "src/base/fixed_point.h"

typedef struct combiner combiner;

/* Combines `count` values with elements of one column of H. For r = 0, 1, ..., value
 * values[position[r]] is combined with element dest[row[r]]. If position is NULL, the value is
 * values[r]; if row is NULL, the element is dest[r], and position must be NULL. Prefetches
 * dest[ahead + row[r]], which the next call uses. Returns false if a value was refused. Values are
 * refused only in order-independent mode. */
typedef bool combine_column(const combiner *c, int64_t count, const int64_t *row,
                            const int64_t *position, const void *values, void *dest, int64_t ahead);

struct combiner {
  combine_column *column;
  osla_dtype dtype;        /* type of the elements of H */
  osla_dtype update_dtype; /* type of the values of updates */
  osla_combine_function *function;
  void *context;
  fixed_point fixed; /* scale and bound of fixed-point numbers, for order-independent mode */
};

/* Sets a combiner from the options. Local. Errors: ARG (unknown operation, or no function is
 * given). */
osla_err osli_combiner_make(const osla_hessian_options *options, combiner *out);

/* Returns the value that every element of H has before the first update. */
double osli_combiner_initial(const osla_hessian_options *options);

/* Returns the type of the elements of H. */
osla_dtype osli_hessian_dtype(const osla_hessian_options *options);
/* Returns the type of the elements of G and U. */
osla_dtype osli_update_dtype(const osla_hessian_options *options);

#endif
