/* An open file of updates (private to updates*.c; layer 4). */
#ifndef OSLA_UPDATES_FILE_H
#define OSLA_UPDATES_FILE_H

#include "tools/assemble/updates.h"

#ifdef HAVE_HDF5

#include "src/file/hdf5_filter.h"

enum { UPDATES_ELEMENT_MOST = 16 }; /* bytes of the largest accepted element, a long double */

struct updates {
  const char *path;
  /* identifiers of the file and its data sets, -1 if missing; u is the data set G or U */
  hid_t file, ix, u, w, r, g;
  /* number of updates, number of indices, number of columns of G; k = 0: the updates are blocks
   * U */
  int64_t count, total, k;
  int64_t *offset; /* [count + 1] offset of each update's indices in ix */
  /* [count + 1] offset of each block in U; NULL: the updates are panels G */
  int64_t *place;
};

/* Checks of sizes (updates_sizes.c). Local. Errors: IO, MEM. */
/* Checks that the file holds as many bytes as a data set of `rank` (1 or 2) dimensions declares.
 * After a success each dimension is below 2^63 bytes, and so is the sum of eight data sets of this
 * size with 8-byte elements. */
osla_err updates_check_size(const updates *file, const char *name, hid_t set, int rank,
                            const hsize_t dims[2]);
/* Checks that `bytes` bytes of memory are available. */
osla_err updates_check_memory(const updates *file, const char *what, int64_t bytes);

/* Returns the bytes that updates [first, first + count) need in memory, with values of `element`
 * bytes (updates.c). */
int64_t updates_bytes(const updates *file, int64_t first, int64_t count, size_t element);

#endif
#endif
