/* Reads lists of stations and earthquakes from texts, for tests. */
#ifndef LIST_HELP_H
#define LIST_HELP_H

#include "tests/osla_test.h"

#include "apps/tomography/tests/list_read.h"

typedef osla_err list_reader(const char *file, tomo_site **sites, int64_t *count);

/* Writes a new temporary file; `path` becomes its name. */
void list_write(const char *content, char path[64]);

/* Reads a correct list; the caller frees *sites. Returns the number of entries. */
int64_t list_read(list_reader *read, const char *content, tomo_site **sites);

/* Asserts that the reader rejects the content with a message of one line, the name of the file
 * followed by `expected`, and returns no memory. If `expected` ends in "...", only the begin of the
 * message is compared. */
void list_refuse(list_reader *read, const char *content, const char *expected);
void list_refuse_bytes(list_reader *read, const char *content, size_t size, const char *expected);

#endif
