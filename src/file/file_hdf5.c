/* Rank 0's part of an HDF5 file (contract: file_hdf5.h). A new file is made in memory, with holes
 * in place of the arrays; file_hdf5.h says why. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "src/file/file_hdf5.h"
#include "src/file/hdf5_filter.h"

#ifdef HAVE_HDF5

#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

struct file_hdf5 {
  hid_t file;
  file_image image; /* memory of a new file; FILE_NO_IMAGE for a file opened for reading */
  const char *path;
};

enum {
  /* alignment of arrays in bytes, so that two ranks' pieces never share a page */
  ALIGNMENT = FILE_PAGE,
  /* upper bound in bytes of a file's metadata, and of the length of a text */
  METADATA_BYTES = 1 << 20
};

static const char *const stored_name[] = {"whole", "lower", "upper"};

static void release_id(hid_t id)
{
  if (id >= 0) (void)H5Idec_ref(id);
}

/* The description of HDF5's innermost error, which contains the system's reason. */
static herr_t get_innermost_text(unsigned n, const H5E_error2_t *error, void *text)
{
  if (n == 0) *(const char **)text = error->desc;
  return 0;
}

static osla_err hdf5_error(const char *path, const char *what, const char *name)
{
  const char *text = NULL;
  (void)H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, get_innermost_text, &text);
  return osla_error_set(OSLA_ERR_IO, "%.150s: %s%.60s: %.200s", path, what, name,
                        text ? text : "HDF5 gives no reason");
}

static hid_t complex_type(hid_t part)
{
  size_t size = H5Tget_size(part);
  hid_t type = H5Tcreate(H5T_COMPOUND, 2 * size);
  (void)H5Tinsert(type, "r", 0, part);
  (void)H5Tinsert(type, "i", size, part);
  return type;
}

static hid_t make_type(file_type type)
{
  switch (type) {
    case FILE_S: return H5Tcopy(H5T_IEEE_F32LE);
    case FILE_D: return H5Tcopy(H5T_IEEE_F64LE);
    case FILE_C: return complex_type(H5T_IEEE_F32LE);
    case FILE_Z: return complex_type(H5T_IEEE_F64LE);
    case FILE_I64: return H5Tcopy(H5T_STD_I64LE);
    default: return H5Tcopy(H5T_STD_U64LE);
  }
}

static hid_t text_type(size_t size)
{
  hid_t type = H5Tcopy(H5T_C_S1);
  (void)H5Tset_size(type, size);
  (void)H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

static osla_err put_attribute(file_hdf5 *h, hid_t at, const char *name, hid_t type,
                              const void *value)
{
  osla_err err = OSLA_OK;
  hid_t space = H5Screate(H5S_SCALAR);
  hid_t attribute = H5Acreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  if (attribute < 0 || H5Awrite(attribute, type, value) < 0)
    err = hdf5_error(h->path, "attribute ", name);
  release_id(attribute);
  release_id(space);
  return err;
}

/* Reads an attribute that must hold one value of the given type. If type < 0, the attribute must be
 * a text, which is cut to `size` bytes including its final 0. */
static bool get_attribute(hid_t at, const char *name, hid_t type, void *value, size_t size)
{
  hid_t attribute = H5Aexists(at, name) > 0 ? H5Aopen(at, name, H5P_DEFAULT) : -1;
  if (attribute < 0) return false;
  hid_t there = H5Aget_type(attribute), space = H5Aget_space(attribute);
  bool fits = H5Sget_simple_extent_npoints(space) == 1;
  bool done = false;
  if (type >= 0) {
    done = fits && H5Tequal(there, type) > 0 && H5Aread(attribute, type, value) >= 0;
  } else if (fits && H5Tget_class(there) == H5T_STRING && H5Tis_variable_str(there) == 0) {
    hid_t wanted = text_type(size);
    (void)H5Tset_cset(wanted, H5Tget_cset(there));
    done = H5Tget_size(there) < METADATA_BYTES && H5Aread(attribute, wanted, value) >= 0;
    /* HDF5 does not terminate a text that fills the buffer */
    if (done) ((char *)value)[size - 1] = '\0';
    release_id(wanted);
  }
  release_id(space);
  release_id(there);
  release_id(attribute);
  return done;
}

static osla_err make_handle(hid_t file, const char *path, file_hdf5 **out)
{
  if (file < 0) return hdf5_error(path, "", "HDF5");
  *out = malloc(sizeof **out);
  if (*out) {
    **out = (file_hdf5){.file = file, .image = FILE_NO_IMAGE, .path = path};
    return OSLA_OK;
  }
  release_id(file);
  return osla_error_set(OSLA_ERR_MEM, "file object");
}

/* No file locks: only this process opens a new file, and a committed file never changes. */
static hid_t file_access(void)
{
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  (void)H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  (void)H5Pset_alignment(access, ALIGNMENT, ALIGNMENT);
#if H5_VERSION_GE(1, 10, 7)
  (void)H5Pset_file_locking(access, false, true);
#endif
  return access;
}

osla_err osli_file_hdf5_create(const char *path, file_hdf5 **out)
{
  osla_err err;
  file_image image;
  char name[FILE_IMAGE_NAME];
  *out = NULL;
  OSLA_CALL(osli_check_length(path, METADATA_BYTES));
  OSLA_CALL(osli_file_image_create(&image, path, name));
  H5E_BEGIN_TRY
  {
    hid_t access = file_access();
    /* The default driver (sec2) fails on `name`, a symbolic link in /proc to a file without a
     * name. */
    (void)H5Pset_fapl_stdio(access);
    /* The file format of version 1.8 stores metadata with checksums. Without checksums HDF5 may
     * crash on a single changed byte (doc/hazards.md). */
    (void)H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18);
    err = make_handle(H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access), path, out);
    release_id(access);
  }
  H5E_END_TRY
  if (err == OSLA_OK)
    (*out)->image = image;
  else
    osli_file_image_free(&image);
  return err;
}

