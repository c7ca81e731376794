/* Panels that are published step by step, and forwarded (internal).
 *
 * A factorisation or a solve runs through steps 0, 1, 2, ... In each step some ranks, the roots,
 * publish a panel to all ranks of their process row or column (Krishnan et al., section III.B: put
 * + notify). Neighbours on the root's node read it in place, or in the root's buffer. To each other
 * node goes one copy, on a route (route.h): flat, in a ring or in a tree; who has to pass a panel
 * on does so in its progress steps, piece by piece, whatever step it is at itself.
 *
 * Nothing here waits but osli_panels_wait and osli_panels_drain. What a kernel publishes is asked
 * for: `ready` is called in progress steps, until it says that the panel of a step is there. All of
 * a kind leaves a rank in one order, that of steps and, within a step, of the roots' distance; so a
 * slot for each writer is enough to know what has come.
 *
 * Buffers: a rank has `depth` sets, used in turn. Who has done with a step gives a credit to the
 * rank that will write its node's copy in the step that uses the set again. No step is synchronised
 * in any other way.
 *
 * Memory per rank: depth * (sum over the kinds of regions * room), if there are other nodes.
 * Messages per step: one put_notify a piece for each other node of a line, one credit for each rank
 * and root.
 */
#ifndef OSLA_PANELS_H
#define OSLA_PANELS_H

#include "osla_forward.h"
#include "osla_grid.h"
#include "osla_segment.h"
#include "osla_shape.h"

typedef enum panel_kind { PANEL_DIAGONAL, PANEL_ROWS, PANEL_COLS, PANEL_KINDS } panel_kind;

typedef struct osla_panels osla_panels;

typedef struct osla_panels_kind {
  bool used;
  bool in_column; /* its line is my process column, else my process row */
  bool in_buffer; /* the root's neighbours read its buffer, not its own memory */
  int stride;     /* positions of the roots of one step differ by a multiple of it; 0: one root */
  size_t room;    /* bytes of the largest panel of a root */
} osla_panels_kind;

/* What a kernel says of its panels; the same on all ranks but for `kernel`. */
typedef struct osla_panels_plan {
  osla_panels_kind kind[PANEL_KINDS];
  int64_t steps;
  int look_ahead;  /* a rank publishes at most so many steps ahead of the one that it works on */
  int column_rows; /* process rows that take part, the first ones; 0: all */
  osla_forward forward;
  size_t piece;  /* bytes in which a panel is passed on; 0: chosen */
  bool readable; /* neighbours read what a root publishes where it lies */
  void *kernel;
  /* Bytes of a root's panel, by its position in my line; 0: it publishes none in this step, or
   * nobody wants it. Pure: it is asked about any step at any time. */
  size_t (*bytes)(const void *kernel, panel_kind kind, int64_t step, int root);
  /* Columns that a rank multiplies with the panels of a step, about; the same on all of a line.
   * NULL: not known. Pure. */
  int64_t (*cols)(const void *kernel, int64_t step);
  /* Is my panel there? Then it puts a packed copy at `room`, if that is not NULL. Asked in progress
   * steps, one at a time, perhaps in another thread; not again when it has said yes. */
  bool (*ready)(void *kernel, panel_kind kind, int64_t step, void *room);
} osla_panels_plan;

/* Collective. Errors, on all ranks together: MEM, MPI, RANGE (progress hooks). */
osla_err osli_panels_create(osla_grid *grid, const osla_panels_plan *plan, osla_panels **out);
void osli_panels_destroy(osla_panels **panels); /* collective; accepts NULL */

/* What they take of a rank of a job: all lines in its grid's rows and columns. Pure. */
uint64_t osli_panels_memory(const osla_panels_plan *plan, const osla_shape *shape);

osla_transport *osli_panels_transport(const osla_panels *panels); /* borrowed */

/* Do panels pass from here to other ranks in progress steps, so that computing should make some? */
bool osli_panels_forwards(const osla_panels *panels);

/* Something has become ready: sends what can be sent. Local. */
void osli_panels_progress(osla_panels *panels);

/* Waits for a root's panel of this step. NULL: it lies in the root's own memory, which I can read;
 * else the packed copy, mine until osli_panels_finish. Local. */
const void *osli_panels_wait(osla_panels *panels, panel_kind kind, int64_t step, int root);
/* The same without waiting. */
bool osli_panels_has_arrived(osla_panels *panels, panel_kind kind, int64_t step, int root,
                             const void **at);

/* Waits until test(arg) is true, of what my progress steps do. Local. */
void osli_panels_wait_for(osla_panels *panels, bool (*test)(void *arg), void *arg);

/* I am done with all panels of this step. Steps are finished in order. Local. */
void osli_panels_finish(osla_panels *panels, int64_t step);

/* Waits until I have passed on all that I have to. Local. */
void osli_panels_drain(osla_panels *panels);

/* A word of its own to a rank of my process row, my column or my node: "my part of this step is
 * complete", and a wait for it. Local. Errors: MPI. */
osla_err osli_panels_notify_rank(osla_panels *panels, int64_t step, int rank);
void osli_panels_wait_rank(osla_panels *panels, int64_t step, int origin);
bool osli_panels_rank_has_notified(const osla_panels *panels, int64_t step, int origin);

#endif
