/* A link's ring: transports values that are not read in place, in parts, in both directions
 * (private to forests).
 *
 * Each of the two ranks has slots in its piece of the pool, and the other rank writes into these
 * slots. It writes by stores if both ranks are on the same node, and by puts otherwise. After each
 * put the sender raises a counter of parts in the receiver's memory. A second counter acknowledges
 * parts that were consumed, so that their slots are free. If the ring has message lines
 * (src/memory/segment.h), a part between nodes is one message from the send buffer into the slot,
 * and every free slot has a receive.
 *
 * The receiver knows how many parts a transfer has. Each part has a header that names its transfer.
 * On a node the header also shows that the part has arrived, so that a few values need only one
 * cache line.
 *
 * A ring within a node has fewer slots if its slots are larger. A ring between nodes has 8 slots of
 * up to 63 KiB. A full slot and its header then fit into one packet of UCX over TCP, which holds 64
 * KiB. Values that need more than one slot are divided into parts of about equal size, so that one
 * part is packed while another one is in flight (results/star-forests). */
#ifndef FOREST_RING_H
#define FOREST_RING_H

#include "kernels/forest/forest_pool.h"
#include "src/memory/segment.h"
#include "src/memory/shared_copy.h"

#include <stdatomic.h>

/* Header of a part; it describes the part's transfer. */
typedef struct forest_head {
  /* kind, combination, type and count of the transfer, encoded by osli_forest_signature */
  uint64_t signature;
  uint32_t number; /* low 32 bits of the transfer's number */
} forest_head;

/* State of a link in this rank's piece of the pool, which the rank at the other end writes. */
typedef struct ring_words {
  _Alignas(64) _Atomic uint64_t arrived; /* number of parts that have arrived from another node */
  /* number of parts from this rank that the other rank has consumed */
  _Atomic uint64_t consumed;
  /* copy of the link's values into this rank's array, in which the other rank helps */
  shared_copy copy;
  value_location target; /* location of this rank's array; set before the copy is opened */
} ring_words;

/* A ring, as seen by one of its two ranks. All counts are numbers of parts since the ring was
 * created. */
typedef struct forest_ring {
  forest_pool *pool;
  osla_segment *segment;
  int rank;             /* rank at the other end of the ring */
  size_t slot_bytes;    /* size of a slot in bytes, without the header */
  uint64_t n_slots;     /* number of slots that each of the two ranks has */
  ring_words *words;    /* counters that the other rank writes, in this rank's piece */
  unsigned char *slots; /* slots that the other rank writes, in this rank's piece */
  size_t far_slots;     /* offset of the other rank's slots in that rank's segment */
  size_t far_words;     /* offset of the other rank's counters in that rank's segment */
  /* address of the other rank's slots if it is on this node; otherwise NULL */
  unsigned char *near_slots;
  /* address of the other rank's counters if it is on this node; otherwise NULL */
  ring_words *near_words;
  uint64_t sent;             /* number of parts that this rank has sent */
  uint64_t consumed;         /* number of parts that this rank has consumed */
  uint64_t credited;         /* number of consumed parts that this rank has acknowledged */
  _Atomic uint64_t departed; /* number of sent parts that have left the send buffer */
  /* [n_slots] send buffer for parts to another node; NULL if the other rank is on this node */
  unsigned char *staging;
  /* [n_slots] put in flight from each slot of the send buffer; NULL if the other rank is on this
   * node */
  osla_posted *posted;
  osla_posted credit;        /* state of the latest put of a counter to another node */
  osla_line *in;             /* message line that receives parts; NULL if the ring uses puts */
  osla_line *out;            /* message line that sends parts; NULL if the ring uses puts */
  uint64_t receives_started; /* number of receives started on the line `in` */
  /* number of parts sent on the line `out` whose completion is recorded in the trace */
  uint64_t n_traced;
} forest_ring;

/* Sets the number and the size of slots for a link with `edges` edges. Both ends of the link
 * compute equal sizes. Local. */
void osli_ring_set_size(forest_ring *ring, int64_t edges, bool is_near);
/* Returns the size of all slots with their headers, in bytes. Local. */
size_t osli_ring_slots_bytes(const forest_ring *ring);
/* Returns the size of the send buffer in bytes. Local. */
size_t osli_ring_staging_bytes(const forest_ring *ring);

/* Sets the addresses of this rank's counters and slots. Local. */
void osli_ring_init(forest_ring *ring, void *words, unsigned char *slots);
/* Sets the address of the send buffer, which must be zeroed. Only a ring between nodes needs a send
 * buffer. Local. */
void osli_ring_set_staging(forest_ring *ring, unsigned char *staging);

/* Opens two message lines to the other rank, and starts receives for all slots. `receives` and
 * `sends` are the numbers of the line on which this rank receives and of the line on which it
 * sends. The other rank must pass the two numbers in the opposite order. No other ring between the
 * two ranks may use these numbers in the segment. Local. Errors: MEM, MPI. */
osla_err osli_ring_open_lines(forest_ring *ring, int receives, int sends);

/* Starts or stops polling for parts that arrive on a line. A new ring is not polled. Local. */
void osli_ring_watch(const forest_ring *ring, bool is_watched);

/* Closes the lines; no part may be in flight. Local. */
void osli_ring_close(forest_ring *ring);

/* A part of a link's values: of n vertices, starting with vertex `first`, the part contains the
 * numbers first_number .. first_number + numbers - 1. */
typedef struct ring_part {
  int64_t first, n, first_number, numbers;
} ring_part;

/* Returns the number of parts into which a link's values are divided. A vertex has `count` numbers
 * of `element` bytes each. Local. */
int64_t osli_ring_parts(const forest_ring *ring, int64_t edges, size_t element, int64_t count);
/* Returns the part with index `part`, from 0, of a link's values. Local. */
ring_part osli_ring_part(const forest_ring *ring, int64_t edges, size_t element, int64_t count,
                         int64_t part);

/* osli_ring_slot returns the address to which the caller writes the values of the next part, or
 * NULL if the ring is full. It reserves nothing, and may be called again before the part is sent.
 * osli_ring_send sends the part that the caller has written there: `bytes` bytes of values, with
 * the header `head`. Local. */
unsigned char *osli_ring_slot(forest_ring *ring);
void osli_ring_send(forest_ring *ring, forest_head head, size_t bytes);

/* _next returns the values of the next part, and its header; NULL if the part has not arrived.
 * _consume is called after the values were read. Local. */
const unsigned char *osli_ring_next(forest_ring *ring, forest_head *head);
void osli_ring_consume(forest_ring *ring);

/* _credit acknowledges consumed parts if they fill at least half of the slots, because one
 * acknowledgement for each part would double the messages. _credit_all acknowledges all of them.
 * Both return false if acknowledging is not possible yet. Local. */
bool osli_ring_credit(forest_ring *ring);
bool osli_ring_credit_all(forest_ring *ring);

/* True if all parts that this rank has sent arrive without further progress steps of this rank.
 * Local. */
bool osli_ring_is_posted(forest_ring *ring);

/* True if the other rank has acknowledged all parts that this rank has sent, and this rank has
 * acknowledged all parts that it has consumed. If this is true on both ranks, no update of a
 * counter is in flight. Local. */
bool osli_ring_is_empty(const forest_ring *ring);

/* Waits until all puts of this rank into the other rank's slots and counters are complete. Local.
 * Errors: MPI. */
osla_err osli_ring_wait_posted(forest_ring *ring);

#endif
