/* The innermost loops of the accumulator: values into a column of H.
 *
 * One function for each pair of types and each operation, made from one template, because the loops
 * must be free of calls and tests. Rows that follow one another go in the first loop, which the
 * compiler makes wide; the others are bound by memory.
 */
#include "hessian_combine.h"

#include <math.h>

#define SUM(old, value)     ((old) + (value))
#define SMALLER(old, value) ((value) < (old) ? (value) : (old))
#define LARGER(old, value)  ((value) > (old) ? (value) : (old))

#define DEFINE_COLUMN(name, element, number, operation)                                            \
  static bool name(const combiner *c, int64_t count, const int64_t *row, const int64_t *place,     \
                   const void *values, void *dest)                                                 \
  {                                                                                                \
    const number *restrict v = values;                                                             \
    element *restrict d = dest;                                                                    \
    (void)c;                                                                                       \
    if (!row)                                                                                      \
      for (int64_t r = 0; r < count; r++)                                                          \
        d[r] = operation(d[r], (element)v[r]);                                                     \
    else if (!place)                                                                               \
      for (int64_t r = 0; r < count; r++)                                                          \
        d[row[r]] = operation(d[row[r]], (element)v[r]);                                           \
    else                                                                                           \
      for (int64_t r = 0; r < count; r++)                                                          \
        d[row[r]] = operation(d[row[r]], (element)v[place[r]]);                                    \
    return true;                                                                                   \
  }

DEFINE_COLUMN(sum_float, float, float, SUM)
DEFINE_COLUMN(sum_mixed, double, float, SUM)
DEFINE_COLUMN(sum_double, double, double, SUM)
DEFINE_COLUMN(min_float, float, float, SMALLER)
DEFINE_COLUMN(min_mixed, double, float, SMALLER)
DEFINE_COLUMN(min_double, double, double, SMALLER)
DEFINE_COLUMN(max_float, float, float, LARGER)
DEFINE_COLUMN(max_mixed, double, float, LARGER)
DEFINE_COLUMN(max_double, double, double, LARGER)

enum { WIDENED = 256 };

/* The user's function sees elements of H's type that follow one another. */
static void call_function(const combiner *c, int64_t count, const void *values, void *dest)
{
  if (c->dtype == c->update_dtype) {
    c->function(count, dest, values, c->context);
    return;
  }
  double wide[WIDENED];
  const float *narrow = values;
  double *d = dest;
  for (int64_t from = 0; from < count; from += WIDENED) {
    int64_t some = count - from < WIDENED ? count - from : WIDENED;
    for (int64_t r = 0; r < some; r++)
      wide[r] = (double)narrow[from + r];
    c->function(some, d + from, wide, c->context);
  }
}

static bool user_column(const combiner *c, int64_t count, const int64_t *row, const int64_t *place,
                        const void *values, void *dest)
{
  size_t of_h = osla_dtype_size(c->dtype), of_value = osla_dtype_size(c->update_dtype);
  int64_t run;
  for (int64_t r = 0; r < count; r += run) {
    run = row ? 1 : count;
    while (r + run < count && row[r + run] == row[r] + run &&
           (!place || place[r + run] == place[r] + run))
      run++;
    int64_t from = place ? place[r] : r, to = row ? row[r] : r;
    call_function(c, run, (const unsigned char *)values + (size_t)from * of_value,
                  (unsigned char *)dest + (size_t)to * of_h);
  }
  return true;
}

osla_dtype osla_update_dtype(const osla_hessian_options *o)
{
  return o->update_dtype == OSLA_HESSIAN_SAME ? o->dtype : (osla_dtype)o->update_dtype;
}

double osla_combiner_initial(const osla_hessian_options *o)
{
  if (!isnan(o->initial)) return o->initial;
  if (o->combine == OSLA_COMBINE_MIN) return (double)INFINITY;
  return o->combine == OSLA_COMBINE_MAX ? -(double)INFINITY : 0.0;
}

osla_err osla_combiner_make(const osla_hessian_options *o, combiner *out)
{
  static combine_column *const columns[][3] = {
    [OSLA_COMBINE_SUM] = {sum_float, sum_mixed, sum_double},
    [OSLA_COMBINE_MIN] = {min_float, min_mixed, min_double},
    [OSLA_COMBINE_MAX] = {max_float, max_mixed, max_double},
    [OSLA_COMBINE_USER] = {user_column, user_column, user_column},
  };
  int operation = (int)o->combine;
  OSLA_CHECK(operation >= OSLA_COMBINE_SUM && operation <= OSLA_COMBINE_USER, OSLA_ERR_ARG,
             "no operation of number %d", operation);
  OSLA_CHECK((o->combine == OSLA_COMBINE_USER) == (o->combine_function != NULL), OSLA_ERR_ARG, "%s",
             o->combine_function ? "a function is given, but not OSLA_COMBINE_USER"
                                 : "OSLA_COMBINE_USER without a function");
  osla_dtype update = osla_update_dtype(o);
  int types = o->dtype == OSLA_FLOAT ? 0 : update == OSLA_FLOAT ? 1 : 2;
  *out = (combiner){.column = columns[operation][types],
                    .dtype = o->dtype,
                    .update_dtype = update,
                    .function = o->combine_function,
                    .context = o->combine_context};
  return OSLA_OK;
}
