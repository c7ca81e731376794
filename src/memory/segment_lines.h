/* Lines in a segment: messages to places in a rank's memory that it has said beforehand, without a
 * copy or a word (floor 1, internal). What a line asks of its caller: osla_transport_ops. */
#ifndef SEGMENT_LINES_H
#define SEGMENT_LINES_H

#include "osla_segment.h"
#include "src/transport/transport_ops.h"

/* Bytes before the data area of each rank's memory. Local, pure. */
size_t osli_segment_head_bytes(int n_purposes, int n_origins);

/* What holds its memory. Local. */
osla_region *osli_segment_region(const osla_segment *segment);

/* To a rank of another node. *line = NULL, at both ends: this one is not (transport_ops.h). Local.
 * Errors: MEM, MPI. */
osla_err osli_segment_line_open(osla_segment *segment, const osla_line_end *end, osla_line **line);

/* Sends a message, or starts to receive it; the trace does not hear of it. Local. Errors: MPI. */
osla_err osli_segment_line_start(osla_segment *segment, osla_line *line, void *message,
                                 size_t bytes);

/* Sends one for the trace, where it is a put that ends with _left, when the line's `done` has
 * counted it. Local. Errors: MPI. */
osla_err osli_segment_line_send(osla_segment *segment, osla_line *line, void *message, size_t bytes,
                                osla_posted *sent);
void osli_segment_line_left(osla_segment *segment, const osla_posted *sent);

/* Does the count of its messages go on? At first it does. NULL: nothing happens. Local. */
void osli_segment_line_watch(osla_segment *segment, osla_line *line, bool watched);

void osli_segment_line_close(osla_segment *segment, osla_line **line); /* takes NULL */

#endif
