/* Which data are in, and the gate that holds updates while a checkpoint is taken (internal). */
#ifndef OSLA_HESSIAN_LEDGER_H
#define OSLA_HESSIAN_LEDGER_H

#include "osla_hessian.h"

#include <pthread.h>

/* A set of ids: open addressing, at most three quarters full. */
typedef struct id_set {
  uint64_t *slot; /* [capacity] 0: empty */
  size_t capacity, count;
  bool zero; /* is 0 in? */
} id_set;

bool osli_id_set_has(const id_set *set, uint64_t id);
/* *added = false: it was in already. Errors: MEM (then nothing is changed). */
osla_err osli_id_set_add(id_set *set, uint64_t id, bool *added);
/* The next id behind *cursor, which begins at 0; false past the last one. */
bool osli_id_set_next(const id_set *set, size_t *cursor, uint64_t *id);
void osli_id_set_free(id_set *set);

typedef struct ledger {
  pthread_mutex_t mutex; /* guards all of this */
  pthread_cond_t opened;
  int64_t active;  /* updates under way */
  bool closed;     /* new ones wait */
  bool used;       /* something was added since create or reset */
  bool broken;     /* an update failed when a part of it may have been added */
  id_set own;      /* added by this rank */
  id_set restored; /* by any rank, before the checkpoint that was restored; the same everywhere */
  int64_t skipped;
} ledger;

/* Local. Errors: MEM. */
osla_err osli_ledger_create(osla_hessian *h);
void osli_ledger_destroy(osla_hessian *h);
void osli_ledger_clear(osla_hessian *h); /* no ids, nothing broken */

/* Around an update: enter waits while the gate is closed; leave notes an error and returns it. */
void osli_gate_enter(osla_hessian *h);
osla_err osli_gate_leave(osla_hessian *h, osla_err err);

/* Close waits, with progress, until no update of this rank is under way. Local. */
void osli_gate_close(osla_hessian *h);
void osli_gate_open(osla_hessian *h);

/* Puts an id into the ledger. *claimed = false: it was in. Errors: MEM. */
osla_err osli_ledger_claim(osla_hessian *h, uint64_t id, bool *claimed);

/* This rank's part of all ids: its own, and a share of the restored ones. Errors: MEM. */
osla_err osli_ledger_list(osla_hessian *h, uint64_t **ids, int64_t *count);

/* The lists of all ranks become one, ascending, on each of them. Collective. Errors, on all ranks
 * together: MEM, MPI (the list is as before). */
osla_err osli_ledger_merge(osla_hessian *h, uint64_t **ids, int64_t *count);

/* Fills in what the ledger knows. */
void osli_ledger_stats(osla_hessian *h, osla_hessian_stats *stats);

#endif
