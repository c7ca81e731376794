/* A link's ring: values that are not read in place, in parts, both ways (private to forests).
 *
 * Each side has slots in its part of the pool, to which the other one writes: a neighbour by
 * stores, others by puts with a word behind that counts the parts. Another word counts those of
 * mine that were consumed, so that their slots are free again; parts that go the other way between
 * nodes say it, too. Where there are lines (segment_lines.h) a part between nodes is one message
 * from the staging into the slot: every free slot has a receive. Who reads knows how many parts a
 * transfer has. Each part has a head: what it is of. A neighbour's head also says that the part is
 * there: a few values come in one line of memory.
 *
 * Neighbours have few slots where these are large. Others have 8 of up to 63 KiB: with its head
 * such a part is one piece of UCX's over TCP where that has pieces of 64 KiB, and what is longer
 * goes in parts of about the same size: one is packed while another one travels, and is read while
 * the next one comes (results/2026-11-25-star-forests-5).
 */
#ifndef FOREST_RING_H
#define FOREST_RING_H

#include "kernels/forest/forest_pool.h"
#include "src/memory/segment_lines.h"

#include <stdatomic.h>

/* What a transfer is, as its rank says: two ranks that begin different ones would read past what is
 * there. */
typedef struct forest_head {
  uint64_t what;     /* osla_forest_what: kind, combination, type, count */
  uint32_t number;   /* of the forest's transfers, from its low end */
  uint32_t consumed; /* between nodes: parts that went the other way, from its low end */
} forest_head;

/* Written by the other side, in my part of the pool. */
typedef struct ring_words {
  _Alignas(64) _Atomic uint64_t arrived; /* parts that are in my slots; not of a neighbour */
  _Atomic uint64_t consumed;             /* parts of mine, by the other side */
} ring_words;

typedef struct forest_ring {
  forest_pool *pool;
  osla_segment *segment;
  int rank;
  size_t slot_bytes; /* of values */
  uint64_t n_slots;  /* on each side */
  ring_words *words;
  unsigned char *slots;        /* mine */
  size_t far_slots, far_words; /* the other's: offsets in the segment */
  unsigned char *near_slots;   /* the same where it is a neighbour; else NULL */
  ring_words *near_words;
  uint64_t sent, consumed, credited; /* credited: the consumed ones that the other side knows of */
  uint64_t credited_by_word;         /* not by heads alone */
  uint64_t heard;                    /* of mine, consumed: by heads */
  _Atomic uint64_t left;             /* of mine, whose staging is free again: all up to this one */
  unsigned char *staging;            /* [n_slots] slots, for others than neighbours */
  osla_posted *posted;               /* [n_slots] of what lies there */
  osla_posted credit;
  osla_line *in, *out; /* NULL: there are none */
  uint64_t expected;   /* parts that a receive was started for */
  uint64_t noted;      /* of those that have left by a line: the trace has them */
} forest_ring;

/* The slots of a link of so many edges, the same on both sides. Bytes of all slots of a ring, with
 * heads; of staging. Local, pure. */
void osli_ring_size(forest_ring *ring, int64_t edges, bool near);
size_t osli_ring_all_slots(const forest_ring *ring);
size_t osli_ring_staging(const forest_ring *ring);

/* My words and slots; staging, of zeros, where it is not a neighbour's. */
void osli_ring_start(forest_ring *ring, void *words, unsigned char *slots);
void osli_ring_stage(forest_ring *ring, unsigned char *staging);

/* Lines of these numbers, which no other ring of mine with that rank has in the segment; the other
 * side has them the other way round. Errors: MEM, MPI. Local. */
osla_err osli_ring_open_lines(forest_ring *ring, int receives, int sends);

/* Are parts that come by a line seen? At first they are not. */
void osli_ring_watch(const forest_ring *ring, bool watched);

void osli_ring_close(forest_ring *ring); /* the lines; nothing is under way */

/* The part of a link's values that fits a slot: n vertices from the first on, of each `numbers`
 * from the first number on. `part` counts from 0; all are osli_ring_parts. Local, pure. */
typedef struct ring_part {
  int64_t first, n, first_number, numbers;
} ring_part;
int64_t osli_ring_parts(const forest_ring *ring, int64_t edges, size_t element, int64_t count);
ring_part osli_ring_part(const forest_ring *ring, int64_t edges, size_t element, int64_t count,
                         int64_t part);

/* Where the next part's values may be written; NULL: the ring is full. Then osli_ring_send, once.
 */
unsigned char *osli_ring_slot(forest_ring *ring);
void osli_ring_send(forest_ring *ring, forest_head head, size_t bytes);

/* The next part that has come; NULL: not yet. Then osli_ring_take, once it has been read. */
const unsigned char *osli_ring_next(forest_ring *ring, forest_head *head);
void osli_ring_take(forest_ring *ring);

/* Credits the other side with what was consumed, once that is half of the slots: a word for each
 * would be as many messages again. false: it could not yet. */
bool osli_ring_credit(forest_ring *ring);

/* The same of all that was consumed, by a word, also where heads have said so. */
bool osli_ring_credit_all(forest_ring *ring);

/* All that was sent goes on without this rank's progress. */
bool osli_ring_is_posted(forest_ring *ring);

/* The other side has consumed all that was sent, and knows what was consumed; both by words, of
 * which no other is under way then: they arrive in their order, but heads may overtake them. */
bool osli_ring_is_empty(const forest_ring *ring);

/* Waits until all that was posted is there. */
osla_err osli_ring_finish(forest_ring *ring);

#endif
