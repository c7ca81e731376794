/* The accumulator's state, for the files that make it up (internal). */
#ifndef OSLA_HESSIAN_INTERNAL_H
#define OSLA_HESSIAN_INTERNAL_H

#include "kernels/common/local_view.h"
#include "kernels/hessian/hessian_combine.h"
#include "kernels/hessian/hessian_wire.h"

#include <pthread.h>

typedef struct exact_state exact_state;
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
  struct workspace *free_list;
  double *gradient;                 /* [n] committed */
  double *pending_gradient;         /* [n] since the last commit */
  bool dirty;                       /* updates since the last commit */
  osla_hessian_stats stats;         /* of updates that have returned, and of the hook */
  size_t memory, memory_peak;       /* bytes in use, and their peak */
  size_t memory_fixed, memory_most; /* of them, for the wire; the cap, SIZE_MAX: none */
  struct ledger *ledger;            /* hessian_ledger.h */

  struct wire *wire; /* hessian_wire.h; to other nodes */
  bool hooked;
};

/* As osla_hessian_create, where a gate's words (hessian_arrivals.h) branch by `fan`: for tests. */
osla_err osli_hessian_create_fan(osla_grid *grid, int64_t n, const osla_hessian_options *options,
                                 int fan, osla_hessian **out);

/* As they were given, with numbers for what is 0. NULL: the defaults. */
osla_hessian_options osli_hessian_resolve(const osla_hessian_options *options);

/* Waits until the updates of all ranks are in their owners' memory; none may be under
 * way. Collective. */
osla_err osli_hessian_complete_updates(osla_hessian *h);

#endif
