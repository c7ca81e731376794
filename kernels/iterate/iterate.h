/* What the files of iterations share. */
#ifndef ITERATE_H
#define ITERATE_H

#include "osla_channel.h"
#include "osla_iterate.h"
#include "osla_reduction.h"
#include <stdbool.h>

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
  int64_t next_look;                  /* round in which `rounding2` is found anew */
  int64_t rounds, wait_rounds, pause; /* estimates; until the next snapshot at the latest */
  bool last;                          /* the snapshot is that of the end */
} certificate;

struct osla_iteration {
  osla_transport *t;
  osla_fixed_point p;
  osla_iterate_options o;
  osla_channels *set; /* of each halo two: while one sweeps, and of what is recorded */
  int *numbers;       /* [2 n_halos] the first channels of all halos, then the second */
  osla_reduction *reduction;
  double *memory;   /* [length] a second state; the first is the caller's */
  double *spare;    /* that of the two which the next sweep writes */
  double *recorded; /* [length] */
  double *v;        /* [length] of the bound; NULL: there is none */
  double alpha;
  uint64_t run; /* of osla_iterate, from 1 */
  /* Of each halo: the last message, where it stays; how many of the two states lack it; sweeps that
   * were made on it; its sender sweeps no more. */
  const double **message;
  int *lacking;
  int64_t *sweeps_on;
  bool *is_last;
  int64_t sweeps, sent_at; /* made by this rank; when it last sent its halos */
  certificate c;
};

/* ---- halos.c ---- */

/* Channels for halos. Collective. */
osla_err osla_halos_create(osla_iteration *it);

/* Begins a run: sends the halos of the start x and waits for the others'. */
osla_err osla_halos_begin(osla_iteration *it, const double *x);

/* Sends my halos of x; `last`: I sweep no more in this run. */
osla_err osla_halos_send(osla_iteration *it, const double *x, bool last);

/* Takes the next messages (SYNC), or those that are newest; where a halo has been swept on `lead`
 * times sends those of x, and waits for another. */
osla_err osla_halos_wait(osla_iteration *it);
osla_err osla_halos_newest(osla_iteration *it, const double *x);

/* Before each sweep: into x what it lacks of the messages that were taken. */
void osla_halos_unpack(osla_iteration *it, double *x);

/* Of a state such as the recorded one: sends its halos; have the others' come (`waits`: when they
 * have); takes them in, for which it waits; sends and takes. */
osla_err osla_halos_send_state(osla_iteration *it, const double *x);
bool osla_halos_state_here(osla_iteration *it, bool waits);
osla_err osla_halos_take_state(osla_iteration *it, double *x);
osla_err osla_halos_exchange(osla_iteration *it, double *x);

/* ---- iterate.c ---- */

/* Whole states; a rank may have none. */
void osla_state_copy(const osla_iteration *it, double *to, const double *from);

/* ---- certificate.c ---- */

/* Residual of the start, whose halos are here; ARG if it is not finite. Collective. All three may
 * write the own part of the spare state. */
osla_err osla_certificate_begin(osla_iteration *it, const double *x);

/* After a sweep; `x` is the state after it, residual2 is of the one before. `at_end`: I sweep no
 * more, so that this waits. When c.over, `recorded` is the result, or if it DIVERGED x is. */
osla_err osla_certificate_step(osla_iteration *it, const double *x, double residual2, bool at_end);

/* SYNC: residual2 is of x, whose halos are those of the same sweep. Waits. When c.over, x is the
 * result. Collective. */
osla_err osla_certificate_sum(osla_iteration *it, const double *x, double residual2, bool at_end);

#endif
