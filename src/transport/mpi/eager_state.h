/* What the files of small messages share (floor 0, internal to them). */
#ifndef OSLA_EAGER_STATE_H
#define OSLA_EAGER_STATE_H

#include "src/transport/transport_ops.h"

enum {
  SEND_SLOTS = 32,
  ANSWER_SLOTS = 8,
  RECEIVE_SLOTS = 16,
  MAX_UNCONFIRMED = 16,
  CONFIRM_AFTER = 8
};
enum { MAX_ARRIVALS = 32, SERVED_SLOTS = 16 };
enum { EAGER_TAG = 2, DATA_TAG, FETCH_TAG }; /* osli_send has 0, the pending receive 1 */
enum { FIRST_LINE_TAG = 1 << 15 };           /* lines_mpi.c; exchange_mpi.c has those below */
enum { SEVERAL_REGIONS = -1 };               /* regions */

/* Of a message: */
enum {
  HAS_WORD = 1,
  REQUESTS_ANSWER = 2,
  IS_ANSWER = 4,
  DATA_FOLLOWS = 8,   /* its data comes behind it, with DATA_TAG */
  REQUESTS_DATA = 16, /* which goes back with FETCH_TAG */
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
  MPI_Request receives[RECEIVE_SLOTS], sends[SEND_SLOTS], answer_sends[ANSWER_SLOTS];
  eager_header answers[ANSWER_SLOTS];
  MPI_Request served[SERVED_SLOTS]; /* what others asked for */
  int head, next, next_answer, next_served;
  /* Of lines_mpi.c: those with a request, in any order, and what it looks at: a receive and their
   * oldest requests. Room for n_open lines. */
  osla_line **lines;
  MPI_Request *tested;  /* [1 + n_lines] */
  MPI_Status *statuses; /* [1 + n_open] of those that are over, and which they are */
  int *over;
  int n_lines, n_open;
  struct poll_control *poll_control;
  int origin; /* of the message at the head, once it is here */
  int n_arrivals;
  eager_arrival
    arrivals[MAX_ARRIVALS]; /* those of one origin in the order in which they were sent */
} osla_eager;

static inline bool eager_is_unconfirmed(const eager_peer *p)
{
  return p->sent != p->confirmed;
}

/* Is the buffer's last message on its way? The mutex is held. */
bool osli_eager_request_is_free(osla_transport *t, MPI_Request *request);

/* Posts the receive of a place. The mutex is held. Errors: MPI. */
osla_err osli_eager_post_receive(const osla_transport *t, osla_eager *e, int place);

#endif
