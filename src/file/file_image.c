/* A file in memory with holes in place of arrays (contract: file_hdf5.h). */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "src/base/memory_file.h"
#include "src/file/file_hdf5.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

osla_err osli_file_image_create(file_image *image, const char *path, char name[FILE_IMAGE_NAME])
{
  *image = FILE_NO_IMAGE;
  image->fd = osli_memory_file_create("osla-file");
  OSLA_CHECK(image->fd >= 0, errno == ENOSYS ? OSLA_ERR_UNSUPPORTED : OSLA_ERR_MEM,
             "%.200s: memfd_create: %s", path, strerror(errno));
  (void)snprintf(name, FILE_IMAGE_NAME, "/proc/self/fd/%d", image->fd);
  return OSLA_OK;
}

void osli_file_image_free(file_image *image)
{
  if (image->fd >= 0) (void)close(image->fd);
  free(image->arrays);
  *image = FILE_NO_IMAGE;
}

osla_err osli_file_image_add_array(file_image *image, uint64_t first, uint64_t bytes)
{
  file_extent *longer = realloc(image->arrays, (image->n_arrays + 1) * sizeof *longer);
  OSLA_CHECK(longer, OSLA_ERR_MEM, "table of %zu arrays", image->n_arrays + 1);
  image->arrays = longer;
  image->arrays[image->n_arrays++] = (file_extent){first, first + bytes};
  return OSLA_OK;
}

/* Finds the next run of bytes of the file that belong to no array. If *at lies in an array,
 * advances *at to the end of the array. Returns the end of the run that begins at *at, at most
 * `end`. */
static uint64_t next_run(const file_image *image, uint64_t *at, uint64_t end)
{
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t k = 0; k < image->n_arrays; k++)
      if (image->arrays[k].first <= *at && *at < image->arrays[k].end) {
        *at = image->arrays[k].end;
        moved = true;
      }
  }
  for (size_t k = 0; k < image->n_arrays; k++)
    if (image->arrays[k].first > *at && image->arrays[k].first < end) end = image->arrays[k].first;
  return end;
}

static osla_err copy_page(const file_image *image, const char *path, int fd, uint64_t first,
                          uint64_t end)
{
  unsigned char page[FILE_PAGE];
  OSLA_CALL(osli_file_read_at(image->fd, path, page, end - first, first));
  for (uint64_t at = first; at < end;) {
    uint64_t run = next_run(image, &at, end);
    if (at < end) OSLA_CALL(osli_write_at(fd, path, page + (at - first), run - at, at));
    at = run > at ? run : at;
  }
  return OSLA_OK;
}

osla_err osli_file_image_copy(const file_image *image, const char *path, int fd)
{
  off_t length = lseek(image->fd, 0, SEEK_END), at = 0;
  OSLA_CHECK(length >= 0, OSLA_ERR_IO, "%.200s: %s", path, strerror(errno));
  OSLA_CALL(osli_set_length(fd, path, (uint64_t)length));
  while ((at = lseek(image->fd, at, SEEK_DATA)) >= 0) {
    off_t end = length - at < FILE_PAGE ? length : at + FILE_PAGE;
    OSLA_CALL(copy_page(image, path, fd, (uint64_t)at, (uint64_t)end));
    at = end;
  }
  /* ENXIO from lseek: no data after this offset */
  OSLA_CHECK(errno == ENXIO, OSLA_ERR_IO, "%.200s: %s", path, strerror(errno));
  return OSLA_OK;
}
