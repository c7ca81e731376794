/* Copies of bulk data (layer 0, internal to the library). If time is simulated, each copy is
 * charged to the model (work.h). */
#ifndef MOVE_H
#define MOVE_H

#include "src/blas/work.h"
#include "src/device/device.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Copies an element of 4, 8 or 16 bytes. With a constant size, the compiler makes each copy one
 * load and one store. */
static inline void copy_element(size_t element, unsigned char *to, const unsigned char *from)
{
  if (element == 8)
    memcpy(to, from, 8);
  else if (element == 4)
    memcpy(to, from, 4);
  else
    memcpy(to, from, 16);
}

/* Copies m x n elements between two column-major arrays that do not overlap. Each array may lie on
 * a device. `element` is the number of bytes of an element; from_ld and to_ld are the leading
 * dimensions. Local. */
void osli_move_columns(size_t element, int64_t m, int64_t n, const void *from, int64_t from_ld,
                       void *to, int64_t to_ld);

/* Copies bytes between two arrays that do not overlap. Each array may lie on a device. A simulation
 * counts no time for the copy. Local. */
static inline void osli_move_bytes(void *to, const void *from, size_t bytes)
{
  if (osli_on_device(from, to, NULL))
    osli_device_copy_bytes(bytes, from, to);
  else
    memcpy(to, from, bytes);
}

/* Copies a message. Each address may lie on a device. The first OSLA_STEERING bytes (headers,
 * pivots, indices) are always copied. The remaining bytes are bulk data, which a simulation that
 * only models work (work.h) does not copy. Local. */
enum { OSLA_STEERING = 8192 };
static inline void osli_move_message(void *to, const void *from, size_t bytes)
{
  bool whole = !osli_work_modelled || bytes <= OSLA_STEERING;
  osli_move_bytes(to, from, whole ? bytes : OSLA_STEERING);
}

/* Reports to the performance model that a loop has copied `pieces` pieces of `piece` bytes.
 * Local. */
void osli_move_charge(size_t piece, int64_t pieces);

#endif
