/* Pieces that go from rank to rank, step by step (internal).
 *
 * Where each piece has one consumer: partial sums of a solve, rows that move. (Panels, which many
 * want, travel as panels.h says.) In step 0, 1, 2, ... a rank posts pieces to others, which wait
 * for them. Each consumer has `depth` sets of buffers, used in turn; a credit, the number of steps
 * that the consumer has finished, keeps a producer that runs ahead from overwriting a set in use.
 * No step is synchronised in any other way.
 *
 * Memory per rank: depth * bytes. Messages per step: one put_notify for each piece, and one credit
 * to each possible producer every other step.
 */
#ifndef OSLA_PIECES_H
#define OSLA_PIECES_H

#include "osla_grid.h"
#include "osla_segment.h"
#include "osla_shape.h"

typedef struct osla_pieces osla_pieces;

/* Collective. bytes is the room for the pieces that a rank gets in one step, the same on all ranks.
 * They come from its process column, or its row. A rank posts at most `look_ahead` steps ahead of
 * the one that it works on. Errors: MEM, MPI. */
osla_err osli_pieces_create(osla_grid *grid, size_t bytes, int look_ahead, bool in_row,
                            osla_pieces **out);
void osli_pieces_destroy(osla_pieces **pieces); /* collective; accepts NULL */

/* What they take of a rank, and their sets of buffers. Pure. */
uint64_t osli_pieces_memory(size_t bytes, int look_ahead, const osla_shape *shape);
int64_t osli_pieces_depth_for(int look_ahead);

/* Sets of buffers. Local. */
int64_t osli_pieces_depth(const osla_pieces *pieces);

/* Puts my piece at `offset` of the target's buffer and notifies it; once for each target in a step.
 * Waits for the target's credit only: the source must stay as it is until osli_pieces_wait_posted
 * has been called for this step, or for the step `depth` later. */
osla_err osli_pieces_post(osla_pieces *pieces, int64_t step, int target, size_t offset,
                          const void *source, size_t bytes);

/* Waits until what was posted in this step, and `depth` steps before it, has arrived. Local.
 * Errors: MPI. */
osla_err osli_pieces_wait_posted(osla_pieces *pieces, int64_t step);

/* Waits for the piece that `origin` posts in this step. Local. */
void osli_pieces_wait(osla_pieces *pieces, int64_t step, int origin);
/* Is it there? Progress steps bring it. */
bool osli_pieces_has_arrived(const osla_pieces *pieces, int64_t step, int origin);

/* My buffer for this step. Local. */
void *osli_pieces_buffer(const osla_pieces *pieces, int64_t step);

/* I am done with all pieces of this step: their buffers may be used again. Steps are finished in
 * order. Local. Errors: MPI. */
osla_err osli_pieces_finish(osla_pieces *pieces, int64_t step);

#endif
