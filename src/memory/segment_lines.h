/* Internal calls on segments, and message lines in a segment (layer 1). A line is a stream of
 * messages to addresses that the receiver has chosen in advance, without copies or words.
 * osla_transport_ops.line_open has the duties of its caller. */
#ifndef SEGMENT_LINES_H
#define SEGMENT_LINES_H

#include "osla_segment.h"
#include "src/transport/transport_ops.h"

/* Bytes before the data area of each rank's memory. Local, pure. */
size_t osli_segment_head_bytes(int n_purposes, int n_origins);

/* The region that holds the segment's memory. Local. */
osla_region *osli_segment_region(const osla_segment *segment);

/* Opens one end of a line to a rank of another node. *line = NULL at both ends if the transport
 * provides no line. Local. Errors: MEM, MPI. */
osla_err osli_segment_line_open(osla_segment *segment, const osla_line_end *end, osla_line **line);

/* Starts to send or receive a message, without a record in the trace. Local. Errors: MPI. */
osla_err osli_segment_line_start(osla_segment *segment, osla_line *line, void *message,
                                 size_t bytes);

/* Sends a message and records it in the trace as a put; osli_segment_line_left records its end,
 * when `done` of the line has counted it. Local. Errors: MPI. */
osla_err osli_segment_line_send(osla_segment *segment, osla_line *line, void *message, size_t bytes,
                                osla_posted *sent);
void osli_segment_line_left(osla_segment *segment, const osla_posted *sent);

/* Sets whether progress steps update the line's count of complete messages, `done`. They do so from
 * the opening of the line on. Does nothing for NULL. Local. */
void osli_segment_line_watch(osla_segment *segment, osla_line *line, bool watched);

void osli_segment_line_close(osla_segment *segment, osla_line **line); /* does nothing for NULL */

#endif
