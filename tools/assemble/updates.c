/* Reads updates in batches and checks their values. See updates.h. */
#include "config.h"

#include "tools/assemble/updates_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_HDF5

enum { BATCH_BYTES = 16 << 20 };

/* Returns the offset of an update's values in their data set, in elements of U or of G. */
static int64_t values_before(const updates *f, int64_t update)
{
  return f->place ? f->place[update] : f->offset[update] * f->k;
}

static void choose_count(const updates *f, int64_t first, int64_t count, osla_dtype dtype,
                         updates_batch *b)
{
  int64_t most = BATCH_BYTES / (int64_t)osla_dtype_size(dtype);
  int64_t begin = values_before(f, first), last = first + 1;
  while (last < first + count && values_before(f, last + 1) - begin <= most)
    last++;
  *b = (updates_batch){.first = first, .count = last - first, .k = f->k, .memory = b->memory};
}

static updates_layout layout_of(const updates *f, int64_t first, int64_t count, size_t element)
{
  return (updates_layout){.count = count,
                          .k = f->k,
                          .indices = f->offset[first + count] - f->offset[first],
                          .values = values_before(f, first + count) - values_before(f, first),
                          .element = element,
                          .w = f->w >= 0,
                          .r = f->r >= 0,
                          .g = f->g >= 0};
}

int64_t updates_bytes(const updates *f, int64_t first, int64_t count, size_t element)
{
  const updates_layout l = layout_of(f, first, count, element);
  return updates_layout_bytes(&l);
}

/* Allocates the arrays of a batch; the next batch reuses the memory. */
static osla_err allocate(const updates *f, osla_dtype dtype, updates_batch *b)
{
  const updates_layout l = layout_of(f, b->first, b->count, osla_dtype_size(dtype));
  OSLA_CALL(updates_memory_grow(&b->memory, updates_layout_bytes(&l)));
  updates_layout_assign(&l, b);
  memcpy(b->offset, f->offset + b->first, (size_t)(b->count + 1) * sizeof *b->offset);
  return OSLA_OK;
}

/* Reads rows [first, first + count) of a data set with all their columns; columns = 0: the data set
 * is a vector. */
static osla_err read_rows(const updates *f, const char *name, hid_t set, hid_t type, int64_t first,
                          int64_t count, int64_t columns, void *to)
{
  hsize_t start[2] = {(hsize_t)first, 0}, size[2] = {(hsize_t)count, (hsize_t)columns};
  int rank = columns > 0 ? 2 : 1;
  if (count == 0) return OSLA_OK;
  hid_t there = H5Dget_space(set), here = H5Screate_simple(rank, size, NULL);
  bool done = H5Sselect_hyperslab(there, H5S_SELECT_SET, start, NULL, size, NULL) >= 0 &&
              H5Dread(set, type, here, there, H5P_DEFAULT, to) >= 0;
  (void)H5Sclose(here);
  (void)H5Sclose(there);
  if (!done) OSLA_CALL(osli_hdf5_check_filters(set, f->path, name));
  OSLA_CHECK(done, OSLA_ERR_IO, "%.200s: %s: cannot be read from element %" PRId64 " on", f->path,
             name, first);
  return OSLA_OK;
}

static osla_err read_arrays(updates *f, osla_dtype dtype, updates_batch *b)
{
  int64_t first = b->offset[0], indices = b->offset[b->count] - first;
  hid_t type = dtype == OSLA_FLOAT ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
  OSLA_CALL(read_rows(f, "ix", f->ix, H5T_NATIVE_INT64, first, indices, 0, b->ix));
  if (f->place) {
    int64_t begin = f->place[b->first], end = f->place[b->first + b->count];
    OSLA_CALL(read_rows(f, "U", f->u, type, begin, end - begin, 0, b->values));
  } else {
    OSLA_CALL(read_rows(f, "G", f->u, type, first, indices, f->k, b->values));
  }
  if (b->w) OSLA_CALL(read_rows(f, "w", f->w, H5T_NATIVE_DOUBLE, b->first, b->count, f->k, b->w));
  if (b->r) OSLA_CALL(read_rows(f, "r", f->r, H5T_NATIVE_DOUBLE, b->first, b->count, f->k, b->r));
  if (b->g) OSLA_CALL(read_rows(f, "g", f->g, H5T_NATIVE_DOUBLE, first, indices, 0, b->g));
  return OSLA_OK;
}

/* Checks that `count` values are finite; `first` is the index of the first value in the data set.
 */
static osla_err check_finite(const updates *f, const char *name, const void *values, bool single,
                             int64_t count, int64_t first)
{
  for (int64_t i = 0; i < count; i++) {
    double x = single ? (double)((const float *)values)[i] : ((const double *)values)[i];
    OSLA_CHECK(isfinite(x), OSLA_ERR_IO,
               "%.200s: %s: finite numbers were expected, and element %" PRId64 " is %g", f->path,
               name, first + i, x);
  }
  return OSLA_OK;
}

static osla_err check_values(const updates *f, osla_dtype dtype, const updates_batch *b)
{
  int64_t begin = values_before(f, b->first), end = values_before(f, b->first + b->count);
  int64_t data = b->w || b->r ? b->count * f->k : 0, before = b->w || b->r ? b->first * f->k : 0;
  OSLA_CALL(
    check_finite(f, f->place ? "U" : "G", b->values, dtype == OSLA_FLOAT, end - begin, begin));
  if (b->w) OSLA_CALL(check_finite(f, "w", b->w, false, data, before));
  if (b->r) OSLA_CALL(check_finite(f, "r", b->r, false, data, before));
  if (b->g)
    OSLA_CALL(check_finite(f, "g", b->g, false, b->offset[b->count] - b->offset[0], b->offset[0]));
  for (int64_t i = 0; b->w && i < data; i++)
    OSLA_CHECK(b->w[i] >= 0.0, OSLA_ERR_IO,
               "%.200s: w: weights >= 0 were expected, and element %" PRId64 " is %g", f->path,
               before + i, b->w[i]);
  return OSLA_OK;
}

osla_err updates_read(updates *f, int64_t first, int64_t count, osla_dtype dtype, updates_batch *b)
{
  osla_err err;
  choose_count(f, first, count, dtype, b);
  OSLA_CALL(allocate(f, dtype, b));
  H5E_BEGIN_TRY
  {
    err = read_arrays(f, dtype, b);
  }
  H5E_END_TRY
  return err == OSLA_OK ? check_values(f, dtype, b) : err;
}

#else

osla_err updates_read(updates *f, int64_t first, int64_t count, osla_dtype dtype, updates_batch *b)
{
  (void)f, (void)first, (void)count, (void)dtype, (void)b;
  return osla_error_set(OSLA_ERR_UNSUPPORTED, "this build has no HDF5");
}

#endif
