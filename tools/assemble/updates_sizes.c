/* Checks of the declared sizes of a data set, made once when the data set is opened, so that later
 * computations with sizes cannot overflow. See updates_file.h. */
#include "config.h"

#include "tools/assemble/updates_file.h"

#ifdef HAVE_HDF5

#include "osla_transport.h"

#include <inttypes.h>

enum {
  /* highest compression ratio of deflate, which can code 258 bytes by two bits */
  PACKED_MOST = 1032,
  HARMLESS = 16 << 20 /* number of bytes that may be declared without being stored (fill values) */
};

/* limit of the number of elements: 8 data sets with this number of doubles have less than 2^63
 * bytes */
#define ELEMENTS_MOST (INT64_C(1) << 56)
#define CHUNK_MOST    (UINT64_C(1) << 32) /* HDF5's own limit of a chunk in bytes */

/* Computes the number of elements of a data set or chunk. An empty dimension counts as 1, because
 * the other dimensions are also used alone. Returns false if the number is too large. */
static bool count_elements(int rank, const hsize_t *dims, uint64_t *elements)
{
  *elements = 1;
  for (int i = 0; i < rank; i++)
    if (__builtin_mul_overflow(*elements, dims[i] > 0 ? dims[i] : 1, elements)) return false;
  return *elements <= (uint64_t)ELEMENTS_MOST;
}

/* Returns an upper limit of the size that `stored` bytes have after decompression; UINT64_MAX if a
 * filter is unknown. */
static uint64_t most_unpacked(hid_t create, uint64_t stored)
{
  uint64_t most = stored;
  for (int i = 0; i < H5Pget_nfilters(create); i++) {
    unsigned flags, values[1] = {0};
    size_t n_values = 0;
    H5Z_filter_t filter =
      H5Pget_filter2(create, (unsigned)i, &flags, &n_values, values, 0, NULL, NULL);
    if (filter == H5Z_FILTER_SHUFFLE || filter == H5Z_FILTER_FLETCHER32) continue;
    if (filter != H5Z_FILTER_DEFLATE || __builtin_mul_overflow(most, PACKED_MOST, &most))
      return UINT64_MAX;
  }
  return most;
}

static osla_err check_chunks(const updates *f, const char *name, hid_t create, int rank,
                             uint64_t element)
{
  hsize_t dims[2] = {0, 0};
  uint64_t elements = 0;
  bool sound = H5Pget_chunk(create, rank, dims) == rank && dims[0] > 0 && dims[rank - 1] > 0 &&
               count_elements(rank, dims, &elements) && elements * element < CHUNK_MOST;
  OSLA_CHECK(sound, OSLA_ERR_IO, "%.200s: %s: has chunks of %" PRIu64 " x %" PRIu64 " elements",
             f->path, name, (uint64_t)dims[0], (uint64_t)(rank > 1 ? dims[1] : 1));
  return updates_check_memory(f, name, (int64_t)(elements * element));
}

/* Checks a data set whose data are in this file, not in other files. */
static osla_err check_stored(const updates *f, const char *name, hid_t set, hid_t create,
                             uint64_t bytes)
{
  hsize_t length = 0;
  (void)H5Fget_filesize(f->file, &length);
  haddr_t offset = H5Dget_offset(set);
  if (H5Pget_layout(create) == H5D_CONTIGUOUS && offset != HADDR_UNDEF) {
    OSLA_CHECK(offset <= length && bytes <= length - offset, OSLA_ERR_IO,
               "%.200s: %s: %" PRIu64 " bytes from byte %" PRIu64 " on, and the file has %" PRIu64,
               f->path, name, bytes, (uint64_t)offset, (uint64_t)length);
    return OSLA_OK;
  }
  if (bytes <= HARMLESS) return OSLA_OK;
  uint64_t stored = H5Dget_storage_size(set);
  if (stored > length) stored = length;
  OSLA_CHECK(bytes <= most_unpacked(create, stored), OSLA_ERR_IO,
             "%.200s: %s: is to have %" PRIu64 " bytes, and %" PRIu64 " are stored", f->path, name,
             bytes, stored);
  return OSLA_OK;
}

osla_err updates_check_size(const updates *f, const char *name, hid_t set, int rank,
                            const hsize_t dims[2])
{
  uint64_t elements, rows = dims[0], columns = rank > 1 ? dims[1] : 1;
  OSLA_CHECK(count_elements(rank, dims, &elements), OSLA_ERR_IO,
             "%.200s: %s: %" PRIu64 " x %" PRIu64 " elements are too many", f->path, name, rows,
             columns);
  hid_t create = H5Dget_create_plist(set), type = H5Dget_type(set);
  H5D_layout_t layout = H5Pget_layout(create);
  uint64_t element = H5Tget_size(type);
  bool elsewhere = layout == H5D_VIRTUAL || H5Pget_external_count(create) > 0;
  osla_err err = OSLA_OK;
  if (element == 0 || element > UPDATES_ELEMENT_MOST)
    err = osla_error_set(OSLA_ERR_IO, "%.200s: %s: has elements of %" PRIu64 " bytes", f->path,
                         name, element);
  else if (layout == H5D_CHUNKED)
    err = check_chunks(f, name, create, rank, element);
  if (err == OSLA_OK && !elsewhere)
    err = check_stored(f, name, set, create, rows * columns * element);
  (void)H5Tclose(type);
  (void)H5Pclose(create);
  return err;
}

osla_err updates_check_memory(const updates *f, const char *what, int64_t bytes)
{
  uint64_t shared, available;
  osla_memory_available(&shared, &available);
  OSLA_CHECK((uint64_t)bytes <= available, OSLA_ERR_MEM,
             "%.200s: %s: takes %" PRId64 " bytes, but only %" PRIu64
             " bytes of memory are available",
             f->path, what, bytes, available);
  return OSLA_OK;
}

#endif
