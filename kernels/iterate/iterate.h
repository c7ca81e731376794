/* Private state of iterations, shared by the files of this folder. */
#ifndef ITERATE_H
#define ITERATE_H

#include "osla_channel.h"
#include "osla_iterate.h"
#include "osla_iterate_record.h"
#include "osla_reduction.h"
#include <stdbool.h>
#include <string.h>

/* Stamps of messages begin with the number of the run, 1 to OSLA_ITERATE_RUNS and then again from
 * 1, so that messages left over from an earlier run are ignored. */
enum { OSLA_ITERATE_RUN_SHIFT = 42, OSLA_ITERATE_RUNS = (1 << 20) - 1 };

/* Progress of a run's certificate (certificate.c). */
typedef enum certificate_state {
  ESTIMATING, /* a reduction of stale residuals is running */
  RECORDED,   /* this rank has recorded its part and sent its halos; halos of neighbours are still
               * missing */
  CERTIFYING  /* a reduction of the residuals of the recorded state is running */
} certificate_state;

typedef struct certificate {
  certificate_state state;
  bool over;
  osla_iterate_end end;
  double wanted2;   /* square of the residual that counts as converged */
  double start2;    /* square of the first residual */
  double rounding2; /* square of the bound of rounding errors in the residual */
  double true2;     /* square of the last certified residual */
  double estimate2; /* square of the last sum of stale residuals */
  double excess;    /* true2 divided by the estimate2 that led to the snapshot */
  double distance;  /* last snapshot: largest |M x + c - x| / v */
  int64_t snapshots;
  int64_t next_magnitude;             /* round in which rounding2 is computed again */
  int64_t rounds, wait_rounds, pause; /* reductions so far; rounds waited since the last snapshot,
                                       * and after how many the next one is taken */
  bool last;                          /* the snapshot is the one after the last sweep */
} certificate;

/* Record of a run (record.c). */
typedef struct recorder {
  osla_reading *readings; /* [room]; NULL: nothing is recorded */
  double *values;         /* RACY: [room][stride] values of the messages; else NULL */
  int64_t n, room, stride, returned;
  bool is_full;
  osla_estimate *estimates; /* every `every`-th estimate */
  int n_estimates;
  int64_t rounds, every;
  double since;
} recorder;

/* Time limit on neighbours that stop (watch.c). */
typedef struct watch {
  int n, rank[OSLA_REDUCTION_NEIGHBOURS];   /* number of neighbours, 0 without a time limit; their
                                             * ranks */
  bool on;                                  /* a run is in progress */
  int first;                                /* first channel to neighbours; the others follow it */
  int stopped;                              /* rank that has stopped, -1: none; then the iteration
                                             * can only be destroyed */
  double silent[OSLA_REDUCTION_NEIGHBOURS]; /* seconds since the last word of a neighbour; -1: none
                                             * in this run */
  uint64_t word[OSLA_REDUCTION_NEIGHBOURS]; /* last word of each neighbour; it may already be of the
                                             * next run */
  double stepped, notified;                 /* time of the last step and of the last words sent */
} watch;

struct osla_iteration {
  osla_transport *t;
  osla_fixed_point p;
  osla_iterate_options o;
  osla_channels *set; /* two channels per halo: one for sweeps, one for recorded states */
  int *numbers;       /* [2 n_halos] numbers of the channels for sweeps, then of those for recorded
                       * states */
  osla_reduction *reduction;
  double *memory;   /* memory of spare and recorded, which are aligned relative to the caller's
                     * state in each run */
  double *spare;    /* [length] state that the next sweep writes; swapped with the current state
                     * after it */
  double *recorded; /* [length] recorded state; at the end of the sweeps the current state itself */
  double *v;        /* [length] vector of the bound; NULL: no bound */
  double alpha;
  uint64_t run; /* number of the current call of osla_iterate, from 1 */
  /* One element per halo: the last message in its channel; how many of the two states lack it;
   * sweeps made on it; whether its sender makes no more sweeps. */
  const double **message;
  int *unpacks_left;
  int64_t *sweeps_since;
  bool *is_last;
  int64_t sweeps, sent_at; /* sweeps of this rank; value of `sweeps` when it last sent halos */
  bool is_swept; /* the spare state already holds the next sweep, from computing the first residual
                  */
  double swept2; /* value that this sweep returned */
  certificate c;
  recorder r;
  watch w;
};

/* Copies a whole state, which may be empty. */
static inline void iteration_copy_state(const osla_iteration *it, double *to, const double *from)
{
  if (it->p.length > 0) memcpy(to, from, (size_t)it->p.length * sizeof *to);
}

