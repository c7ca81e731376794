/* The functions that run transfers, from the lowest to the highest: checks, links, progress, begin
 * and end, two-level transfers (private to forests). If the name of a function ends in _locked, the
 * caller holds the pool's lock. */
#ifndef FOREST_SERVE_H
#define FOREST_SERVE_H

#include "kernels/forest/forest.h"

/* ---- checks (forest_check.c) ---- */

/* Checks memory, alignment and overlap of a transfer's arrays, and the combination of a fetch.
 * Local. Errors: ARG, MEM, UNSUPPORTED (long double or a function of the caller with values on a
 * device; a device without kernels). */
osla_err osli_forest_check_arguments(osla_forest *f, const forest_transfer *x);

/* Ends the job with a message if another rank's transfer differs from this rank's. */
void osli_forest_check_signature(const osla_forest *f, uint64_t number, const forest_transfer *x,
                                 int rank, uint64_t their_number, uint64_t their_signature);

/* Compares this rank's transfer with the announcements of the ranks of its node, and with the next
 * part in each ring. A difference ends the job with a message. The parts also reveal transfers that
 * this rank never reads, for example if a rank that has only roots broadcasts while a rank that has
 * only leaves reduces. The caller holds the pool's lock. */
void osli_forest_check_announcements(const osla_forest *f, uint64_t number,
                                     const forest_links *links);
void osli_forest_check_rings(osla_forest *f);

/* Starts or stops polling for messages from other nodes. The caller holds the pool's lock. */
void osli_forest_watch_lines(osla_forest *f, bool is_watched);

/* Checks of OSLA_VERIFY. _record stores a hash of the values that other ranks may read between
 * osla_forest_end_read and osla_forest_writable. _check ends the job with a message if the
 * values have changed. _clear forgets the hashes when all ranks of the node have read the
 * values. Local. */
void osli_forest_record_exposed(osla_forest *f, uint64_t number);
void osli_forest_check_exposed(osla_forest *f);
void osli_forest_clear_exposed(osla_forest *f);

/* ---- announcements and links (forest_link.c) ---- */

/* Sets x->at, x->target, x->is_awaited and x->helps: the locations of the transfer's arrays in the
 * pool, and what the ranks of the node do with them. The caller holds the pool's lock. */
void osli_forest_locate_values(osla_forest *f, forest_transfer *x);

/* Waits for all work that this rank has queued on devices. The next osli_device_settle returns an
 * error of this work. Local. */
void osli_forest_wait_for_devices(device_settle_reason reason);

/* Returns the device of this rank that reaches vertices of any rank at a location, if they lie in
 * device memory of the pool; otherwise NULL. Local. */
static inline osla_device *osli_forest_device(const osla_forest *f, const value_location *at)
{
  if (at->array < 0 || !osli_device_any()) return NULL;
  const osla_segment *s = f->pool->array[at->array].segment;
  return s ? osla_segment_device(s) : NULL;
}

/* Lists the devices through which this rank accesses the values and the old values of a transfer.
 * `at` may be the locations of this rank or of another. Returns the number of different devices, 0
 * to 2. Local. */
static inline int osli_forest_devices(const osla_forest *f, const transfer_locations *at,
                                      osla_device *on[2])
{
  int n = 0;
  if (!osli_device_any()) return 0;
  osla_device *values = osli_forest_device(f, &at->values),
              *before = osli_forest_device(f, &at->before);
  if (values) on[n++] = values;
  if (before && before != values) on[n++] = before;
  return n;
}

/* Lets work that this rank queues later on devices wait until the devices of other ranks have read
 * this rank's values of a transfer in place, and in a fetch have written the old values of the
 * roots in place. These ranks must have published that they have read. Does nothing if called again
 * for the transfer. Local. */
void osli_forest_order_devices(osla_forest *f, uint64_t number);
static inline void osli_forest_order_after_readers(osla_forest *f, uint64_t number)
{
  if (osli_device_any()) osli_forest_order_devices(f, number);
}

/* Writes this rank's announcement of a transfer, and wakes the ranks that wait for it. The caller
 * holds the pool's lock. */
