/* Pieces of data that go from one rank to another, step by step (internal).
 *
 * Used where each piece has a single consumer: partial sums of a solve, rows that move. (Panels,
 * which many ranks need, are described in panels.h.) In step 0, 1, 2, ... a rank posts pieces to
 * other ranks, which wait for them. Each consumer has `depth` sets of buffers, used in turn. A
 * credit, which is the number of steps that the consumer has finished, prevents a fast producer
 * from overwriting a set in use. Steps are not synchronised in any other way.
 *
 * Memory per rank: depth * bytes. Messages per step: one put_notify for each piece, and one credit
 * to each possible producer every other step. */
#ifndef OSLA_PIECES_H
#define OSLA_PIECES_H

#include "osla_grid.h"
#include "osla_segment.h"
#include "osla_shape.h"

typedef struct osla_pieces osla_pieces;

/* Creates the buffers. `bytes` is the size of all pieces that a rank receives in one step; it is
 * the same on all ranks. Pieces come from ranks of the same process row (in_row) or process
 * column. A rank posts at most `look_ahead` steps ahead of the step on which it works.
 * Collective. Errors: MEM, MPI. */
osla_err osli_pieces_create(osla_grid *grid, size_t bytes, int look_ahead, bool in_row,
                            osla_pieces **out);
/* Frees the buffers. Accepts NULL. Collective. */
void osli_pieces_destroy(osla_pieces **pieces);

/* Returns the number of bytes that pieces need on a rank. Pure. */
uint64_t osli_pieces_memory(size_t bytes, int look_ahead, const osla_shape *shape);
/* Returns the number of sets of buffers that pieces with this look-ahead have. Pure. */
int64_t osli_pieces_depth_for(int look_ahead);

/* Number of sets of buffers. Local. */
int64_t osli_pieces_depth(const osla_pieces *pieces);

/* Puts a piece at `offset` of the target's buffer and notifies the target. A step has at most
 * one piece for each target. Waits only for the target's credit. The source must stay unchanged
 * until osli_pieces_wait_posted has been called for this step, or for the step `depth` later. */
osla_err osli_pieces_post(osla_pieces *pieces, int64_t step, int target, size_t offset,
                          const void *source, size_t bytes);

/* Waits until the pieces posted in this step, and in the step `depth` before it, have arrived.
 * Local. Errors: MPI. */
osla_err osli_pieces_wait_posted(osla_pieces *pieces, int64_t step);

/* Waits for the piece that `origin` posts in this step. Local. */
void osli_pieces_wait(osla_pieces *pieces, int64_t step, int origin);
/* True if the piece that `origin` posts in this step has arrived. Progress steps may be needed for
 * its arrival. */
bool osli_pieces_has_arrived(const osla_pieces *pieces, int64_t step, int origin);

/* Address of this rank's buffer for a step. Local. */
void *osli_pieces_buffer(const osla_pieces *pieces, int64_t step);

/* Declares that this rank has used all pieces of a step, so that their buffers may be reused. Steps
 * must be finished in order. Local. Errors: MPI. */
osla_err osli_pieces_finish(osla_pieces *pieces, int64_t step);

#endif
