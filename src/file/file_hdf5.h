/* Rank 0's part of an HDF5 file: the offsets of arrays, and attributes (layer 2, private). Local.
 * In a build without HDF5, create and open fail with OSLA_ERR_UNSUPPORTED. */
#ifndef OSLA_FILE_HDF5_H
#define OSLA_FILE_HDF5_H

#include "src/file/file.h"

typedef struct file_hdf5 file_hdf5;

/* Creates or opens a file. `path` is used in error texts and must outlive the object. A new file is
 * made in memory. */
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
/* Sets all members of item from the data set and its attributes. The error is IO if osla did not
 * write the data set. */
osla_err osli_file_hdf5_find(file_hdf5 *h, const char *name, bool vector, file_item *item);

/* Attributes of the file: a value of 8 bytes (FILE_D, FILE_I64 or FILE_U64), or a text. */
osla_err osli_file_hdf5_put_value(file_hdf5 *h, const char *name, file_type type,
                                  const void *value);
osla_err osli_file_hdf5_get_value(file_hdf5 *h, const char *name, file_type type, void *value);
osla_err osli_file_hdf5_put_text(file_hdf5 *h, const char *name, const char *value);
osla_err osli_file_hdf5_get_text(file_hdf5 *h, const char *name, char *value, size_t size);

/* ---- a file in memory with holes in place of arrays (file_image.c) ---- */

/* HDF5 makes a new file in memory and never writes to the disk; its metadata are copied to the disk
 * by our own system calls. The reason is that HDF5 1.10.8 cannot close a file that it cannot write.
 * When the disk is full, H5Fclose fails, half of the file object is freed, and MPI_Finalize, which
 * also closes HDF5, crashes in H5F__close_cb. */

enum {
  FILE_PAGE = 4096,
  FILE_IMAGE_NAME = 64 /* largest number of bytes of a file name, including its final 0 */
};

typedef struct file_extent {
  uint64_t first, end; /* byte range [first, end) of the file */
} file_extent;

typedef struct file_image {
  int fd;              /* descriptor of an anonymous file (memfd_create); -1 if there is none */
  file_extent *arrays; /* [n_arrays] byte ranges that osli_file_image_copy skips */
  size_t n_arrays;
} file_image;
#define FILE_NO_IMAGE ((file_image){-1, NULL, 0})

/* Creates an empty file in memory. `name` gets a path by which this process can open it; `path` is
 * used in error texts. Errors: MEM, UNSUPPORTED (not Linux). */
osla_err osli_file_image_create(file_image *image, const char *path, char name[FILE_IMAGE_NAME]);
void osli_file_image_free(file_image *image);

/* Declares a byte range as an array, which osli_file_image_copy skips. Errors: MEM. */
osla_err osli_file_image_add_array(file_image *image, uint64_t first, uint64_t bytes);

/* Copies all bytes but arrays and holes to fd, and sets fd to the image's length. Errors: IO. */
osla_err osli_file_image_copy(const file_image *image, const char *path, int fd);

#endif
