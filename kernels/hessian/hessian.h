/* The accumulator's insides (internal). */
#ifndef OSLA_HESSIAN_INTERNAL_H
#define OSLA_HESSIAN_INTERNAL_H

#include "hessian_combine.h"
#include "hessian_split.h"
#include "local_view.h"
#include "osla_hessian.h"
#include "osla_stripes.h"

#include "osla_segment.h"

#include <pthread.h>
#include <stdatomic.h>

/* Notify slots: bytes that wait for the target; bytes of it that were taken; scratch was freed. */
enum { NOTIFY_READY, NOTIFY_TAKEN, NOTIFY_ROOM, NOTIFY_PURPOSES };

/* A rectangle of an update's part for one owner, restricted to the triangle. Both lists ascend by
 * global index, so that begin and end never fall. Column c holds rows [begin[c], end[c]) of the row
 * list; its values start at values + offset(c), one after the other. */
typedef struct piece {
  int64_t rows, cols;
  const int64_t *row;          /* [rows] local row index on the owner */
  const int64_t *col;          /* [cols] local column index */
  const int64_t *begin, *end;  /* [cols] */
  const unsigned char *values; /* element (r, c) at r + c * ld; or, ld = 0, packed by columns */
  int64_t ld;
  /* ld > 0: element (r, c) is at row_place[r] + col_place[c] * ld instead; NULL: at r, at c */
  const int64_t *row_place, *col_place;
} piece;

typedef struct exact_state exact_state;

/* What one thread needs during an update. Kept in a list for reuse. */
typedef struct workspace {
  struct workspace *next;
  index_split rows, cols;
  index_split sorted;      /* order-independent mode: all indices of an update, */
  unsigned char *products; /* and some of its products */
  size_t products_bytes;
  int64_t *begin, *end; /* [n_range] triangle of a part */
  int64_t n_range;
  unsigned char *row_panel, *col_panel; /* columns of G in the order of the splits */
  size_t row_panel_bytes, col_panel_bytes;
  unsigned char *values; /* of a piece */
  size_t values_bytes;
  size_t reserved; /* bytes of all these that count against the cap */
  uint64_t draws;  /* random starts drawn so far */
  osla_hessian_stats stats;
} workspace;

/* What fills a piece: the products of columns of G, or the elements of U. */
typedef struct update {
  int64_t k;                 /* rows of G; < 0: a block update */
  const unsigned char *data; /* G or U */
  int64_t ld;
  const unsigned char *row_panel, *col_panel; /* G's columns in the splits' order, k x count */
} update;

/* What waits here for a rank of another node: a ring in my segment that the owner reads. Numbers
 * are bytes since the beginning. */
typedef struct outbox {
  pthread_mutex_t mutex;  /* one sender at a time, over a whole chain */
  unsigned char *ring;    /* NULL: the rank is on my node */
  uint64_t written;       /* under the mutex */
  uint64_t chain;         /* where the part that is written begins; under the mutex */
  _Atomic uint64_t ready; /* of them, those that the owner may take */
  uint64_t told;          /* of these, those that the owner was told of; by the hook */
  osla_posted notice;     /* the telling; by the hook */
} outbox;

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

/* Where updates for an owner are added on this node; local = NULL: they are sent. */
typedef struct near_part {
  unsigned char *local; /* the owner's local array, or the node's sum for it */
  int64_t lld;
  osla_stripes *lock;
  _Atomic uint64_t *touched; /* NULL, or: stripes that are added to must be noted here */
  int host;                  /* of the node's sum: who sends it */
} near_part;

typedef struct node_sums node_sums;

struct osla_hessian {
  osla_hessian_options options;
  int64_t n;
  combiner combine;
  exact_state *exact; /* order-independent mode, else NULL */
  size_t element;     /* bytes of a value of an update, which may be narrower than one of H */
  osla_matrix *matrix;
  local_view v;
  osla_segment *segment; /* my lock, and what waits for other nodes' ranks */
  node_sums *node;       /* NULL without options.node_sums */

  pthread_mutex_t mutex; /* guards the workspace list, the gradient, memory and `dirty` */
  workspace *free_list;
  double *gradient;                 /* [n] committed */
  double *pending_gradient;         /* [n] since the last commit */
  bool dirty;                       /* updates since the last commit */
  osla_hessian_stats stats;         /* of updates that have returned, and of the hook */
  size_t memory, memory_peak;       /* bytes in use, and their peak */
  size_t memory_fixed, memory_most; /* of them, for the wire; the cap, SIZE_MAX: none */
  uint64_t frees;                   /* workspaces given back */
  struct ledger *ledger;            /* hessian_ledger.h */

