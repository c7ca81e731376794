/* A link's ring: values that are not read in place, in parts, both ways (private to forests).
 *
 * Each side has slots in its piece of the pool, which the other side writes: a node neighbour by
 * stores, a rank of another node by puts, each followed by a word that counts the parts. A second
 * word acknowledges parts that were consumed, so that their slots are free. Between nodes a part
 * that travels the other way acknowledges, too. If the ring has lines (src/memory/segment.h), a
 * part between nodes is one message from the staging into the slot, and every free slot has a
 * receive.
 *
 * The reader knows how many parts a transfer has. Each part has a head with its transfer. The head
 * of a node neighbour's part also says that the part has come: a few values need one cache line.
 *
 * A node neighbour has few slots if these are large. Between nodes there are 8 slots of up to 63
 * KiB: with its head, such a part is one piece of UCX over TCP with pieces of 64 KiB. More values
 * go in parts of about equal size, so that one is packed while another one travels
 * (results/star-forests). */
#ifndef FOREST_RING_H
#define FOREST_RING_H

#include "kernels/forest/forest_pool.h"
#include "src/memory/segment.h"

#include <stdatomic.h>

/* Head of a part: its transfer. */
typedef struct forest_head {
  uint64_t signature; /* see osli_forest_signature */
  uint32_t number;    /* low half of the transfer's number */
  uint32_t consumed;  /* between nodes: low half of the number of parts consumed by the sender */
} forest_head;

/* Words of a ring in this rank's piece; the other side writes them. */
typedef struct ring_words {
  _Alignas(64) _Atomic uint64_t arrived; /* number of parts that have come from another node */
  _Atomic uint64_t
    consumed; /* number of parts sent by this rank that the other side has consumed */
} ring_words;

/* A ring, as one of its two ranks sees it. Counts are of parts since the ring was made. */
typedef struct forest_ring {
  forest_pool *pool;
  osla_segment *segment;
  int rank;                    /* the rank at the other side */
  size_t slot_bytes;           /* bytes of values in a slot */
  uint64_t n_slots;            /* number of slots on each side */
  ring_words *words;           /* words in this rank's piece */
  unsigned char *slots;        /* slots in this rank's piece */
  size_t far_slots, far_words; /* offsets of the other side's slots and words in its segment */
  unsigned char *near_slots;   /* address of the other side's slots on a node; else NULL */
  ring_words *near_words;      /* address of the other side's words on a node; else NULL */
  uint64_t sent, consumed;     /* number of parts that this rank has sent; that it has consumed */
  uint64_t credited;         /* number of consumed parts that were acknowledged to the other side */
  uint64_t credited_by_word; /* number of consumed parts that were acknowledged by a word */
  uint64_t consumed_by_head; /* number of sent parts that heads from the other side acknowledge */
  _Atomic uint64_t departed; /* number of sent parts whose staging is free again */
  unsigned char *staging; /* [n_slots] slots from which parts are sent to another node; else NULL */
  osla_posted *posted;    /* [n_slots] the put under way from each slot of the staging; else NULL */
  osla_posted credit;     /* the put of the latest word to another node */
  osla_line *in, *out;    /* lines that receive and send parts; NULL if the ring has none */
  uint64_t receives_started; /* number of receives started on `in` */
  uint64_t n_traced;         /* number of parts sent on `out` whose end is in the trace */
} forest_ring;

/* Sets the number and size of slots for a link of so many edges: the same on both sides. Bytes of
 * all slots with heads; of the staging. Local. */
void osli_ring_set_size(forest_ring *ring, int64_t edges, bool is_near);
size_t osli_ring_slots_bytes(const forest_ring *ring);
size_t osli_ring_staging_bytes(const forest_ring *ring);

/* Sets this rank's words and slots; between nodes also the staging, whose memory is zero. Local. */
void osli_ring_init(forest_ring *ring, void *words, unsigned char *slots);
void osli_ring_set_staging(forest_ring *ring, unsigned char *staging);

/* Opens lines of two numbers that no other ring to this rank has in the segment. The other side has
 * them exchanged. Local. Errors: MEM, MPI. */
osla_err osli_ring_open_lines(forest_ring *ring, int receives, int sends);

/* Starts or stops polling for parts that come on a line. At first they are not polled for. Local.
 */
void osli_ring_watch(const forest_ring *ring, bool is_watched);

/* Closes the lines. No part is under way. Local. */
void osli_ring_close(forest_ring *ring);

/* A part: `numbers` numbers from first_number on of each of n vertices from vertex `first` on. */
typedef struct ring_part {
  int64_t first, n, first_number, numbers;
} ring_part;

/* The number of parts of a link's values, and part number `part`, from 0. element: bytes of a
 * number; count: numbers in a vertex. Local. */
int64_t osli_ring_parts(const forest_ring *ring, int64_t edges, size_t element, int64_t count);
ring_part osli_ring_part(const forest_ring *ring, int64_t edges, size_t element, int64_t count,
                         int64_t part);

/* Address at which the next part's values are written; NULL if the ring is full. Each non-NULL
 * result is followed by one osli_ring_send. Local. */
unsigned char *osli_ring_slot(forest_ring *ring);
void osli_ring_send(forest_ring *ring, forest_head head, size_t bytes);

/* The values of the next part, and its head; NULL if it has not come. _consume: after they were
 * read. Local. */
const unsigned char *osli_ring_next(forest_ring *ring, forest_head *head);
void osli_ring_consume(forest_ring *ring);

/* Acknowledges what was consumed if that is at least half of the slots: a word for each part would
 * double the messages. _all: by a word, whatever heads have said. False: not possible yet. Local.
 */
bool osli_ring_credit(forest_ring *ring);
bool osli_ring_credit_all(forest_ring *ring);

/* True if all sent parts arrive without this rank's progress. Local. */
bool osli_ring_is_posted(forest_ring *ring);

/* True if each side knows by words that all parts were consumed. Words arrive in order, but heads
 * may overtake them: so no word is under way. Local. */
bool osli_ring_is_empty(const forest_ring *ring);

/* Waits until all puts of this rank are complete. Local. Errors: MPI. */
osla_err osli_ring_wait_posted(forest_ring *ring);

#endif
