/* Writes a report to DIR/index.html (layer 4).
 *
 * DIR is created if it does not exist. The page replaces an older page atomically (new_file.h). A
 * process that is killed after the creation of DIR leaves it empty; the next job uses it. A process
 * that is killed while it writes the page can leave a file DIR/index.html.tmp...: on file systems
 * without O_TMPFILE (NFS) at any time, on other file systems while it replaces an older page. No
 * later process removes such a file, because a job on another machine could be writing it (see the
 * man page of osla). Other files in DIR stay. A user who may write to the parent of DIR could
 * replace DIR at any time; therefore an index.html that is not a report is refused in any
 * directory. Local. */
#ifndef OSLA_REPORT_DIRECTORY_H
#define OSLA_REPORT_DIRECTORY_H

#include <limits.h>
#include <stddef.h>

#include "osla_error.h"

/* First lines of each page. An existing page is replaced only if it begins with these lines. */
extern const char report_directory_mark[];

/* Checks that a report can be written; leaves no files behind. Errors: IO "DIR: reason": DIR is not
 * a directory, index.html is not a report, no permission to write. */
osla_err report_directory_check(const char *directory);

/* Writes the page. After an error no file has changed. */
osla_err report_directory_write(const char *directory, const void *page, size_t size);

/* Sets `file` to DIR/index.html if DIR exists, otherwise to "". */
void report_directory_page(const char *directory, char file[PATH_MAX]);

#endif
