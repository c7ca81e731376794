#include "src/blas/move.h"

void osli_move_charge(size_t piece, int64_t pieces)
{
  work_charge(OSLA_WORK_COPY, OSLA_DOUBLE, (int64_t)((piece + 7) / 8), pieces, 1);
}

void osli_move_columns(size_t element, int64_t m, int64_t n, const void *from, int64_t from_ld,
                       void *to, int64_t to_ld)
{
  if (osli_on_device(from, to, NULL)) {
    osli_device_copy(element, m, n, from, from_ld, to, to_ld);
    return;
  }
  const unsigned char *source = from;
  unsigned char *dest = to;
  size_t column = (size_t)m * element;
  for (int64_t c = 0; c < n && m > 0 && !osli_work_modelled; c++)
    memcpy(dest + (size_t)(c * to_ld) * element, source + (size_t)(c * from_ld) * element, column);
  osli_move_charge(column, n);
}
