/* The calls that run transfers, from bottom to top: checks, links, one step of progress, beginnings
 * and ends, two-level transfers (private to forests). "Locked": the caller holds the pool's lock.
 */
#ifndef FOREST_SERVE_H
#define FOREST_SERVE_H

#include "kernels/forest/forest.h"

/* ---- checks (forest_check.c) ---- */

/* Checks a transfer's arrays: memory, alignment, overlap; and a fetch's combination. Local. Errors:
 * ARG, MEM. */
osla_err osli_forest_check_arguments(osla_forest *f, const forest_transfer *x);

/* Ends all ranks with a message if another rank's transfer differs from this rank's. */
void osli_forest_check_signature(const osla_forest *f, uint64_t number, const forest_transfer *x,
                                 int rank, uint64_t their_number, uint64_t their_signature);

/* Checks the signatures in node neighbours' announcements of a transfer, and those of the next part
 * of each ring. The latter finds transfers that this rank never reads: one rank has roots alone and
 * broadcasts, another has leaves alone and reduces. Locked. */
void osli_forest_check_announcements(const osla_forest *f, uint64_t number,
                                     const forest_links *links);
void osli_forest_check_rings(osla_forest *f);

/* Starts or stops the polling of messages from other nodes. Locked. */
void osli_forest_watch_lines(osla_forest *f, bool is_watched);

/* OSLA_VERIFY: _record stores a hash of the values that a transfer exposes from
 * osla_forest_end_read to osla_forest_writable, _check ends all ranks with a message if they have
 * changed, _clear forgets the hashes when all neighbours have read. Local. */
void osli_forest_record_exposed(osla_forest *f, uint64_t number);
void osli_forest_check_exposed(osla_forest *f);
void osli_forest_clear_exposed(osla_forest *f);

/* ---- announcements and links (forest_link.c) ---- */

/* Sets x->at and x->is_awaited. Locked. */
void osli_forest_locate_values(osla_forest *f, forest_transfer *x);

/* Writes this rank's announcement of a transfer; wakes the neighbours that wait for it. Locked. */
void osli_forest_announce(osla_forest *f, uint64_t number, const forest_transfer *x);
void osli_forest_wake_readers(osla_forest *f, const forest_transfer *x);

/* A node neighbour's announcement of a transfer; NULL if the neighbour has not begun it. */
static inline const forest_announcement *osli_forest_announcement(const forest_link *l,
                                                                  uint64_t number)
{
  const forest_announcement *a = &l->control->of[number % MOST_TRANSFERS].announcement;
  return atomic_load_explicit(&a->number, memory_order_acquire) == number ? a : NULL;
}

/* A node neighbour's values in place; base is NULL if they are in no array. */
static inline vertex_list osli_forest_peer_values(const osla_forest *f, const forest_link *l,
                                                  const value_location *at)
{
  if (at->array < 0) return (vertex_list){NULL, 0, NULL, 0, NULL};
  unsigned char *base = osla_segment_peer(osli_pool_array(f->pool, at->array)->segment, l->rank);
  return osli_link_theirs(l, base + at->offset, at->stride);
}

/* Reads or sends the values of a link as far as possible. True: all of them. at: the next part of
 * the link's ring. Locked.
 * _fetch_link: combines the values of a link's leaves with the roots, and answers them.
 * _read_answers: reads the values before that come back through a ring. */
bool osli_forest_read_link(osla_forest *f, uint64_t number, const forest_transfer *x,
                           forest_link *l, forest_cursor *at);
bool osli_forest_send_link(uint64_t number, const forest_transfer *x, forest_link *l,
                           forest_cursor *at);
bool osli_forest_fetch_link(osla_forest *f, uint64_t number, forest_transfer *x, forest_link *l);
bool osli_forest_read_answers(osla_forest *f, uint64_t number, const forest_transfer *x,
                              forest_link *l, forest_cursor *at);

/* ---- exact sums (forest_exact.c) ---- */

/* Allocates x->gathered, the values of all leaves. Local. Errors: MEM, RANGE (2^32 edges). */
osla_err osli_forest_exact_begin(osla_forest *f, forest_transfer *x);

/* Memory into which the values of a link to leaves are gathered. */
vertex_list osli_forest_exact_buffer(const osla_forest *f, const forest_transfer *x,
                                     const forest_link *l);

