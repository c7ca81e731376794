/* Rank 0's part of an HDF5 file: the offsets of arrays, and attributes (layer 2, private). Local.
 * In a build without HDF5, create and open fail with OSLA_ERR_UNSUPPORTED. */
#ifndef OSLA_FILE_HDF5_H
#define OSLA_FILE_HDF5_H

#include "src/file/file.h"

typedef struct file_hdf5 file_hdf5;

/* `path` is used in error texts and must outlive the object. A new file is made in memory. */
osla_err osli_file_hdf5_create(const char *path, file_hdf5 **out);
osla_err osli_file_hdf5_open(const char *path, file_hdf5 **out);
/* Writes a new file's metadata (all but the data of arrays) to fd and sets the length of fd. Call
 * it once. */
osla_err osli_file_hdf5_finish(file_hdf5 *h, int fd);
/* Closes the HDF5 file and sets the handle to NULL; does nothing for NULL. */
void osli_file_hdf5_close(file_hdf5 **h);

/* Creates a contiguous data set without writing it; sets item->offset. */
osla_err osli_file_hdf5_reserve(file_hdf5 *h, const char *name, file_item *item);
/* Writes the attribute "checksum" of a data set and, for a matrix, the attribute "uplo". */
osla_err osli_file_hdf5_store_checksum(file_hdf5 *h, const char *name, const file_item *item);

bool osli_file_hdf5_has(file_hdf5 *h, const char *name);
/* Sets all members of item from the data set and its attributes. Error IO if it was not written by
 * osla. */
osla_err osli_file_hdf5_find(file_hdf5 *h, const char *name, bool vector, file_item *item);

/* Attributes of the file: a value of 8 bytes (FILE_D, FILE_I64 or FILE_U64), or a text. */
osla_err osli_file_hdf5_put_value(file_hdf5 *h, const char *name, file_type type,
                                  const void *value);
osla_err osli_file_hdf5_get_value(file_hdf5 *h, const char *name, file_type type, void *value);
osla_err osli_file_hdf5_put_text(file_hdf5 *h, const char *name, const char *value);
osla_err osli_file_hdf5_get_text(file_hdf5 *h, const char *name, char *value, size_t size);

#endif
