/* Offsets of panels in the buffers, values of their notify slots, and their routes. */
#include "kernels/common/panels_state.h"

size_t osli_panels_offset(osla_panels *p, panel_kind kind, int64_t step, int root)
{
  const osla_panels_kind *k = &p->plan.kind[kind];
  size_t region = k->stride > 0 ? (size_t)(root / k->stride) : 0;
  return (size_t)(step % p->depth) * p->set + p->start[kind] + region * k->room;
}

uint64_t osli_panels_value(osla_panels *p, panel_kind kind, int64_t step, int root, int writer,
                           int pieces)
{
  const osla_line *line = panel_line(p, kind);
  uint64_t turn =
    (uint64_t)step * (uint64_t)line->length + (uint64_t)osla_line_distance(line, root, writer);
  return turn * PANEL_MOST_PIECES + (uint64_t)pieces;
}

osla_route osli_panels_route(osla_panels *p, panel_kind kind, int root, size_t bytes, int *targets)
{
  (void)pthread_mutex_lock(&p->routing);
  osla_route route = osli_route_make(panel_line(p, kind), p->plan.forward, root, bytes, targets);
  (void)pthread_mutex_unlock(&p->routing);
  return route;
}

int osli_panels_pieces(const osla_panels *p, const osla_route *route, size_t bytes)
{
  size_t pieces = (bytes + p->plan.piece - 1) / p->plan.piece;
  if (route->forward == OSLA_FORWARD_FLAT || pieces < 1) return 1;
  return pieces < PANEL_MOST_PIECES ? (int)pieces : PANEL_MOST_PIECES;
}