void osli_forest_announce(osla_forest *f, uint64_t number, const forest_transfer *x);
void osli_forest_wake_readers(osla_forest *f, const forest_transfer *x);

/* Announcement of a transfer by another rank of the node; NULL if that rank has not begun the
 * transfer. */
static inline const forest_announcement *osli_forest_announcement(const forest_link *l,
                                                                  uint64_t number)
{
  const forest_announcement *a = &l->control->of[number % MOST_TRANSFERS].announcement;
  return atomic_load_explicit(&a->number, memory_order_acquire) == number ? a : NULL;
}

/* Values of another rank of the node, in place; base is NULL if the values are in no array of the
 * pool. */
static inline vertex_list osli_forest_peer_values(const osla_forest *f, const forest_link *l,
                                                  const value_location *at)
{
  if (at->array < 0) return (vertex_list){NULL, 0, NULL, 0, NULL, NULL};
  unsigned char *base = osla_segment_peer(f->pool->array[at->array].segment, l->rank);
  return osli_link_theirs(l, base + at->offset, at->stride);
}

/* These functions process the values of a link as far as possible without waiting, and return true
 * if all values are done. at: next part in the link's ring. The caller holds the pool's lock.
 *   _read_link      reads values
 *   _send_link      sends values
 *   _fetch_link     combines the leaves' values with the roots, and returns the old values
 *   _read_answers   reads old values of roots that come back through a ring */
bool osli_forest_read_link(osla_forest *f, uint64_t number, const forest_transfer *x,
                           forest_link *l, forest_cursor *at);
bool osli_forest_send_link(uint64_t number, const forest_transfer *x, forest_link *l,
                           forest_cursor *at);
bool osli_forest_fetch_link(osla_forest *f, uint64_t number, forest_transfer *x, forest_link *l);
bool osli_forest_read_answers(osla_forest *f, uint64_t number, const forest_transfer *x,
                              forest_link *l, forest_cursor *at);

/* Copies values of this rank to the other rank of a link, if that rank is reading many values, and
 * is not done. The caller holds the pool's lock. */
void osli_forest_help_reader(osla_forest *f, uint64_t number, const forest_transfer *x,
                             forest_link *l);

/* ---- exact sums, combinations by functions (forest_exact.c) ---- */

/* Allocates x->gathered, a buffer with room for the values of all leaves that are joined to roots
 * of this rank. Local. Errors: MEM, RANGE (2^32 edges or more). */
osla_err osli_forest_exact_begin(osla_forest *f, forest_transfer *x);

/* Returns the part of x->gathered in which the values of a link to leaves are stored. */
vertex_list osli_forest_exact_buffer(const forest_transfer *x, const forest_link *l);

/* Combines the values of the leaves, which the transfer has gathered in x->gathered, with the
 * values of their roots. Then frees x->gathered. If an allocation fails, the job ends. */
void osli_forest_exact_end(osla_forest *f, forest_transfer *x);

void osli_forest_gather_free(struct forest_gather **gather);

/* ---- progress (forest_serve.c) ---- */

/* Reads and sends the values that can be read and sent now, in all forests of the pool; every wait
 * calls it. The function with _locked returns true if any transfer was started, completely read or
 * completely sent. Local. */
void osli_forests_serve(forest_pool *pool);
bool osli_forests_serve_locked(forest_pool *pool);

/* _start starts a transfer that has been checked and for which a record is free. _start_next starts
 * the transfer that the caller has written into the next record. Both return the number of the
 * transfer. The caller holds the pool's lock. */
uint64_t osli_forest_start(osla_forest *f, const forest_transfer *what);
uint64_t osli_forest_start_next(osla_forest *f);

/* _check_free fails if the record that the next transfer needs is in use. Local. Errors: STATE.
 * _wait_for_free does the same check, then waits until no rank reads the record any more. */
osla_err osli_forest_check_free(const osla_forest *f);
osla_err osli_forest_wait_for_free(osla_forest *f);

/* _values_are_read: true if all ranks that read this rank's values in place have read the values of
 * a transfer. _wait_for_readers waits until they have. Local. */
bool osli_forest_values_are_read(osla_forest *f, uint64_t number);
void osli_forest_wait_for_readers(osla_forest *f, uint64_t number);

