/* The local elements of a part for a pass by the host (internal). */
#ifndef PART_STAGE_H
#define PART_STAGE_H

#include "src/matrix/part_local.h"

#include <stdbool.h>

/* A part whose local elements the host can load and store: in place, or in a copy of the local
 * array of a device matrix. */
typedef struct part_stage {
  part_local p;
  void *copy; /* NULL: the elements are in place */
} part_stage;

/* Opens a part. Memory: the local array of a device matrix. Local. Errors: MEM (the part may then
 * not be used), those of the device. osli_part_stage_close writes the copy back if `written`, and
 * frees it; it accepts a stage that failed to open. */
osla_err osli_part_stage_open(const osla_part *part, part_stage *stage);
osla_err osli_part_stage_close(const osla_part *part, part_stage *stage, bool written);

#endif
