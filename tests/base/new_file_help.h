/* Helpers for the tests of src/base/new_file.h: a temporary folder, and files in it. Local. */
#ifndef OSLA_NEW_FILE_HELP_H
#define OSLA_NEW_FILE_HELP_H

#include <limits.h>
#include <sys/stat.h>

#include "src/base/new_file.h"
#include "tests/osla_test.h"
#include "tests/osla_test_help.h"

enum { OTHER = 65534 }; /* user and group id of the user "nobody" */

extern char folder[64];
void make_folder(void);
/* Removes the test's folder, and asserts that it held `expected` files. */
void drop_folder(int expected);

/* Returns the path of a file in the test's folder. The text lies in one of 4 buffers, and the
 * fourth call after this one overwrites it. */
const char *in(const char *name);

void put(const char *path, const char *text, mode_t mode);
bool holds(const char *path, const char *text);
struct stat status_of(const char *path);

/* Writes a file. flags: OSLA_NEW_FILE_NAMED if the file has a name from the beginning, as files
 * that several ranks write; 0 if it gets its name only at the end. */
osla_err write_text(const char *path, const char *text, int flags);
/* Asserts that three functions refuse this path with this error text: the two ways of writing a
 * file (named from the beginning, or only at the end), and osli_new_file_check. */
void refuse(const char *path, const char *text);

#endif
