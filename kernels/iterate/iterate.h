/* Private state of iterations, shared by the files of this folder. */
#ifndef ITERATE_H
#define ITERATE_H

#include "osla_channel.h"
#include "osla_diffusion.h"
#include "osla_iterate.h"
#include "osla_iterate_record.h"
#include "osla_reduction.h"
#include "osla_trace.h"
#include "src/blas/move.h"
#include <stdbool.h>
#include <string.h>

/* The stamp of a message begins with the number of its run. Runs are numbered from 1 to
 * OSLA_ITERATE_RUNS and then again from 1, so that messages left over from an earlier run are
 * ignored. */
enum { OSLA_ITERATE_RUN_SHIFT = 42, OSLA_ITERATE_RUNS = (1 << 20) - 1 };

/* State of the certificate of a run (certificate.c). */
typedef enum certificate_state {
  ESTIMATING, /* a reduction of stale residuals (of parts from different sweeps) is running */
  /* this rank has recorded its part and sent its halos; some halos of neighbours have not
   * arrived */
  RECORDED,
  CERTIFYING /* a reduction of the recorded state's residuals is running */
} certificate_state;

typedef struct certificate {
  certificate_state state;
  bool over;
  osla_iterate_end end;
  double wanted2;   /* square of the largest residual that counts as converged */
  double start2;    /* first residual, squared */
  double rounding2; /* bound of the rounding errors in the residual, squared */
  double true2;     /* latest certified residual, squared */
  /* latest sum of squared residuals of parts from different sweeps (stale residuals) */
  double estimate2;
  /* certified residual (true2) of the last snapshot, divided by the estimate (estimate2) that led
   * to the snapshot */
  double excess;
  /* distance of the last snapshot x from the fixed point of M x + c: largest |M x + c - x| / v */
  double distance;
  int64_t snapshots;
  int64_t next_magnitude; /* number of the round in which rounding2 is computed again */
  int64_t rounds;         /* number of reductions so far */
  int64_t wait_rounds;    /* number of rounds since the last snapshot */
  int64_t pause;          /* number of rounds between the last snapshot and the next one */
  bool last;              /* true if the snapshot was taken after the last sweep */
} certificate;

/* Record of a run (record.c). */
typedef struct recorder {
  osla_reading *readings; /* [room] readings; NULL: nothing is recorded */
  double *values; /* [room][stride] RACY: values of the messages that were read; otherwise NULL */
  int64_t n, room, stride, returned;
  bool is_full;
  osla_estimate *estimates; /* recorded estimates, one for each `every` rounds */
  int n_estimates;
  int64_t rounds, every;
  double since;
} recorder;

/* Detects neighbours that have stopped (watch.c). */
typedef struct watch {
  int n;                               /* number of watched neighbours; 0 without a time limit */
  int rank[OSLA_REDUCTION_NEIGHBOURS]; /* ranks of the watched neighbours */
  bool on;                             /* true if a run is in progress */
  /* index of the first channel to watched neighbours; the channels to the other neighbours
   * follow */
  int first;
  /* rank that has stopped, or -1; after a rank has stopped, the iteration can only be destroyed */
  int stopped;
  /* seconds since the last message of each neighbour; -1: no message in this run */
  double silent[OSLA_REDUCTION_NEIGHBOURS];
  /* latest message of each neighbour, which may belong to the next run */
  uint64_t word[OSLA_REDUCTION_NEIGHBOURS];
  double stepped;  /* time of the last step */
  double notified; /* time of the last messages to the neighbours */
} watch;

struct osla_iteration {
  osla_transport *t;
  osla_fixed_point p;
  osla_iterate_options o;
  osla_channels *set; /* channels; each halo has one for sweeps and one for recorded states */
  /* [2 n_halos] numbers of the channels for sweeps, followed by numbers of the channels for
   * recorded states */
  int *numbers;
  osla_reduction *reduction;
  /* number of halos with ranks that are not in this rank's group; they precede the other halos. It
   * is p.n_halos if the problem has no groups */
  int n_outer;
  osla_reduction *group_sums; /* sums over the group (group.h); NULL: the problem has no groups */
  bool has_left;              /* ASYNC, RACY: true if the group makes no more sweeps in this run */
  /* Allocation that contains `spare` and `recorded`. Each run chooses their offsets from the
   * alignment of the caller's state. */
  double *memory;
  /* [length] state that the next sweep writes; afterwards swapped with the current state */
  double *spare;
  double *recorded; /* [length] recorded state; after the last sweep, the current state itself */
  double *v;        /* [length] vector v of the bound |M| v <= alpha v; NULL: no bound */
  double alpha;
  uint64_t run;           /* number of the latest call of osla_iterate, from 1 */
  const double **message; /* for each halo: latest message in the halo's channel */
  int *unpacks_left;      /* for each halo: number of the two states that lack the latest message */
  int64_t *sweeps_since;  /* for each halo: number of sweeps with the latest message */
  bool *is_last;          /* for each halo: true if the sender makes no more sweeps */
  int64_t sweeps;         /* number of sweeps of this rank */
  int64_t sent_at;        /* value of `sweeps` when this rank last sent halos */
  /* true if the spare state already holds the result of the next sweep, because that sweep was made
   * to compute the first residual */
  bool is_swept;
  double swept2; /* squared residual that this sweep returned */
  certificate c;
  recorder r;
  watch w;
  struct coarse *coarse; /* coarse level (coarse.h); NULL: none */
};

