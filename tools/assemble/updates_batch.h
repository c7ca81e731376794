/* Batches of updates in memory (layer 4). All calls are local. */
#ifndef OSLA_UPDATES_BATCH_H
#define OSLA_UPDATES_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "osla_error.h"

/* Memory of a batch. It is allocated or, if `shared`, a file without a name that another process
 * maps as well. If it grows, its contents are lost. */
typedef struct updates_memory {
  void *start;
  int64_t room; /* size in bytes */
  bool shared;
  int fd; /* descriptor of the shared file */
} updates_memory;
osla_err updates_memory_grow(updates_memory *memory, int64_t bytes);
/* Maps `room` bytes of the shared file, which another process has allocated. Errors of
 * updates_memory_grow and updates_memory_map: MEM. */
osla_err updates_memory_map(updates_memory *memory, int64_t room);
/* Frees or unmaps the memory; does not close fd. */
void updates_memory_free(updates_memory *memory);

/* Some updates of a file. Initialise with zeros; free with updates_memory_free(&batch.memory). */
typedef struct updates_batch {
  int64_t first, /* index of the batch's first update in the file */
    count;       /* number of updates in the batch */
  /* [count + 1] offsets of the updates' indices in the data set ix of the file */
  int64_t *offset;
  int64_t k; /* number of data in each panel; 0 if the updates are blocks */
  /* [offset[count] - offset[0]] indices of all updates of the batch, one update after the other */
  int64_t *ix;
  void *values; /* elements of the panels G or the blocks U of all updates, in the requested type */
  double *w,    /* [count x k] weights, or NULL if the file has none */
    *r,         /* [count x k] residuals, or NULL if the file has none */
    *g;         /* [number of indices] gradients, or NULL if the file has none */
  updates_memory memory; /* memory that contains all arrays of the batch */
} updates_batch;

/* Sizes of the arrays of a batch. The arrays are contiguous in the memory of the batch. */
typedef struct updates_layout {
  int64_t count, k;
  int64_t indices, /* number of elements of ix and of g */
    values;        /* number of elements of the panels G or the blocks U */
  size_t element;  /* bytes of an element of G or U */
  uint8_t w,       /* 1 if the file has weights, 0 if not */
    r,             /* 1 if the file has residuals, 0 if not */
    g;             /* 1 if the file has gradients, 0 if not */
} updates_layout;

int64_t updates_layout_bytes(const updates_layout *layout);
/* Sets count, k and all pointers of the batch, whose memory must have updates_layout_bytes(layout)
 * bytes. */
void updates_layout_assign(const updates_layout *layout, updates_batch *batch);

/* Checks of a layout that a process has sent, whose memory may be damaged. updates_layout_fits
 * returns true if the layout is valid for a request of `most` updates with values of `element`
 * bytes, and fits in `room` bytes. updates_layout_agrees returns true if the [count + 1] offsets
 * agree with such a layout. */
bool updates_layout_fits(const updates_layout *layout, int64_t most, size_t element, int64_t room);
bool updates_layout_agrees(const updates_layout *layout, const int64_t *offset);

#endif
