/* Sparse contents of a large range of memory (layer 0, internal to the transport `sim`).
 *
 * If work is only modelled, a ring of messages is a gigabyte that holds a few message heads. Each
 * head written to the ring would cost a page of real memory. Here the heads are stored in a map by
 * address, and the ring's memory is never touched.
 */
#ifndef OSLA_SIM_PIECES_H
#define OSLA_SIM_PIECES_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sim_pieces sim_pieces;
sim_pieces *osli_sim_pieces_create(void);
void osli_sim_pieces_free(sim_pieces *pieces); /* frees all pieces; accepts NULL */

/* Stores bytes for an address: as a new piece, or into an earlier piece that contains the range. */
void osli_sim_pieces_store(sim_pieces *pieces, const void *at, const void *bytes, size_t count);

/* Moves the pieces in [from, from + bytes) to `to` at equal offsets, and removes them. Gaps between
 * pieces are not written. */
void osli_sim_pieces_take(sim_pieces *pieces, void *to, const void *from, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
