/* Reading updates in batches, and checking their values. See updates.h. */
#include "config.h"

#include "updates_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

osla_err updates_memory_map(updates_memory *m, int64_t room)
{
  updates_memory_free(m);
  void *start = mmap(NULL, (size_t)room, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
  OSLA_CHECK(start != MAP_FAILED, OSLA_ERR_MEM, "%" PRId64 " bytes of updates: %s", room,
             strerror(errno));
  m->start = start;
  m->room = room;
  return OSLA_OK;
}

/* The pages are made at once: later a lack of memory would be a bus error. */
static osla_err grow_shared(updates_memory *m, int64_t bytes)
{
  updates_memory_free(m);
  int reason = posix_fallocate(m->fd, 0, bytes);
  OSLA_CHECK(reason == 0, OSLA_ERR_MEM, "%" PRId64 " bytes of updates: %s%s", bytes,
             strerror(reason), reason == EFBIG ? " (the limit of ulimit -f)" : "");
  return updates_memory_map(m, bytes);
}

osla_err updates_memory_grow(updates_memory *m, int64_t bytes)
{
  if (m->room >= bytes) return OSLA_OK;
  if (m->shared) return grow_shared(m, bytes);
  updates_memory_free(m);
  m->start = malloc((size_t)bytes);
  OSLA_CHECK(m->start, OSLA_ERR_MEM, "%" PRId64 " bytes of updates", bytes);
  m->room = bytes;
  return OSLA_OK;
}

void updates_memory_free(updates_memory *m)
{
  if (!m->shared)
    free(m->start);
  else if (m->start)
    (void)munmap(m->start, (size_t)m->room);
  m->start = NULL;
  m->room = 0;
}

#ifdef HAVE_HDF5

enum { BATCH_BYTES = 16 << 20 };

/* Where the values of updates [first, last) lie: elements of U, or rows of G times its columns. */
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

/* Elements of the arrays of updates [first, first + count): of ix, of w and r, of G or U. */
typedef struct counts {
  int64_t indices, data, values;
} counts;

static counts count_elements(const updates *f, int64_t first, int64_t count)
{
  return (counts){.indices = f->offset[first + count] - f->offset[first],
                  .data = f->w >= 0 || f->r >= 0 ? count * f->k : 0,
                  .values = values_before(f, first + count) - values_before(f, first)};
}

int64_t updates_bytes(const updates *f, int64_t first, int64_t count, size_t element)
{
  counts c = count_elements(f, first, count);
  int64_t words =
    count + 1 + (f->g >= 0 ? 2 : 1) * c.indices + ((f->w >= 0) + (f->r >= 0)) * c.data;
  return 8 * words + (c.values * (int64_t)element + 7) / 8 * 8;
}

/* One piece of memory for all arrays, kept for the next batch. */
static osla_err allocate(const updates *f, osla_dtype dtype, updates_batch *b)
{
  counts c = count_elements(f, b->first, b->count);
  OSLA_CALL(
    updates_memory_grow(&b->memory, updates_bytes(f, b->first, b->count, osla_dtype_size(dtype))));
  int64_t *next = b->memory.start;
  b->offset = memcpy(next, f->offset + b->first, (size_t)(b->count + 1) * sizeof *next);
  next += b->count + 1;
  b->ix = next;
  next += c.indices;
  b->g = f->g >= 0 ? (double *)next : NULL;
  next += f->g >= 0 ? c.indices : 0;
  b->w = f->w >= 0 ? (double *)next : NULL;
  next += f->w >= 0 ? c.data : 0;
  b->r = f->r >= 0 ? (double *)next : NULL;
  next += f->r >= 0 ? c.data : 0;
  b->values = next;
  return OSLA_OK;
}

/* Rows [first, first + count) of a data set, all columns. */
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

/* `first` is the element's number in the data set. */
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
  int64_t data = count_elements(f, b->first, b->count).data;
  int64_t before = b->w || b->r ? b->first * f->k : 0;
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
