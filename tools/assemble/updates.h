/* Files of updates: what `osla assemble` reads (floor 4). The schema, in HDF5:
 *
 *   ix      [total]         integers from 0: the indices of all updates, one update after another
 *   offset  [count + 1]     integers: update u has the indices ix[offset[u]] up to, and without,
 *                           ix[offset[u + 1]]; begins with 0, ends with total. Missing: one update
 * and either panels of k data each
 *   G       [total, k]      a row for each index: the derivatives of the k data.
 *   w       [count, k]      weights >= 0; missing: all 1
 *   r       [count, k]      residuals; missing: no gradient
 *           H[ix, ix] += G^T diag(w) G and g[ix] += G^T diag(w) r, with G as k x n
 * or blocks
 *   U       [sum of n^2]    symmetric n x n blocks, one behind another: H[ix, ix] += U
 * and in both cases
 *   g       [total]         g[ix] += g; missing: nothing is added
 *
 * ix and offset: any integer types; the others: any integer or floating-point types. Any layout of
 * the data sets, compressed ones too.
 * A data set of more than 16 MiB must be in the file, as far as that can be told: contiguous,
 * whole; in chunks, at least the 1032nd part that deflate leaves. Sizes, also of the largest
 * update, must fit the memory that there is.
 *
 * All calls are local. Errors: IO "FILE: DATA SET: reason", MEM, UNSUPPORTED (no HDF5). HDF5 dies
 * of some damaged files: updates_reader.h calls these in a process of its own.
 */
#ifndef OSLA_UPDATES_H
#define OSLA_UPDATES_H

#include "osla_error.h"
#include "osla_types.h"
#include "tools/assemble/updates_batch.h"

typedef struct updates updates;

/* Opens a file and checks everything but the values of ix, G, U, w, r, g. The path is borrowed. */
osla_err updates_open(const char *path, updates **out);
void updates_close(updates **file); /* accepts NULL */

int64_t updates_count(const updates *file);

/* Reads updates from `first` on: at most `count` of them, and no more than fit 16 MiB unless the
 * first alone is larger. batch->count tells how many. Values must be finite, w not negative. */
osla_err updates_read(updates *file, int64_t first, int64_t count, osla_dtype dtype,
                      updates_batch *batch);

#endif
