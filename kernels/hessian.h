/* The accumulator's insides (internal). */
#ifndef OSLA_HESSIAN_INTERNAL_H
#define OSLA_HESSIAN_INTERNAL_H

#include "hessian_combine.h"
#include "hessian_split.h"
#include "local_view.h"
#include "osla_hessian.h"
#include "osla_stripes.h"

#include <pthread.h>
#include <stdatomic.h>

enum { RING_SLOTS = 4, CREDIT_EVERY = 2, NOTIFY_DATA = 0, NOTIFY_CREDIT, NOTIFY_PURPOSES };

/* A rectangle of an update's part for one owner, restricted to the triangle: what is added in
 * isolation. Column c holds rows [begin[c], end[c]) of the row list; its values start at
 * values + offset(c), one after the other. */
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
  unsigned char *message; /* a piece on its way to another node */
  size_t message_bytes;
  uint64_t draws; /* random starts drawn so far */
  osla_hessian_stats stats;
} workspace;

struct osla_hessian {
  osla_hessian_options options;
  int64_t n;
  combiner combine;
  exact_state *exact; /* order-independent mode, else NULL */
  size_t element;     /* bytes of a value of an update, which may be narrower than one of H */
  osla_matrix *matrix;
  local_view v;
  osla_segment *segment; /* my lock, and the rings that other nodes' ranks fill */
  size_t slot_bytes;

  pthread_mutex_t mutex; /* guards the workspace list, the gradient and `dirty` */
  workspace *free_list;
  double *gradient;         /* [n] committed */
  double *pending_gradient; /* [n] since the last commit */
  bool dirty;               /* updates since the last commit */
  osla_hessian_stats stats; /* of updates that have returned */

  pthread_mutex_t *send_mutex; /* [ranks] one sender at a time to each ring */
  uint64_t *sent;              /* [ranks] pieces put to that rank's ring; under its send mutex */
  _Atomic uint64_t *applied;   /* [ranks] pieces of that rank added here */
  uint64_t *credited;          /* [ranks] of them, those that the rank was told of; by the hook */
  bool hooked;
};

/* hessian_workspace.c */
osla_err osla_workspace_take(osla_hessian *h, workspace **out);
void osla_workspace_give(osla_hessian *h, workspace *w);
void osla_workspace_free_all(osla_hessian *h);
osla_err osla_reserve(unsigned char **buffer, size_t *have, size_t bytes);

/* hessian_add.c: adds a piece to an owner's local array, and the stripes that it touches. */
void osla_piece_add(const osla_hessian *h, const piece *p, unsigned char *local, int64_t lld);
uint64_t osla_piece_stripes(const osla_hessian *h, const piece *p);
int64_t osla_piece_elements(const piece *p);

/* hessian_ring.c */
osla_stripes *osla_hessian_lock(const osla_hessian *h, int rank); /* NULL off the node */
size_t osla_ring_segment_bytes(const osla_hessian *h);
size_t osla_ring_message_bytes(const osla_hessian *h, int64_t rows, int64_t cols, int64_t values);
osla_err osla_ring_send(osla_hessian *h, workspace *w, int target, const piece *p);
void osla_ring_drain(void *hessian); /* the progress hook */

#endif