osla_err osli_file_hdf5_open(const char *path, file_hdf5 **out)
{
  osla_err err;
  *out = NULL;
  H5E_BEGIN_TRY
  {
    hid_t access = file_access();
    err = make_handle(H5Fopen(path, H5F_ACC_RDONLY, access), path, out);
    release_id(access);
  }
  H5E_END_TRY
  return err;
}

static osla_err close_file(file_hdf5 *h)
{
  osla_err err = OSLA_OK;
  if (h->file < 0) return err;
  H5E_BEGIN_TRY
  {
    if (H5Fclose(h->file) < 0) err = hdf5_error(h->path, "closing ", "HDF5");
  }
  H5E_END_TRY
  h->file = -1;
  return err;
}

void osli_file_hdf5_close(file_hdf5 **handle)
{
  file_hdf5 *h = *handle;
  if (!h) return;
  (void)close_file(h);
  osli_file_image_free(&h->image);
  free(h);
  *handle = NULL;
}

osla_err osli_file_hdf5_finish(file_hdf5 *h, int fd)
{
  OSLA_CALL(close_file(h));
  return osli_file_image_copy(&h->image, h->path, fd);
}

static hid_t make_space(const file_item *item)
{
  /* HDF5 stores the last index contiguously */
  hsize_t dims[2] = {(hsize_t)item->n, (hsize_t)item->m}, elements = (hsize_t)file_elements(item);
  if (item->vector || item->packed) return H5Screate_simple(1, &elements, NULL);
  return H5Screate_simple(2, dims, NULL);
}

static osla_err create_data_set(file_hdf5 *h, const char *name, file_item *item)
{
  osla_err err = OSLA_OK;
  hid_t type = make_type((file_type)item->type), space = make_space(item);
  hid_t create = H5Pcreate(H5P_DATASET_CREATE), link = H5Pcreate(H5P_LINK_CREATE);
  (void)H5Pset_layout(create, H5D_CONTIGUOUS);
  (void)H5Pset_alloc_time(create, H5D_ALLOC_TIME_EARLY);
  (void)H5Pset_fill_time(create, H5D_FILL_TIME_NEVER);
  (void)H5Pset_create_intermediate_group(link, 1);
  hid_t set = H5Dcreate2(h->file, name, type, space, link, create, H5P_DEFAULT);
  if (set < 0) {
    err = hdf5_error(h->path, "data set ", name);
  } else {
    haddr_t offset = H5Dget_offset(set);
    item->offset = offset == HADDR_UNDEF ? 0 : (uint64_t)offset;
    if (offset == HADDR_UNDEF && item->m > 0 && item->n > 0)
      err = hdf5_error(h->path, "no room for data set ", name);
  }
  release_id(set);
  release_id(link);
  release_id(create);
  release_id(space);
  release_id(type);
  return err;
}

