/* Copies the local elements of a part of a matrix on a device to host memory and back, so that host
 * code can load and store them. */
#include "src/matrix/part_stage.h"
#include "osla_device.h"
#include "src/blas/move.h"

#include <inttypes.h>
#include <stdlib.h>

osla_err osli_part_stage_open(const osla_part *part, bool writes, part_stage *s)
{
  *s = (part_stage){.part = *part, .p = part_local_of(part), .writes = writes};
  const part_local *p = &s->p;
  if (p->rows == 0) return OSLA_OK;
  s->base = p->local;
  if (!osla_matrix_device(part->matrix)) return OSLA_OK;
  s->copy = malloc((size_t)(p->rows * p->cols) * p->element);
  OSLA_CHECK(s->copy, OSLA_ERR_MEM, "copy of %" PRId64 " x %" PRId64 " elements of a device matrix",
             p->rows, p->cols);
  s->base = s->copy;
  if (writes) return OSLA_OK;
  osli_move_columns(p->element, p->rows, p->cols, part_at(p, 0, 0), p->lld, s->copy, p->rows);
  const osla_err err = osli_device_settle(SETTLE_COPY);
  if (err != OSLA_OK) free(s->copy);
  return err;
}

void osli_part_stage_close(part_stage *s)
{
  const part_local *p = &s->p;
  if (s->copy && s->writes)
    osli_move_columns(p->element, p->rows, p->cols, s->copy, p->rows, part_at(p, 0, 0), p->lld);
  free(s->copy);
}

stored_columns osli_part_stage_columns(const part_stage *s, int64_t c)
{
  if (s->copy) return (stored_columns){.count = s->p.cols, .ld = s->p.rows};
  return part_columns(&s->part, &s->p, c);
}
