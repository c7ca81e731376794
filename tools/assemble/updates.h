/* Files of updates, the input of `osla assemble` (layer 4). An update has n indices. The schema, in
 * HDF5:
 *
 *   ix      [total]       integers from 0: the indices of all updates, one update after the other
 *   offset  [count + 1]   integers: update u has the indices ix[offset[u] .. offset[u + 1] - 1];
 *                         begins with 0, ends with total. If missing, there is one update
 * either panels of k data each
 *   G       [total, k]    a row for each index: the derivatives of the k data
 *   w       [count, k]    weights >= 0; if missing, all are 1
 *   r       [count, k]    residuals; if missing, the panels add nothing to g
 *           H[ix, ix] += G^T diag(w) G and g[ix] += G^T diag(w) r, with G as k x n
 * or blocks
 *   U       [sum of n^2]  symmetric n x n blocks, one after the other: H[ix, ix] += U
 * and in both cases
 *   g       [total]       gradients: added to elements ix of the vector g; may be missing
 *
 * ix and offset may have any integer type, the other data sets any integer or floating-point type.
 * The data sets may have any layout, also compressed. If a data set has more than 16 MiB, the file
 * must hold enough bytes: all bytes if it is contiguous; in chunks at least a 1032nd of the bytes,
 * because deflate compresses at most by 1032. Sizes, also that of the largest update, must fit in
 * the available memory.
 *
 * All calls are local. Errors: IO "FILE: DATA SET: reason", MEM, UNSUPPORTED (no HDF5). HDF5
 * crashes on some damaged files, so that updates_reader.c makes these calls in a child process. */
#ifndef OSLA_UPDATES_H
#define OSLA_UPDATES_H

#include "osla_error.h"
#include "osla_types.h"
#include "tools/assemble/updates_batch.h"

typedef struct updates updates;

/* Opens a file and checks everything except the values of ix, G, U, w, r, g. Borrows the path. */
osla_err updates_open(const char *path, updates **out);
void updates_close(updates **file); /* Closes a file; accepts NULL. */

int64_t updates_count(const updates *file);

/* Reads updates from number `first` on: at most `count`, and no more than fit in 16 MiB unless the
 * first update alone is larger. batch->count is the number of updates read. It is an error if a
 * value is not finite or an element of w is negative. */
osla_err updates_read(updates *file, int64_t first, int64_t count, osla_dtype dtype,
                      updates_batch *batch);

/* A child process that reads files of updates (layer 4; reader_process.h gives the reason). The
 * values come through shared memory.
 *
 * All calls are local; not thread-safe. Errors: those of updates_open and updates_read, and IO if
 * the process dies. */
typedef struct updates_reader updates_reader;

/* Starts the child process. Must be called early, because the child begins as a copy of this
 * process. */
osla_err updates_reader_start(updates_reader **out);
void updates_reader_stop(updates_reader **reader); /* Ends the child process; accepts NULL. */

/* Closes the file that was open, opens another as updates_open does, and returns its number of
 * updates. Borrows the path. */
osla_err updates_reader_open(updates_reader *reader, const char *path, int64_t *count);
/* Reads from the open file as updates_read does; the reader owns the batch, which is valid until
 * the next call. */
osla_err updates_reader_read(updates_reader *reader, int64_t first, int64_t count, osla_dtype dtype,
                             updates_batch *batch);

#endif
