/* Atomic replacement of files (layer 0, private). Every output of the library and its commands that
 * replaces a file is written by this module.
 *
 * The data are written to a file in the same directory under a temporary name, or without a name,
 * and are put on disk (fsync). Only then does the file get its final name, by link or rename. After
 * any failure the previous file is unchanged (except for one moment, described below) and no
 * temporary file is left. A process that is killed can leave PATH.tmp... behind. On file systems
 * without nameless files (O_TMPFILE; NFS and some FUSE lack them), and for files that other
 * processes must open, this can happen at any time while the process writes. Otherwise it can
 * happen only in the moment in which the process replaces an older file. Only its owner can read
 * the file until it is synchronised.
 *
 * The action depends on the file that is at the path:
 *   nothing          The file gets the mode of any new file (0666 less the umask).
 *   a regular file   It is replaced, if this process may write it, and passes on its mode, owner,
 *                    group and access control list. If the owner cannot be kept, the file belongs
 *                    to the writer. If the group or the list cannot be kept, members of the group
 *                    get no more rights than all other users. In a directory that its group or all
 *                    users may write, anybody could have put the file there. If such a file belongs
 *                    neither to this process's user nor to root, it passes on nothing: the new file
 *                    gets the owner, group and mode of any new file, less what the replaced file
 *                    did not allow. Other hard links keep the old content.
 *   a symbolic link  It is followed and stays, as with open(2): its target is replaced or created.
 *                    In a directory that its group or all users may write, only a link of this
 *                    process's user or of root is followed. Any other link, also of the directory's
 *                    owner, is refused, because it could lead to any file of this process's user.
 *                    (fs.protected_symlinks, proc(5), does something similar in sticky
 *                    directories.)
 *   anything else    It is refused. With OSLA_NEW_FILE_ANY pipes and devices are opened and written
 *                    directly; links to them follow the rule above.
 *
 * In a directory without the sticky bit, any user who may write it can rename the temporary file
 * and give its name to another file. The new file is therefore identified by its descriptor:
 * another file under the temporary name is neither renamed to the target nor removed, and the call
 * fails with IO "not written, because somebody else replaced the file". One moment remains, because
 * rename and unlink know only names. A file that gets the temporary name between the comparison and
 * the rename replaces the previous file, which is lost; the call then fails. A file that gets the
 * temporary name between the comparison and a removal is removed. Success means that the target is
 * the new file, or one that another job of the same user wrote since this one began. Such a user
 * can still delete or replace the result afterwards, and there is no protection from users who may
 * write a parent directory.
 *
 * A failing write raises no signal in the process (signal_guard.h): file size limits (`ulimit -f`)
 * and closed pipes are reported as errors, as a full disk is.
 *
 * All calls are local, and thread-safe for different paths. Errors: IO "PATH: reason" (with at most
 * 200 bytes of the path), MEM.
 * Source: open(2), O_TMPFILE, and linkat(2) with /proc/self/fd (Linux man-pages 6).
 */
#ifndef OSLA_NEW_FILE_H
#define OSLA_NEW_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "osla_error.h"

enum {
  /* the temporary file has a name from the beginning, so that other processes can open it */
  OSLA_NEW_FILE_NAMED = 1,
  OSLA_NEW_FILE_ANY = 2 /* pipes and devices are accepted as targets */
};

typedef struct osla_new_file osla_new_file;

/* Begins a file that is written through its descriptor. *out is NULL after an error. */
osla_err osli_new_file_begin(const char *path, int flags, osla_new_file **out);
int osli_new_file_fd(const osla_new_file *file);
/* Returns the temporary name under which the file lies until it is placed, or NULL if it has no
 * name. */
const char *osli_new_file_name(const osla_new_file *file);

/* Sets the access rights of the file, and puts its data on disk. */
osla_err osli_new_file_sync(osla_new_file *file);
/* Gives a synchronised file its final name. Frees the handle, also on failure. */
osla_err osli_new_file_place(osla_new_file **file);
/* Abandons the file and removes its temporary name. Accepts NULL, and sets the handle to NULL. */
void osli_new_file_drop(osla_new_file **file);

/* True if `name`, itself no symbolic link, names the open file. Local. */
bool osli_new_file_has_name(const char *name, int fd);
/* Reports that another process has put a different file under the temporary name of the file that
 * should become `path`. Sets the error text, and returns OSLA_ERR_IO. */
osla_err osli_new_file_replaced(const char *path);

/* Creates or replaces a file that contains these `size` bytes. */
osla_err osli_new_file_write(const char *path, const void *bytes, size_t size);

/* Checks that a file could be created or replaced at the path, by beginning a new file and
 * abandoning it. */
osla_err osli_new_file_check(const char *path, int flags);

/* Removes the file that the path leads to; a symbolic link to it stays. */
void osli_new_file_remove(const char *path);

/* Path of the file after its symbolic links were followed; the last one may name a file that does
 * not exist yet. */
osla_err osli_new_file_target(const char *path, char target[PATH_MAX]);
/* Directory part of a path, "." if it has none. Errors: also IO for an empty path and for one that
 * ends in a slash. */
osla_err osli_new_file_directory(const char *path, char directory[PATH_MAX]);

#endif
