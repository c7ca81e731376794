/* A file in memory, in which arrays are holes (floor 2, private).
 *
 * HDF5 makes a new file in it and never touches the disk; what it wrote around the arrays is copied
 * to the disk by calls of our own. Cause: HDF5 1.10.8 cannot close a file that it cannot write.
 * When the disk is full, H5Fclose fails, half of the file object is freed, and MPI_Finalize, which
 * ends HDF5, crashes in H5F__close_cb.
 */
#ifndef OSLA_FILE_IMAGE_H
#define OSLA_FILE_IMAGE_H

#include "src/file/file.h"

enum {
  FILE_PAGE = 4096,
  FILE_IMAGE_NAME = 64 /* characters */
};

typedef struct file_extent {
  uint64_t first, end; /* bytes of the file */
} file_extent;

typedef struct file_image {
  int fd;              /* an anonymous file (memfd_create); -1: none */
  file_extent *arrays; /* [n_arrays] */
  size_t n_arrays;
} file_image;
#define FILE_NO_IMAGE ((file_image){-1, NULL, 0})

/* Makes an empty one, and a name by which this process can open it. `path` is for error texts.
 * Errors: MEM, UNSUPPORTED (not Linux). */
osla_err osli_file_image_make(file_image *image, const char *path, char name[FILE_IMAGE_NAME]);
void osli_file_image_free(file_image *image);

/* These bytes are an array: not copied. Errors: MEM. */
osla_err osli_file_image_note(file_image *image, uint64_t first, uint64_t bytes);

/* Copies all but arrays and holes to fd, and gives that the same length. Errors: IO. */
osla_err osli_file_image_copy(const file_image *image, const char *path, int fd);

#endif
