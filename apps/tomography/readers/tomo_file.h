/* Reading whole files, and files that are opened more than once (private). Local, thread-safe. */
#ifndef TOMO_FILE_H
#define TOMO_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "osla_error.h"

/* The caller frees *bytes. Errors: OSLA_ERR_IO "FILE: reason", OSLA_ERR_MEM. */
osla_err tomo_file_read(const char *file, void **bytes, size_t *size);

/* Can it be opened again from its begin, as no pipe can? Errors: OSLA_ERR_IO "FILE: reason". */
osla_err tomo_file_check(const char *file);

/* Does it begin as HDF5 does? */
bool tomo_file_is_hdf5(const char *file);

#endif
