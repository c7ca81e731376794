/* A file in memory with holes in place of arrays (layer 2, private).
 *
 * HDF5 makes a new file in memory and never writes to the disk; its metadata are copied to the disk
 * by our own system calls. Cause: HDF5 1.10.8 cannot close a file that it cannot write. When the
 * disk is full, H5Fclose fails, half of the file object is freed, and MPI_Finalize, which also
 * closes HDF5, crashes in H5F__close_cb.
 */
#ifndef OSLA_FILE_IMAGE_H
#define OSLA_FILE_IMAGE_H

#include "src/file/file.h"

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
