/* An open file of updates (private to updates*.c; layer 4). */
#ifndef OSLA_UPDATES_FILE_H
#define OSLA_UPDATES_FILE_H

#include "tools/assemble/updates.h"

#ifdef HAVE_HDF5

#include "src/file/hdf5_filter.h"

enum { UPDATES_ELEMENT_MOST = 16 }; /* bytes of a long double in the file */

struct updates {
  const char *path;
  hid_t file, ix, u, w, r, g; /* identifiers of file and data sets; u: G or U; -1: missing */
  int64_t count, total, k;    /* number of updates, of indices, of columns of G; k = 0: blocks U */
  int64_t *offset;            /* [count + 1] offset of each update's indices in ix */
  int64_t *place;             /* [count + 1] offset of each block in U; NULL: panels G */
};

/* Checks of sizes (updates_sizes.c). Local. Errors: IO, MEM. */
/* Checks that the file holds as many bytes as a data set of `rank` (1 or 2) dimensions declares.
 * Then each dimension, and the sum of eight such sets of 8-byte elements, is below 2^63 bytes. */
osla_err updates_check_size(const updates *file, const char *name, hid_t set, int rank,
                            const hsize_t dims[2]);
/* Checks that `bytes` of memory are available. */
osla_err updates_check_memory(const updates *file, const char *what, int64_t bytes);

/* Bytes of updates [first, first + count) in memory, with values of `element` bytes (updates.c). */
int64_t updates_bytes(const updates *file, int64_t first, int64_t count, size_t element);

#endif
#endif
