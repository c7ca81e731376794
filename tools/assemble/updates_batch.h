/* Some updates in memory, and how they lie in it (floor 4). All calls are local. */
#ifndef OSLA_UPDATES_BATCH_H
#define OSLA_UPDATES_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "osla_error.h"

/* Memory of a batch: allocated, or (shared) of a file without a name, which another process maps,
 * too. Growing it loses what is in it. */
typedef struct updates_memory {
  void *start;
  int64_t room; /* bytes */
  bool shared;
  int fd; /* if shared */
} updates_memory;
osla_err updates_memory_grow(updates_memory *memory, int64_t bytes);
/* Maps the `room` bytes that another process has made. Errors of both: MEM. */
osla_err updates_memory_map(updates_memory *memory, int64_t room);
void updates_memory_free(updates_memory *memory); /* but for fd */

/* Zero-initialise; free with updates_memory_free(&batch.memory). */
typedef struct updates_batch {
  int64_t first, count;  /* updates of the file */
  int64_t *offset;       /* [count + 1] in the file */
  int64_t k;             /* rows of a panel; 0: blocks */
  int64_t *ix;           /* [offset[count] - offset[0]] */
  void *values;          /* G or U, of the type asked for */
  double *w, *r, *g;     /* [count x k], [count x k], [indices]; NULL: missing */
  updates_memory memory; /* of all arrays */
} updates_batch;

/* Sizes of a batch's arrays, which lie in its memory one behind another. */
typedef struct updates_layout {
  int64_t count, k;
  int64_t indices, values; /* elements of ix and g; of G or U */
  size_t element;          /* bytes of a value */
  uint8_t w, r, g;         /* 1: it is there, 0 */
} updates_layout;

int64_t updates_layout_bytes(const updates_layout *layout);
/* Sets count, k and all pointers of the batch; its memory must have the bytes. */
void updates_layout_place(const updates_layout *layout, updates_batch *batch);

/* For a layout that a process sent which may be spoilt. Does it fit a request for `most` updates
 * with values of `element` bytes, and so much memory? And if so: are these [count + 1] its offsets?
 */
bool updates_layout_fits(const updates_layout *layout, int64_t most, size_t element, int64_t room);
bool updates_layout_agrees(const updates_layout *layout, const int64_t *offset);

#endif
