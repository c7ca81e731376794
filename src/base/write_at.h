/* Writing through a descriptor (layer 0, private). A failing write raises no signal in the process
 * (signal_guard.h). Local, thread-safe. `path` is for messages only. Errors: IO "PATH: reason". */
#ifndef OSLA_WRITE_AT_H
#define OSLA_WRITE_AT_H

#include <stddef.h>
#include <stdint.h>

#include "osla_error.h"

/* Writes all `size` bytes at `offset` of the file. */
osla_err osli_write_at(int fd, const char *path, const void *bytes, size_t size, uint64_t offset);

/* Sets the length of a file in bytes. */
osla_err osli_set_length(int fd, const char *path, uint64_t bytes);

/* Checks that the process may write a file of this length (ulimit -f), before work is done for
 * it. */
osla_err osli_check_length(const char *path, uint64_t bytes);

#endif
