/* Opens a file of updates and checks it against the schema. See updates.h. */
#include "config.h"

#include "tools/assemble/updates_file.h"

#ifdef HAVE_HDF5

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *class_name(H5T_class_t class)
{
  switch (class) {
    case H5T_INTEGER: return "integers";
    case H5T_FLOAT: return "floating-point numbers";
    case H5T_STRING: return "texts";
    case H5T_COMPOUND: return "compounds (complex numbers?)";
    default: return "something else";
  }
}

/* Checks the type of a data set. Where floating-point numbers (H5T_FLOAT) are expected, integers
 * are accepted as well; HDF5 converts them. */
static osla_err check_class(const updates *f, const char *name, hid_t set, H5T_class_t expected)
{
  hid_t type = H5Dget_type(set);
  H5T_class_t class = H5Tget_class(type);
  (void)H5Tclose(type);
  OSLA_CHECK(class == expected || class == H5T_INTEGER, OSLA_ERR_IO,
             "%.200s: %s: %s were expected, and it holds %s", f->path, name,
             expected == H5T_INTEGER ? "integers" : "integers or floating-point numbers",
             class_name(class));
  return OSLA_OK;
}

/* Opens a data set. If it is missing, *set is -1, and this is an error only if it is `needed`. A
 * damaged data set is always an error. */
static osla_err open_set(const updates *f, const char *name, bool needed, H5T_class_t class,
                         int rank, hsize_t dims[2], hid_t *set)
{
  htri_t there = H5Lexists(f->file, name, H5P_DEFAULT);
  *set = there > 0 ? H5Dopen2(f->file, name, H5P_DEFAULT) : -1;
  OSLA_CHECK(there != 0 || !needed, OSLA_ERR_IO, "%.200s: no data set %s", f->path, name);
  if (there == 0) return OSLA_OK;
  OSLA_CHECK(*set >= 0, OSLA_ERR_IO, "%.200s: %s: is there, and cannot be opened as a data set",
             f->path, name);
  OSLA_CALL(check_class(f, name, *set, class));
  hid_t space = H5Dget_space(*set);
  int n_dims = H5Sget_simple_extent_ndims(space);
  if (n_dims == rank) (void)H5Sget_simple_extent_dims(space, dims, NULL);
  (void)H5Sclose(space);
  OSLA_CHECK(n_dims == rank, OSLA_ERR_IO, "%.200s: %s: %d dimension%s expected, and it has %d",
             f->path, name, rank, rank == 1 ? " was" : "s were", n_dims);
  return updates_check_size(f, name, *set, rank, dims);
}

static osla_err check_length(const updates *f, const char *name, hsize_t length, int64_t expected,
                             const char *why)
{
  OSLA_CHECK(length == (hsize_t)expected, OSLA_ERR_IO,
             "%.200s: %s: %" PRId64 " %s expected, and it has %" PRIu64, f->path, name, expected,
             why, (uint64_t)length);
  return OSLA_OK;
}

static osla_err read_offset(updates *f, hid_t set, int64_t length)
{
  f->count = length - 1;
  OSLA_CHECK(length >= 1, OSLA_ERR_IO, "%.200s: offset: is empty; it begins with 0", f->path);
  OSLA_CALL(updates_check_memory(f, "offset", length * (int64_t)(2 * sizeof *f->offset)));
  f->offset = malloc((size_t)length * sizeof *f->offset);
  OSLA_CHECK(f->offset, OSLA_ERR_MEM, "no memory for offsets of %" PRId64 " updates", f->count);
  if (set < 0) {
    f->offset[0] = 0;
    f->offset[1] = f->total;
  } else {
    bool done = H5Dread(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, f->offset) >= 0;
    if (!done) OSLA_CALL(osli_hdf5_check_filters(set, f->path, "offset"));
    OSLA_CHECK(done, OSLA_ERR_IO, "%.200s: offset: cannot be read", f->path);
  }
  OSLA_CHECK(f->offset[0] == 0 && f->offset[f->count] == f->total, OSLA_ERR_IO,
             "%.200s: offset: 0 to %" PRId64 " (the length of ix) was expected, and it goes from "
             "%" PRId64 " to %" PRId64,
             f->path, f->total, f->offset[0], f->offset[f->count]);
  for (int64_t u = 0; u < f->count; u++)
    OSLA_CHECK(f->offset[u] <= f->offset[u + 1], OSLA_ERR_IO,
               "%.200s: offset: must not fall, and offset[%" PRId64 "] = %" PRId64
               " is above offset[%" PRId64 "] = %" PRId64,
               f->path, u, f->offset[u], u + 1, f->offset[u + 1]);
  return OSLA_OK;
}

static osla_err open_indices(updates *f)
{
  hsize_t dims[2] = {0, 0};
  hid_t set = -1;
  OSLA_CALL(open_set(f, "ix", true, H5T_INTEGER, 1, dims, &f->ix));
  f->total = (int64_t)dims[0];
  osla_err err = open_set(f, "offset", false, H5T_INTEGER, 1, dims, &set);
  if (err == OSLA_OK) err = read_offset(f, set, set >= 0 ? (int64_t)dims[0] : 2);
  if (set >= 0) (void)H5Dclose(set);
  return err;
}

