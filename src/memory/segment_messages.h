/* Messages in a segment that consist of heads and bulk data (layer 1, internal).
 *
 * In a simulation that only models work (src/blas/work.h) bulk data are neither stored nor moved,
 * and their memory is never touched. On a real machine osli_segment_store is a copy. */
#ifndef SEGMENT_MESSAGES_H
#define SEGMENT_MESSAGES_H

#include "osla_segment.h"

/* Declares that each rank's data area from `offset` on holds only messages, which that rank writes
 * by osli_segment_store, and other ranks get once. Local; before the first store. */
void osli_segment_messages(osla_segment *segment, size_t offset);

/* Copies bytes to this rank's data area. The same bytes may be stored again only after the other
 * rank has got them. Local, thread-safe. */
void osli_segment_store(osla_segment *segment, size_t offset, const void *bytes, size_t count);

#endif
