/* Messages in a segment: heads, and bulk data between them (floor 1, internal).
 *
 * Where work is only modelled (work.h) bulk data are neither written nor moved, and the memory that
 * would hold them is not touched. On a real machine a store is a copy.
 */
#ifndef SEGMENT_MESSAGES_H
#define SEGMENT_MESSAGES_H

#include "osla_segment.h"

/* From `offset` on each rank's data area has nothing but messages, which that rank writes by
 * osli_segment_store alone and others get, each byte once. Local; before the first store. */
void osli_segment_messages(osla_segment *segment, size_t offset);

/* Writes to my data area; again only what was written there before and not got. Local,
 * thread-safe. */
void osli_segment_store(osla_segment *segment, size_t offset, const void *bytes, size_t count);

#endif
