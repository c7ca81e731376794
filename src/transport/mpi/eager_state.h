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
/* tag 0 belongs to osli_send, and tag 1 to the transport's pending receive */
enum { EAGER_TAG = 2, DATA_TAG, FETCH_TAG };
/* first tag of message lines; collective_mpi.c uses the tags below it */
enum { FIRST_LINE_TAG = 1 << 15 };
/* value of eager_peer.region if the unconfirmed bytes may lie in several regions */
enum { SEVERAL_REGIONS = -1 };

/* Flags of a message. */
enum {
  HAS_WORD = 1,
  REQUESTS_ANSWER = 2,
  IS_ANSWER = 4,
  DATA_FOLLOWS = 8,   /* flag: the data follow in a second message with DATA_TAG */
  REQUESTS_DATA = 16, /* flag: the sender requests data, which return in a message with FETCH_TAG */
};

/* The head of a message, in front of its data. */
typedef struct eager_header {
  uint32_t region, flags;
  /* number of the receiver's messages that the sender has applied; answers are not counted */
  uint32_t applied;
  /* number of data bytes: contained in this message, following in a second one, or requested */
  uint32_t bytes;
  uint64_t offset, word_offset, word;
} eager_header;

/* State of the messages to and from one rank. Message counts begin at 0 and wrap around; answers
 * are not counted. */
typedef struct eager_peer {
  /* Numbers of messages to that rank: sent so far, confirmed by that rank, and sent before the
   * latest request of an answer. */
  uint32_t sent, confirmed, asked;
  /* number of messages from that rank whose data and words this rank has stored */
  uint32_t applied;
  /* id of the region that contains the unconfirmed data sent to that rank; SEVERAL_REGIONS if they
   * may lie in any region */
  int region;
  /* All unconfirmed data lie in the bytes `from` .. `to` - 1 of the region. If from == to, there
   * are no unconfirmed data. */
  size_t from, to;
} eager_peer;

/* The latest message to a rank that concerns a region. sent: value of eager_peer.sent after that
 * message. waits: no call has waited for the confirmation of that message yet. */
typedef struct eager_last {
  uint32_t sent;
  bool waits;
} eager_last;

/* A received message that is not applied yet, because its data, or those of an earlier message of
 * its origin, have not arrived. */
typedef struct eager_arrival {
  int origin;
  eager_header head;
  MPI_Request data; /* request of the message's data; MPI_REQUEST_NULL when the data are in place */
} eager_arrival;

typedef struct osla_eager {
  /* most: largest number of data bytes of a message; stride: bytes of a buffer */
  size_t most, stride;
  eager_peer *peers; /* [size] state of the messages to and from each rank */
  osla_region **regions;
  int n_regions;           /* number of entries of `regions`, of which unused ones are NULL */
  unsigned char *received, /* buffers for receives, used cyclically, since receives complete in the
                              order of posting */
    *to_send;              /* buffers for sends, used cyclically */
  union {
    struct {
      MPI_Request receives[RECEIVE_SLOTS], sends[SEND_SLOTS], answer_sends[ANSWER_SLOTS];
      MPI_Request served[SERVED_SLOTS]; /* sends of requested data */
    };
    MPI_Request requests[ALL_REQUESTS]; /* the requests of all members above, as one array */
  };
  eager_header answers[ANSWER_SLOTS];
  int head, next, next_answer, next_served;
  /* State of message lines: the lines with an active request, in any order, and the requests that
   * are tested together, that is a receive and the oldest request of each line. The arrays have
   * room for n_open lines. */
  osla_line **lines;
  MPI_Request *tested;  /* [1 + n_lines] requests that one MPI call tests */
  MPI_Status *statuses; /* [1 + n_open] statuses of the completed requests */
  int *over;
  int n_lines, n_open;
  struct poll_control *poll_control;
  /* sender of the message in the buffer with index `head`, after the message has arrived */
  int origin;
  int n_arrivals;
  /* received messages that are not applied yet; those of one origin in the order of sending */
  eager_arrival arrivals[MAX_ARRIVALS];
} osla_eager;

static inline bool eager_is_unconfirmed(const eager_peer *p)
{
  return p->sent != p->confirmed;
}

/* Has the latest message that uses this request completed? The caller holds the mutex. */
bool osli_eager_request_is_free(osla_transport *t, MPI_Request *request);

/* Posts the receive with index `place`. The caller holds the mutex. Errors: MPI. */
osla_err osli_eager_post_receive(const osla_transport *t, osla_eager *e, int place);

#endif
