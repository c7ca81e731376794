/* How one value is put into an element of H: by types and operation (internal). */
#ifndef OSLA_HESSIAN_COMBINE_H
#define OSLA_HESSIAN_COMBINE_H

#include "kernels/hessian/hessian_fixed.h"
#include "osla_hessian.h"

typedef struct combiner combiner;

/* Puts `count` values into a column of H, one after the other: value r is values[position[r]] and
 * goes to dest[row[r]]. position = NULL: values[r]; row = NULL (then position is NULL, too):
 * dest[r]. dest[ahead + row[r]] will be next, and is fetched beforehand. False: one of them was
 * refused (order-independent mode alone). */
typedef bool combine_column(const combiner *c, int64_t count, const int64_t *row,
                            const int64_t *position, const void *values, void *dest, int64_t ahead);

struct combiner {
  combine_column *column;
  osla_dtype dtype, update_dtype; /* of H; of the values */
  osla_combine_function *function;
  void *context;
  fixed_point fixed; /* of order-independent mode */
};

/* Errors: ARG (no such operation, no function). Local. */
osla_err osli_combiner_make(const osla_hessian_options *options, combiner *out);

/* What H holds before anything is put into it. */
double osli_combiner_initial(const osla_hessian_options *options);

/* The type of G and U. */
osla_dtype osli_hessian_dtype(const osla_hessian_options *options);
osla_dtype osli_update_dtype(const osla_hessian_options *options);

#endif
