/* Rights of a file that takes the place of another (floor 0, private to new_file.c). Local. */
#ifndef OSLA_NEW_FILE_RIGHTS_H
#define OSLA_NEW_FILE_RIGHTS_H

#include <stdbool.h>
#include <sys/stat.h>

/* May this process put another file in the place of `target`, whose lstat is `old`? False sets
 * errno. */
bool osla_new_file_may_replace(const char *target, const char *directory, const struct stat *old);

/* May the group of the directory, or all users, change what is in it? True also if that is unknown. */
bool osla_new_file_is_shared(const char *directory);

/* May the link in the directory be followed? In a shared directory only if this process's user or
 * root made it. */
bool osla_new_file_may_follow(const char *directory, const struct stat *link);

/* Gives the file of fd the owner, group, mode and access control list of `target`, as far as this
 * process may. False, and errno, if it would have wider rights. */
bool osla_new_file_keep_rights(int fd, const char *target, const struct stat *old);

#endif
