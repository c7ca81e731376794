/* Lines in a segment: messages to places in a rank's memory that it has said beforehand, without a
 * copy or a word (floor 1, internal). What a line asks of its caller: osla_transport_ops. */
#ifndef SEGMENT_LINES_H
#define SEGMENT_LINES_H

#include "osla_segment.h"
#include "transport_ops.h"

/* To a rank of another node. *line = NULL, at both ends: there are none here. Local. Errors: MEM,
 * MPI. */
osla_err osla_segment_line_open(osla_segment *segment, const osla_line_end *end, osla_line **line);

/* Sends a message, or starts to receive it. Local. Errors: MPI. */
osla_err osla_segment_line_start(osla_segment *segment, osla_line *line, void *message,
                                 size_t bytes);

/* Of one that receives: does its count of messages go on? At first it does. NULL: nothing happens.
 */
void osla_segment_line_watch(osla_segment *segment, osla_line *line, bool watched);

void osla_segment_line_close(osla_segment *segment, osla_line **line); /* takes NULL */

#endif