/* Opens the data set w or r. */
static osla_err open_data(updates *f, const char *name, hid_t *set)
{
  hsize_t dims[2] = {0, 0};
  OSLA_CALL(open_set(f, name, false, H5T_FLOAT, 2, dims, set));
  if (*set < 0) return OSLA_OK;
  OSLA_CALL(check_length(f, name, dims[0], f->count, "rows (the number of updates) were"));
  return check_length(f, name, dims[1], f->k, "columns (as G) were");
}

static osla_err open_panels(updates *f, const hsize_t dims[2])
{
  OSLA_CALL(check_length(f, "G", dims[0], f->total, "rows (the length of ix) were"));
  OSLA_CHECK(dims[1] > 0, OSLA_ERR_IO, "%.200s: G: has no columns", f->path);
  f->k = (int64_t)dims[1];
  OSLA_CALL(open_data(f, "w", &f->w));
  return open_data(f, "r", &f->r);
}

static osla_err open_blocks(updates *f)
{
  hsize_t dims[2] = {0, 0};
  OSLA_CALL(open_set(f, "U", false, H5T_FLOAT, 1, dims, &f->u));
  OSLA_CHECK(f->u >= 0, OSLA_ERR_IO, "%.200s: neither a data set G nor U", f->path);
  f->place = malloc(((size_t)f->count + 1) * sizeof *f->place);
  OSLA_CHECK(f->place, OSLA_ERR_MEM, "no memory for places of %" PRId64 " blocks", f->count);
  f->place[0] = 0;
  for (int64_t u = 0; u < f->count; u++) {
    int64_t n = f->offset[u + 1] - f->offset[u], square;
    bool fits = !__builtin_mul_overflow(n, n, &square) &&
                !__builtin_add_overflow(f->place[u], square, &f->place[u + 1]) &&
                (hsize_t)f->place[u + 1] <= dims[0];
    OSLA_CHECK(fits, OSLA_ERR_IO,
               "%.200s: U: has %" PRIu64 " elements, too few for update %" PRId64 " of %" PRId64
               " indices",
               f->path, (uint64_t)dims[0], u, n);
  }
  return check_length(f, "U", dims[0], f->place[f->count], "elements (the sum of n^2) were");
}

/* Checks that there is memory for the largest update with values in double, and for its work
 * arrays. */
static osla_err check_largest(const updates *f)
{
  int64_t largest = 0;
  for (int64_t u = 0; u < f->count; u++) {
    int64_t bytes = updates_bytes(f, u, 1, sizeof(double));
    if (bytes > largest) largest = bytes;
  }
  return updates_check_memory(f, "the largest update", largest + f->k * (int64_t)sizeof(double));
}

static osla_err open_all(updates *f)
{
  hsize_t dims[2] = {0, 0};
  OSLA_CALL(open_indices(f));
  OSLA_CALL(open_set(f, "G", false, H5T_FLOAT, 2, dims, &f->u));
  OSLA_CALL(f->u >= 0 ? open_panels(f, dims) : open_blocks(f));
  OSLA_CALL(open_set(f, "g", false, H5T_FLOAT, 1, dims, &f->g));
  if (f->g >= 0)
    OSLA_CALL(check_length(f, "g", dims[0], f->total, "elements (the length of ix) were"));
  return check_largest(f);
}

static osla_err open_file(updates *f)
{
  OSLA_CHECK(access(f->path, R_OK) == 0, OSLA_ERR_IO, "%.200s: %s", f->path, strerror(errno));
  hid_t access_list = H5Pcreate(H5P_FILE_ACCESS);
#if H5_VERSION_GE(1, 10, 7)
  /* no file locking, because many ranks read the file at the same time */
  (void)H5Pset_file_locking(access_list, false, true);
#endif
  f->file = H5Fopen(f->path, H5F_ACC_RDONLY, access_list);
  (void)H5Pclose(access_list);
  OSLA_CHECK(f->file >= 0, OSLA_ERR_IO, "%.200s: not an HDF5 file, or truncated", f->path);
  return open_all(f);
}

osla_err updates_open(const char *path, updates **out)
{
  osla_err err;
  updates *f = malloc(sizeof *f);
  *out = f;
  OSLA_CHECK(f, OSLA_ERR_MEM, "no memory for file object");
  *f = (updates){.path = path, .file = -1, .ix = -1, .u = -1, .w = -1, .r = -1, .g = -1};
  H5E_BEGIN_TRY
  {
    err = open_file(f);
  }
  H5E_END_TRY
  if (err != OSLA_OK) updates_close(out);
  return err;
}

void updates_close(updates **file)
{
  updates *f = *file;
  if (!f) return;
  const hid_t sets[] = {f->ix, f->u, f->w, f->r, f->g};
  for (size_t k = 0; k < sizeof sets / sizeof *sets; k++)
    if (sets[k] >= 0) (void)H5Dclose(sets[k]);
  if (f->file >= 0) (void)H5Fclose(f->file);
  free(f->offset);
  free(f->place);
  free(f);
  *file = NULL;
}

int64_t updates_count(const updates *f)
{
  return f->count;
}

#else

osla_err updates_open(const char *path, updates **out)
{
  *out = NULL;
  return osla_error_set(
    OSLA_ERR_UNSUPPORTED,
    "%.200s: this build has no HDF5 (Debian package: libhdf5-" OSLA_DEBIAN_MPI "-dev)", path);
}

void updates_close(updates **file)
{
  *file = NULL;
}

int64_t updates_count(const updates *file)
{
  (void)file;
  return 0;
}

#endif
