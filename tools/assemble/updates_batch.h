/* Batches of updates in memory (layer 4). All calls are local. */
#ifndef OSLA_UPDATES_BATCH_H
#define OSLA_UPDATES_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "osla_error.h"

/* Memory of a batch: allocated, or with `shared` a nameless file that another process maps as
 * well. Growing it loses the contents. */
typedef struct updates_memory {
  void *start;
  int64_t room; /* size in bytes */
  bool shared;
  int fd; /* descriptor of the shared file */
} updates_memory;
osla_err updates_memory_grow(updates_memory *memory, int64_t bytes);
/* Maps `room` bytes that another process has allocated. Errors of updates_memory_grow and
 * updates_memory_map: MEM. */
osla_err updates_memory_map(updates_memory *memory, int64_t room);
/* Frees or unmaps the memory; does not close fd. */
void updates_memory_free(updates_memory *memory);

/* Some updates of a file. Initialise with zeros; free with updates_memory_free(&batch.memory). */
typedef struct updates_batch {
  int64_t first, count;  /* index of the first update in the file, number of updates */
  int64_t *offset;       /* [count + 1] offsets in the file */
  int64_t k;             /* rows of a panel; 0: blocks */
  int64_t *ix;           /* [offset[count] - offset[0]] indices */
  void *values;          /* G or U, of the requested type */
  double *w, *r, *g;     /* [count x k], [count x k], [number of indices]; NULL: missing */
  updates_memory memory; /* memory of all arrays */
} updates_batch;

/* Sizes of the arrays of a batch, which are contiguous in its memory. */
typedef struct updates_layout {
  int64_t count, k;
  int64_t indices, values; /* number of elements of ix and g; number of elements of G or U */
  size_t element;          /* bytes of a value */
  uint8_t w, r, g;         /* 1: the array exists, 0: it does not */
} updates_layout;

int64_t updates_layout_bytes(const updates_layout *layout);
/* Sets count, k and all pointers of the batch; its memory must have updates_layout_bytes. */
void updates_layout_assign(const updates_layout *layout, updates_batch *batch);

/* Checks of a layout that a possibly damaged process has sent. updates_layout_fits: the layout is
 * valid for a request of `most` updates with values of `element` bytes, and fits in `room` bytes.
 * updates_layout_agrees: the [count + 1] offsets agree with a layout that fits.
 */
bool updates_layout_fits(const updates_layout *layout, int64_t most, size_t element, int64_t room);
bool updates_layout_agrees(const updates_layout *layout, const int64_t *offset);

#endif