osla_err osli_file_hdf5_reserve(file_hdf5 *h, const char *name, file_item *item)
{
  osla_err err;
  OSLA_CHECK(name[0] != '\0', OSLA_ERR_ARG, "%.200s: the name of a data set is empty", h->path);
  OSLA_CHECK(!osli_file_hdf5_has(h, name), OSLA_ERR_ARG, "%.200s: %.63s is in the file already",
             h->path, name);
  uint64_t bytes = (uint64_t)file_elements(item) * osli_file_type_size((file_type)item->type);
  hsize_t length = 0;
  (void)H5Fget_filesize(h->file, &length);
  OSLA_CALL(osli_check_length(h->path, length + bytes + METADATA_BYTES));
  H5E_BEGIN_TRY
  {
    err = create_data_set(h, name, item);
  }
  H5E_END_TRY
  if (err == OSLA_OK && bytes > 0) err = osli_file_image_add_array(&h->image, item->offset, bytes);
  return err;
}

osla_err osli_file_hdf5_store_checksum(file_hdf5 *h, const char *name, const file_item *item)
{
  osla_err err;
  H5E_BEGIN_TRY
  {
    hid_t set = H5Dopen2(h->file, name, H5P_DEFAULT), text = text_type(sizeof "whole");
    err = set < 0 ? hdf5_error(h->path, "data set ", name)
                  : put_attribute(h, set, "checksum", H5T_STD_U64LE, &item->checksum);
    if (err == OSLA_OK && !item->vector)
      err = put_attribute(h, set, "uplo", text, stored_name[item->stored]);
    release_id(text);
    release_id(set);
  }
  H5E_END_TRY
  return err;
}

bool osli_file_hdf5_has(file_hdf5 *h, const char *name)
{
  hid_t set;
  H5E_BEGIN_TRY
  {
    set = H5Dopen2(h->file, name, H5P_DEFAULT);
    release_id(set);
  }
  H5E_END_TRY
  return set >= 0;
}

/* Returns the order of a packed triangle with this number of elements; -1 if no triangle has it. */
static int64_t order_of_packed(hsize_t elements)
{
  int64_t order = 0, bits = INT64_C(1) << 30;
  file_item item = {.packed = 1};
  for (; bits > 0; bits /= 2) {
    item.n = order + bits;
    if ((hsize_t)file_elements(&item) <= elements) order = item.n;
  }
  item.n = order;
  return (hsize_t)file_elements(&item) == elements ? order : -1;
}

static osla_err find_sizes(file_hdf5 *h, hid_t set, const char *name, file_item *item)
{
  hid_t space = H5Dget_space(set);
  hsize_t dims[2] = {0, 1};
  int n_dims = H5Sget_simple_extent_ndims(space);
  /* where a matrix is expected, a data set with one dimension is a packed triangle if it has the
   * attribute "uplo"; without the attribute it is a vector */
  item->packed = n_dims == 1 && !item->vector && H5Aexists(set, "uplo") > 0;
  bool fits = item->packed || n_dims == (item->vector ? 1 : 2);
  if (fits) (void)H5Sget_simple_extent_dims(space, dims, NULL);
  release_id(space);
  OSLA_CHECK(fits, OSLA_ERR_IO, "%.200s: %.63s has %d dimensions, and %s was expected", h->path,
             name, n_dims, item->vector ? "a vector" : "a matrix");
  item->m = (int64_t)dims[item->vector ? 0 : 1];
  item->n = (int64_t)dims[item->vector ? 1 : 0];
  if (!item->packed) return OSLA_OK;
  item->m = item->n = order_of_packed(dims[0]);
  OSLA_CHECK(item->n >= 0, OSLA_ERR_IO,
             "%.200s: %.63s has %" PRIu64 " elements, which are neither a matrix nor a triangle",
             h->path, name, (uint64_t)dims[0]);
  return OSLA_OK;
}

