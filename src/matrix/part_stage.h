/* Gives host code access to the local elements of a part of a matrix in any memory (internal). */
#ifndef PART_STAGE_H
#define PART_STAGE_H

#include "src/matrix/part_local.h"

#include <stdbool.h>

/* A part whose local elements the host can load or store. If the matrix lies on a device, the host
 * works on a copy in host memory, otherwise in place. The copy has no elements outside the part,
 * since another rank may write such elements in the meantime. */
typedef struct part_stage {
  part_local p;
  unsigned char *first; /* this rank's first element of the part; NULL if it has none */
  int64_t ld;           /* leading dimension of the elements that begin at `first` */
  void *copy;           /* copy of the elements in host memory; NULL if the host works in place */
  bool writes;
} part_stage;

/* osli_part_stage_open opens a part, to write all its elements if `writes` is true, and otherwise
 * to read them. If the matrix lies on a device, the stage needs memory for the local elements of
 * the part. Local. Errors: MEM, those of the device; after an error the stage is not open.
 * osli_part_stage_close copies written elements to the device and closes the stage; the next
 * osla_agree returns errors of the device. */
osla_err osli_part_stage_open(const osla_part *part, bool writes, part_stage *stage);
void osli_part_stage_close(part_stage *stage);

#endif
