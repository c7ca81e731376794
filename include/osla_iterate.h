/* Fixed-point iterations x := M x + c that wait for their neighbours, or do not (floor 3).
 *
 * Each rank has a part of x and sweeps over it; what its neighbours need of it, a halo, goes over
 * channels (osla_channel.h). Modes, as in Bethune, Bull, Dingle and Higham (Int. J. High Perf.
 * Comput. Appl. 28(1), 2014, section 3):
 *
 *   SYNC   all sweeps in lock-step, each on the halos of the one before (of the last `period`)
 *   ASYNC  nobody waits: a sweep takes the newest halos that are here, each of one sweep
 *   RACY   as ASYNC, but a halo may be a mixture, each element the newest
 *
 * Without relaxation SYNC of period 1 converges for every start if rho(M) < 1, the others for every
 * schedule if rho(|M|) < 1 (Chazan and Miranker, Linear Algebra and Its Applications 2, 1969).
 *
 * The end is certain. What the ranks know of their residuals while they sweep is stale and serves
 * as a hint alone. When it is small enough each rank records its part of x and sends the halos of
 * that very state over channels of their own; with these its residual is that of the recorded x,
 * whenever the parts were recorded. That x is returned, with that residual. (Snapshots of such a
 * kind: Magoules and Gbikpi-Benissan, Distributed convergence detection based on global residual
 * error under asynchronous iterations, IEEE TPDS 29(4), 2018; JACK2: same authors, Parallel
 * Computing 76, 2018. There the halos of the snapshot travel between others, in order, and mark it;
 * here they have channels of their own, and no order of messages is asked for.)
 *
 * Threads: as osla_transport.h says of collective and of local calls.
 * Part: stable (osla.h).
 */
#ifndef OSLA_ITERATE_H
#define OSLA_ITERATE_H

#include "osla_api.h"
#include "osla_transport.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is exchanged with one neighbour. The peer gives the same tag, and the sizes the other way
 * round. */
typedef struct osla_halo {
  int peer;           /* another rank */
  int tag;            /* from 0 to 2^29 - 1; which one of those between the two */
  int64_t send, recv; /* doubles */
} osla_halo;

/* A problem A x = b as a fixed point, x = M x + c: this rank's part. A state is an array of
 * `length` doubles: the own part of x, what neighbours sent, and what never changes (boundaries),
 * in any order. The calls get `arg` first; none of them may wait for another rank. */
typedef struct osla_fixed_point {
  void *arg;
  int64_t length; /* 0: this rank has no part, and sleeps */
  int n_halos;
  const osla_halo *halos; /* [n_halos], borrowed */
  /* Own part of y := x + omega (M x + c - x). Of y nothing else is written. Returns the sum of the
   * squares of b - A x over the own rows. */
  double (*sweep)(void *arg, double omega, const double *x, double *y);
  /* Message for halo number h from the own part of x; and what came into x. */
  void (*pack)(void *arg, int h, const double *x, double *message);
  void (*unpack)(void *arg, int h, const double *message, double *x);
  /* What follows may be NULL; on all ranks or on none.
   * Both: the same sweep in two parts, first what halos are packed from. In lock-step they leave
   * while the rest is swept. */
  double (*sweep_edge)(void *arg, double omega, const double *x, double *y);
  double (*sweep_rest)(void *arg, double omega, const double *x, double *y);
  /* Sum of the squares of |b| + |A| |x| over the own rows; `row_terms` is the largest number of
   * products in a row. For the rounding bound. */
  double (*magnitude)(void *arg, const double *x);
  int row_terms;
  /* Own part of y := |M| x, and the largest y / x of the own part, where x > 0. What stands for
   * boundaries in x is to be taken as 0, and may be overwritten. */
  double (*bound_sweep)(void *arg, double *x, double *y);
  /* Largest |x - y| / v of the own part. */
  double (*distance)(void *arg, const double *x, const double *y, const double *v);
} osla_fixed_point;

typedef enum osla_iterate_mode {
  OSLA_ITERATE_ASYNC,
  OSLA_ITERATE_RACY,
  OSLA_ITERATE_SYNC
} osla_iterate_mode;

/* The same on all ranks. */
typedef struct osla_iterate_options {
  osla_iterate_mode mode; /* 0: ASYNC */
  double tolerance;     /* converged: |b - A x| <= tolerance norm. 0: 1e-6; -1: none, it ends where
                           the residual is rounding */
  double norm;          /* >= 0; 0: |b - A x| of the start */
  double omega;         /* > 0; relaxation. 0: 1 */
  int64_t sweeps;       /* of each rank at most; 0: 1000000; -1: none */
  int period;           /* halos are sent each so many sweeps; 0: 1 */
  int lead;             /* ASYNC, RACY: sweeps on a halo that did not change, at most. 1:
                           lock-step; -1: any number. 0: OSLA_ITERATE_LEAD, or where
                           ranks outnumber cores OSLA_ITERATE_LEAD_CROWDED: more would only take
                           the core from the rank whose halo is old */
  int in_flight;        /* ASYNC between nodes: halos under way to a neighbour; 0: 2 */
  int check;            /* SYNC: sweeps between looks at the residual; 0: 10 */
  bool uncertified;     /* each rank makes `sweeps` sweeps, and nobody looks at the
                          residual on the way or of what comes out: as a preconditioner is used */
  double patience;      /* seconds, >= 0. A rank that is in the run and has made no step for so long
                           ends it: STALLED. A step is a sweep and, now and then, `magnitude` or a
                           second sweep and `distance`: give at least five times as long. 0: no
                           limit but OSLA_PATIENCE, which ends the program */
  bool proven;          /* refuse to run where osla_iterate_bound has not proved that all modes
                           converge */
  int64_t record_bytes; /* of memory on this rank for a record of each run, see
                           osla_iterate_record.h; may differ. 0: none */
  uint64_t reserved[8]; /* 0: osla_types.h */
} osla_iterate_options;

