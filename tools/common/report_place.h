/* Where a report goes: DIR/index.html (floor 4).
 *
 * DIR is made if it is not there. A page appears, and replaces an older one, all at once
 * (new_file.h). A process that is killed between both leaves an empty DIR, which the next one uses.
 * A process that is killed while it writes the page leaves DIR/index.html.tmp... on file systems
 * without nameless files (NFS), and on all while it replaces an older page. Such a file is not
 * removed by a later process, because a job on another machine could be writing it; the man page of
 * osla says so. What else is in DIR stays. A user who may write the directory above DIR could
 * replace DIR meanwhile; an index.html that is no report is refused wherever DIR leads. Local.
 */
#ifndef OSLA_REPORT_PLACE_H
#define OSLA_REPORT_PLACE_H

#include <limits.h>
#include <stddef.h>

#include "osla_error.h"

/* Each page begins with it: what has it may be replaced. */
extern const char report_place_mark[];

/* Could a report be put there? Tries it, leaves nothing. Errors: IO "DIR: reason": not a directory,
 * an index.html in it that is no report, no right to write. */
osla_err report_place_check(const char *directory);

/* Writes the page. After an error nothing has changed. */
osla_err report_place_write(const char *directory, const void *page, size_t size);

/* DIR/index.html if DIR is there, else "". */
void report_place_file(const char *directory, char file[PATH_MAX]);

#endif
