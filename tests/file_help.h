/* Helpers for tests of files: a temporary directory of the job, and files with given bytes. */
#ifndef OSLA_FILE_HELP_H
#define OSLA_FILE_HELP_H

#include "osla_file.h"
#include "tests/osla_test_help.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
/* 1 if files in the HDF5 format can be written and read */
#ifdef HAVE_HDF5
enum { WITH_HDF5 = 1 };
#else
enum { WITH_HDF5 = 0 };
#endif

/* scratch_create makes an empty directory for the job. scratch_remove removes it with its files,
 * and asserts that it held the expected number of files, so that no temporary file is left. Both
 * are collective. */
void scratch_create(void);
void scratch_remove(int expected_files);

/* Path of a file in the scratch directory. The text is overwritten by the eighth later call. */
const char *scratch_path(const char *name);

/* Rank 0 writes a file, makes a pipe, or reads a file (the caller frees the bytes). All ranks wait
 * until rank 0 has finished. Collective. */
void scratch_write(const char *path, const void *bytes, size_t size);
/* Makes a named pipe that has no writer. */
void scratch_pipe(const char *path);
unsigned char *scratch_read(const char *path, size_t *size);

#endif
