/* Copies of local arrays of device matrices, for passes by the host. */
#include "src/matrix/part_stage.h"
#include "osla_device.h"
#include "src/blas/move.h"

#include <inttypes.h>
#include <stdlib.h>

osla_err osli_part_stage_open(const osla_part *part, part_stage *s)
{
  const osla_matrix *a = part->matrix;
  *s = (part_stage){.p = part_local_of(part)};
  if (!osla_matrix_device(a) || s->p.rows == 0) return OSLA_OK;
  const int64_t rows = osla_matrix_local_rows(a), cols = osla_matrix_local_cols(a);
  s->copy = malloc((size_t)(s->p.lld * cols) * s->p.element);
  OSLA_CHECK(s->copy, OSLA_ERR_MEM, "copy of %" PRId64 " x %" PRId64 " elements of a device matrix",
             rows, cols);
  osli_move_columns(s->p.element, rows, cols, s->p.local, s->p.lld, s->copy, s->p.lld);
  s->p.local = s->copy;
  return osli_device_settle(SETTLE_COPY);
}

osla_err osli_part_stage_close(const osla_part *part, part_stage *s, bool written)
{
  const osla_matrix *a = part->matrix;
  if (s->copy && written)
    osli_move_columns(s->p.element, osla_matrix_local_rows(a), osla_matrix_local_cols(a), s->copy,
                      s->p.lld, osla_matrix_local(a), s->p.lld);
  free(s->copy);
  s->copy = NULL;
  return written ? osli_device_settle(SETTLE_COPY) : OSLA_OK;
}
