/* What the two files of the panels share (internal): panels.c sets up, waits and finishes,
 * panels_send.c does what happens in progress steps. */
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
  PANEL_MOST_PIECES = 64 /* of a panel; in a slot's value this many means all of it */
};

/* Where a kind's sending stands: at the root that lies `distance` behind me, in this step. */
typedef struct panel_cursor {
  int64_t step;
  int distance;
  bool begun;     /* the route is made */
  bool published; /* to my neighbours */
  osla_route route;
  int *targets;                   /* [length of the line] */
  size_t bytes;                   /* of the panel */
  int sent;                       /* pieces */
  int post_of[PANEL_MOST_PIECES]; /* the first post of each piece, in its set's list */
} panel_cursor;

struct osla_panels {
  osla_panels_plan plan;
  osla_transport *t;
  osla_segment *segment;
  bool active, hooked; /* do I take part; is there a progress hook */
  osla_line row, column;
  size_t start[PANEL_KINDS]; /* of a kind inside a set of buffers */
  size_t set;                /* bytes of a set; 0: no buffers, no credits */
  int64_t depth;             /* sets of buffers */
  pthread_mutex_t routing;   /* the lines' work arrays: a thread may run the progress steps */
  _Atomic int64_t finished;  /* steps that the kernel has done with */
  atomic_bool all_sent;      /* there is nothing left to do */
  /* The rest belongs to the progress steps. */
  int64_t credited; /* steps for which I have given credit */
  panel_cursor cursor[PANEL_KINDS];
  osla_posted *posted; /* [depth * most] on their way, of each set */
  int *n_posted;       /* [depth] */
  int most;
};

static inline osla_line *panel_line(osla_panels *p, panel_kind kind)
{
  return p->plan.kind[kind].in_column ? &p->column : &p->row;
}

/* Offset of a root's panel in the buffers of this step. */
size_t osli_panels_offset(osla_panels *p, panel_kind kind, int64_t step, int root);

/* What the slot of `writer` says when `pieces` pieces of a root's panel have come from there. */
uint64_t osli_panels_value(osla_panels *p, panel_kind kind, int64_t step, int root, int writer,
                           int pieces);

osla_route osli_panels_route(osla_panels *p, panel_kind kind, int64_t step, int root, size_t bytes,
                             int *targets);

/* Pieces in which a panel of so many bytes travels on such a route. */
int osli_panels_pieces(const osla_panels *p, const osla_route *route, size_t bytes);

/* A progress step (panels_send.c). */
void osli_panels_step(void *panels);

#endif
