/* An open file of updates (private to updates*.c; floor 4). */
#ifndef OSLA_UPDATES_FILE_H
#define OSLA_UPDATES_FILE_H

#include "updates.h"

#ifdef HAVE_HDF5

#include <hdf5.h>

struct updates {
  const char *path;
  hid_t file, ix, u, w, r, g; /* u: G or U; -1: missing */
  int64_t count, total, k;    /* updates, indices, columns of G; k = 0: U */
  int64_t *offset;            /* [count + 1] */
  int64_t *place;             /* [count + 1] where the blocks begin in U; NULL: G */
};

#endif
#endif
