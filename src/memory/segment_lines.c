/* Lines in a segment. See segment_lines.h. */
#include "segment_lines.h"
#include "osla_trace.h"

osla_err osla_segment_line_open(osla_segment *s, const osla_line_end *end, osla_line **line)
{
  const osla_transport *t = osla_segment_transport(s);
  *line = NULL;
  return t->ops->line_open ? t->ops->line_open(osla_segment_region(s), end, line) : OSLA_OK;
}

osla_err osla_segment_line_start(osla_segment *s, osla_line *line, void *message, size_t bytes)
{
  osla_transport *t = osla_segment_transport(s);
  double since = osla_trace_now(t);
  OSLA_CALL(t->ops->line_start(line, message, bytes));
  osla_trace_add(t, OSLA_TRACE_ISSUE, since, (double)bytes);
  return OSLA_OK;
}

void osla_segment_line_close(osla_segment *s, osla_line **line)
{
  if (*line) osla_segment_transport(s)->ops->line_close(line);
}
