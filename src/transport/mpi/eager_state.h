/* State of puts as messages (layer 0, internal to the eager_* sources). */
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
enum { ALL_REQUESTS = RECEIVE_SLOTS + SEND_SLOTS + ANSWER_SLOTS + SERVED_SLOTS };
enum {
  EAGER_TAG = 2,
  DATA_TAG,
  FETCH_TAG
}; /* osli_send uses tag 0, the pending receive of the transport tag 1 */
enum {
  FIRST_LINE_TAG = 1 << 15
};                             /* first tag of message lines; collective_mpi.c uses those below */
enum { SEVERAL_REGIONS = -1 }; /* in eager_peer.region: bytes of several regions */

/* Flags of a message. */
enum {
  HAS_WORD = 1,
  REQUESTS_ANSWER = 2,
  IS_ANSWER = 4,
  DATA_FOLLOWS = 8,   /* the data follow as a message with DATA_TAG */
  REQUESTS_DATA = 16, /* the data are requested, and returned with FETCH_TAG */
};

/* The head of a message, in front of its data. */
typedef struct eager_header {
  uint32_t region, flags;
  uint32_t
    applied; /* number of messages from the receiver that the sender has applied, without answers */
  uint32_t bytes; /* bytes of data in this message, in a following one, or requested */
  uint64_t offset, word_offset, word;
} eager_header;

/* State of the messages to and from one rank. Message counts begin at 0 and wrap around; answers
 * are not counted. */
typedef struct eager_peer {
  /* Numbers of messages to that rank: sent, confirmed, sent at the latest request of an answer. */
  uint32_t sent, confirmed, asked;
  uint32_t applied; /* messages from that rank whose data and words are stored here */
  int region;       /* region of the unconfirmed data sent to that rank; SEVERAL_REGIONS: the
                       range may be unconfirmed in any region */
  size_t from, to;  /* range of the unconfirmed bytes; empty if from == to */
} eager_peer;

/* The latest message of a region to a rank: the peer's `sent` after it, and whether its
 * confirmation has not been awaited yet. */
typedef struct eager_last {
  uint32_t sent;
  bool waits;
} eager_last;

/* A received message that is not applied yet, because its data, or those of an earlier message of
 * its origin, have not arrived. */
typedef struct eager_arrival {
  int origin;
  eager_header head;
  MPI_Request data; /* receive of its data; MPI_REQUEST_NULL when they are in place */
} eager_arrival;

typedef struct osla_eager {
  size_t most, stride; /* largest number of data bytes of a message; size of a buffer */
  eager_peer *peers;   /* [size] state of each rank */
  osla_region **regions;
  int n_regions; /* length of `regions`; unused entries are NULL */
  /* Buffers for receiving and sending, used cyclically; receives complete in the order of posting.
   */
  unsigned char *received, *to_send;
  union {
    struct {
      MPI_Request receives[RECEIVE_SLOTS], sends[SEND_SLOTS], answer_sends[ANSWER_SLOTS];
      MPI_Request served[SERVED_SLOTS]; /* sends of requested data */
    };
    MPI_Request requests[ALL_REQUESTS]; /* all of these */
  };
  eager_header answers[ANSWER_SLOTS];
  int head, next, next_answer, next_served;
  /* State of message lines: the lines with an active request, in any order, and the requests that
   * are tested together, that is a receive and the oldest request of each line. The arrays have
   * room for n_open lines. */
  osla_line **lines;
  MPI_Request *tested;  /* [1 + n_lines] requests */
  MPI_Status *statuses; /* [1 + n_open] statuses of the completed requests */
  int *over;
  int n_lines, n_open;
  struct poll_control *poll_control;
  int origin; /* sender of the message in the buffer `head`, when it has arrived */
  int n_arrivals;
  eager_arrival arrivals[MAX_ARRIVALS]; /* messages of one origin in the order of sending */
} osla_eager;

static inline bool eager_is_unconfirmed(const eager_peer *p)
{
  return p->sent != p->confirmed;
}

/* Has the latest message with this request completed? The caller holds the mutex. */
bool osli_eager_request_is_free(osla_transport *t, MPI_Request *request);

/* Posts the receive with index `place`. The caller holds the mutex. Errors: MPI. */
osla_err osli_eager_post_receive(const osla_transport *t, osla_eager *e, int place);

#endif
