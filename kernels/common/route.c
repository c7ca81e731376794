#include "kernels/common/route.h"

#include <stdlib.h>

/* Panels of at least this many bytes use a ring, which forwards a panel at the rate of one link for
 * any number of nodes. For smaller panels only latency counts, so they use a tree. */
enum { RING_FROM = 64 << 10 };

bool osli_line_make(osla_line *line, int length, int me, const int *ranks, const int *nodes)
{
  size_t n = length > 0 ? (size_t)length : 1;
  *line = (osla_line){.length = length, .me = me};
  line->node = calloc(n, sizeof *line->node);
  line->ranks = calloc(n, sizeof *line->ranks);
  line->near = calloc(n, sizeof *line->near);
  line->stations = calloc(n, sizeof *line->stations);
  line->positions = calloc(n, sizeof *line->positions);
  line->seen = calloc(n, sizeof *line->seen);
  if (!line->node || !line->ranks || !line->near || !line->stations || !line->positions ||
      !line->seen)
    return false;
  for (int i = 0; i < length; i++) {
    int same = 0;
    while (same < i && nodes[ranks[same]] != nodes[ranks[i]])
      same++;
    line->ranks[i] = ranks[i];
    line->node[i] = same < i ? line->node[same] : line->nodes++;
    line->near[i] = same < i ? line->near[same] : i;
    line->near[same] = i;
  }
  return true;
}

void osli_line_free(osla_line *line)
{
  free(line->node);
  free(line->ranks);
  free(line->near);
  free(line->stations);
  free(line->positions);
  free(line->seen);
  *line = (osla_line){0};
}

/* Lists the root and the stations (the rank of each other node that receives the node's copy of a
 * panel) in cyclic order. Returns the index of this rank's node in the list. */
static int list_stations(osla_line *line, int root)
{
  int count = 0, mine = 0;
  for (int node = 0; node < line->nodes; node++)
    line->seen[node] = false;
  for (int i = 0; i < line->length && count < line->nodes; i++) {
    int position = (root + i) % line->length, node = line->node[position];
    if (line->seen[node]) continue;
    line->seen[node] = true;
    if (node == line->node[line->me]) mine = count;
    line->stations[count++] = position;
  }
  return mine;
}

static osla_forward choose(const osla_line *line, osla_forward forward, size_t bytes)
{
  /* between two nodes, all kinds of routes are equal */
  if (line->nodes <= 2) return OSLA_FORWARD_FLAT;
  if (forward != OSLA_FORWARD_CHOSEN) return forward;
  return bytes >= RING_FROM ? OSLA_FORWARD_RING : OSLA_FORWARD_TREE;
}

/* Binomial tree over positions 0 .. n - 1, with position 0 as root. Position i > 0 receives from
 * the position that is i without its lowest set bit, and sends to i + 1, i + 2, i + 4, ... below
 * that bit, to the most distant position first. Returns the position from which `position`
 * receives. */
static int route_tree(int position, int n, int *targets, int *count)
{
  int bit = 1, from;
  while (bit < n && !(position & bit))
    bit *= 2;
  from = position > 0 ? position - bit : 0;
  for (bit /= 2; bit > 0; bit /= 2)
    if (position + bit < n) targets[(*count)++] = position + bit;
  return from;
}

osla_route osli_route_make(osla_line *line, osla_forward forward, int root, size_t bytes,
                           int *targets)
{
  int position = list_stations(line, root), n = line->nodes, from = 0;
  int *to = line->positions, count = 0;
  osla_route route = {.forward = choose(line, forward, bytes), .reads = line->stations[position]};
  if (route.forward == OSLA_FORWARD_TREE) {
    from = route_tree(position, n, to, &count);
  } else if (route.forward == OSLA_FORWARD_RING) {
    from = position > 0 ? position - 1 : 0;
    if (position + 1 < n) to[count++] = position + 1;
  } else {
    for (int i = 1; i < n && position == 0; i++)
      to[count++] = i;
  }
  route.writer = line->stations[from];
  if (route.reads == line->me) route.count = count;
  for (int i = 0; i < route.count && targets; i++)
    targets[i] = line->stations[to[i]];
  return route;
}
