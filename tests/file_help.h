/* Helpers for tests of files: a temporary directory of the job, and files with given bytes. */
#ifndef OSLA_FILE_HELP_H
#define OSLA_FILE_HELP_H

#include "osla_file.h"
#include "tests/osla_test_help.h"

/* Makes an empty directory, the same on all ranks; removes it with its files, and asserts that it
 * holds the expected number (so that no temporary file is left). Collective. */
void scratch_create(void);
void scratch_remove(int expected_files);

/* Path of a file in the directory. The text is overwritten by the eighth call after this one. */
const char *scratch_path(const char *name);

/* Rank 0 writes, reads (the caller frees the result), cuts or changes a file; all ranks wait.
 * Collective. */
void scratch_write(const char *path, const void *bytes, size_t size);
void scratch_pipe(const char *path); /* a named pipe that has no writer */
unsigned char *scratch_read(const char *path, size_t *size);

#endif
