/* Names, reading and writing of files by plain system calls, with the reason of every failure. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { NAME_EXTRA = 64 }; /* of a temporary name */

/* The text up to the last slash, or ".". */
static osla_err directory_of(const char *path, char directory[PATH_MAX])
{
  const char *slash = strrchr(path, '/');
  size_t length = slash ? (size_t)(slash - path) : 1;
  OSLA_CHECK(path[0] != '\0', OSLA_ERR_IO, "the name of the file is empty");
  OSLA_CHECK(!slash || slash[1] != '\0', OSLA_ERR_IO, "%.200s: names a directory, not a file",
             path);
  OSLA_CHECK(strlen(path) < PATH_MAX - NAME_EXTRA, OSLA_ERR_IO, "%.80s...: %s", path,
             strerror(ENAMETOOLONG));
  if (slash == path) length = 1;
  memcpy(directory, slash ? path : ".", length);
  directory[length] = '\0';
  return OSLA_OK;
}

osla_err file_check_target(const char *path)
{
  char directory[PATH_MAX];
  struct stat status;
  OSLA_CALL(directory_of(path, directory));
  bool there = stat(directory, &status) == 0;
  if (there && !S_ISDIR(status.st_mode)) {
    there = false;
    errno = ENOTDIR;
  }
  OSLA_CHECK(there, OSLA_ERR_IO, "%.200s: directory %.200s: %s", path, directory, strerror(errno));
  OSLA_CHECK(stat(path, &status) != 0 || S_ISREG(status.st_mode), OSLA_ERR_IO,
             "%.200s: exists and is not a regular file", path);
  return OSLA_OK;
}

/* The limit of `ulimit -f`. */
osla_err file_check_limit(const char *path, uint64_t bytes)
{
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return OSLA_OK;
  OSLA_CHECK(bytes <= limit.rlim_cur, OSLA_ERR_IO,
             "%.200s: %s: %" PRIu64 " bytes, and the limit is %" PRIu64, path, strerror(EFBIG),
             bytes, (uint64_t)limit.rlim_cur);
  return OSLA_OK;
}

/* Process and time keep the names of different jobs apart, on different hosts, too. */
osla_err file_temporary_name(const char *path, char **name)
{
  size_t size = strlen(path) + NAME_EXTRA;
  struct timespec now = {0, 0};
  (void)clock_gettime(CLOCK_REALTIME, &now);
  *name = malloc(size);
  OSLA_CHECK(*name, OSLA_ERR_MEM, "name of a file");
  (void)snprintf(*name, size, "%s.tmp%ld-%lx", path, (long)getpid(), (unsigned long)now.tv_nsec);
  return OSLA_OK;
}

osla_err file_open_fd(const char *path, const char *shown, int flags, int *fd)
{
  struct stat status;
  *fd = open(path, flags | O_CLOEXEC, 0666);
  OSLA_CHECK(*fd >= 0, OSLA_ERR_IO, "%.200s: %s%s", shown, strerror(errno),
             errno == ENOENT && shown != path ? " (do all ranks see the same directory?)" : "");
  if (fstat(*fd, &status) == 0 && S_ISREG(status.st_mode)) return OSLA_OK;
  (void)close(*fd);
  *fd = -1;
  return osla_error_set(OSLA_ERR_IO, "%.200s: is not a regular file", shown);
}

osla_err file_sync_fd(const char *path, int *fd)
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

/* The directory is synchronised, too: the new name must survive a crash. */
osla_err file_rename(const char *temporary, const char *path)
{
  char directory[PATH_MAX];
  OSLA_CALL(directory_of(path, directory));
  OSLA_CHECK(rename(temporary, path) == 0, OSLA_ERR_IO, "%.200s: %s", path, strerror(errno));
  int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) { /* some file systems cannot synchronise a directory */
    (void)fsync(fd);
    (void)close(fd);
  }
  return OSLA_OK;
}

osla_err file_write_at(int fd, const char *path, const void *bytes, size_t size, uint64_t offset)
{
  const unsigned char *at = bytes;
  for (size_t done = 0; done < size;) {
    ssize_t n = pwrite(fd, at + done, size - done, (off_t)(offset + done));
    if (n < 0 && errno == EINTR) continue;
    OSLA_CHECK(n > 0, OSLA_ERR_IO, "%.200s: writing %zu bytes at %" PRIu64 ": %s", path,
               size - done, offset + done, n < 0 ? strerror(errno) : "nothing was written");
    done += (size_t)n;
  }
  return OSLA_OK;
}

osla_err file_read_at(int fd, const char *path, void *bytes, size_t size, uint64_t offset)
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

osla_err file_length(int fd, const char *path, uint64_t *bytes)
{
  struct stat status;
  OSLA_CHECK(fstat(fd, &status) == 0, OSLA_ERR_IO, "%.200s: %s", path, strerror(errno));
  *bytes = (uint64_t)status.st_size;
  return OSLA_OK;
}
