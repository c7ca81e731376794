#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "src/base/new_file_rights.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/xattr.h>
#endif

/* In a directory with the sticky bit, only the owner of the file or of the directory may replace
 * the file. */
static bool sticky_forbids(const struct stat *directory, const struct stat *old)
{
  uid_t me = geteuid();
  return (directory->st_mode & S_ISVTX) && me != 0 && old->st_uid != me && directory->st_uid != me;
}

bool osli_new_file_may_replace(const char *target, const char *directory, const struct stat *old)
{
  struct stat status;
  if (faccessat(AT_FDCWD, target, W_OK, AT_EACCESS) != 0) return false;
  if (stat(directory, &status) != 0) return false;
  if (!sticky_forbids(&status, old)) return true;
  errno = EPERM;
  return false;
}

/* True if the group of the directory or all users may change its entries, or if that is unknown. */
static bool is_shared(const char *directory)
{
  struct stat status;
  return stat(directory, &status) != 0 || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

/* A link of the directory's owner is not trusted either, because it can lead to a file outside the
 * directory that only this process's user may write. */
bool osli_new_file_is_trusted(const char *directory, const struct stat *status)
{
  return status->st_uid == geteuid() || status->st_uid == 0 || !is_shared(directory);
}

#ifdef __linux__
/* Copies the access control list of the replaced file in the kernel's own format. True if
 * afterwards fd has the same list as the target, or neither has a list. The target is read by its
 * descriptor, since its name may belong to another file by now. Without /proc the list counts as
 * lost. */
static bool copy_list(int fd, int target)
{
  static const char name[] = "system.posix_acl_access";
  char list[4096], /* the access control list of the target, with 8 bytes per entry */
    path[64];      /* the path in /proc of the descriptor of the target */
  (void)snprintf(path, sizeof path, "/proc/self/fd/%d", target);
  ssize_t size = getxattr(path, name, list, sizeof list);
  if (size >= 0) return fsetxattr(fd, name, list, (size_t)size, 0) == 0;
  if (errno != ENODATA) return errno == ENOTSUP;
  return fremovexattr(fd, name) == 0 ||
         errno == ENODATA; /* removes an access control list that `fd` has from the directory */
}
#else
static bool copy_list(int fd, int target)
{
  (void)fd;
  (void)target;
  return true;
}
#endif

/* Mode for a file whose group or access control list differs from that of the replaced file: the
 * group gets at most the rights of all other users. */
static mode_t narrow_group_mode(mode_t mode)
{
  return mode & (mode_t)(0707 | ((mode & 07) << 3));
}

bool osli_new_file_set_mode(int fd, mode_t mode)
{
  struct stat mine;
  if (fstat(fd, &mine) != 0) return false;
  return (mine.st_mode & 0777) == (mode & 0777) || fchmod(fd, mode & 0777) == 0;
}

bool osli_new_file_keep_rights(int fd, int target, const struct stat *old)
{
  struct stat mine;
  mode_t mode = old->st_mode & 0777; /* permission bits without set-user-ID and set-group-ID */
  if (fstat(fd, &mine) != 0) return false;
  bool group_kept = mine.st_gid == old->st_gid || fchown(fd, (uid_t)-1, old->st_gid) == 0;
  int owner_kept = mine.st_uid == old->st_uid || fchown(fd, old->st_uid, (gid_t)-1) == 0;
  (void)owner_kept; /* if the owner cannot be kept, the file belongs to this process's user */
  bool list_kept = copy_list(fd, target);
  return osli_new_file_set_mode(fd, group_kept && list_kept ? mode : narrow_group_mode(mode));
}

bool osli_new_file_limit_rights(int fd, mode_t mode, const struct stat *old)
{
  struct stat mine;
  if (fstat(fd, &mine) != 0) return false;
  mode &= old->st_mode;
  return osli_new_file_set_mode(fd, mine.st_gid == old->st_gid ? mode : narrow_group_mode(mode));
}
