/* Progress steps of panels: publish, forward, send credits.
 *
 * Each kind of panel has a cursor that visits the steps and, within a step, the roots by distance:
 * first this rank's own panel, then the panel of the root one position before this rank, and so on.
 * The cursor advances when this rank has nothing left to do for a root. On one route, the panel of
 * a more distant root cannot arrive earlier. So this order delays no panel, and the value of a
 * notify slot only grows. */
#include "kernels/common/panels_state.h"
#include "osla_trace.h"
#include "src/device/device.h"

/* ---- offsets, values of notify slots, and routes ---- */

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

/* ---- publishing and forwarding ---- */

/* True if all ranks on the node of `position` have finished the earlier step that used this set
 * of buffers. */
static bool has_credit(osla_panels *p, panel_kind kind, int64_t step, int position)
{
  const osla_line *line = panel_line(p, kind);
  if (step < p->depth) return true;
  if (position == line->me && p->credited < step + 1 - p->depth) return false;
  int i = position;
  do {
    if (i != line->me && osla_notify_read(p->segment, line->ranks[i], PANEL_PURPOSE_CREDIT) <
                           (uint64_t)(step + 1 - p->depth))
      return false;
    i = line->near[i];
  } while (i != position);
  return true;
}

static bool targets_have_credit(osla_panels *p, panel_kind kind, const panel_cursor *c)
{
  for (int i = 0; i < c->route.count; i++)
    if (!has_credit(p, kind, c->step, c->targets[i])) return false;
  return true;
}

static unsigned char *buffer_of(osla_panels *p, panel_kind kind, int64_t step, int root)
{
  return (unsigned char *)osla_segment_local(p->segment) + osli_panels_offset(p, kind, step, root);
}

/* True if this rank's own panel is ready. If other ranks need a copy, the panel is packed first. */
static bool own_is_ready(osla_panels *p, panel_kind kind, panel_cursor *c, bool has_neighbours)
{
  bool in_place = p->plan.readable && !p->plan.kind[kind].in_buffer;
  bool packed = c->route.count > 0 || (has_neighbours && !in_place);
  void *room = NULL;
  if (packed) {
    const osla_line *line = panel_line(p, kind);
    if (!has_credit(p, kind, c->step, line->me)) return false;
    room = buffer_of(p, kind, c->step, line->me);
  }
  return p->plan.ready(p->plan.kernel, kind, c->step, room);
}

/* Number of pieces of the panel at the cursor that have arrived in this rank's buffer. */
static int pieces_here(osla_panels *p, panel_kind kind, const panel_cursor *c, int root, int all)
{
  const osla_line *line = panel_line(p, kind);
  uint64_t none = osli_panels_value(p, kind, c->step, root, c->route.writer, 0);
  uint64_t now = osla_notify_read(p->segment, line->ranks[c->route.writer], (int)kind);
  if (now <= none) return 0;
  return now - none >= PANEL_MOST_PIECES ? all : (int)(now - none);
}

/* Notifies the ranks of this node that they can read the whole panel, in this rank's buffer or
 * matrix. */
static osla_err notify_neighbours(osla_panels *p, panel_kind kind, int64_t step, int root)
{
  const osla_line *line = panel_line(p, kind);
  uint64_t value = osli_panels_value(p, kind, step, root, line->me, PANEL_MOST_PIECES);
  for (int i = line->near[line->me]; i != line->me; i = line->near[i])
    OSLA_CALL(osla_notify(p->segment, line->ranks[i], (int)kind, value));
  return OSLA_OK;
}

static osla_err send_piece(osla_panels *p, panel_kind kind, panel_cursor *c, int root, int all)
{
  const osla_line *line = panel_line(p, kind);
  size_t piece = (c->bytes + (size_t)all - 1) / (size_t)all, from = (size_t)c->sent * piece;
  size_t size = from >= c->bytes ? 0 : c->bytes - from < piece ? c->bytes - from : piece;
  size_t offset = osli_panels_offset(p, kind, c->step, root) + from;
  const unsigned char *source = (unsigned char *)osla_segment_local(p->segment) + offset;
  bool last = c->sent + 1 == all;
  uint64_t value =
    osli_panels_value(p, kind, c->step, root, line->me, last ? PANEL_MOST_PIECES : c->sent + 1);
  int64_t set = c->step % p->depth;
  double since = osla_trace_now(p->t);
  c->post_of[c->sent] = p->n_posted[set];
  for (int i = 0; i < c->route.count; i++) {
    osla_posted *posted = &p->posted[set * p->most + p->n_posted[set]++];
    OSLA_CALL(osla_put_notify_post(p->segment, line->ranks[c->targets[i]], offset, source, size,
                                   (int)kind, value, posted));
  }
  if (root != line->me) osla_trace_add(p->t, OSLA_TRACE_FORWARD, since, (double)size);
  c->sent++;
  return OSLA_OK;
}

/* True if one more piece may be in flight. At most two pieces are in flight, because pieces that
 * are in flight together share the bandwidth and all of them arrive late (a ring of four hosts took
 * 86 ms with all pieces at once, 44 ms with two). One piece would leave gaps while a rank computes
 * between progress steps. */
static osla_err may_send(osla_panels *p, const panel_cursor *c, bool *may_post)
{
  enum { ON_THEIR_WAY = 2 };
  *may_post = true;
  if (c->sent < ON_THEIR_WAY) return OSLA_OK;
  int64_t set = c->step % p->depth;
  osla_posted *post = &p->posted[set * p->most + c->post_of[c->sent - ON_THEIR_WAY]];
  for (int i = 0; i < c->route.count && *may_post; i++)
    OSLA_CALL(osla_posted_test(p->segment, &post[i], may_post));
  return OSLA_OK;
}

