/* Inner loops of the exchanges of rows (internal): copies of selected elements of a column, and
 * copies of selected rows. */
#ifndef OSLA_ROW_COPY_H
#define OSLA_ROW_COPY_H

#include "src/blas/move.h"
#include "src/blas/work.h"

#include <stddef.h>
#include <stdint.h>

/* to[i] := from[rows[i]] for i < count. `to` and `from` are columns of a matrix. */
static inline void gather_elements(size_t element, int64_t count, const unsigned char *from,
                                   const int64_t *rows, unsigned char *to)
{
  if (osli_work_modelled) return;
  for (int64_t i = 0; i < count; i++, to += element)
    copy_element(element, to, from + (size_t)rows[i] * element);
}

/* to[rows[i]] := from[i] for i < count. `to` and `from` are columns of a matrix. */
static inline void scatter_elements(size_t element, int64_t count, const unsigned char *from,
                                    unsigned char *to, const int64_t *rows)
{
  if (osli_work_modelled) return;
  for (int64_t i = 0; i < count; i++, from += element)
    copy_element(element, to + (size_t)rows[i] * element, from);
}

/* to[to_rows[i]] := from[from_rows[i]] for i < count. `to` and `from` are columns of a matrix. */
static inline void move_elements(size_t element, int64_t count, const unsigned char *from,
                                 const int64_t *from_rows, unsigned char *to,
                                 const int64_t *to_rows)
{
  if (osli_work_modelled) return;
  for (int64_t i = 0; i < count; i++)
    copy_element(element, to + (size_t)to_rows[i] * element, from + (size_t)from_rows[i] * element);
}

/* Copies row from_rows[i] of `from` to row to_rows[i] of `to`, for i = 0 .. count - 1. The rows
 * have `cols` columns. One of the lists may be NULL, which stands for the rows 0, 1, 2, ... Both
 * arrays lie in host memory, or both on one device, where each row is copied by a call of its
 * own. */
static inline void move_rows(size_t element, int64_t count, int64_t cols, const unsigned char *from,
                             int64_t from_ld, const int64_t *from_rows, unsigned char *to,
                             int64_t to_ld, const int64_t *to_rows)
{
  if (count > 0 && osli_device_of(to)) {
    for (int64_t i = 0; i < count; i++)
      osli_device_copy(element, 1, cols, from + (size_t)(from_rows ? from_rows[i] : i) * element,
                       from_ld, to + (size_t)(to_rows ? to_rows[i] : i) * element, to_ld);
    return;
  }
  for (int64_t c = 0; c < cols && count > 0; c++) {
    const unsigned char *column = from + (size_t)(c * from_ld) * element;
    unsigned char *to_column = to + (size_t)(c * to_ld) * element;
    if (!to_rows)
      gather_elements(element, count, column, from_rows, to_column);
    else if (!from_rows)
      scatter_elements(element, count, column, to_column, to_rows);
    else
      move_elements(element, count, column, from_rows, to_column, to_rows);
  }
}

#endif