/* Adds all gathered values to the roots, and frees x->gathered. */
void osli_forest_exact_end(osla_forest *f, forest_transfer *x);

void osli_forest_gather_free(struct forest_gather **gather);

/* ---- progress (forest_serve.c) ---- */

/* Reads and sends what is possible now in all forests of the pool. Part of every wait. Local.
 * _locked: true if any transfer was completely read or sent, or started. */
void osli_forests_serve(forest_pool *pool);
bool osli_forests_serve_locked(forest_pool *pool);

/* Starts a checked transfer, whose record must be free; returns its number. _start_next: of the
 * next record, which the caller has filled. Locked. */
uint64_t osli_forest_start(osla_forest *f, const forest_transfer *what);
uint64_t osli_forest_start_next(osla_forest *f);

/* Fails if the record of the next transfer is in use. Local. Errors: STATE. _wait_for_free: also
 * waits until its readers are done. */
osla_err osli_forest_check_free(const osla_forest *f);
osla_err osli_forest_wait_for_free(osla_forest *f);

/* True if the neighbours that read this rank's values in place have read those of a transfer.
 * _wait: waits for them. Local. */
bool osli_forest_values_are_read(osla_forest *f, uint64_t number);
void osli_forest_wait_for_readers(osla_forest *f, uint64_t number);

/* True if all node neighbours that read from this rank have read a transfer: they load its
 * announcement no more. Local. */
bool osli_forest_neighbours_are_done(osla_forest *f, uint64_t number);

/* True if a transfer is over on this rank; with_readers: including those who read its values in
 * place. Without two-level transfers. Locked. */
bool osli_forest_is_over(osla_forest *f, uint64_t number, bool with_readers);
void osli_forest_mark_ended(osla_forest *f, uint64_t number);

/* ---- two-level transfers (forest_two_level.c) ---- */

/* Makes f->two_level if values cross between nodes, more than a few, and at least a quarter less
 * would cross with proxies. Collective. Errors, on all ranks together: as osla_forest_create. */
osla_err osli_two_level_create(osla_forest *f, const forest_edges *edges);
osla_err osli_two_level_destroy(osla_forest *f); /* collective; nothing is under way */

/* True if a transfer goes by two levels: the same on all ranks. */
bool osli_forest_has_two_levels(const osla_forest *f, const forest_transfer *x);

/* Allocates x->two_level and waits for a free record of `near`. Local. Errors: MEM. */
osla_err osli_two_level_begin(osla_forest *f, forest_transfer *x);

/* Starts the parts of the transfer f->begun, as far as they can start. Locked. */
void osli_two_level_enqueue(osla_forest *f);

/* Starts the parts that can start now in all pending forests. True: any. Locked. */
bool osli_two_level_advance(forest_pool *pool);

/* True if all parts of a transfer are over; _end marks them as ended. Locked. */
bool osli_two_level_is_over(osla_forest *f, const forest_transfer *x, bool with_readers);
void osli_two_level_end(osla_forest *f, forest_transfer *x);

/* ---- vertex ids (forest_derive.c) ---- */

/* A vertex of any rank; rank -1: none. */
typedef struct vertex_id {
  int64_t rank, index;
} vertex_id;

/* Allocates n ids of no vertex; the caller frees them. Collective. Errors, on all ranks together:
 * MEM. */
osla_err osli_vertex_ids_create(const osla_forest *f, int64_t n, vertex_id **out);

/* Fails on all ranks unless a transfer of ids can begin. Collective. Errors: STATE. */
osla_err osli_vertex_ids_check(osla_forest *f);

/* ids[leaf] := the root of each leaf; ids[i] := this rank's vertex first + i. Local. */
void osli_vertex_ids_of_roots(const osla_forest *f, vertex_id *ids);
void osli_vertex_ids_of_own(const osla_forest *f, vertex_id *ids, int64_t n, int64_t first);

/* A forest whose leaf i is joined to ids[i], unless that is none. Collective. Errors: as
 * osla_forest_create. */
osla_err osli_forest_create_from_ids(osla_transport *t, int64_t n_roots, const vertex_id *ids,
                                     int64_t n, osla_forest **out);

/* ids[leaf] := sources[its root]; with `reverse` ids[root] := sources[its leaf]. Collective. */
osla_err osli_vertex_ids_transfer(osla_forest *f, bool reverse, const vertex_id *sources,
                                  vertex_id *ids);

#endif
