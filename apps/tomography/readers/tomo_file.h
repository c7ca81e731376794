/* Reads whole files, and checks files that are opened more than once (private). Local,
 * thread-safe. */
#ifndef TOMO_FILE_H
#define TOMO_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "osla_error.h"

/* Reads a file and appends a 0 that *size does not count. The caller frees *bytes. Errors:
 * OSLA_ERR_IO "FILE: reason", OSLA_ERR_MEM. */
osla_err tomo_file_read(const char *file, void **bytes, size_t *size);

/* Error OSLA_ERR_IO "FILE: reason" unless the path is a regular file, which can be opened again and
 * read from its beginning (a pipe cannot). */
osla_err tomo_file_check(const char *file);

/* True if the file begins with the signature of HDF5. */
bool tomo_file_is_hdf5(const char *file);

#endif
