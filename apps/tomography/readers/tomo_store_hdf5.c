/* Converts a result file to and from HDF5. The file is made and read as an image in memory (core
 * driver without backing store, HDF5 User's Guide 3.7.5, "File Image Operations"), so that HDF5
 * never accesses the disk. A single process accesses the image, even if HDF5 is built for parallel
 * access, so no communicator is needed. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "apps/tomography/readers/tomo_store_format.h"

#ifdef HAVE_HDF5

#include "tools/common/library_files.h"
#include <stdlib.h>
#include <string.h>

/* file name that HDF5 requires for a file in memory; no such file is created */
static const char image_name[] = "osla-result";

static bool put_text(hid_t at, const char *name, const char *text)
{
  const size_t length = strlen(text) + 1;
  hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
  H5Tset_size(type, length);
  H5Tset_cset(type, H5T_CSET_UTF8);
  hid_t attribute = H5Acreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  const bool done = attribute >= 0 && H5Awrite(attribute, type, text) >= 0;
  if (attribute >= 0) H5Aclose(attribute);
  H5Sclose(space);
  H5Tclose(type);
  return done;
}

static bool put_number(hid_t at, const char *name, double value)
{
  hid_t space = H5Screate(H5S_SCALAR);
  hid_t attribute = H5Acreate2(at, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT);
  const bool done = attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value) >= 0;
  if (attribute >= 0) H5Aclose(attribute);
  H5Sclose(space);
  return done;
}

static bool put_array(hid_t file, const store_entry *entry)
{
  hsize_t dims[TOMO_STORE_RANK_MAX];
  for (int i = 0; i < entry->rank; i++)
    dims[i] = (hsize_t)entry->dims[i];
  hid_t space = H5Screate_simple(entry->rank, dims, NULL);
  const bool whole = entry->integers != NULL;
  const void *data = whole ? (const void *)entry->integers : entry->data;
  const hid_t type = whole ? H5T_STD_I32LE : H5T_IEEE_F64LE;
  const hid_t native = whole ? H5T_NATIVE_INT32 : H5T_NATIVE_DOUBLE;
  hid_t set = H5Dcreate2(file, entry->name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  bool done = set >= 0;
  if (done && entry->count > 0)
    done = H5Dwrite(set, native, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
  done = done && put_text(set, "unit", entry->unit);
  if (set >= 0) H5Dclose(set);
  H5Sclose(space);
  return done;
}

static bool put_all(hid_t file, const tomo_store *store)
{
  for (int64_t i = 0; i < store->count; i++) {
    const store_entry *entry = &store->entry[i];
    bool done = entry->kind == STORE_ARRAY    ? put_array(file, entry)
                : entry->kind == STORE_NUMBER ? put_number(file, entry->name, entry->number)
                                              : put_text(file, entry->name, entry->text);
    if (!done) return false;
  }
  return H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0;
}

static osla_err make_image(const tomo_store *store, void **image, size_t *size)
{
  ssize_t length = -1;
  void *bytes = NULL;
  H5E_BEGIN_TRY
  {
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(access, (size_t)1 << 20, false);
    hid_t file = H5Fcreate(image_name, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    if (file >= 0 && put_all(file, store)) length = H5Fget_file_image(file, NULL, 0);
    if (length > 0) bytes = malloc((size_t)length);
    if (bytes && H5Fget_file_image(file, bytes, (size_t)length) != length) {
      free(bytes);
      bytes = NULL;
    }
    if (file >= 0) H5Fclose(file);
    H5Pclose(access);
  }
  H5E_END_TRY
  OSLA_CHECK(bytes, OSLA_ERR_MEM, "HDF5 cannot make the image of the result file in memory");
  *image = bytes;
  *size = (size_t)length;
  return OSLA_OK;
}

static bool is_mine(const void *image, size_t size)
{
  return size >= 8 && memcmp(image, "\x89HDF\r\n\x1a\n", 8) == 0;
}

static hid_t open_image(const void *image, size_t size)
{
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_core(access, (size_t)1 << 20, false);
  /* HDF5 copies the image, although its parameter is not const */
  H5Pset_file_image(access, (void *)(uintptr_t)image, size);
  hid_t file = H5Fopen(image_name, H5F_ACC_RDONLY, access);
  H5Pclose(access);
  return file;
}

/* Finds the data of a contiguous, unfiltered data set, as this library writes them, in the image.
 * HDF5 is used only for the metadata, because data that HDF5 reads itself may come from another
 * position than the file says (doc/hazards.md). Returns NULL for any other data set. */
static const void *find_data(hid_t set, const void *image, size_t size, hid_t type, size_t element,
                             size_t *count)
{
  hid_t space = H5Dget_space(set), there = H5Dget_type(set), create = H5Dget_create_plist(set);
  const hssize_t n = H5Sget_simple_extent_npoints(space);
  const haddr_t offset = H5Dget_offset(set);
  bool mine = H5Tequal(there, type) > 0 && H5Pget_layout(create) == H5D_CONTIGUOUS &&
              H5Pget_external_count(create) == 0 && H5Pget_nfilters(create) == 0 && n >= 0;
  H5Pclose(create);
  H5Tclose(there);
  H5Sclose(space);
  *count = mine ? (size_t)n : 0;
  if (mine && n == 0) return image;
  mine = mine && offset < size && (size_t)n <= (size - (size_t)offset) / element;
  return mine ? (const char *)image + offset : NULL;
}

/* Copies the elements of a data set of doubles or integers, as doubles. */
static double *copy_data(hid_t set, const void *image, size_t size, size_t *count)
{
  const hid_t types[] = {H5T_IEEE_F64LE, H5T_STD_I32LE};
  const size_t bytes[] = {sizeof(double), sizeof(int32_t)};
  for (int i = 0; i < 2; i++) {
    const void *data = find_data(set, image, size, types[i], bytes[i], count);
    if (!data) continue;
    double *values = malloc(*count * sizeof *values + 1);
    if (!values) return NULL;
    memcpy(values, data, *count * bytes[i]);
    if (H5Tconvert(types[i], H5T_NATIVE_DOUBLE, *count, values, NULL, H5P_DEFAULT) >= 0)
      return values;
    free(values);
  }
  return NULL;
}

static osla_err read_array(const char *path, const void *image, size_t size, const char *name,
                           double **data, int64_t *count)
{
  double *values = NULL;
  size_t n = 0;
  osla_err err = OSLA_OK;
  H5E_BEGIN_TRY
  {
    hid_t file = open_image(image, size);
    hid_t set = file >= 0 ? H5Dopen2(file, name, H5P_DEFAULT) : -1;
    if (set >= 0) {
      values = copy_data(set, image, size, &n);
      if (!values) err = osli_hdf5_check_unfiltered(set, path, name);
      H5Dclose(set);
    }
    if (file >= 0) H5Fclose(file);
  }
  H5E_END_TRY
  OSLA_CALL(err);
  OSLA_CHECK(values, OSLA_ERR_IO, "%s: no array %.63s as osla writes it", path, name);
  *data = values;
  *count = (int64_t)n;
  return OSLA_OK;
}

const store_format *store_format_hdf5(void)
{
  static const store_format format = {is_mine, make_image, read_array};
  return &format;
}

#else

const store_format *store_format_hdf5(void)
{
  return NULL;
}

#endif
