/* What the files of iterations share. */
#ifndef ITERATE_H
#define ITERATE_H

#include "osla_channel.h"
#include "osla_iterate.h"
#include "osla_iterate_record.h"
#include "osla_reduction.h"
#include <stdbool.h>
#include <string.h>

/* Stamps begin with the number of the run, from 1 and again from 1: what an earlier run has left in
 * a channel is not looked at. */
enum { OSLA_ITERATE_RUN_SHIFT = 42, OSLA_ITERATE_RUNS = (1 << 20) - 1 };

/* Where the certificate of a run stands (certificate.c). */
typedef enum certificate_state {
  ESTIMATING, /* a round of stale residuals goes on */
  RECORDED,   /* my part is recorded, and its halos are sent; the neighbours' have not all come */
  CERTIFYING  /* a round of residuals of what was recorded goes on */
} certificate_state;

typedef struct certificate {
  certificate_state state;
  bool over;
  osla_iterate_end end;
  double wanted2;   /* squares: what is asked for, */
  double start2;    /* of the start, */
  double rounding2; /* the rounding in the last residual that was certified, */
  double true2;     /* that residual, */
  double estimate2; /* the last sum of stale ones */
  double excess;    /* true2 by the estimate that had led to it */
  double distance;  /* of the last snapshot: largest |M x + c - x| / v */
  int64_t snapshots;
  int64_t next_magnitude;             /* round in which `rounding2` is found anew */
  int64_t rounds, wait_rounds, pause; /* estimates; until the next snapshot at the latest */
  bool last;                          /* the snapshot is that of the end */
} certificate;

/* The record of a run (record.c). */
typedef struct recorder {
  osla_reading *readings; /* [room]; NULL: nothing is recorded */
  double *values;         /* [room][stride] of RACY, otherwise NULL */
  int64_t n, room, stride, returned;
  bool is_full;
  osla_estimate *estimates; /* one of `every` of them */
  int n_estimates;
  int64_t rounds, every;
  double since;
} recorder;

/* The neighbours whose state each rank watches (watch.c). */
typedef struct watch {
  int n, rank[OSLA_REDUCTION_NEIGHBOURS];   /* 0: nobody has a limit */
  bool on;                                  /* during a run */
  int first;                                /* its channels: this one, and those that follow */
  int stopped;                              /* rank; -1: none. Then only destroy is possible */
  double silent[OSLA_REDUCTION_NEIGHBOURS]; /* seconds; -1: not heard in this run */
  uint64_t word[OSLA_REDUCTION_NEIGHBOURS]; /* the last one from each, maybe of the run to come */
  double stepped, notified;                 /* when I did */
} watch;

struct osla_iteration {
  osla_transport *t;
  osla_fixed_point p;
  osla_iterate_options o;
  osla_channels *set; /* of each halo two: while one sweeps, and of what is recorded */
  int *numbers;       /* [2 n_halos] the first channels of all halos, then the second */
  osla_reduction *reduction;
  double *memory;   /* for two states beside the caller's, placed in each run: */
  double *spare;    /* [length] that of the caller's and the first which the next sweep writes */
  double *recorded; /* [length] or, at its end, the state itself */
  double *v;        /* [length] of the bound; NULL: there is none */
  double alpha;
  uint64_t run; /* of osla_iterate, from 1 */
  /* Of each halo: the last message, where it stays; how many of the two states lack it; sweeps that
   * were made on it; its sender sweeps no more. */
  const double **message;
  int *unpacks_left;
  int64_t *sweeps_since;
  bool *is_last;
  int64_t sweeps, sent_at; /* made by this rank; when it last sent its halos */
  bool is_swept; /* the spare state is what the next sweep makes, for the start's residual */
  double swept2; /* and this what it returns */
  certificate c;
  recorder r;
  watch w;
};

/* Copies a whole state; a rank may have none. */
static inline void iteration_copy_state(const osla_iteration *it, double *to, const double *from)
{
  if (it->p.length > 0) memcpy(to, from, (size_t)it->p.length * sizeof *to);
}

/* ---- halos.c ---- */

