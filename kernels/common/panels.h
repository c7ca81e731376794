/* Panels that are published step by step and forwarded between nodes (internal).
 *
 * A factorisation or a solve has steps 0, 1, 2, ... In each step some ranks, the roots, publish a
 * panel to all ranks of their process row or column (Krishnan et al., section III.B: put + notify).
 * Ranks on the root's node read the panel in the root's matrix or in the root's buffer. Every other
 * node gets one copy, on a route (route.h): flat, ring or tree. A rank that has to forward a panel
 * does so in its progress steps, piece by piece, whatever step it works on itself.
 *
 * Only osli_panels_wait, osli_panels_wait_count, osli_panels_wait_rank and osli_panels_drain wait.
 * Progress steps call the kernel's function `ready` until it returns true for the panel of a step.
 * All panels of one kind leave a rank in a fixed order: by step, and within a step by the distance
 * of the root. So one notify slot for each writer is enough to know what has arrived.
 *
 * Buffers: each rank has `depth` sets, used in turn. When a rank has finished a step, a later step
 * will use the same set of buffers again. The rank therefore sends a credit (a permission to write)
 * to the rank that will write the copy for its node in that later step. Steps are not synchronised
 * in any other way.
 *
 * Memory per rank if there are several nodes: depth times the bytes of all roots' panels of a step.
 * Messages per step: one put_notify for each piece and each other node of a process row or column,
 * and one credit for each rank and root. */
#ifndef OSLA_PANELS_H
#define OSLA_PANELS_H

#include "osla_device.h"
#include "osla_forward.h"
#include "osla_grid.h"
#include "osla_segment.h"
#include "osla_shape.h"

typedef enum panel_kind { PANEL_DIAGONAL, PANEL_ROWS, PANEL_COLS, PANEL_KINDS } panel_kind;

typedef struct osla_panels osla_panels;

typedef struct osla_panels_kind {
  bool used;
  /* true if panels are published along the process column; false: along the process row */
  bool in_column;
  /* true if ranks of the root's node read the panel in the root's buffer; false: in the root's
   * matrix */
  bool in_buffer;
  /* distance between the positions of two roots that publish in one step; 0 if each step has one
   * root */
  int stride;
  size_t room; /* bytes of the largest panel that a root publishes */
} osla_panels_kind;

/* Description of a kernel's panels. All members except `kernel` are the same on all ranks. */
typedef struct osla_panels_plan {
  osla_panels_kind kind[PANEL_KINDS];
  int64_t steps;
  /* largest number of steps that a rank publishes ahead of the step on which it works */
  int look_ahead;
  /* number of process rows that take part, counted from the first row; 0: all rows */
  int column_rows;
  osla_forward forward;
  /* number of bytes of each piece in which a panel is forwarded; 0: OSLA chooses the number */
  size_t piece;
  bool readable;       /* true if the ranks of a root's node can read the root's matrix in place */
  osla_device *device; /* device in whose memory packed panels lie; NULL: they lie in host memory */
  void *kernel;
  /* Bytes of the panel of the root at position `root` of this rank's process row or column; 0 if
   * this root publishes no panel in this step, or if no rank needs it. Pure; may be called for
   * any step at any time. */
  size_t (*bytes)(const void *kernel, panel_kind kind, int64_t step, int root);
  /* Returns true if this rank's panel of a step is ready. All work on the panel must then be
   * complete, also on a device. If the panel is ready and `room` is not NULL, the function stores a
   * packed copy at `room`. Progress steps call it, one call at a time, possibly by another thread,
   * and for each step only until it has returned true. */
  bool (*ready)(void *kernel, panel_kind kind, int64_t step, void *room);
} osla_panels_plan;

/* Allocates buffers and routes, and registers the progress step. Collective. Errors, on all ranks
 * together: MEM, MPI, RANGE (too many progress hooks). */
osla_err osli_panels_create(osla_grid *grid, const osla_panels_plan *plan, osla_panels **out);
/* Frees buffers and routes, and removes the progress step. Accepts NULL. Collective. */
void osli_panels_destroy(osla_panels **panels);

/* Bytes that panels need on a rank of a job of this shape. Pure. */
uint64_t osli_panels_memory(const osla_panels_plan *plan, const osla_shape *shape);

/* Returns the transport of the panels, which the caller must not destroy. */
osla_transport *osli_panels_transport(const osla_panels *panels);

/* True if this rank sends or forwards panels in progress steps. Long computations should then make
 * progress steps. */
bool osli_panels_forwards(const osla_panels *panels);

/* Makes one progress step, which sends the panels that have become ready. Local. */
void osli_panels_progress(osla_panels *panels);

/* Waits for the panel of a root in this step. Returns the packed copy, valid until
 * osli_panels_finish, or NULL if the panel is read in the root's own memory. Local. */
const void *osli_panels_wait(osla_panels *panels, panel_kind kind, int64_t step, int root);
/* True if osli_panels_wait would return without waiting. Then *at is the address that
 * osli_panels_wait would return. */
bool osli_panels_has_arrived(osla_panels *panels, panel_kind kind, int64_t step, int root,
                             const void **at);

/* Waits until *count > step. Progress steps of this rank increase *count, which is a number of
 * completed steps. Local. */
void osli_panels_wait_count(osla_panels *panels, _Atomic int64_t *count, int64_t step);

/* Declares that this rank has finished using all panels of a step. Steps must be finished in order.
 * Local. */
void osli_panels_finish(osla_panels *panels, int64_t step);

/* Waits until this rank has sent and forwarded all its panels. Local. */
void osli_panels_drain(osla_panels *panels);

/* A notification, separate from panels, that this rank's part of a step is complete. _send
 * notifies a rank of this rank's process row, process column or node; _wait waits for such a
 * notification; _test returns whether it has arrived. Local. Errors: MPI. */
osla_err osli_panels_notify_rank(osla_panels *panels, int64_t step, int rank);
void osli_panels_wait_rank(osla_panels *panels, int64_t step, int origin);
bool osli_panels_rank_has_notified(const osla_panels *panels, int64_t step, int origin);

/* Size of the part of a product that is computed between two progress steps. It is the whole
 * product if this rank forwards nothing; otherwise smaller products have smaller parts. */
typedef struct osla_tile {
  int64_t rows, cols;
} osla_tile;
osla_tile osli_tile_choose(const osla_panels *panels, int64_t rows, int64_t cols);

#endif
