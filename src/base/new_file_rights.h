/* Rights of a file that takes the place of another (floor 0, private to new_file.c). Local. */
#ifndef OSLA_NEW_FILE_RIGHTS_H
#define OSLA_NEW_FILE_RIGHTS_H

#include <stdbool.h>
#include <sys/stat.h>

/* May this process put another file in the place of `target`, whose lstat is `old`? False sets
 * errno. */
bool osli_new_file_may_replace(const char *target, const char *directory, const struct stat *old);

/* Was a file or link of the directory made by somebody who may lead this process there? By this
 * process's user or root; by anybody in a directory that neither its group nor all may write. */
bool osli_new_file_is_trusted(const char *directory, const struct stat *status);

/* Gives the file of fd the owner, group, mode and access control list of the file that it replaces,
 * as far as this process may. `target` is a descriptor of that file (O_PATH) or -1. False, and
 * errno, if the file of fd would have wider rights. */
bool osli_new_file_keep_rights(int fd, int target, const struct stat *old);

/* Gives the file of fd the part of `mode` that the replaced file has, too. False sets errno. */
bool osli_new_file_limit_rights(int fd, mode_t mode, const struct stat *old);

/* Sets the permission bits, unless the file has them. False sets errno. */
bool osli_new_file_set_mode(int fd, mode_t mode);

#endif
