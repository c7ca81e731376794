/* See new_file.h. open with O_TMPFILE gives EISDIR, EINVAL or EOPNOTSUPP if the system or the file
 * system has no nameless files. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "src/base/new_file.h"
#include "src/base/new_file_rights.h"
#include "src/base/write_at.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

enum {
  NAME_EXTRA = 48, /* characters that a temporary name adds: ".tmp", process number, time */
  NAME_LEAST = 64, /* name length that every file system allows */
  LINKS_MOST = 40
};

struct osla_new_file {
  char *path;      /* path that the caller gave */
  char *target;    /* final path, after symbolic links were followed */
  char *temporary; /* temporary name in the directory of the target; used if `named` */
  int fd;
  mode_t mode;           /* mode of any new file in this directory */
  struct timespec begun; /* time at which the file was created, by the file system's clock */
  bool named;            /* true: the file has the temporary name */
  /* true: the target is a pipe or device, opened and written directly; `old` is its status */
  bool is_special;
  /* true: a file existed at the target when the new file was begun; `old` is its status */
  bool replaces;
  struct stat old;
};

static osla_err failed(const char *path, int reason)
{
  return osla_error_set(OSLA_ERR_IO, "%.200s: %s", path, strerror(reason));
}

osla_err osli_new_file_replaced(const char *path)
{
  return osla_error_set(OSLA_ERR_IO,
                        "%.200s: not written, because somebody else replaced the file while it was "
                        "written: use a directory that no other user may change",
                        path);
}

bool osli_new_file_has_name(const char *name, int fd)
{
  struct stat named, mine;
  return lstat(name, &named) == 0 && fstat(fd, &mine) == 0 && named.st_dev == mine.st_dev &&
         named.st_ino == mine.st_ino;
}

/* --- paths and symbolic links --- */

osla_err osli_new_file_directory(const char *path, char directory[PATH_MAX])
{
  const char *slash = strrchr(path, '/');
  size_t length = slash ? (size_t)(slash - path) : 1;
  OSLA_CHECK(path[0] != '\0', OSLA_ERR_IO, "the name of the file is empty");
  OSLA_CHECK(!slash || slash[1] != '\0', OSLA_ERR_IO, "%.200s: names a directory, not a file",
             path);
  OSLA_CHECK(strlen(path) < PATH_MAX, OSLA_ERR_IO, "%.80s...: %s", path, strerror(ENAMETOOLONG));
  if (slash == path) length = 1;
  memcpy(directory, slash ? path : ".", length);
  directory[length] = '\0';
  return OSLA_OK;
}

/* Replaces `target`, a name in `directory`, by the text of the symbolic link open as `link`. */
static osla_err read_link(int link, const char *path, const char *directory, char target[PATH_MAX])
{
  char text[PATH_MAX], joined[2 * PATH_MAX];
  ssize_t n = readlinkat(link, "", text, sizeof text - 1);
  if (n < 0) return failed(path, errno);
  text[n] = '\0';
  const bool below = text[0] != '/' && strchr(target, '/');
  (void)snprintf(joined, sizeof joined, "%s%s%s", below ? directory : "", below ? "/" : "", text);
  if (strlen(joined) >= PATH_MAX) return failed(path, ENAMETOOLONG);
  strcpy(target, joined);
  return OSLA_OK;
}

static bool is_pipe_or_device(const struct stat *status)
{
  return !S_ISREG(status->st_mode) && !S_ISDIR(status->st_mode) && !S_ISLNK(status->st_mode);
}

/* True if `link` is an open link in /proc that leads to a pipe or a device: the text of such a link
 * is not a path. */
static bool is_open_pipe(int link, const char *target, struct stat *found)
{
  struct statfs system;
  struct stat status;
  if (fstatfs(link, &system) != 0 || system.f_type != PROC_SUPER_MAGIC) return false;
  if (stat(target, &status) != 0 || !is_pipe_or_device(&status)) return false;
  *found = status;
  return true;
}

/* Follows one symbolic link in `directory`, if that is allowed; `at` is its open descriptor. The
 * link is read by its descriptor, because another user could exchange it between a check of its
 * name and its reading. */
static osla_err follow_link(int at, const char *path, const char *directory, char target[PATH_MAX],
                            struct stat *found)
{
  if (fstat(at, found) != 0) return failed(path, errno);
  if (!S_ISLNK(found->st_mode)) return OSLA_OK;
  OSLA_CHECK(osli_new_file_is_trusted(directory, found), OSLA_ERR_IO,
             "%.200s: is a symbolic link of another user in a directory that others may change: "
             "remove it, or name the file that it leads to",
             path);
  if (is_open_pipe(at, target, found)) return OSLA_OK;
  return read_link(at, path, directory, target);
}