/* Channels for halos. Collective. */
osla_err osli_halos_create(osla_iteration *it);

/* Begins a run: sends the halos of the start x and waits for the others'. */
osla_err osli_halos_begin(osla_iteration *it, const double *x);

/* Sends my halos of x; `last`: I sweep no more in this run. */
osla_err osli_halos_send(osla_iteration *it, const double *x, bool last);

/* The same of the state that is being swept. What was sent so and will not be swept on is received
 * and dropped, by all. */
osla_err osli_halos_send_next(osla_iteration *it, const double *x);
osla_err osli_halos_drop_next(osla_iteration *it);

/* Takes the next messages (SYNC), or those that are newest; where a halo has been swept on `lead`
 * times sends those of x, and waits for another. */
osla_err osli_halos_receive_next(osla_iteration *it);
osla_err osli_halos_receive_newest(osla_iteration *it, const double *x);

/* Before each sweep: into x what it lacks of the messages that were taken. */
void osli_halos_unpack(osla_iteration *it, double *x);

/* Of a state such as the recorded one: sends its halos; have the others' come (`waits`: for them,
 * or until a rank has stopped); takes them in, which are here; sends, waits and takes. */
osla_err osli_halos_send_state(osla_iteration *it, const double *x);
osla_err osli_halos_state_arrived(osla_iteration *it, bool waits, bool *here);
osla_err osli_halos_receive_state(osla_iteration *it, double *x);
osla_err osli_halos_exchange(osla_iteration *it, double *x);

/* ---- record.c ---- */

osla_err osli_record_create(osla_iteration *it); /* local; MEM */
void osli_record_destroy(osla_iteration *it);
void osli_record_begin(osla_iteration *it);
/* The next sweep reads message[h], of the peer's state after `version` sweeps. */
void osli_record_reading(osla_iteration *it, int h, int64_t version);
void osli_record_estimate(osla_iteration *it, double residual);

/* ---- watch.c ---- */

/* Ends of channels to those that are heard, and how many. Local, after the reduction is made. */
int osli_watch_ends(osla_iteration *it, osla_channel_end *ends);

osla_err osli_watch_begin(osla_iteration *it); /* of a run */
void osli_watch_end(osla_iteration *it);
osla_err osli_watch_check(const osla_iteration *it); /* STATE: a rank has stopped in a run before */

/* Looks whether a rank has stopped, and says that this one goes on: at least once a sweep. Where
 * one has, the run is over (c.over), and so are all waits. */
osla_err osli_watch_step(osla_iteration *it);

/* Wait until each of these channels can be received from, or sent to. */
osla_err osli_watch_receive(osla_iteration *it, int n, const int *channels);
osla_err osli_watch_send(osla_iteration *it, int n, const int *channels);

/* The result of the round that goes on; of one that is started with these values. NULL: a rank has
 * stopped. */
osla_err osli_watch_result(osla_iteration *it, const double **result);
osla_err osli_watch_reduce(osla_iteration *it, const double *values, int n_sums, int n_maxima,
                           const double **result);

/* ---- certificate.c ---- */

/* Residual of the start, whose halos are here; ARG if it is not finite. Collective. All three may
 * write the own part of the spare state. */
osla_err osli_certificate_begin(osla_iteration *it, const double *x);

/* After a sweep; `x` is the state after it, residual2 is of the one before. `at_end`: I sweep no
 * more, so that this waits, and x may be what is recorded, whose halos are then written. When
 * c.over, `recorded` is the result, or if it DIVERGED x is. */
osla_err osli_certificate_step(osla_iteration *it, double *x, double residual2, bool at_end);

/* SYNC: residual2 is of x, whose halos are those of the same sweep. Waits. When c.over, x is the
 * result. Collective. */
osla_err osli_certificate_sum(osla_iteration *it, const double *x, double residual2, bool at_end);

/* A run with this end returns a state whose residual was certified. */
bool osli_certificate_vouches(osla_iterate_end end);

/* Is this no number, or far more than what the run began with? */
bool osli_certificate_has_grown(const certificate *c, double residual2);

#endif
