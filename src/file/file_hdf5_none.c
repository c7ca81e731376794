/* The functions of file_hdf5.h in a build without HDF5. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "src/file/file_hdf5.h"

#ifndef HAVE_HDF5
#pragma GCC diagnostic ignored "-Wunused-parameter"

osla_err osli_file_hdf5_create(const char *path, file_hdf5 **out)
{
  return osli_file_hdf5_open(path, out);
}

osla_err osli_file_hdf5_open(const char *path, file_hdf5 **out)
{
  *out = NULL;
  return osla_error_set(
    OSLA_ERR_UNSUPPORTED,
    "%.200s: this build has no HDF5 (Debian package: libhdf5-" OSLA_DEBIAN_MPI "-dev)", path);
}

/* The functions below need an object, which create and open never return here, so they are never
 * called. */
static osla_err unsupported(void)
{
  return osla_error_set(OSLA_ERR_UNSUPPORTED, "this build has no HDF5");
}

osla_err osli_file_hdf5_finish(file_hdf5 *h, int fd)
{
  return unsupported();
}
void osli_file_hdf5_close(file_hdf5 **h)
{
}
osla_err osli_file_hdf5_reserve(file_hdf5 *h, const char *name, file_item *item)
{
  return unsupported();
}
osla_err osli_file_hdf5_store_checksum(file_hdf5 *h, const char *name, const file_item *item)
{
  return unsupported();
}
bool osli_file_hdf5_has(file_hdf5 *h, const char *name)
{
  return false;
}
osla_err osli_file_hdf5_find(file_hdf5 *h, const char *name, bool vector, file_item *item)
{
  return unsupported();
}
osla_err osli_file_hdf5_put_value(file_hdf5 *h, const char *name, file_type type, const void *value)
{
  return unsupported();
}
osla_err osli_file_hdf5_get_value(file_hdf5 *h, const char *name, file_type type, void *value)
{
  return unsupported();
}
osla_err osli_file_hdf5_put_text(file_hdf5 *h, const char *name, const char *value)
{
  return unsupported();
}
osla_err osli_file_hdf5_get_text(file_hdf5 *h, const char *name, char *value, size_t size)
{
  return unsupported();
}

#endif