/* Follows the links of `path`: *target is the final path and *found its lstat; *there is false if
 * no file has this path. A link in /proc to a pipe or a device is itself the target, with the
 * status of the pipe. */
static osla_err resolve(const char *path, char target[PATH_MAX], struct stat *found, bool *there)
{
  char directory[PATH_MAX];
  struct stat status;
  OSLA_CALL(osli_new_file_directory(path, directory));
  strcpy(target, path);
  for (int links = 0; links <= LINKS_MOST; links++) {
    OSLA_CALL(osli_new_file_directory(target, directory));
    int reason = stat(directory, &status) != 0 ? errno : S_ISDIR(status.st_mode) ? 0 : ENOTDIR;
    OSLA_CHECK(!reason, OSLA_ERR_IO, "%.200s: directory %.200s: %s", path, directory,
               strerror(reason));
    const int at = open(target, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    *there = at >= 0;
    if (!*there) return errno == ENOENT ? OSLA_OK : failed(path, errno);
    const osla_err err = follow_link(at, path, directory, target, found);
    (void)close(at);
    if (err != OSLA_OK || !S_ISLNK(found->st_mode)) return err;
  }
  return failed(path, ELOOP);
}

osla_err osli_new_file_target(const char *path, char target[PATH_MAX])
{
  struct stat status;
  bool there;
  return resolve(path, target, &status, &there);
}

/* Process number and time make the names of different jobs different, also across hosts. The
 * target's part of the name is cut to the length that the file system allows. */
static osla_err name_temporary(osla_new_file *f, const char *directory)
{
  const char *slash = strrchr(f->target, '/');
  const size_t begin = slash ? (size_t)(slash + 1 - f->target) : 0;
  const long limit = pathconf(directory, _PC_NAME_MAX);
  const size_t most = limit > NAME_LEAST ? (size_t)limit : NAME_LEAST;
  size_t length = strlen(f->target + begin), size = begin + length + NAME_EXTRA;
  struct timespec now = {0, 0};
  OSLA_CHECK(length <= most, OSLA_ERR_IO, "%.80s...: %s (%zu bytes, and %zu are allowed)", f->path,
             strerror(ENAMETOOLONG), length, most);
  if (length > most - NAME_EXTRA) length = most - NAME_EXTRA;
  (void)clock_gettime(CLOCK_REALTIME, &now);
  f->temporary = malloc(size);
  OSLA_CHECK(f->temporary, OSLA_ERR_MEM, "name of a file");
  (void)snprintf(f->temporary, size, "%.*s.tmp%ld-%lx", (int)(begin + length), f->target,
                 (long)getpid(), (unsigned long)now.tv_nsec);
  return OSLA_OK;
}

/* --- begin --- */

/* Sets all members except the descriptor and the temporary name. */
static osla_err resolve_and_check(osla_new_file *f, int flags, char directory[PATH_MAX])
{
  char target[PATH_MAX];
  struct stat status;
  OSLA_CHECK(f->path[0] != '\0', OSLA_ERR_IO, "the name of the file is empty");
  const bool there = stat(f->path, &status) == 0;
  OSLA_CALL(resolve(f->path, target, &f->old, &f->replaces));
  f->target = strdup(target);
  OSLA_CHECK(f->target, OSLA_ERR_MEM, "name of a file");
  f->is_special = f->replaces && is_pipe_or_device(&f->old);
  if (f->is_special && (flags & OSLA_NEW_FILE_ANY)) return OSLA_OK;
  OSLA_CHECK(!there || S_ISREG(status.st_mode), OSLA_ERR_IO,
             "%.200s: exists and is not a regular file", f->path);
  bool same = there == f->replaces &&
              (!there || (status.st_ino == f->old.st_ino && status.st_dev == f->old.st_dev));
  OSLA_CHECK(same, OSLA_ERR_IO, "%.200s: a link that leads to no name",
             f->path); /* a link in /proc, for example, can lead to a deleted or nameless file */
  OSLA_CALL(osli_new_file_directory(target, directory));
  OSLA_CHECK(!there || osli_new_file_may_replace(target, directory, &f->old), OSLA_ERR_IO,
             "%.200s: exists and may not be replaced: %s", f->path, strerror(errno));
  return OSLA_OK;
}

/* Opens a nameless file in the directory. Returns -1, with errno = EOPNOTSUPP if that is
 * impossible. */
static int open_nameless(const char *directory)
{
#ifdef O_TMPFILE
  int fd = -1;
  errno = EOPNOTSUPP;
  if (access("/proc/self/fd", X_OK) ==
      0) /* without /proc/self/fd the file could not be named later */
    fd = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (fd < 0 && (errno == EISDIR || errno == EINVAL || errno == ENOENT)) errno = EOPNOTSUPP;
  return fd;
#else
  (void)directory;
  errno = EOPNOTSUPP;
  return -1;
#endif
}

/* Opens a pipe or a device. Fails if a regular file has taken its place meanwhile. */
static osla_err open_special(osla_new_file *f)
{
  struct stat now;
  f->fd = open(f->target, O_WRONLY | O_NOCTTY | O_CLOEXEC);
  if (f->fd < 0 || fstat(f->fd, &now) != 0) return failed(f->path, errno);
  OSLA_CHECK(now.st_dev == f->old.st_dev && now.st_ino == f->old.st_ino, OSLA_ERR_IO,
             "%.200s: was replaced by another process while it was opened", f->path);
  return OSLA_OK;
}

/* Records the mode and creation time of the empty file `fd`: the directory's default for new files,
 * by umask or default access control list. Returns errno, or 0. */
static int record_defaults(osla_new_file *f, int fd)
{
  struct stat status;
  if (fstat(fd, &status) != 0) return errno;
  f->mode = status.st_mode & 0777;
  f->begun = status.st_mtim;
  return 0;
}

/* Creates the file under its temporary name, readable by this user alone: other users could
 * otherwise copy the mark by which other nodes identify it (src/file). The mode of new files is
 * found by creating and removing an empty file first, since umask(2) cannot be read without
 * changing it for all threads. Returns 0 or errno; EEXIST means that another user gave the name to
 * another file. */
static int open_named(osla_new_file *f)
{
  const int how = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  const int probe = open(f->temporary, how, 0666);
  if (probe < 0) return errno;
  int reason = record_defaults(f, probe);
  if (osli_new_file_has_name(f->temporary, probe) && unlink(f->temporary) != 0)
    reason = errno == ENOENT ? EEXIST : errno; /* the file is gone: another user renamed it
                                                * between the two calls */
  (void)close(probe);
  if (reason != 0) return reason;
  f->fd = open(f->temporary, how, 0600);
  f->named = f->fd >= 0;
  return f->named ? 0 : errno;
}

static osla_err begin(osla_new_file *f, int flags)
{
  char directory[PATH_MAX];
  int reason = EOPNOTSUPP;
  OSLA_CALL(resolve_and_check(f, flags, directory));
  if (f->is_special) return open_special(f);
  OSLA_CALL(name_temporary(f, directory));
  if (!(flags & OSLA_NEW_FILE_NAMED)) {
    f->fd = open_nameless(directory);
    reason = f->fd >= 0 ? record_defaults(f, f->fd) : errno;
  }
  if (reason == EOPNOTSUPP) reason = open_named(f);
  if (reason == EEXIST) return osli_new_file_replaced(f->path);
  OSLA_CHECK(reason == 0, OSLA_ERR_IO, "%.200s: directory %.200s: %s", f->path, directory,
             strerror(reason));
  return OSLA_OK;
}

osla_err osli_new_file_begin(const char *path, int flags, osla_new_file **out)
{
  osla_new_file *f = calloc(1, sizeof *f);
  *out = f;
  OSLA_CHECK(f, OSLA_ERR_MEM, "file object");
  f->fd = -1;
  f->path = strdup(path);
  osla_err err = f->path ? begin(f, flags) : osla_error_set(OSLA_ERR_MEM, "name of a file");
  if (err != OSLA_OK) osli_new_file_drop(out);
  return err;
}

int osli_new_file_fd(const osla_new_file *f)
{
  return f->fd;
}

const char *osli_new_file_name(const osla_new_file *f)
{
  return f->named ? f->temporary : NULL;
}

/* --- end --- */

/* Sets the rights of the new file by those of the file that it replaces, in the newest state of
 * that file. If another user may have put that file there, nobody gets more rights than on any
 * other new file, or than on the previous file. */
static bool set_rights(osla_new_file *f, int target, const char *directory)
{
  struct stat now;
  const bool there = target >= 0 && fstat(target, &now) == 0 && S_ISREG(now.st_mode);
  if (there && !osli_new_file_is_trusted(directory, &now))
    return osli_new_file_limit_rights(f->fd, f->mode & (f->replaces ? f->old.st_mode : 0777), &now);
  if (there) f->old = now;
  if (there || f->replaces) return osli_new_file_keep_rights(f->fd, target, &f->old);
  return osli_new_file_set_mode(f->fd, f->mode);
}

osla_err osli_new_file_sync(osla_new_file *f)
{
  char directory[PATH_MAX];
  if (f->is_special) return OSLA_OK;
  OSLA_CALL(osli_new_file_directory(f->target, directory));
  const int target = open(f->target, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  const bool set = set_rights(f, target, directory);
  const int reason = errno;
  if (target >= 0) (void)close(target);
  OSLA_CHECK(set, OSLA_ERR_IO, "%.200s: the rights of the file: %s", f->path, strerror(reason));
  if (fsync(f->fd) != 0) return failed(f->path, errno);
  if (!f->named) return OSLA_OK;
  /* Some network file systems report a failed write only when a descriptor is closed. The file
   * stays open through `fd`, so that its inode number cannot be reused before the file is
   * placed. */
  int copy = dup(f->fd);
  return copy >= 0 && close(copy) == 0 ? OSLA_OK : failed(f->path, errno);
}

/* Links the nameless file to the target, or to the temporary name if the target exists. */
static bool link_nameless(osla_new_file *f)
{
  char source[64];
  (void)snprintf(source, sizeof source, "/proc/self/fd/%d", f->fd);
  if (linkat(AT_FDCWD, source, AT_FDCWD, f->target, AT_SYMLINK_FOLLOW) == 0) return true;
  if (errno != EEXIST) return false;
  f->named = linkat(AT_FDCWD, source, AT_FDCWD, f->temporary, AT_SYMLINK_FOLLOW) == 0;
  return f->named;
}

/* True if the target is the new file, or one that another job of the same user placed since this
 * job began. Only a file written after that time counts: an older file of the same user, which
 * somebody renamed, does not. (A rename sets the time of the last status change, st_ctim, but not
 * that of the last write.) */
static bool is_placed(const osla_new_file *f)
{
  struct stat placed, mine;
  if (osli_new_file_has_name(f->target, f->fd)) return true;
  return lstat(f->target, &placed) == 0 && fstat(f->fd, &mine) == 0 && S_ISREG(placed.st_mode) &&
         placed.st_uid == mine.st_uid &&
         (placed.st_mtim.tv_sec > f->begun.tv_sec ||
          (placed.st_mtim.tv_sec == f->begun.tv_sec && placed.st_mtim.tv_nsec >= f->begun.tv_nsec));
}

/* Renames the file to the target. A user who may change the directory can give the temporary name
 * to another file at any moment, and rename(2) knows only names. Therefore the name is compared
 * with the descriptor before the rename, and the target after it: another file is not reported as
 * the result, even if it was renamed in the moment between. The directory is synchronised, because
 * the new name must survive a crash. */
static osla_err place_file(osla_new_file *f)
{
  char directory[PATH_MAX];
  if (f->is_special) {
    int fd = f->fd;
    f->fd = -1;
    return close(fd) == 0 ? OSLA_OK : failed(f->path, errno);
  }
  if (!f->named && !link_nameless(f)) return failed(f->path, errno);
  if (f->named && !osli_new_file_has_name(f->temporary, f->fd))
    return osli_new_file_replaced(f->path);
  if (f->named && rename(f->temporary, f->target) != 0)
    return errno == ENOENT ? osli_new_file_replaced(f->path) : failed(f->path, errno);
  f->named = false;
  if (!is_placed(f)) return osli_new_file_replaced(f->path);
  OSLA_CALL(osli_new_file_directory(f->target, directory));
  int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) { /* fails harmlessly on file systems that cannot synchronise a directory */
    (void)fsync(fd);
    (void)close(fd);
  }
  return OSLA_OK;
}

osla_err osli_new_file_place(osla_new_file **file)
{
  osla_err err = place_file(*file);
  osli_new_file_drop(file);
  return err;
}

void osli_new_file_drop(osla_new_file **file)
{
  osla_new_file *f = *file;
  if (!f) return;
  if (f->named && osli_new_file_has_name(f->temporary, f->fd)) (void)unlink(f->temporary);
  if (f->fd >= 0) (void)close(f->fd);
  free(f->temporary);
  free(f->target);
  free(f->path);
  free(f);
  *file = NULL;
}

/* --- one-call functions --- */

osla_err osli_new_file_write(const char *path, const void *bytes, size_t size)
{
  osla_new_file *f;
  OSLA_CALL(osli_new_file_begin(path, 0, &f));
  osla_err err = osli_write_at(f->fd, path, bytes, size, 0);
  if (err == OSLA_OK) err = osli_new_file_sync(f);
  if (err == OSLA_OK) return osli_new_file_place(&f);
  osli_new_file_drop(&f);
  return err;
}

/* A pipe is not opened for the check, because its reader would then see the end of the data. */
osla_err osli_new_file_check(const char *path, int flags)
{
  char target[PATH_MAX];
  struct stat found;
  bool there;
  OSLA_CALL(resolve(path, target, &found, &there));
  if ((flags & OSLA_NEW_FILE_ANY) && there && is_pipe_or_device(&found))
    return access(target, W_OK) == 0 ? OSLA_OK : failed(path, errno);
  osla_new_file *f;
  OSLA_CALL(osli_new_file_begin(path, flags, &f));
  osli_new_file_drop(&f);
  return OSLA_OK;
}

void osli_new_file_remove(const char *path)
{
  char target[PATH_MAX];
  if (osli_new_file_target(path, target) == OSLA_OK) (void)unlink(target);
}
