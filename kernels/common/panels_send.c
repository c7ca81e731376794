/* What panels do in progress steps: publish, pass on, give credit.
 *
 * Each kind has a cursor that goes through the steps, and in a step through the roots of my line by
 * their distance: my own panel first, then that of the one before me ... At each it stands until
 * what is to do there is done. Panels of far roots cannot come before those of near ones on the
 * same way, so this order loses nothing, and the value of a slot only grows.
 */
#include "kernels/common/panels_state.h"
#include "osla_trace.h"

/* Has everybody on a position's node finished the step that used these buffers before? */
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

/* Is my own panel there, packed if others need that? */
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

/* Pieces of the panel at the cursor that are in my buffer. */
static int pieces_here(osla_panels *p, panel_kind kind, const panel_cursor *c, int root, int all)
{
  const osla_line *line = panel_line(p, kind);
  uint64_t none = osli_panels_value(p, kind, c->step, root, c->route.writer, 0);
  uint64_t now = osla_notify_read(p->segment, line->ranks[c->route.writer], (int)kind);
  if (now <= none) return 0;
  return now - none >= PANEL_MOST_PIECES ? all : (int)(now - none);
}

/* My neighbours read the whole panel, in my buffer or where I have it. */
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

/* May one more piece be on its way? Pieces that travel together share the line, and all of them
 * arrive late: a ring of four hosts behind 1 Gbit/s passed 4 MiB on in 86 ms with all at once, in
 * 44 with two and in 40 with one, of 34 that the line needs. Two: who computes does not look all
 * the time. */
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

/* Takes one root's panel as far as it can go; *done: there is nothing left to do for it. */
static osla_err advance_root(osla_panels *p, panel_kind kind, panel_cursor *c, bool *done)
{
  osla_line *line = panel_line(p, kind);
  int root = (line->me - c->distance + line->length) % line->length;
  bool own = c->distance == 0, neighbours = line->near[line->me] != line->me;
  *done = false;
  if (!c->begun) {
    c->bytes = p->plan.bytes(p->plan.kernel, kind, c->step, root);
    if (c->bytes > 0) c->route = osli_panels_route(p, kind, c->step, root, c->bytes, c->targets);
    c->begun = true;
    c->published = false;
    c->sent = own ? -1 : 0; /* -1: not known to be there */
  }
  /* One that comes to my buffer must have come, even if nobody here waits for it: else it would
   * come over the panel of a later step that somebody else writes there, such as my own. */
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

/* Are all posts of a set complete? */
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

/* Tells those who will write my node's copies, in the step that uses these buffers again. */
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
      osla_route route = osli_panels_route(p, kind, again, root, bytes, NULL);
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

/* ---- a step ---- */

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
  for (int kind = 0; kind < PANEL_KINDS && err == OSLA_OK; kind++)
    if (p->plan.kind[kind].used) err = advance_kind(p, kind);
  if (err == OSLA_OK && p->set > 0) err = give_credits(p);
  if (err != OSLA_OK) osla_transport_abort(p->t, err); /* others wait for it */
  if (all_sent(p)) atomic_store(&p->all_sent, true);
}
