/* Panels that are published step by step, by put + notify (internal).
 *
 * A factorisation or a solve runs through steps 0, 1, 2, ... In each step some ranks publish a
 * panel to some others of their process row or column (Krishnan et al., section III.B). Where the
 * consumer can read the panel in place, the publication is a notify alone. Elsewhere the panel is
 * put into a buffer of the consumer before the notify. Each consumer has `depth` sets of buffers,
 * used in turn; a credit, the number of steps that the consumer has finished, keeps a publisher
 * that runs ahead from overwriting a set in use. No step is synchronised in any other way.
 *
 * Memory per rank: depth * (sum of the kinds' bytes). Messages per step: one put_notify for each
 * consumer, and one credit to each possible publisher every other step if there are buffers.
 */
#ifndef OSLA_PANELS_H
#define OSLA_PANELS_H

#include "osla_grid.h"
#include "osla_segment.h"

typedef enum panel_kind { PANEL_DIAGONAL, PANEL_ROWS, PANEL_COLS, PANEL_KINDS } panel_kind;

typedef struct osla_panels osla_panels;

/* Does the rank at (prow, pcol) ever put panels into my buffers? */
typedef bool osla_panels_publisher(const osla_grid *grid, int prow, int pcol);

/* A publisher for algorithms that publish along process rows and columns only. */
bool osla_panels_row_or_column(const osla_grid *grid, int prow, int pcol);

/* For algorithms in which any rank may publish to any other: all that are not on my node. */
bool osla_panels_other_node(const osla_grid *grid, int prow, int pcol);

/* Collective. bytes[kind] is the room for one step's panel of that kind, the same on all ranks; 0
 * where all consumers read in place. A rank publishes at most `look_ahead` steps ahead of the one
 * that it works on. Errors: MEM, MPI. */
osla_err osla_panels_create(osla_grid *grid, const size_t bytes[PANEL_KINDS],
                            osla_panels_publisher *publishes, int look_ahead, osla_panels **out);
void osla_panels_destroy(osla_panels **panels); /* collective; accepts NULL */

/* Sets of buffers. Local. */
int64_t osla_panels_depth(const osla_panels *panels);

/* Tells `target` that my panel of this kind and step is there. With bytes > 0, first puts it at
 * `offset` of the target's buffer. The source may be reused on return. Local. Errors: MPI. */
osla_err osla_panels_publish(osla_panels *panels, panel_kind kind, int64_t step, int target,
                             size_t offset, const void *source, size_t bytes);

/* As osla_panels_publish, once for each target in a step, but does not wait for it: the source must
 * stay as it is until osla_panels_posted has been called for this step, or for the step `depth`
 * later. */
osla_err osla_panels_post(osla_panels *panels, panel_kind kind, int64_t step, int target,
                          size_t offset, const void *source, size_t bytes);

/* Waits until what was posted in this step, and `depth` steps before it, has arrived. Local.
 * Errors: MPI. */
osla_err osla_panels_posted(osla_panels *panels, int64_t step);

/* Waits for the panel that `origin` publishes in this step. Local. */
void osla_panels_wait(osla_panels *panels, panel_kind kind, int64_t step, int origin);

/* My buffer for this kind and step. Local. */
void *osla_panels_buffer(const osla_panels *panels, panel_kind kind, int64_t step);

/* I am done with all panels of this step: their buffers may be used again. Steps are finished in
 * order. Local. Errors: MPI. */
osla_err osla_panels_finish(osla_panels *panels, int64_t step);

#endif