enum { OSLA_ITERATE_LEAD = 64, OSLA_ITERATE_LEAD_CROWDED = 8 };

typedef enum osla_iterate_end {
  OSLA_ITERATE_CONVERGED,
  OSLA_ITERATE_STAGNATED, /* the residual is rounding, and larger than was asked for */
  OSLA_ITERATE_SWEEPS,    /* as many as were allowed, of all ranks */
  OSLA_ITERATE_DIVERGED,  /* residual 1e10 times what it began with (or what is asked for, or
                             rounding), or not finite */
  OSLA_ITERATE_STALLED    /* a rank made no step for `patience` seconds */
} osla_iterate_end;
OSLA_API const char *osla_iterate_end_name(osla_iterate_end end); /* as "converged" */

/* The same on all ranks but for `sweeps`. STALLED is what this rank saw: where a rank stops at the
 * very end of a run another may still have come to another end, and does not know: end the job, or
 * let the others know by means of your own. Residual and counts are the last that this rank knew, x
 * is where it stood, and the iteration can only be destroyed (for which it needs all ranks). */
typedef struct osla_iterate_result {
  osla_iterate_end end;
  double residual; /* |b - A x| of the x that is returned; DIVERGED, STALLED, and
                      `uncertified`: a stale estimate, of the last sweep of each rank (NaN: none) */
  double start;    /* |b - A x| of the start; `uncertified`: with halos that may be newer */
  double norm;     /* what `tolerance` refers to */
  double rounding; /* bound of the rounding in `residual`; 0: there was no `magnitude` */
  double error;    /* bound of max |x - solution| / v, see osla_iterate_bound; 0: none is known */
  int64_t sweeps;  /* of this rank */
  int64_t least, most; /* sweeps of a rank */
  double mean;
  int64_t snapshots; /* taken until the end */
  int stalled;       /* STALLED: the rank; otherwise -1 */
  double seconds;
} osla_iterate_result;

/* An iteration: channels, a reduction, and two states of memory. Collective.
 *   problem [in]  copied; what it points to is borrowed until the end
 *   options [in]  NULL: defaults
 *   out     [out] owned by the caller
 * Errors, on all ranks together: ARG (options, halos that do not match), MEM, MPI, RANGE (several
 * nodes: no progress hook is left). */
typedef struct osla_iteration osla_iteration;
OSLA_API osla_err osla_iteration_create(osla_transport *transport, const osla_fixed_point *problem,
                                        const osla_iterate_options *options, osla_iteration **out);
OSLA_API void osla_iteration_destroy(
  osla_iteration **iteration); /* collective; accepts NULL, nulls */

/* A positive vector v and alpha with |M| v <= alpha v (Collatz and Wielandt): alpha < 1 proves that
 * each mode converges, for every schedule, and gives error bounds; alpha >= 1 proves nothing: there
 * may be schedules that diverge (Chazan and Miranker 1969), so a caller warns of it.
 * Collective; `steps` synchronous sweeps of |M|, averaged, that make alpha smaller.
 *   alpha [out] the smallest that was found, raised by the rounding of a row; infinite: none was.
 *               Of the v it belongs to, whose largest element is 1, an element below 1e-292 ends
 * the search. It is of M: with another omega than 1 it proves something for omega < 2 / (1 + alpha)
 * alone. Later runs give `error`, from which their own rounding is left out Errors, on all ranks
 * together: UNSUPPORTED (no bound_sweep or distance), ARG (steps), MEM, MPI.
 */
OSLA_API osla_err osla_iterate_bound(osla_iteration *iteration, int64_t steps, double *alpha);

/* Iterates. Collective. May be called again with another x or right-hand side. Residuals are sums
 * of squares: numbers below 1e-154 count as 0, those above 1e154 as not finite.
 *   x      [in,out] [length] start with its boundaries (halos are fetched); at the end the state
 *                   that was certified, with its halos; otherwise (DIVERGED, STALLED,
 *                   `uncertified`) the last one, with halos of any age
 *   result [out]
 * Errors, on all ranks together: ARG (the start or the right-hand side is not finite: the rank is
 * named; `uncertified`: that is DIVERGED), STATE (`proven`, and nothing is), MPI. On this rank
 * alone: STATE (a run before has STALLED here). A failure between nodes ends all ranks. */
OSLA_API osla_err osla_iterate(osla_iteration *iteration, double *x, osla_iterate_result *result);

#ifdef __cplusplus
}
#endif
#endif
