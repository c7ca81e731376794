/* The local elements of a part for a pass by the host (internal). */
#ifndef PART_STAGE_H
#define PART_STAGE_H

#include "src/matrix/part_local.h"

#include <stdbool.h>

/* A part whose local elements the host can load or store: in place, or in a copy if the matrix lies
 * on a device. Elements outside the part are not touched, since another rank may write them. */
typedef struct part_stage {
  part_local p;
  unsigned char *first; /* this rank's first element of the part; NULL if it has none */
  int64_t ld;           /* leading dimension of the elements that begin at `first` */
  void *copy;           /* NULL: the elements are in place */
  bool writes;
} part_stage;

/* Opens a part, either to read its elements, or to write all of them. Memory: the local elements of
 * the part, if the matrix lies on a device. Local. Errors: MEM, those of the device; the stage is
 * then not open. osli_part_stage_close completes the writes; the next osla_agree reports errors of
 * the device. */
osla_err osli_part_stage_open(const osla_part *part, bool writes, part_stage *stage);
void osli_part_stage_close(part_stage *stage);

#endif