/* ---- halos.c ---- */

/* Creates the channels of halos. Collective. */
osla_err osli_halos_create(osla_iteration *it);

/* Begins a run: sends the halos of the start x and waits for those of the neighbours. */
osla_err osli_halos_begin(osla_iteration *it, const double *x);

/* Sends the halos of x. `last`: this rank makes no more sweeps in this run. */
osla_err osli_halos_send(osla_iteration *it, const double *x, bool last);

/* osli_halos_send_next sends the halos of the state that is being swept. osli_halos_drop_next
 * receives and drops messages of this kind if no sweep follows them, on all ranks. */
osla_err osli_halos_send_next(osla_iteration *it, const double *x);
osla_err osli_halos_drop_next(osla_iteration *it);

/* osli_halos_receive_next (SYNC) receives the next message of each halo. osli_halos_receive_newest
 * receives the newest ones; if a halo has served `lead` sweeps it sends the halos of x and waits
 * for a new one. */
osla_err osli_halos_receive_next(osla_iteration *it);
osla_err osli_halos_receive_newest(osla_iteration *it, const double *x);

/* Copies the received messages that state x lacks into it; called before each sweep. */
void osli_halos_unpack(osla_iteration *it, double *x);

/* Halos of a recorded state: send; test whether those of all neighbours have arrived (`waits`: wait
 * for them, or until a rank has stopped); receive those that have arrived; do all three. */
osla_err osli_halos_send_state(osla_iteration *it, const double *x);
osla_err osli_halos_state_arrived(osla_iteration *it, bool waits, bool *here);
osla_err osli_halos_receive_state(osla_iteration *it, double *x);
osla_err osli_halos_exchange(osla_iteration *it, double *x);

/* ---- record.c ---- */

osla_err osli_record_create(osla_iteration *it); /* local; errors: MEM */
void osli_record_destroy(osla_iteration *it);
void osli_record_begin(osla_iteration *it);
/* Records that the next sweep reads message[h], from the neighbour's state after `version` sweeps.
 */
void osli_record_reading(osla_iteration *it, int h, int64_t version);
void osli_record_estimate(osla_iteration *it, double residual);

/* ---- watch.c ---- */

/* Fills in the channel ends to watched neighbours and returns their number. Local; the reduction
 * exists. */
int osli_watch_ends(osla_iteration *it, osla_channel_end *ends);

osla_err osli_watch_begin(osla_iteration *it);
void osli_watch_end(osla_iteration *it);
osla_err osli_watch_check(const osla_iteration *it); /* returns STATE if a rank stopped in an
                                                      * earlier run */

/* Tests whether a neighbour has stopped, and notifies neighbours that this rank goes on; called at
 * least once per sweep. If a rank has stopped, the run is over (c.over) and all waits end. */
osla_err osli_watch_step(osla_iteration *it);

/* Wait until each of these channels can be received from, or sent to. */
osla_err osli_watch_receive(osla_iteration *it, int n, const int *channels);
osla_err osli_watch_send(osla_iteration *it, int n, const int *channels);

/* osli_watch_result waits for the running reduction; osli_watch_reduce starts one and waits.
 * *result = NULL if a rank has stopped. */
osla_err osli_watch_result(osla_iteration *it, const double **result);
osla_err osli_watch_reduce(osla_iteration *it, const double *values, int n_sums, int n_maxima,
                           const double **result);

/* ---- certificate.c ---- */

/* Computes the residual of the start, whose halos have arrived. Collective. Errors: ARG if it is
 * not finite. This call and the two below may write the own part of the spare state. */
osla_err osli_certificate_begin(osla_iteration *it, const double *x);

/* Advances the certificate after a sweep without waiting. x: the state after the sweep; residual2:
 * residual of the state before. `at_end`: this rank makes no more sweeps; then the call waits, and
 * x may be recorded in place, so that its halos are overwritten. When c.over is set, `recorded` is
 * the result, or x if the run DIVERGED. */
osla_err osli_certificate_step(osla_iteration *it, double *x, double residual2, bool at_end);

/* SYNC: sums the residuals residual2 of x, whose halos are of the same sweep, and decides whether
 * the run ends. When c.over is set, x is the result. Collective; waits. */
osla_err osli_certificate_sum(osla_iteration *it, const double *x, double residual2, bool at_end);

/* Returns whether a run with this end returns a state whose residual was certified. */
bool osli_certificate_vouches(osla_iterate_end end);

/* Returns whether a residual is not finite or far larger than the first one. */
bool osli_certificate_has_grown(const certificate *c, double residual2);

#endif
