/* Ledger: the ids of the updates that were added, and the gate that stops updates during a
 * checkpoint (internal). */
#ifndef OSLA_HESSIAN_LEDGER_H
#define OSLA_HESSIAN_LEDGER_H

#include "osla_hessian.h"

#include <pthread.h>

/* A set of ids: a hash table with open addressing, at most three quarters full. */
typedef struct id_set {
  uint64_t *slot; /* [capacity] ids; 0 means that the slot is empty */
  size_t capacity, count;
  bool zero; /* true if the set contains the id 0 */
} id_set;

bool osli_id_set_has(const id_set *set, uint64_t id);
/* Adds an id. *added = false if it was in the set already. Errors: MEM (the set is unchanged). */
osla_err osli_id_set_add(id_set *set, uint64_t id, bool *added);
/* Iterates over a set. Returns the next id after *cursor, which must be 0 at first; returns false
 * after the last id. */
bool osli_id_set_next(const id_set *set, size_t *cursor, uint64_t *id);
void osli_id_set_free(id_set *set);

typedef struct ledger {
  pthread_mutex_t mutex; /* protects all members of the ledger */
  pthread_cond_t opened;
  int64_t active; /* number of updates that are running on this rank */
  bool closed;    /* true if new updates have to wait */
  bool used;      /* true if an update was added since the ledger was created or reset */
  bool broken;    /* true if an update failed after part of it may have been added */
  id_set own;     /* ids of this rank's updates */
  /* ids of the restored checkpoint, on whichever rank they were added; equal on all ranks */
  id_set restored;
  int64_t skipped;
} ledger;

/* Allocates the ledger. Local. Errors: MEM. */
osla_err osli_ledger_create(osla_hessian *h);
void osli_ledger_destroy(osla_hessian *h);
void osli_ledger_clear(osla_hessian *h); /* removes all ids and the mark of a failed update */

/* Each update is enclosed by _enter and _leave. _enter waits while the gate is closed. _leave
 * records the error of the update and returns it. */
void osli_gate_enter(osla_hessian *h);
osla_err osli_gate_leave(osla_hessian *h, osla_err err);

/* _close stops new updates, and waits, with progress steps, until no update of this rank is
 * running. _open lets updates continue. Local. */
void osli_gate_close(osla_hessian *h);
void osli_gate_open(osla_hessian *h);

/* Adds an id to the ids of this rank. *claimed = false if the ledger already contains the id.
 * Errors: MEM. */
osla_err osli_ledger_claim(osla_hessian *h, uint64_t id, bool *claimed);

/* Lists this rank's own ids and its part of the restored ids. The lists of all ranks together hold
 * each id once. Errors: MEM. */
osla_err osli_ledger_list(osla_hessian *h, uint64_t **ids, int64_t *count);

/* Replaces the list of each rank by the list of all ranks' ids, in ascending order. Collective.
 * Errors, on all ranks together: MEM, MPI (the list is unchanged). */
osla_err osli_ledger_merge(osla_hessian *h, uint64_t **ids, int64_t *count);

/* Sets the members ids_skipped and ids_restored of the statistics. */
void osli_ledger_stats(osla_hessian *h, osla_hessian_stats *stats);

#endif
