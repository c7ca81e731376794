/* State of panels, shared by panels_send.c (offsets, routes, progress steps) and panels.c (set-up
 * and waits) (internal). */
#ifndef OSLA_PANELS_STATE_H
#define OSLA_PANELS_STATE_H

#include "kernels/common/panels.h"
#include "kernels/common/route.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
  PANEL_PURPOSE_CREDIT = PANEL_KINDS,
  PANEL_PURPOSE_RANK,
  PANEL_PURPOSES,
  /* largest number of pieces of a panel; as the value of a notify slot: the whole panel has
   * arrived */
  PANEL_MOST_PIECES = 64
};

/* Position up to which the panels of one kind have been handled: a step, and a root, given by
 * its distance (in positions) before this rank. */
typedef struct panel_cursor {
  int64_t step;
  int distance;
  bool begun;     /* true if the route is set */
  bool published; /* true if the ranks of this node have been notified */
  osla_route route;
  /* [length of the process row or column] positions to which this rank sends the panel */
  int *targets;
  size_t bytes; /* bytes of the panel */
  int sent;     /* number of pieces sent so far; -1: this rank's own panel is not ready */
  /* index, in the list of the set's puts, of the first put of each piece */
  int post_of[PANEL_MOST_PIECES];
} panel_cursor;

struct osla_panels {
  osla_panels_plan plan;
  osla_transport *t;
  osla_segment *segment;
  bool active; /* true if this rank takes part in the panels */
  bool hooked; /* true if a progress hook is registered */
  osla_line row, column;
  size_t start[PANEL_KINDS]; /* offset of each kind of panel in a set of buffers */
  size_t set;    /* bytes of a set of buffers; 0: there are neither buffers nor credits */
  int64_t depth; /* number of sets of buffers */
  /* protects the scratch arrays of `row` and `column`, because another thread may run progress
   * steps */
  pthread_mutex_t routing;
  _Atomic int64_t finished; /* number of steps that the kernel has finished */
  atomic_bool all_sent;     /* true if this rank has nothing left to send */
  /* Only progress steps use the members below. */
  int64_t credited; /* number of steps for which credits have been sent */
  panel_cursor cursor[PANEL_KINDS];
  osla_posted *posted; /* [depth * most] puts from each set of buffers */
  int *n_posted;       /* [depth] number of puts in flight from each set of buffers */
  int most;
};

static inline osla_line *panel_line(osla_panels *p, panel_kind kind)
{
  return p->plan.kind[kind].in_column ? &p->column : &p->row;
}

/* Offset, in a rank's memory for panels, of the buffer for the panel of a root in a step. */
size_t osli_panels_offset(osla_panels *p, panel_kind kind, int64_t step, int root);

/* Value that the notify slot of `writer` has when `pieces` pieces of a root's panel have
 * arrived. */
uint64_t osli_panels_value(osla_panels *p, panel_kind kind, int64_t step, int root, int writer,
                           int pieces);

osla_route osli_panels_route(osla_panels *p, panel_kind kind, int root, size_t bytes, int *targets);

/* Number of pieces in which a panel of `bytes` bytes is sent on a route. */
int osli_panels_pieces(const osla_panels *p, const osla_route *route, size_t bytes);

/* Makes a progress step: sends, forwards and acknowledges panels. */
void osli_panels_step(void *panels);

#endif
