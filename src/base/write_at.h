/* Writing through a descriptor (floor 0, private). No signal of a failing write reaches the process
 * (signal_guard.h). Local, thread-safe. `path` is for the texts. Errors: IO "PATH: reason". */
#ifndef OSLA_WRITE_AT_H
#define OSLA_WRITE_AT_H

#include <stddef.h>
#include <stdint.h>

#include "osla_error.h"

/* Writes all bytes at that place of a file. */
osla_err osli_write_at(int fd, const char *path, const void *bytes, size_t size, uint64_t offset);

/* Sets the length of a file. */
osla_err osli_set_length(int fd, const char *path, uint64_t bytes);

/* May a file be that long (ulimit -f)? To be asked before work is done for it. */
osla_err osli_check_length(const char *path, uint64_t bytes);

#endif
