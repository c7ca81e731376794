/* An open file of updates (private to updates*.c; floor 4). */
#ifndef OSLA_UPDATES_FILE_H
#define OSLA_UPDATES_FILE_H

#include "tools/assemble/updates.h"

#ifdef HAVE_HDF5

#include "src/file/hdf5_filter.h"

enum { UPDATES_ELEMENT_MOST = 16 }; /* bytes in the file: long double */

struct updates {
  const char *path;
  hid_t file, ix, u, w, r, g; /* u: G or U; -1: missing */
  int64_t count, total, k;    /* updates, indices, columns of G; k = 0: U */
  int64_t *offset;            /* [count + 1] */
  int64_t *place;             /* [count + 1] where the blocks begin in U; NULL: G */
};

/* --- updates_sizes.c: is a size possible? Local. Errors: IO, MEM. --- */
/* Does the file hold what the data set of `rank` (1 or 2) dimensions declares? Then its elements,
 * as 8 bytes each, and sums of eight such sets are below 2^63 bytes; so is each dimension alone. */
osla_err updates_check_size(const updates *file, const char *name, hid_t set, int rank,
                            const hsize_t dims[2]);
/* Is there memory for so many bytes? */
osla_err updates_check_memory(const updates *file, const char *what, int64_t bytes);

/* --- updates.c --- */
/* Bytes in memory of updates [first, first + count), with values of `element` bytes. */
int64_t updates_bytes(const updates *file, int64_t first, int64_t count, size_t element);

#endif
#endif
