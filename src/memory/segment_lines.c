#include "src/memory/segment_lines.h"
#include "osla_trace.h"

osla_err osli_segment_line_open(osla_segment *s, const osla_line_end *end, osla_line **line)
{
  const osla_transport *t = osla_segment_transport(s);
  *line = NULL;
  return t->ops->line_open ? t->ops->line_open(osli_segment_region(s), end, line) : OSLA_OK;
}

osla_err osli_segment_line_start(osla_segment *s, osla_line *line, void *message, size_t bytes)
{
  return osla_segment_transport(s)->ops->line_start(line, message, bytes);
}

osla_err osli_segment_line_send(osla_segment *s, osla_line *line, void *message, size_t bytes,
                                osla_posted *sent)
{
  osla_transport *t = osla_segment_transport(s);
  *sent = (osla_posted){.since = osla_trace_now(t), .bytes = bytes};
  OSLA_CALL(osli_segment_line_start(s, line, message, bytes));
  osla_trace_add(t, OSLA_TRACE_ISSUE, sent->since, (double)bytes);
  return OSLA_OK;
}

void osli_segment_line_left(osla_segment *s, const osla_posted *sent)
{
  osla_trace_add(osla_segment_transport(s), OSLA_TRACE_PUT, sent->since, (double)sent->bytes);
}

void osli_segment_line_watch(osla_segment *s, osla_line *line, bool watched)
{
  if (line) osla_segment_transport(s)->ops->line_watch(line, watched);
}

void osli_segment_line_close(osla_segment *s, osla_line **line)
{
  if (*line) osla_segment_transport(s)->ops->line_close(line);
}
