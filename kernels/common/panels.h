/* Panels that are published step by step and forwarded between nodes (internal).
 *
 * A factorisation or a solve has steps 0, 1, 2, ... In each step some ranks, the roots, publish a
 * panel to all ranks of their process row or column (Krishnan et al., section III.B: put + notify).
 * Ranks on the root's node read the panel in the root's matrix or in its buffer. Every other node
 * gets one copy, on a route (route.h): flat, ring or tree. A rank that has to forward a panel does
 * so in its progress steps, piece by piece, whatever step it works on itself.
 *
 * Only osli_panels_wait, osli_panels_wait_count, osli_panels_wait_rank and osli_panels_drain wait.
 * Progress steps call the kernel's function `ready` until it returns true for the panel of a step.
 * All panels of one kind leave a rank in a fixed order: by step, and within a step by the distance
 * of the root. So one notify slot for each writer is enough to know what has arrived.
 *
 * Buffers: each rank has `depth` sets, used in turn. A rank that has finished a step sends a credit
 * to the rank that will write its node's copy in the step that reuses the set. Steps are not
 * synchronised in any other way.
 *
 * Memory per rank: depth * (sum over the kinds of regions * room) if there are other nodes.
 * Messages per step: one put_notify for each piece and each other node of a line, and one credit
 * for each rank and root. */
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
  bool in_column; /* the panels go along the process column; otherwise along the process row */
  bool in_buffer; /* neighbours of the root read its buffer, not its matrix */
  /* positions of the roots of one step differ by multiples of this number; 0: one root */
  int stride;
  size_t room; /* bytes of the largest panel of a root */
} osla_panels_kind;

/* Description of a kernel's panels. All members except `kernel` are the same on all ranks. */
typedef struct osla_panels_plan {
  osla_panels_kind kind[PANEL_KINDS];
  int64_t steps;
  int look_ahead;  /* most steps that a rank publishes ahead of the step that it works on */
  int column_rows; /* number of process rows that take part, the first ones; 0: all */
  osla_forward forward;
  size_t piece;  /* bytes of the pieces in which a panel is forwarded; 0: chosen */
  bool readable; /* true if neighbours of a root can read its matrix in place */
  void *kernel;
  /* Bytes of the panel of the root at position `root` of this rank's line; 0 if it publishes none
   * in this step, or if no rank needs it. Pure; called for any step at any time. */
  size_t (*bytes)(const void *kernel, panel_kind kind, int64_t step, int root);
  /* True if this rank's panel of a step is ready. If it is and `room` is not NULL, stores a packed
   * copy at `room`. Called in progress steps, one call at a time, possibly by another thread, and
   * not again after it has returned true. */
  bool (*ready)(void *kernel, panel_kind kind, int64_t step, void *room);
} osla_panels_plan;

/* Allocates buffers and routes, and registers the progress step. Collective. Errors, on all ranks
 * together: MEM, MPI, RANGE (too many progress hooks). */
osla_err osli_panels_create(osla_grid *grid, const osla_panels_plan *plan, osla_panels **out);
void osli_panels_destroy(osla_panels **panels); /* collective; accepts NULL */

/* Bytes that panels need on a rank of a job of this shape. Pure. */
uint64_t osli_panels_memory(const osla_panels_plan *plan, const osla_shape *shape);

osla_transport *osli_panels_transport(const osla_panels *panels); /* borrowed */

/* True if panels are sent or forwarded in progress steps of this rank, so that long computations
 * should make some. */
bool osli_panels_forwards(const osla_panels *panels);

/* Sends what has become ready, in one progress step. Local. */
void osli_panels_progress(osla_panels *panels);

/* Waits for the panel of a root in this step. Returns the packed copy, valid until
 * osli_panels_finish, or NULL if the panel is read in the root's own memory. Local. */
const void *osli_panels_wait(osla_panels *panels, panel_kind kind, int64_t step, int root);
/* True if osli_panels_wait would return without waiting. If true, *at is what it would return. */
bool osli_panels_has_arrived(osla_panels *panels, panel_kind kind, int64_t step, int root,
                             const void **at);

/* Waits until *count > step. Progress steps of this rank increase *count. Local. */
void osli_panels_wait_count(osla_panels *panels, _Atomic int64_t *count, int64_t step);

/* Declares that this rank has finished using all panels of a step. Steps must be finished in order.
 * Local. */
void osli_panels_finish(osla_panels *panels, int64_t step);

/* Waits until this rank has sent and forwarded all its panels. Local. */
void osli_panels_drain(osla_panels *panels);

/* A separate notification that this rank's part of a step is complete, to a rank of its process
 * row, process column or node: send, wait, and test. Local. Errors: MPI. */
osla_err osli_panels_notify_rank(osla_panels *panels, int64_t step, int rank);
void osli_panels_wait_rank(osla_panels *panels, int64_t step, int origin);
bool osli_panels_rank_has_notified(const osla_panels *panels, int64_t step, int origin);

#endif
