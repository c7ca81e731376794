/* What the tests of files share: a scratch directory of the job, files with given bytes. */
#ifndef OSLA_FILE_HELP_H
#define OSLA_FILE_HELP_H

#include "osla_file.h"
#include "tests/osla_test_help.h"

/* Makes an empty directory, the same on all ranks; removes it with its files, and asserts that they
 * are as many as expected (so that nothing temporary stays behind). Collective. */
void scratch_make(void);
void scratch_drop(int expected_files);

/* The path of a file in it. The text is valid until 8 more calls. */
const char *scratch_path(const char *name);

/* Rank 0 writes, reads (caller frees), cuts or changes a file; all ranks wait. Collective. */
void scratch_write(const char *path, const void *bytes, size_t size);
void scratch_pipe(const char *path); /* a named pipe, which nobody writes */
unsigned char *scratch_read(const char *path, size_t *size);

#endif
