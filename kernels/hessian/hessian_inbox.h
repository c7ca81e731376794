/* Messages from other nodes, the owner's side (internal). */
#ifndef OSLA_HESSIAN_INBOX_H
#define OSLA_HESSIAN_INBOX_H

#include "osla_hessian.h"
#include "osla_segment.h"
#include "osla_stripes.h"

#include <stdatomic.h>

/* What this rank has taken from an origin on another node; by the hook. */
typedef struct intake {
  uint64_t taken, credited; /* bytes that have arrived here, and those that the origin knows of */
  osla_posted credit;
  bool assigned;            /* an inbox serves this origin */
  _Atomic uint64_t applied; /* bytes whose messages have been added */
} intake;

/* Room for messages on their way from an origin's ring to H; by the hook. */
typedef struct inbox {
  int origin;            /* -1: free */
  unsigned char *buffer; /* [inbox_bytes] */
  size_t head, tail;     /* what is here: [head, tail) */
  size_t arriving;       /* bytes behind the tail that are under way */
  osla_transfer transfer[2];
  int64_t *lists;        /* of the message that is added */
  unsigned char *values; /* products of the columns of G that came */
  uint64_t stripes;      /* held over a chain */
  bool in_chain;
  osla_stripes_patience patience; /* of the message at the head */
} inbox;

enum { INBOXES = 4 };

/* The owner's side. */
osla_err osla_inboxes_create(osla_hessian *h);
void osla_inboxes_free(osla_hessian *h);
void osla_wire_step(void *hessian);   /* the progress hook of both sides */
void osla_wire_stop(osla_hessian *h); /* waits for what is under way; the hook is gone */

#endif
