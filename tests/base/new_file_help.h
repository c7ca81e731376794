/* Helpers for the tests of src/base/new_file.h: a temporary folder, and files in it. Local. */
#ifndef OSLA_NEW_FILE_HELP_H
#define OSLA_NEW_FILE_HELP_H

#include <limits.h>
#include <sys/stat.h>

#include "src/base/new_file.h"
#include "tests/osla_test.h"
#include "tests/osla_test_help.h"

enum { OTHER = 65534 }; /* user and group id "nobody" */

extern char folder[64];
void make_folder(void);
/* Removes the folder, and asserts that it holds `expected` files. */
void drop_folder(int expected);

/* Returns the path of a file in the test's folder. The text lies in one of 4 buffers, and the
 * fourth call after this one overwrites it. */
const char *in(const char *name);

void put(const char *path, const char *text, mode_t mode);
bool holds(const char *path, const char *text);
struct stat status_of(const char *path);

/* Writes a file that has a name from the beginning (OSLA_NEW_FILE_NAMED), as files of several ranks
 * have, or that gets its name only at the end (0). */
osla_err write_text(const char *path, const char *text, int flags);
/* Asserts that both ways of writing, and the check, refuse the path with this text. */
void refuse(const char *path, const char *text);

#endif
