/* Reads lists of stations and earthquakes from texts, for tests. */
#ifndef LIST_HELP_H
#define LIST_HELP_H

#include "tests/osla_test.h"

#include "apps/tomography/tests/list_read.h"

typedef osla_err list_reader(const char *file, tomo_site **sites, int64_t *count);

/* Writes a new temporary file; `path` becomes its name. */
void list_write(const char *content, char path[64]);

/* Reads a correct content; the caller frees *sites. Returns the number of entries. */
int64_t list_read(list_reader *read, const char *content, tomo_site **sites);

/* Asserts that the content is rejected with one line, "FILE" followed by `expected`; if `expected`
 * ends in "...", only the beginning counts. Asserts that the reader returns no memory. */
void list_refuse(list_reader *read, const char *content, const char *expected);
void list_refuse_bytes(list_reader *read, const char *content, size_t size, const char *expected);

#endif
