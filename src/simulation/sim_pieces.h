/* Pieces of memory that are kept beside it (floor 0, internal to the transport `sim`).
 *
 * Where work is only modelled, a ring of messages is a gigabyte with a few heads in it: written to
 * the ring, each head would cost a page. Here they are kept by their addresses, and the ring itself
 * is never touched.
 */
#ifndef OSLA_SIM_PIECES_H
#define OSLA_SIM_PIECES_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sim_pieces sim_pieces;
sim_pieces *osli_sim_pieces_create(void);
void osli_sim_pieces_free(sim_pieces *pieces); /* accepts NULL */

/* Bytes at that address: a new piece, or part of one that was stored before and not taken. */
void osli_sim_pieces_store(sim_pieces *pieces, const void *at, const void *bytes, size_t count);

/* Moves what is in [from, from + bytes) to `to`, where it keeps its distance from the beginning.
 * What lies between is not written. */
void osli_sim_pieces_take(sim_pieces *pieces, void *to, const void *from, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
