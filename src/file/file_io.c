/* Opens, reads, flushes and closes files by system calls; each error text names the system's
 * reason. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "src/file/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* O_NONBLOCK: opening a named pipe returns at once instead of waiting for a writer. */
osla_err osli_file_open_fd(const char *path, int *fd)
{
  struct stat status;
  *fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  OSLA_CHECK(*fd >= 0, OSLA_ERR_IO, "%.200s: %s", path, strerror(errno));
  if (fstat(*fd, &status) == 0 && S_ISREG(status.st_mode)) return OSLA_OK;
  (void)close(*fd);
  *fd = -1;
  return osla_error_set(OSLA_ERR_IO, "%.200s: is not a regular file", path);
}

osla_err osli_file_identify(int fd, const char *path, bool marks, file_identity *identity)
{
  struct stat status;
  OSLA_CHECK(fstat(fd, &status) == 0, OSLA_ERR_IO, "%.200s: %s", path, strerror(errno));
  *identity =
    (file_identity){.device = status.st_dev, .number = status.st_ino, .user = status.st_uid};
  if (!marks) return OSLA_OK;
  OSLA_CHECK(getentropy(identity->mark, sizeof identity->mark) == 0, OSLA_ERR_IO,
             "%.200s: getentropy: %s", path, strerror(errno));
  OSLA_CALL(osli_write_at(fd, path, identity->mark, sizeof identity->mark, 0));
  OSLA_CHECK(fsync(fd) == 0, OSLA_ERR_IO, "%.200s: %s", path, strerror(errno));
  return OSLA_OK;
}

static bool has_numbers(const struct stat *status, const file_identity *identity)
{
  return S_ISREG(status->st_mode) && status->st_dev == identity->device &&
         status->st_ino == identity->number;
}

/* Reads the mark by a second descriptor. Linux's NFS client reads a whole page before it writes a
 * part of it if the descriptor allows reading (nfs_want_read_modify_write), and then sends the
 * whole page (nfs_can_extend_write). Data that ranks of other nodes wrote to that page meanwhile
 * would be lost. So data descriptors are never opened for reading, and the page that was read here
 * is dropped from the cache. */
static bool has_mark(int fd, const char *temporary, const file_identity *identity)
{
  uint64_t mark[2];
  struct stat data, read;
  const int reader = open(temporary, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (reader < 0) return false;
  const bool same = fstat(fd, &data) == 0 && fstat(reader, &read) == 0 && S_ISREG(data.st_mode) &&
                    data.st_dev == read.st_dev && data.st_ino == read.st_ino &&
                    data.st_uid == identity->user &&
                    pread(reader, mark, sizeof mark, 0) == (ssize_t)sizeof mark &&
                    memcmp(mark, identity->mark, sizeof mark) == 0;
  (void)posix_fadvise(reader, 0, 0, POSIX_FADV_DONTNEED);
  (void)close(reader);
  return same;
}

/* Ranks of one node share a kernel, so they see equal st_dev and st_ino. Other nodes may see
 * different ones: NFS numbers devices on each client, and some FUSE file systems (DAOS's dfuse,
 * sshfs) number files there, too. Ranks of other nodes therefore check the mark: random bits that
 * other users cannot read (new_file.h). They refuse a file without the mark, and a file of another
 * user. */
osla_err osli_file_open_temporary(const char *temporary, const char *path,
                                  const file_identity *identity, bool on_node, int *fd)
{
  struct stat status;
  *fd = open(temporary, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  OSLA_CHECK(*fd >= 0, OSLA_ERR_IO, "%.200s: %s%s", path, strerror(errno),
             errno == ENOENT ? " (do all ranks see the same directory?)" : "");
  if (on_node ? fstat(*fd, &status) == 0 && has_numbers(&status, identity)
              : has_mark(*fd, temporary, identity))
    return OSLA_OK;
  (void)close(*fd);
  *fd = -1;
  return osli_new_file_replaced(path);
}

osla_err osli_file_sync_fd(const char *path, int *fd)
{
  int reason = fsync(*fd) == 0 ? 0 : errno;
  if (close(*fd) != 0 && reason == 0) reason = errno;
  *fd = -1;
  OSLA_CHECK(reason == 0, OSLA_ERR_IO, "%.200s: %s", path, strerror(reason));
  return OSLA_OK;
}

osla_err osli_file_read_at(int fd, const char *path, void *bytes, size_t size, uint64_t offset)
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

osla_err osli_file_length(int fd, const char *path, uint64_t *bytes)
{
  struct stat status;
  OSLA_CHECK(fstat(fd, &status) == 0, OSLA_ERR_IO, "%.200s: %s", path, strerror(errno));
  *bytes = (uint64_t)status.st_size;
  return OSLA_OK;
}
