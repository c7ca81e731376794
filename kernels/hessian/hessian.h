/* Private state of the accumulator, shared by the files of this folder. */
#ifndef OSLA_HESSIAN_INTERNAL_H
#define OSLA_HESSIAN_INTERNAL_H

#include "kernels/common/local_view.h"
#include "kernels/hessian/hessian_array.h"
#include "kernels/hessian/hessian_combine.h"
#include "kernels/hessian/hessian_wire.h"
#include "src/device/device.h"

#include <pthread.h>

typedef struct exact_state exact_state;
typedef struct node_sums node_sums;

struct osla_hessian {
  osla_hessian_options options;
  int64_t n;
  combiner combine;
  exact_state *exact; /* state of the order-independent mode; NULL in the plain mode */
  size_t element;     /* bytes of one value of an update; may be smaller than an element of H */
  osla_matrix *matrix;
  bool owns_matrix;          /* true if osla_hessian_destroy destroys the matrix */
  osla_hessian *next_target; /* next accumulator in the list of hessian_target.c */
  local_view v;
  device_queue *device; /* device in whose memory H lies; NULL if H lies in host memory */
  /* one segment for each rank: the rank's lock, and the rings and counters of transfers between
   * nodes (hessian_wire.h) */
  osla_segment *segment;
  /* sums of updates for owners on other nodes; NULL if options.node_sums is false */
  node_sums *node;

  /* protects free_list, pending_gradient, dirty, stats, memory and memory_peak */
  pthread_mutex_t mutex;
  struct workspace *free_list;
  double *gradient;         /* [n] gradient after the latest commit */
  double *pending_gradient; /* [n] this rank's gradient updates since the last commit, summed */
  bool dirty;               /* true if this rank has had updates since the last commit */
  osla_hessian_stats stats; /* totals of all updates that have returned, and of the progress hook */
  size_t memory;            /* number of bytes that the accumulator uses now */
  size_t memory_peak;       /* largest number of bytes that the accumulator has used so far */
  size_t memory_fixed;      /* bytes of rings, tables and node sums */
  size_t memory_most;       /* memory cap in bytes; SIZE_MAX if there is no cap */
  struct ledger *ledger;    /* ledger of the ids of updates that were added (hessian_ledger.h) */

  struct wire *wire; /* layout and state of transfers to other nodes (hessian_wire.h) */
  bool hooked;
};

/* Returns the part of H of a rank, whose address is NULL if this rank cannot access the part. */
static inline owner_array owner_part(const osla_hessian *h, int rank)
{
  return (owner_array){.at = osla_matrix_peer(h->matrix, rank),
                       .matrix = h->matrix,
                       .owner = rank,
                       .lld = osla_matrix_lld(h->matrix, rank)};
}

/* Range [from, past) of local rows. */
typedef struct row_range {
  int64_t from, past;
} row_range;

/* Local rows of a process row that belong to the stored triangle in global column j. */
static inline row_range stored_rows(const osla_hessian *h, int prow, int64_t j)
{
  const int64_t nb = h->options.nb;
  row_range r = {0, osla_index_count(h->n, nb, prow, h->v.p)};
  if (h->options.uplo == OSLA_LOWER) r.from = osla_index_count(j, nb, prow, h->v.p);
  if (h->options.uplo == OSLA_UPPER) r.past = osla_index_count(j + 1, nb, prow, h->v.p);
  return r;
}

/* Copies the options and replaces zeros by default values. If `options` is NULL, all values are
 * defaults. */
osla_hessian_options osli_hessian_resolve(const osla_hessian_options *options);

/* Waits until the updates of all ranks are in their owners' memory. Collective; no update may be
 * running. */
osla_err osli_hessian_complete_updates(osla_hessian *h);

#endif
