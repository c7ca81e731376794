/* What the files of small messages share (floor 0, internal to them). */
#ifndef OSLA_EAGER_STATE_H
#define OSLA_EAGER_STATE_H

#include "src/transport/transport_ops.h"

enum { SLOTS = 32, ANSWERS = 8, RECEIVES = 16, WINDOW = 16, ASK_AFTER = 8 };
enum { ARRIVALS = 32, SERVED = 16 };
enum { EAGER_TAG = 2, DATA_TAG, FETCH_TAG }; /* osli_send has 0, the pending receive 1 */
enum { FIRST_LINE_TAG = 1 << 15 };           /* lines_mpi.c; exchange_mpi.c has those below */
enum { SEVERAL = -1 };                       /* regions */

/* Of a message: */
enum {
  HAS_WORD = 1,
  WANTS_ANSWER = 2,
  IS_ANSWER = 4,
  IS_ALONE = 8,    /* its data comes behind it, with DATA_TAG */
  WANTS_DATA = 16, /* which goes back with FETCH_TAG */
};

/* In front of the data. */
typedef struct eager_header {
  uint32_t region, flags;
  uint32_t applied; /* messages of the receiver that the sender has taken, answers apart */
  uint32_t bytes;   /* of the data, here, alone or wanted */
  uint64_t offset, word_offset, word;
} eager_header;

/* Numbers of messages count from 0 on and wrap; answers are not counted. */
typedef struct eager_peer {
  uint32_t sent, confirmed, asked; /* mine to it: all; known to be taken; up to here it was asked */
  uint32_t applied;                /* its, taken by me: their data is in its place */
  int region;                      /* where data of mine that is not confirmed went: these bytes */
  size_t from, to;                 /* or, if it is SEVERAL, anywhere; equal: there is none */
} eager_peer;

/* The latest message of a region to a rank: the peer's `sent` behind it; false: none is to be
 * waited for. */
typedef struct eager_last {
  uint32_t sent;
  bool waits;
} eager_last;

/* A message of which something is still to come: its data, or that of one before it. */
typedef struct eager_arrival {
  int origin;
  eager_header head;
  MPI_Request data; /* null: it is in its place */
} eager_arrival;

typedef struct osla_eager {
  size_t most, stride; /* bytes of data; of a buffer */
  eager_peer *peers;   /* [size] */
  osla_region **regions;
  int n_regions; /* places in it; some may be free */
  /* Buffers are used in turn, those that are received in as they were posted. */
  unsigned char *received, *to_send;
  MPI_Request receives[RECEIVES], sends[SLOTS], answer_sends[ANSWERS];
  eager_header answers[ANSWERS];
  MPI_Request served[SERVED]; /* what others asked for */
  int head, next, next_answer, next_served;
  /* Of lines_mpi.c: those with a request, in any order, and what it looks at: a receive and their
   * oldest requests. Room for n_open lines. */
  osla_line **lines;
  MPI_Request *looked;  /* [1 + n_lines] */
  MPI_Status *statuses; /* [1 + n_open] of those that are over, and which they are */
  int *over;
  int n_lines, n_open;
  struct osla_polls *polls;
  int origin; /* of the message at the head, once it is here */
  int n_arrivals;
  eager_arrival arrivals[ARRIVALS]; /* those of one origin in the order in which they were sent */
} osla_eager;

static inline bool eager_is_unconfirmed(const eager_peer *p)
{
  return p->sent != p->confirmed;
}

/* Is the buffer's last message on its way? The mutex is held. */
bool osli_eager_is_free(osla_transport *t, MPI_Request *request);

/* Posts the receive of a place. The mutex is held. Errors: MPI. */
osla_err osli_eager_receive(const osla_transport *t, osla_eager *e, int place);

#endif
