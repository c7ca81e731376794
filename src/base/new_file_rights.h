/* Rights of a file that replaces another one (layer 0, private to new_file.c). All calls are
 * local. */
#ifndef OSLA_NEW_FILE_RIGHTS_H
#define OSLA_NEW_FILE_RIGHTS_H

#include <stdbool.h>
#include <sys/stat.h>

/* True if this process may replace `target`, whose lstat is `old`. False sets errno. */
bool osli_new_file_may_replace(const char *target, const char *directory, const struct stat *old);

/* True if a file or link in the directory can be trusted: it belongs to this process's user or to
 * root, or neither the group of the directory nor all users may write the directory. `status` is
 * its lstat. */
bool osli_new_file_is_trusted(const char *directory, const struct stat *status);

/* Gives the file `fd` the owner, group, mode and access control list of the file that it replaces,
 * as far as this process may. `target` is a descriptor of the replaced file (O_PATH) or -1. False,
 * with errno set, if the new file would have wider rights. */
bool osli_new_file_keep_rights(int fd, int target, const struct stat *old);

/* Gives the file `fd` those permission bits of `mode` that the replaced file has, too. False sets
 * errno. */
bool osli_new_file_limit_rights(int fd, mode_t mode, const struct stat *old);

/* Sets the permission bits, unless the file has them already. False sets errno. */
bool osli_new_file_set_mode(int fd, mode_t mode);

#endif
