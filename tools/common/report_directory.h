/* Writing of a report to DIR/index.html (layer 4).
 *
 * DIR is created if it does not exist. The page replaces an older one atomically (new_file.h). A
 * process killed after the creation of DIR leaves it empty; the next job uses it. A process killed
 * while it writes the page leaves DIR/index.html.tmp... on file systems without O_TMPFILE (NFS),
 * and on all file systems while it replaces an older page. Such a file is not removed by a later
 * process, because a job on another machine could be writing it (see the man page of osla). Other
 * files in DIR stay. A user who may write to the parent of DIR could replace DIR at any time; an
 * index.html that is not a report is refused in any directory. Local.
 */
#ifndef OSLA_REPORT_DIRECTORY_H
#define OSLA_REPORT_DIRECTORY_H

#include <limits.h>
#include <stddef.h>

#include "osla_error.h"

/* First lines of each page; only a file that begins with them is replaced. */
extern const char report_directory_mark[];

/* Checks that a report can be written, and leaves nothing. Errors: IO "DIR: reason": not a
 * directory, an index.html that is no report, no permission to write. */
osla_err report_directory_check(const char *directory);

/* Writes the page. After an error nothing has changed. */
osla_err report_directory_write(const char *directory, const void *page, size_t size);

/* file := DIR/index.html if DIR exists, else "". */
void report_directory_page(const char *directory, char file[PATH_MAX]);

#endif