  size_t ring_bytes, inbox_bytes, message_most; /* sizes, the same on all ranks */
  outbox *outboxes;                             /* [ranks] */
  intake *intakes;                              /* [ranks] */
  inbox inboxes[INBOXES];
  int n_inboxes, next_origin;
  bool hooked;
};

/* hessian.c: waits until the updates of all ranks are in their owners' memory; none may be under
 * way. Collective. */
osla_err osla_hessian_settle(osla_hessian *h);

/* hessian_workspace.c: scratch of an update, within the memory cap: taking may wait for others to
 * give. Errors of take: MEM, also when the cap is too small for such an update. */
typedef struct workspace_need {
  int64_t rows, cols;
  int64_t k;   /* columns of G are gathered; 0: none */
  bool strips; /* products are made in strips first, see hessian_exact.h */
} workspace_need;
osla_err osla_workspace_take(osla_hessian *h, const workspace_need *need, workspace **out);
void osla_workspace_give(osla_hessian *h, workspace *w);
void osla_workspace_free_all(osla_hessian *h);
osla_err osla_reserve(unsigned char **buffer, size_t *have, size_t bytes);
size_t osla_piece_bytes(const osla_hessian *h); /* values that a workspace may hold */

/* hessian_update.c: one update, whose arguments have been checked. */
osla_err osla_update_run(osla_hessian *h, update *u, int64_t rows, const int64_t *ix, int64_t cols,
                         const int64_t *jx);

/* values (rows x cols, ld = rows) := what the update adds to rows [r0, r0 + rows)
 * and columns [c0, c0 + cols) of the workspace's splits, at least where begin and end say. */
osla_err osla_update_fill(osla_hessian *h, workspace *w, const update *u, int64_t r0, int64_t c0,
                          const piece *p, unsigned char *values);

/* hessian_deliver.c: every owner's part, after the indices were split. */
osla_err osla_update_owners(osla_hessian *h, workspace *w, const update *u);

/* hessian_add.c: adds a piece to an owner's local array, and the stripes that it touches. */
void osla_piece_add(const osla_hessian *h, const piece *p, unsigned char *local, int64_t lld);
uint64_t osla_piece_stripes(const osla_hessian *h, const piece *p);
int64_t osla_piece_elements(const piece *p);

/* hessian_outbox.c: the origin's side of the wire. */
osla_stripes *osla_hessian_lock(const osla_hessian *h, int rank); /* NULL off the node */
void osla_wire_sizes(osla_hessian *h, int remote, size_t bytes);
size_t osla_wire_segment_bytes(const osla_hessian *h);
size_t osla_wire_table_bytes(const osla_hessian *h); /* outboxes and inboxes */
size_t osla_wire_ring_offset(const osla_hessian *h, int holder, int reader);
osla_err osla_outboxes_create(osla_hessian *h);
void osla_outboxes_free(osla_hessian *h);
osla_err osla_outbox_tell(osla_hessian *h,
                          int target); /* by the hook: tells the owner what waits */

/* Between begin and end the messages of a part follow one another; other threads' wait. `bytes` is
 * an estimate of them all: begin waits until there is room. */
void osla_outbox_begin(osla_hessian *h, int target, size_t bytes);
void osla_outbox_end(osla_hessian *h, int target);

/* Waits for room, then writes a message. p NULL: flags alone. u: ship columns of G, at r0, c0 of
 * the splits, instead of p's values. Returns its bytes. */
size_t osla_outbox_put(osla_hessian *h, int target, const piece *p, uint64_t stripes,
                       uint32_t flags, const update *u, int64_t r0, int64_t c0);

/* Columns of a piece from c on that go into one message, if all their rows do; rows of which one
 * column with its list takes at most half a message. */
int64_t osla_outbox_columns(const osla_hessian *h, const piece *p, int64_t c);
int64_t osla_outbox_rows(const osla_hessian *h);

/* hessian_node.c: sums of a node, where options.node_sums asks for them. */
osla_err osla_node_sums_check(const osla_hessian_options *options);
osla_err osla_node_sums_bytes(osla_hessian *h, size_t *bytes); /* that this rank hosts */
osla_err osla_node_sums_create(osla_hessian *h);               /* collective */
void osla_node_sums_destroy(osla_hessian *h);                  /* collective */
near_part osla_near_part(const osla_hessian *h, int owner);
/* Hands all sums to the outboxes, and empties them. Collective; no update may be under way. */
osla_err osla_node_sums_send(osla_hessian *h);

/* hessian_inbox.c: the owner's side. */
osla_err osla_inboxes_create(osla_hessian *h);
void osla_inboxes_free(osla_hessian *h);
void osla_wire_step(void *hessian);   /* the progress hook of both sides */
void osla_wire_stop(osla_hessian *h); /* waits for what is under way; the hook is gone */

#endif