/* Copies all elements of a state, which may be none. */
static inline void iteration_copy_state(const osla_iteration *it, double *to, const double *from)
{
  if (it->p.length > 0) memcpy(to, from, (size_t)it->p.length * sizeof *to);
  osli_move_charge((size_t)it->p.length * sizeof *to, 1);
}

/* Calls `call`, one of the problem's functions that sweep, from x into the spare state, and records
 * the call in the trace with an amount of `elements`. Returns the squared residual that the call
 * returned. */
static inline double iteration_sweep(osla_iteration *it,
                                     double (*call)(void *, double, const double *, double *),
                                     const double *x, int64_t elements)
{
  const double since = osla_trace_now(it->t);
  const double residual2 = call(it->p.arg, it->o.omega, x, it->spare);
  osla_trace_add(it->t, OSLA_TRACE_SWEEP, since, (double)elements);
  return residual2;
}

/* ---- halos.c ---- */

/* Creates the channels of halos. Collective. */
osla_err osli_halos_create(osla_iteration *it);

/* Begins a run: sends the halos of the start x and waits for those of the neighbours. */
osla_err osli_halos_begin(osla_iteration *it, double *x);

/* Sends the halos of x. `last`: true if this rank makes no more sweeps in this run. */
osla_err osli_halos_send(osla_iteration *it, const double *x, bool last);

/* osli_halos_send_next sends the halos of the state that is being swept. If no rank sweeps again,
 * osli_halos_drop_next receives and drops these messages on all ranks. */
osla_err osli_halos_send_next(osla_iteration *it, const double *x);
osla_err osli_halos_drop_next(osla_iteration *it);

/* osli_halos_receive_next (mode SYNC) receives the next message of each halo.
 * osli_halos_receive_newest receives the newest message of each halo; if a halo has been used for
 * `lead` sweeps, it sends the halos of x and waits for a new message. osli_halos_poll receives the
 * newest messages without waiting; *waits becomes true if a halo has been used for `lead` sweeps.
 */
osla_err osli_halos_receive_next(osla_iteration *it);
osla_err osli_halos_receive_newest(osla_iteration *it, const double *x);
osla_err osli_halos_poll(osla_iteration *it, bool *waits);

/* Exchanges the halos of x with the ranks of the group, and waits for them, or until a rank has
 * stopped. All ranks of the group call it together. */
osla_err osli_halos_exchange_inner(osla_iteration *it, double *x);

/* Copies into state x those received messages that it does not contain yet. Called before each
 * sweep. */
void osli_halos_unpack(osla_iteration *it, double *x);

/* Halos of a recorded state. _send_state sends them. _state_arrived tests whether the halos of all
 * neighbours have arrived; if `waits` is set it waits until they have, or until a rank has stopped.
 * _receive_state receives the halos that have arrived. _exchange calls all three functions. */
osla_err osli_halos_send_state(osla_iteration *it, const double *x);
osla_err osli_halos_state_arrived(osla_iteration *it, bool waits, bool *here);
osla_err osli_halos_receive_state(osla_iteration *it, double *x);
osla_err osli_halos_exchange(osla_iteration *it, double *x);

/* ---- group.c ---- */

/* osli_group_create counts the halos with other groups, and makes the sums over groups, if the
 * problem has groups; collective. osli_group_destroy destroys the sums; collective.
 * osli_group_begin and osli_group_end enclose a run; local. */
osla_err osli_group_create(osla_iteration *it);
void osli_group_destroy(osla_iteration *it);
void osli_group_begin(osla_iteration *it);
void osli_group_end(osla_iteration *it);

/* Functions for modes ASYNC and RACY, if the problem has groups. All ranks of a group call
 * osli_group_prepare before each sweep of x: it receives the halos, and may wait for ranks of the
 * group and for halos. it->has_left becomes true if the group makes no more sweeps, since the run
 * is over on one of its ranks. A rank calls osli_group_leave when its run is over. */
osla_err osli_group_prepare(osla_iteration *it, double *x);
osla_err osli_group_leave(osla_iteration *it, const double *x);

/* ---- record.c ---- */

