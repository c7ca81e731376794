/* Files that appear all at once (floor 0, private): every output of the library and its commands
 * that replaces a file is written by this module.
 *
 * The bytes go to a file in the same directory that has another name, or none, are put on disk
 * (fsync), and only then is it given the name, by link or rename. After any failure what was there
 * before is unchanged (but for one moment, below), and nothing is left. A process that is killed
 * can leave PATH.tmp...: where the file has a name from the beginning, on file systems without
 * nameless files (O_TMPFILE; NFS and some FUSE lack them) and for files that other processes must
 * open; and elsewhere in the moment in which it replaces an older file. Only its owner can read
 * the file until it is synchronised.
 *
 * What stands at the path:
 *   nothing        the file gets the rights of any new file (0666 less the umask).
 *   a regular file is replaced, if this process may write it, and passes on its rights: mode,
 *                  owner, group and access control list. Where the owner cannot be kept the file
 *                  belongs to the writer; where the group or the list cannot be kept, members of
 *                  the group get no more than all others. In a directory that its group or all may
 *                  write, anybody could have put the file there. If it belongs neither to this
 *                  process's user nor to root, it passes on nothing: the new file gets the owner,
 *                  the group and the mode of any new file, less what the replaced one did not
 *                  allow. Other hard links keep the old content.
 *   a symbolic link is followed and stays, as with open(2): what it names is replaced, or made. In
 *                  a directory that its group or all may write, only a link of this process's user
 *                  or of root is followed. Any other link, also of the directory's owner, is
 *                  refused: it could lead to any file of this process's user.
 *                  (fs.protected_symlinks, proc(5), does the like in sticky directories.)
 *   anything else  is refused; with OSLA_NEW_FILE_ANY pipes and devices are written as they stand,
 *                  links to them followed by the rule above.
 *
 * In a directory without the sticky bit any user who may write it can rename the temporary file and
 * give its name to another one. The file is therefore known by its descriptor: what bears its name
 * is neither placed nor removed unless it is that file, and the call fails with IO "not written,
 * because somebody else replaced the file". One moment remains, because rename and unlink know only
 * names: a file that gets the temporary name between the comparison and the rename takes the place
 * of the one that was there before, which is lost, and the error comes after it; between the
 * comparison and a removal, it is removed. Success means that the new file was placed, or one that
 * another job of the same user wrote since this one began. Such a user can still delete or replace
 * the result afterwards, and a directory above that such a user may write is not guarded against.
 *
 * No signal of a failing write reaches the process (signal_guard.h): limits (`ulimit -f`) and
 * closed pipes are errors like a full disk.
 *
 * All calls are local, and thread-safe for different paths. Errors: IO "PATH: reason" (of the path
 * 200 bytes), MEM.
 * Source: open(2), O_TMPFILE, and linkat(2) with /proc/self/fd (Linux man-pages 6).
 */
#ifndef OSLA_NEW_FILE_H
#define OSLA_NEW_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "osla_error.h"

enum {
  OSLA_NEW_FILE_NAMED = 1, /* has a name from the beginning: other processes will open it */
  OSLA_NEW_FILE_ANY = 2    /* pipes and devices, too */
};

typedef struct osla_new_file osla_new_file;

/* Begins a file, to be written through its descriptor. *out is NULL after an error. */
osla_err osli_new_file_begin(const char *path, int flags, osla_new_file **out);
int osli_new_file_fd(const osla_new_file *file);
const char *osli_new_file_name(const osla_new_file *file); /* its temporary one; NULL: none */

/* Sets the rights and puts the bytes on disk. */
osla_err osli_new_file_sync(osla_new_file *file);
/* Gives a file that was synchronised its name. Frees it, whether that succeeds or not. */
osla_err osli_new_file_place(osla_new_file **file);
/* Gives the file up. Accepts NULL and nulls the handle. */
void osli_new_file_drop(osla_new_file **file);

/* Does the name, itself no link, belong to the open file? Local. */
bool osli_new_file_bears(const char *name, int fd);
/* Sets the error for a file whose name was given to another one. */
osla_err osli_new_file_replaced(const char *path);

/* All of it, for bytes in memory. */
osla_err osli_new_file_write(const char *path, const void *bytes, size_t size);

/* Could a file be put there? Tries it, leaves nothing. */
osla_err osli_new_file_check(const char *path, int flags);

/* Removes the file at the path; a symbolic link to it stays. */
void osli_new_file_remove(const char *path);

/* Where the file will be: its links followed, up to one that names nothing yet. */
osla_err osli_new_file_target(const char *path, char target[PATH_MAX]);
/* The directory of a path. Errors: also IO for an empty path and one that ends in a slash. */
osla_err osli_new_file_directory(const char *path, char directory[PATH_MAX]);

#endif
