/* Gives host code access to the local elements of a part of a matrix in any memory (internal). */
#ifndef PART_STAGE_H
#define PART_STAGE_H

#include "src/matrix/part_local.h"

#include <stdbool.h>

/* A part whose local elements the host can load or store. If the matrix lies on a device, the host
 * works on a copy in host memory, otherwise in place. The copy has no elements outside the part,
 * since another rank may write such elements in the meantime. */
typedef struct part_stage {
  osla_part part;
  part_local p;
  unsigned char *base; /* array of the elements: the local array of the matrix, or `copy` */
  void *copy;          /* copy of the elements in host memory; NULL if the host works in place */
  bool writes;
} part_stage;

/* osli_part_stage_open opens a part, to write all its elements if `writes` is true, and otherwise
 * to read them. If the matrix lies on a device, the stage needs memory for the local elements of
 * the part. Local. Errors: MEM, those of the device; after an error the stage is not open.
 * osli_part_stage_close copies written elements to the device and closes the stage; the next
 * osla_agree returns errors of the device. */
osla_err osli_part_stage_open(const osla_part *part, bool writes, part_stage *stage);
void osli_part_stage_close(part_stage *stage);

/* Returns the run of columns that contains local column c of the part. Element (r, c), for
 * r >= part_first_row(&stage->p, c), has the index stored_index(&run, r, c) in stage->base.
 * Local. */
stored_columns osli_part_stage_columns(const part_stage *stage, int64_t c);

#endif
