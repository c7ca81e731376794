/* Rank 0's side of an HDF5 file: where the arrays lie, attributes (floor 2, private). Local.
 * Without HDF5 in the build, opening fails with OSLA_ERR_UNSUPPORTED. */
#ifndef OSLA_FILE_HDF5_H
#define OSLA_FILE_HDF5_H

#include "src/file/file.h"

typedef struct file_hdf5 file_hdf5;

/* `path` is the name for error texts and must outlive the object. A new file is made in memory. */
osla_err osli_file_hdf5_create(const char *path, file_hdf5 **out);
osla_err osli_file_hdf5_open(const char *path, file_hdf5 **out);
/* Writes all of a new file but the data of arrays to fd, and sets its length. Call it once. */
osla_err osli_file_hdf5_finish(file_hdf5 *h, int fd);
/* Accepts NULL and nulls the handle. */
void osli_file_hdf5_close(file_hdf5 **h);

/* Makes a contiguous data set that is not written; sets item->offset. */
osla_err osli_file_hdf5_reserve(file_hdf5 *h, const char *name, file_item *item);
/* Writes checksum and, of a matrix, uplo as attributes. */
osla_err osli_file_hdf5_seal(file_hdf5 *h, const char *name, const file_item *item);

bool osli_file_hdf5_has(file_hdf5 *h, const char *name);
/* What osli_file_hdf5_seal wrote; everything of item is set. */
osla_err osli_file_hdf5_find(file_hdf5 *h, const char *name, bool vector, file_item *item);

/* Attributes of the file: 8 bytes of type FILE_D, FILE_I64 or FILE_U64; a text. */
osla_err osli_file_hdf5_put_value(file_hdf5 *h, const char *name, file_type type,
                                  const void *value);
osla_err osli_file_hdf5_get_value(file_hdf5 *h, const char *name, file_type type, void *value);
osla_err osli_file_hdf5_put_text(file_hdf5 *h, const char *name, const char *value);
osla_err osli_file_hdf5_get_text(file_hdf5 *h, const char *name, char *value, size_t size);

#endif