/* Sends or forwards as much as possible of the panel of one root. *done: true if this rank has
 * nothing left to do for this panel. */
static osla_err advance_root(osla_panels *p, panel_kind kind, panel_cursor *c, bool *done)
{
  osla_line *line = panel_line(p, kind);
  int root = (line->me - c->distance + line->length) % line->length;
  bool own = c->distance == 0, neighbours = line->near[line->me] != line->me;
  *done = false;
  if (!c->begun) {
    c->bytes = p->plan.bytes(p->plan.kernel, kind, c->step, root);
    if (c->bytes > 0) c->route = osli_panels_route(p, kind, root, c->bytes, c->targets);
    c->begun = true;
    c->published = false;
    c->sent = own ? -1 : 0; /* -1: this rank's own panel may not be ready */
  }
  /* A rank with a buffer for this panel also waits for it if no rank of its node needs it.
   * Otherwise the panel could arrive later and overwrite the panel of a later step. */
  *done =
    c->bytes == 0 || c->route.reads != line->me || (own && !neighbours && c->route.count == 0);
  if (*done) return OSLA_OK;
  int all = osli_panels_pieces(p, &c->route, c->bytes);
  if (c->sent < 0 && !own_is_ready(p, kind, c, neighbours)) return OSLA_OK;
  if (c->sent < 0) c->sent = 0;
  int here = own ? all : pieces_here(p, kind, c, root, all);
  if (here == all && !c->published) {
    if (neighbours) OSLA_CALL(notify_neighbours(p, kind, c->step, root));
    c->published = true;
  }
  if (c->route.count > 0) {
    if (c->sent == 0 && !targets_have_credit(p, kind, c)) return OSLA_OK;
    while (c->sent < here) {
      bool may_post;
      OSLA_CALL(may_send(p, c, &may_post));
      if (!may_post) return OSLA_OK;
      OSLA_CALL(send_piece(p, kind, c, root, all));
    }
  }
  *done = c->published && (c->route.count == 0 || c->sent == all);
  return OSLA_OK;
}

static osla_err advance_kind(osla_panels *p, panel_kind kind)
{
  panel_cursor *c = &p->cursor[kind];
  int length = panel_line(p, kind)->length;
  while (c->step < p->plan.steps) {
    bool done;
    OSLA_CALL(advance_root(p, kind, c, &done));
    if (!done) return OSLA_OK;
    c->begun = false;
    if (++c->distance < length) continue;
    c->distance = 0;
    c->step++;
  }
  return OSLA_OK;
}

/* ---- credits ---- */

/* True if all puts from a set of buffers have arrived. */
static osla_err set_is_sent(osla_panels *p, int64_t set, bool *sent)
{
  *sent = true;
  while (p->n_posted[set] > 0 && *sent) {
    osla_posted *last = &p->posted[set * p->most + p->n_posted[set] - 1];
    OSLA_CALL(osla_posted_test(p->segment, last, sent));
    if (*sent) p->n_posted[set]--;
  }
  return OSLA_OK;
}

/* Sends credits to the ranks that will write this node's copies of panels when the buffers are used
 * again. */
static osla_err give_credit(osla_panels *p, int64_t step)
{
  int64_t again = step + p->depth;
  if (again >= p->plan.steps) return OSLA_OK;
  for (int kind = 0; kind < PANEL_KINDS; kind++) {
    osla_line *line = panel_line(p, kind);
    int latest = -1;
    for (int root = 0; root < line->length && p->plan.kind[kind].used; root++) {
      size_t bytes = p->plan.bytes(p->plan.kernel, kind, again, root);
      if (bytes == 0) continue;
      osla_route route = osli_panels_route(p, kind, root, bytes, NULL);
      if (route.writer == line->me || route.writer == latest) continue;
      latest = route.writer;
      OSLA_CALL(osla_notify_post(p->segment, line->ranks[latest], PANEL_PURPOSE_CREDIT,
                                 (uint64_t)step + 1));
    }
  }
  return OSLA_OK;
}

static osla_err give_credits(osla_panels *p)
{
  while (p->credited < atomic_load(&p->finished)) {
    bool sent;
    for (int kind = 0; kind < PANEL_KINDS; kind++)
      if (p->plan.kind[kind].used && p->cursor[kind].step <= p->credited) return OSLA_OK;
    OSLA_CALL(set_is_sent(p, p->credited % p->depth, &sent));
    if (!sent) return OSLA_OK;
    OSLA_CALL(give_credit(p, p->credited++));
  }
  return OSLA_OK;
}

/* ---- progress step ---- */

static bool all_sent(const osla_panels *p)
{
  for (int kind = 0; kind < PANEL_KINDS; kind++)
    if (p->plan.kind[kind].used && p->cursor[kind].step < p->plan.steps) return false;
  return p->set == 0 || p->credited == p->plan.steps;
}

void osli_panels_step(void *panels)
{
  osla_panels *p = panels;
  osla_err err = OSLA_OK;
  if (!p->active || atomic_load(&p->all_sent)) return;
  const device_lane lane = p->plan.device ? osli_device_lane(LANE_PANEL) : LANE_MAIN;
  for (int kind = 0; kind < PANEL_KINDS && err == OSLA_OK; kind++)
    if (p->plan.kind[kind].used) err = advance_kind(p, kind);
  if (err == OSLA_OK && p->set > 0) err = give_credits(p);
  /* An error ends the job, because other ranks wait for panels of this rank. */
  if (err != OSLA_OK) osla_transport_abort(p->t, err);
  if (p->plan.device) (void)osli_device_lane(lane);
  if (all_sent(p)) atomic_store(&p->all_sent, true);
}
