/* Bulk data moves in one place (floor 0, internal to the library): what they cost is charged where
 * time is simulated (work.h). */
#ifndef MOVE_H
#define MOVE_H

#include "src/blas/work.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Copies m x n elements, column-major, which do not overlap. Local. */
void osli_move_columns(size_t element, int64_t m, int64_t n, const void *from, int64_t from_ld,
                       void *to, int64_t to_ld);

/* Copies a message: its first OSLA_STEERING bytes steer (heads, pivots, indices), and all else is
 * bulk data, which does not move where work is only modelled (work.h). Local. */
enum { OSLA_STEERING = 8192 };
static inline void osli_move_message(void *to, const void *from, size_t bytes)
{
  bool whole = !osli_work_modelled || bytes <= OSLA_STEERING;
  memcpy(to, from, whole ? bytes : OSLA_STEERING);
}

/* As osla_work_did, for a loop elsewhere that has copied so many pieces of so many bytes. */
void osli_move_did(size_t piece, int64_t pieces);

#endif
