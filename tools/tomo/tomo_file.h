/* Files that appear all at once (private to tomo_store and tomo_map).
 *
 * The bytes go to a nameless file (O_TMPFILE) in the target's directory, are synchronised and
 * linked in place, or, when the target exists, linked to a name beside it and renamed over it. File
 * systems without O_TMPFILE (NFS, some FUSE) get a named temporary file, removed on every error;
 * only a kill in the middle of writing could leave it there. Local, thread-safe for different
 * targets.
 */
#ifndef TOMO_FILE_H
#define TOMO_FILE_H

#include <stddef.h>

#include "osla_error.h"

/* Could tomo_file_write put a file there? Leaves nothing. Errors: OSLA_ERR_IO "FILE: reason". */
osla_err tomo_file_check(const char *file);

/* Writes or replaces the file. Errors: OSLA_ERR_IO "FILE: reason"; the old file is then unchanged.
 */
osla_err tomo_file_write(const char *file, const void *bytes, size_t size);

/* Reads a whole file; the caller frees *bytes. Errors: OSLA_ERR_IO "FILE: reason", OSLA_ERR_MEM. */
osla_err tomo_file_read(const char *file, void **bytes, size_t *size);

#endif
