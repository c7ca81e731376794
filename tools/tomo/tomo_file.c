/* Files that appear all at once; see tomo_file.h.
 *
 * Source of the method: open(2), O_TMPFILE, and linkat(2) with /proc/self/fd (Linux man-pages 6).
 * EISDIR, EINVAL and EOPNOTSUPP from open, and ENOENT from linkat (no /proc), mean that the file
 * system or the system cannot do it. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "tomo_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The text before the last slash, or ".". */
static osla_err directory_of(const char *file, char directory[PATH_MAX])
{
  const char *slash = strrchr(file, '/');
  const size_t length = slash ? (size_t)(slash - file) : 0;
  OSLA_CHECK(file[0] != '\0', OSLA_ERR_IO, "the name of the output file is empty");
  OSLA_CHECK(!slash || slash[1] != '\0', OSLA_ERR_IO, "%s: names a directory, not a file", file);
  OSLA_CHECK(length < PATH_MAX - 1, OSLA_ERR_IO, "%.80s...: %s", file, strerror(ENAMETOOLONG));
  snprintf(directory, PATH_MAX, "%.*s", slash ? (int)length : 1, slash ? file : ".");
  if (slash == file) strcpy(directory, "/");
  return OSLA_OK;
}

static osla_err temporary_name(const char *file, char name[PATH_MAX])
{
  const int n = snprintf(name, PATH_MAX, "%s.tmp%ld", file, (long)getpid());
  OSLA_CHECK(n > 0 && n < PATH_MAX, OSLA_ERR_IO, "%.80s...: %s", file, strerror(ENAMETOOLONG));
  return OSLA_OK;
}

/* Opens a nameless file of the directory; -1 with errno = EOPNOTSUPP where that is impossible. */
static int open_nameless(const char *directory)
{
#ifdef O_TMPFILE
  int fd = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (fd < 0 && (errno == EISDIR || errno == EINVAL)) errno = EOPNOTSUPP;
  return fd;
#else
  (void)directory;
  errno = EOPNOTSUPP;
  return -1;
#endif
}

osla_err tomo_file_check(const char *file)
{
  char directory[PATH_MAX], name[PATH_MAX];
  struct stat status;
  OSLA_CALL(directory_of(file, directory));
  OSLA_CALL(temporary_name(file, name));
  OSLA_CHECK(stat(directory, &status) == 0, OSLA_ERR_IO, "%s: directory %s: %s", file, directory,
             strerror(errno));
  OSLA_CHECK(S_ISDIR(status.st_mode), OSLA_ERR_IO, "%s: %s is not a directory", file, directory);
  const bool exists = stat(file, &status) == 0;
  OSLA_CHECK(!exists || S_ISREG(status.st_mode), OSLA_ERR_IO,
             "%s: exists and is not a regular file", file);
  int fd = open_nameless(directory);
  const bool named = fd < 0 && errno == EOPNOTSUPP;
  if (named) fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  OSLA_CHECK(fd >= 0, OSLA_ERR_IO, "%s: directory %s: %s", file, directory, strerror(errno));
  close(fd);
  if (named) unlink(name);
  return OSLA_OK;
}

static bool write_all(int fd, const char *bytes, size_t size)
{
  while (size > 0) {
    ssize_t done = write(fd, bytes, size);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return false;
    bytes += done;
    size -= (size_t)done;
  }
  return fsync(fd) == 0;
}

/* Gives the nameless file its name; *named tells whether `name` now exists and must be renamed. */
static bool link_in_place(int fd, const char *file, const char *name, bool *named)
{
  char source[64];
  snprintf(source, sizeof source, "/proc/self/fd/%d", fd);
  *named = false;
  if (linkat(AT_FDCWD, source, AT_FDCWD, file, AT_SYMLINK_FOLLOW) == 0) return true;
  if (errno != EEXIST) return false;
  unlink(name); /* left by another process with our number */
  *named = linkat(AT_FDCWD, source, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
  return *named && rename(name, file) == 0;
}

static bool write_named(const char *file, const char *name, const void *bytes, size_t size)
{
  unlink(name);
  int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return false;
  const bool written = write_all(fd, bytes, size);
  int reason = errno;
  const bool closed = close(fd) == 0;
  if (written && closed && rename(name, file) == 0) return true;
  if (written) reason = errno;
  unlink(name);
  errno = reason;
  return false;
}

osla_err tomo_file_write(const char *file, const void *bytes, size_t size)
{
  char directory[PATH_MAX], name[PATH_MAX];
  OSLA_CALL(tomo_file_check(file));
  OSLA_CALL(directory_of(file, directory));
  OSLA_CALL(temporary_name(file, name));
  bool done = false, nameless_works = true;
  int fd = open_nameless(directory);
  if (fd >= 0) {
    bool named = false;
    done = write_all(fd, bytes, size);
    if (done) {
      done = link_in_place(fd, file, name, &named);
      nameless_works = done || errno != ENOENT;
    }
    const int reason = errno;
    close(fd);
    if (!done && named) unlink(name);
    errno = reason;
  } else {
    nameless_works = errno != EOPNOTSUPP;
  }
  if (!nameless_works) done = write_named(file, name, bytes, size);
  OSLA_CHECK(done, OSLA_ERR_IO, "%s: %s", file, strerror(errno));
  return OSLA_OK;
}

osla_err tomo_file_read(const char *file, void **bytes, size_t *size)
{
  struct stat status;
  *bytes = NULL;
  *size = 0;
  FILE *stream = fopen(file, "rb");
  OSLA_CHECK(stream, OSLA_ERR_IO, "%s: %s", file, strerror(errno));
  if (fstat(fileno(stream), &status) != 0 || !S_ISREG(status.st_mode)) {
    fclose(stream);
    return osla_error_set(OSLA_ERR_IO, "%s: is not a regular file", file);
  }
  const size_t length = (size_t)status.st_size;
  char *content = malloc(length + 1);
  const size_t done = content ? fread(content, 1, length, stream) : 0;
  fclose(stream);
  if (!content) return osla_error_set(OSLA_ERR_MEM, "no memory for %zu bytes of %s", length, file);
  if (done != length) {
    free(content);
    return osla_error_set(OSLA_ERR_IO, "%s: ends after %zu of %zu bytes", file, done, length);
  }
  content[length] = '\0';
  *bytes = content;
  *size = length;
  return OSLA_OK;
}
