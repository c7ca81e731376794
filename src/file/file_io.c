/* Opening, reading and closing of files by plain system calls, with the reason of every failure. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A pipe is not waited for. */
osla_err osla_file_open_fd(const char *path, const char *shown, int flags, int *fd)
{
  struct stat status;
  *fd = open(path, flags | O_NONBLOCK | O_CLOEXEC);
  OSLA_CHECK(*fd >= 0, OSLA_ERR_IO, "%.200s: %s%s", shown, strerror(errno),
             errno == ENOENT && shown != path ? " (do all ranks see the same directory?)" : "");
  if (fstat(*fd, &status) == 0 && S_ISREG(status.st_mode)) return OSLA_OK;
  (void)close(*fd);
  *fd = -1;
  return osla_error_set(OSLA_ERR_IO, "%.200s: is not a regular file", shown);
}

osla_err osla_file_sync_fd(const char *path, int *fd)
{
  bool done = *fd < 0 || fsync(*fd) == 0;
  int reason = errno;
  if (*fd >= 0 && close(*fd) != 0 && done) {
    done = false;
    reason = errno;
  }
  *fd = -1;
  OSLA_CHECK(done, OSLA_ERR_IO, "%.200s: %s", path, strerror(reason));
  return OSLA_OK;
}

osla_err osla_file_read_at(int fd, const char *path, void *bytes, size_t size, uint64_t offset)
{
  unsigned char *at = bytes;
  for (size_t done = 0; done < size;) {
    ssize_t n = pread(fd, at + done, size - done, (off_t)(offset + done));
    if (n < 0 && errno == EINTR) continue;
    OSLA_CHECK(n >= 0, OSLA_ERR_IO, "%.200s: reading %zu bytes at %" PRIu64 ": %s", path,
               size - done, offset + done, strerror(errno));
    OSLA_CHECK(n > 0, OSLA_ERR_IO, "%.200s: truncated: ends at byte %" PRIu64, path, offset + done);
    done += (size_t)n;
  }
  return OSLA_OK;
}

osla_err osla_file_length(int fd, const char *path, uint64_t *bytes)
{
  struct stat status;
  OSLA_CHECK(fstat(fd, &status) == 0, OSLA_ERR_IO, "%.200s: %s", path, strerror(errno));
  *bytes = (uint64_t)status.st_size;
  return OSLA_OK;
}
