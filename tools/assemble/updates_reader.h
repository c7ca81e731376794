/* A process that reads files of updates for this one (floor 4; reader_process.h says why): the
 * values come through shared memory.
 *
 * All calls are local; not thread-safe. Errors: those of updates.h, and IO when the process dies.
 */
#ifndef OSLA_UPDATES_READER_H
#define OSLA_UPDATES_READER_H

#include "tools/assemble/updates.h"

typedef struct updates_reader updates_reader;

/* Starts the process. Call it early: the process begins as a copy of this one. */
osla_err updates_reader_start(updates_reader **out);
void updates_reader_stop(updates_reader **reader); /* accepts NULL */

/* updates_open and updates_count; closes the file that was open. The path is borrowed. */
osla_err updates_reader_open(updates_reader *reader, const char *path, int64_t *count);
/* updates_read of the open file; the batch stays the reader's and is valid until its next call. */
osla_err updates_reader_read(updates_reader *reader, int64_t first, int64_t count, osla_dtype dtype,
                             updates_batch *batch);

#endif
