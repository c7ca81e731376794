/* Inner loops of the exchanges of rows: copies of selected elements of one column (internal). */
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

#endif
