/* A filter that copies its input and has the number 32000 of h5py's filter lzf, for tests of
 * readers without lzf. A test registers it, writes a data set and unregisters it. */
#ifndef LZF_FILTER_H
#define LZF_FILTER_H

#include <hdf5.h>
#include <stdbool.h>

enum { LZF_FILTER = 32000 };

/* If true, the filter reports failure, like a filter that cannot make a chunk shorter. HDF5 then
 * stores the chunk without the filter. */
static bool lzf_declines;

static size_t lzf_apply(unsigned flags, size_t n_values, const unsigned values[], size_t bytes,
                        size_t *room, void **buffer)
{
  (void)flags, (void)n_values, (void)values, (void)room, (void)buffer;
  return lzf_declines ? 0 : bytes;
}

/* Registers the filter and adds it to a creation property list as an optional filter, as h5py does.
 * Returns false if HDF5 refuses the filter. */
static bool lzf_begin(hid_t create)
{
  const H5Z_class2_t lzf = {H5Z_CLASS_T_VERS, LZF_FILTER, 1, 1, "lzf", NULL, NULL, lzf_apply};
  return H5Zregister(&lzf) >= 0 &&
         H5Pset_filter(create, LZF_FILTER, H5Z_FLAG_OPTIONAL, 0, NULL) >= 0;
}

/* Unregisters the filter. The data set must have been closed. */
static bool lzf_end(void)
{
  return H5Zunregister(LZF_FILTER) >= 0;
}

#endif