/* True if all ranks of the node that have links to this rank have read a transfer, so that they
 * load its announcement no more. Local. */
bool osli_forest_neighbours_are_done(osla_forest *f, uint64_t number);

/* _is_over: true if a transfer is over on this rank. With with_readers, the ranks that read its
 * values in place must have read them, too. Does not consider two-level transfers. The caller holds
 * the pool's lock. */
bool osli_forest_is_over(osla_forest *f, uint64_t number, bool with_readers);

/* Marks a transfer as ended. with_readers: true if all ranks that read its values in place have
 * published that they have read them; later work on devices is then ordered after their reads. The
 * caller holds the pool's lock. */
void osli_forest_mark_ended(osla_forest *f, uint64_t number, bool with_readers);

/* ---- two-level transfers (forest_two_level.c) ---- */

/* Creates f->two_level if more than a few values are sent between nodes, and if proxies
 * (substitutes for roots of other nodes) reduce the number of these values by at least a quarter.
 * Collective. Errors, on all ranks together: as osla_forest_create. */
osla_err osli_two_level_create(osla_forest *f, const forest_edges *edges);
/* The two steps that destroy the three forests of f->two_level. osli_two_level_retire calls
 * osli_forest_retire_one_level for each of the three forests. osli_two_level_free calls
 * osli_forest_free_one_level for each of them, and sets f->two_level to NULL. If f->two_level is
 * NULL, both steps do nothing. */
osla_err osli_two_level_retire(osla_forest *f);
void osli_two_level_free(osla_forest *f);

/* True if a transfer uses two levels. The result is the same on all ranks. */
bool osli_forest_has_two_levels(const osla_forest *f, const forest_transfer *x);

/* Allocates x->two_level, and waits until the forest `near` has a free record. Local. Errors:
 * MEM. */
osla_err osli_two_level_begin(osla_forest *f, forest_transfer *x);

/* Starts the latest transfer (number f->begun) on those of its three forests on which it can start
 * now. The caller holds the pool's lock. */
void osli_two_level_enqueue(osla_forest *f);

/* Starts the parts of two-level transfers that can start now, in all pending forests. Returns true
 * if any part was started. The caller holds the pool's lock. */
bool osli_two_level_advance(forest_pool *pool);

/* _is_over: true if a two-level transfer is over on all of its three forests. _end marks its three
 * transfers as ended. The caller holds the pool's lock. */
bool osli_two_level_is_over(osla_forest *f, const forest_transfer *x, bool with_readers);
void osli_two_level_end(osla_forest *f, forest_transfer *x, bool with_readers);

/* ---- vertex ids (forest_derive.c) ---- */

/* Name of a vertex on any rank; rank -1 means no vertex. */
typedef struct vertex_id {
  int64_t rank, index;
} vertex_id;

/* Allocates n ids that name no vertex; the caller frees them. Collective. Errors, on all ranks
 * together: MEM. */
osla_err osli_vertex_ids_create(const osla_forest *f, int64_t n, vertex_id **out);

/* Fails on all ranks if some rank cannot begin a transfer of vertex ids. Collective. Errors:
 * STATE. */
osla_err osli_vertex_ids_check(osla_forest *f);

/* _of_roots sets ids[leaf] to the root of each leaf. _of_own sets ids[i] to this rank's vertex
 * first + i. Local. */
void osli_vertex_ids_of_roots(const osla_forest *f, vertex_id *ids);
void osli_vertex_ids_of_own(const osla_forest *f, vertex_id *ids, int64_t n, int64_t first);

/* Creates a forest in which leaf i is joined to the vertex ids[i], or has no edge if ids[i] names
 * no vertex. Collective. Errors: as osla_forest_create. */
osla_err osli_forest_create_from_ids(osla_transport *t, int64_t n_roots, const vertex_id *ids,
                                     int64_t n, osla_forest **out);

/* Sets ids[leaf] to sources[root] for each edge. With `reverse`, sets ids[root] to sources[leaf]
 * instead. Collective. */
osla_err osli_vertex_ids_transfer(osla_forest *f, bool reverse, const vertex_id *sources,
                                  vertex_id *ids);

#endif