osla_err osli_record_create(osla_iteration *it); /* local; errors: MEM */
void osli_record_destroy(osla_iteration *it);
void osli_record_begin(osla_iteration *it);
/* Records that the next sweep uses message[h], which holds the neighbour's state after `version`
 * sweeps. */
void osli_record_reading(osla_iteration *it, int h, int64_t version);
void osli_record_estimate(osla_iteration *it, double residual);

/* ---- watch.c ---- */

/* Fills in the channel ends to watched neighbours and returns their number. The reduction must
 * exist. Local. */
int osli_watch_ends(osla_iteration *it, osla_channel_end *ends);

osla_err osli_watch_begin(osla_iteration *it);
void osli_watch_end(osla_iteration *it);
/* returns STATE if a rank has stopped in an earlier run */
osla_err osli_watch_check(const osla_iteration *it);

/* Tests whether a neighbour has stopped, and shows neighbours that this rank goes on. Must be
 * called at least once per sweep. If a rank has stopped, the run is over (c.over is set) and all
 * waits end. */
osla_err osli_watch_step(osla_iteration *it);

/* Functions that wait until each of the n channels that are listed in `channels` is ready:
 * osli_watch_receive, until a message can be received from each of these channels of `set`;
 * osli_watch_send, until a message can be sent over each of these channels of it->set. */
osla_err osli_watch_receive(osla_iteration *it, osla_channels *set, int n, const int *channels);
osla_err osli_watch_send(osla_iteration *it, int n, const int *channels);

/* Functions that wait for a reduction: osli_watch_result waits for the running round of
 * `reduction`; osli_watch_reduce starts a round of it->reduction and waits for it. Both set
 * *result to the result of the round, or to NULL if a rank has stopped. */
osla_err osli_watch_result(osla_iteration *it, osla_reduction *reduction, const double **result);
osla_err osli_watch_reduce(osla_iteration *it, const double *values, int n_sums, int n_maxima,
                           const double **result);

/* ---- certificate.c ---- */

/* Computes the residual of the start, whose halos have arrived. Collective. Errors: ARG if the
 * residual is not finite. All osli_certificate calls may overwrite the own part of the spare
 * state. */
osla_err osli_certificate_begin(osla_iteration *it, const double *x);

/* Advances the certificate after a sweep, without waiting. x is the state after the sweep, and
 * residual2 the squared residual of the state before the sweep. If this rank makes no more sweeps,
 * `at_end` is true. In this case the call waits, and x may be recorded without a copy, so the halos
 * of x are overwritten. When c.over is set, `recorded` is the result of the run, or x if the run
 * DIVERGED. */
osla_err osli_certificate_step(osla_iteration *it, double *x, double residual2, bool at_end);

/* Mode SYNC: sums the squared residuals residual2 of x over all ranks, and decides whether the run
 * ends. The halos of x must be from the same sweep as x. When c.over is set, x is the result.
 * Collective; waits. */
osla_err osli_certificate_sum(osla_iteration *it, const double *x, double residual2, bool at_end);

/* Returns whether a run with this `end` returns a state whose residual was certified. */
bool osli_certificate_vouches(osla_iterate_end end);

/* Returns whether a residual is not finite or far larger than the first one. */
bool osli_certificate_has_grown(const certificate *c, double residual2);

/* ---- coarse.c ---- */

/* Prepares the coarse level, if there is one, for a run. Local. */
void osli_coarse_begin(osla_iteration *it);

/* In modes ASYNC and RACY, advances the coarse level after a sweep, without waiting. x is this
 * rank's current state. If a correction has arrived, adds it to the elements of x that this rank
 * owns. */
osla_err osli_coarse_step(osla_iteration *it, double *x);

/* Functions for mode SYNC. osli_coarse_is_due returns whether the next sweep should begin with a
 * correction; the result is equal on all ranks. osli_coarse_correct adds a correction to x,
 * whose halos must be from one sweep, and exchanges the halos of the corrected x. It is
 * collective and waits for other ranks. */
bool osli_coarse_is_due(const osla_iteration *it);
osla_err osli_coarse_correct(osla_iteration *it, double *x);

/* Ends a run of the coarse level: completes the reductions that some rank has started, and drops
 * their results. Collective; waits for other ranks. */
osla_err osli_coarse_end(osla_iteration *it);

/* Destroys the coarse level, if the iteration has one. Collective. */
void osli_coarse_destroy(osla_iteration *it);

/* ---- diffusion.c ---- */

/* Makes the part of rank `rank` of `size` ranks on the calling rank. Tests use it to compute the
 * parts of all ranks in one process. Local. Errors: ARG, MEM. */
osla_err osli_diffusion_create_part(const osla_diffusion_options *options, int rank, int size,
                                    osla_diffusion **out);

#endif
