/* A child process that reads files of updates (layer 4; see reader_process.h for the reason). The
 * values come through shared memory.
 *
 * All calls are local; not thread-safe. Errors: those of updates.h, and IO when the process dies.
 */
#ifndef OSLA_UPDATES_READER_H
#define OSLA_UPDATES_READER_H

#include "tools/assemble/updates.h"

typedef struct updates_reader updates_reader;

/* Starts the process. Must be called early: the process begins as a copy of this one. */
osla_err updates_reader_start(updates_reader **out);
void updates_reader_stop(updates_reader **reader); /* Ends the process; accepts NULL. */

/* Opens a file as updates_open does, returns its number of updates, and closes the file that was
 * open. Borrows the path. */
osla_err updates_reader_open(updates_reader *reader, const char *path, int64_t *count);
/* Reads from the open file as updates_read does; the reader owns the batch, which is valid until
 * the next call. */
osla_err updates_reader_read(updates_reader *reader, int64_t first, int64_t count, osla_dtype dtype,
                             updates_batch *batch);

#endif
