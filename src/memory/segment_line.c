/* Opens message lines in the region of a segment, and sends and receives messages on them. */
#include "osla_trace.h"
#include "src/memory/segment_state.h"

osla_err osli_segment_line_open(osla_segment *s, const osla_line_end *end, osla_line **line)
{
  *line = NULL;
  return s->t->ops->line_open ? s->t->ops->line_open(s->region, end, line) : OSLA_OK;
}

osla_err osli_segment_line_start(osla_segment *s, osla_line *line, void *message, size_t bytes)
{
  return s->t->ops->line_start(line, message, bytes);
}

osla_err osli_segment_line_send(osla_segment *s, osla_line *line, void *message, size_t bytes,
                                osla_posted *sent)
{
  *sent = (osla_posted){.since = osla_trace_now(s->t), .bytes = bytes};
  OSLA_CALL(s->t->ops->line_start(line, message, bytes));
  osla_trace_add(s->t, OSLA_TRACE_ISSUE, sent->since, (double)bytes);
  return OSLA_OK;
}

void osli_segment_line_left(osla_segment *s, const osla_posted *sent)
{
  osla_trace_add(s->t, OSLA_TRACE_PUT, sent->since, (double)sent->bytes);
}

void osli_segment_line_watch(osla_segment *s, osla_line *line, bool watched)
{
  if (line) s->t->ops->line_watch(line, watched);
}

void osli_segment_line_close(osla_segment *s, osla_line **line)
{
  if (*line) s->t->ops->line_close(line);
}
