/* Lists of stations and earthquakes from texts, for tests. */
#ifndef LIST_HELP_H
#define LIST_HELP_H

#include "tests/osla_test.h"

#include "apps/tomography/readers/tomo_io.h"

typedef osla_err list_reader(const char *file, tomo_site **sites, int64_t *count);

/* Writes a file of its own under the directory of temporary files; `path` gets its name. */
void list_write(const char *content, char path[64]);

/* Reads the content, which is right; the caller frees *sites. Returns the number of entries. */
int64_t list_read(list_reader *read, const char *content, tomo_site **sites);

/* The content is refused with one line, "FILE" followed by `expected`; of a line that ends in "..."
 * the begin counts. Nothing is left behind. */
void list_refuse(list_reader *read, const char *content, const char *expected);

#endif