static osla_err find_type(file_hdf5 *h, hid_t set, const char *name, file_item *item)
{
  hid_t there = H5Dget_type(set);
  item->type = FILE_TYPES;
  for (int type = 0; type < FILE_TYPES; type++) {
    hid_t candidate = make_type((file_type)type);
    if (H5Tequal(there, candidate) > 0) item->type = type;
    release_id(candidate);
  }
  release_id(there);
  OSLA_CHECK(item->type != FILE_TYPES && (item->vector || item->type <= FILE_Z), OSLA_ERR_IO,
             "%.200s: %.63s has a type that osla does not read", h->path, name);
  return OSLA_OK;
}

static osla_err find_offset(file_hdf5 *h, hid_t set, const char *name, file_item *item)
{
  hid_t create = H5Dget_create_plist(set);
  bool contiguous = H5Pget_layout(create) == H5D_CONTIGUOUS && H5Pget_external_count(create) == 0;
  release_id(create);
  haddr_t offset = H5Dget_offset(set);
  item->offset = offset == HADDR_UNDEF ? 0 : (uint64_t)offset;
  char uplo[8] = "whole";
  bool sealed =
    get_attribute(set, "checksum", H5T_STD_U64LE, &item->checksum, sizeof item->checksum) &&
    (item->vector || get_attribute(set, "uplo", -1, uplo, sizeof uplo));
  item->stored = OSLA_STORED_WHOLE;
  for (int stored = 0; stored < 3; stored++)
    if (strcmp(uplo, stored_name[stored]) == 0) item->stored = stored;
  if (item->packed && item->stored != OSLA_STORED_LOWER) sealed = false;
  OSLA_CALL(osli_hdf5_check_unfiltered(set, h->path, name));
  OSLA_CHECK(contiguous && sealed && (offset != HADDR_UNDEF || item->m == 0 || item->n == 0),
             OSLA_ERR_IO, "%.200s: %.63s was not written by osla (%s)", h->path, name,
             contiguous ? "no checksum" : "not contiguous");
  return OSLA_OK;
}

static osla_err describe_array(file_hdf5 *h, hid_t set, const char *name, file_item *item)
{
  OSLA_CALL(find_sizes(h, set, name, item));
  OSLA_CALL(find_type(h, set, name, item));
  return find_offset(h, set, name, item);
}

osla_err osli_file_hdf5_find(file_hdf5 *h, const char *name, bool vector, file_item *item)
{
  osla_err err;
  *item = (file_item){.vector = vector};
  H5E_BEGIN_TRY
  {
    hid_t set = H5Dopen2(h->file, name, H5P_DEFAULT);
    err = set >= 0 ? describe_array(h, set, name, item)
                   : osla_error_set(OSLA_ERR_IO, "%.200s: no data set %.63s", h->path, name);
    release_id(set);
  }
  H5E_END_TRY
  return err;
}

osla_err osli_file_hdf5_put_value(file_hdf5 *h, const char *name, file_type type, const void *value)
{
  osla_err err;
  H5E_BEGIN_TRY
  {
    hid_t id = make_type(type);
    err = put_attribute(h, h->file, name, id, value);
    release_id(id);
  }
  H5E_END_TRY
  return err;
}

osla_err osli_file_hdf5_get_value(file_hdf5 *h, const char *name, file_type type, void *value)
{
  bool done;
  H5E_BEGIN_TRY
  {
    hid_t id = make_type(type);
    done = get_attribute(h->file, name, id, value, osli_file_type_size(type));
    release_id(id);
  }
  H5E_END_TRY
  OSLA_CHECK(done, OSLA_ERR_IO, "%.200s: no number %.63s of type %s", h->path, name,
             osli_file_type_name(type));
  return OSLA_OK;
}

osla_err osli_file_hdf5_put_text(file_hdf5 *h, const char *name, const char *value)
{
  osla_err err;
  H5E_BEGIN_TRY
  {
    hid_t type = text_type(strlen(value) + 1);
    err = put_attribute(h, h->file, name, type, value);
    release_id(type);
  }
  H5E_END_TRY
  return err;
}

osla_err osli_file_hdf5_get_text(file_hdf5 *h, const char *name, char *value, size_t size)
{
  bool done;
  H5E_BEGIN_TRY
  {
    done = get_attribute(h->file, name, -1, value, size);
  }
  H5E_END_TRY
  OSLA_CHECK(done, OSLA_ERR_IO, "%.200s: no text %.63s", h->path, name);
  return OSLA_OK;
}

#endif
