/* Fixed-point iterations x := M x + c, synchronous or asynchronous (layer 3).
 *
 * Each rank sweeps over its part of x. The values that neighbours need, a halo, are sent over
 * channels (osla_channel.h). Modes, after Bethune, Bull, Dingle and Higham (Int. J. High Perf.
 * Comput. Appl. 28(1), 2014, section 3):
 *
 *   SYNC   lock-step: ranks exchange halos after each `period` sweeps, and sweep with the latest
 *   ASYNC  no rank waits: a sweep uses the newest halos that have arrived, each from one sweep
 *   RACY   like ASYNC, but each element of a halo is the newest: a halo may mix several sweeps
 *
 * Without relaxation SYNC of period 1 converges for every start if rho(M) < 1; the other modes
 * converge for every schedule if rho(|M|) < 1 (Chazan and Miranker, Linear Algebra and Its
 * Applications 2, 1969).
 *
 * Certified result. The residuals that ranks know while they sweep are stale and serve only as a
 * hint. When they are small enough each rank records its part of x and sends the halos of that very
 * state over separate channels. With these halos each rank computes the residual of the recorded x,
 * no matter when the parts were recorded. That x is returned with its true residual. (Similar
 * snapshots: Magoules and Gbikpi-Benissan, Distributed convergence detection based on global
 * residual error under asynchronous iterations, IEEE TPDS 29(4), 2018; JACK2, same authors,
 * Parallel Computing 76, 2018. Their algorithms need messages in order, because halos of the
 * snapshot are sent between other halos; OSLA's needs no message order.)
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

/* Halo exchanged with one neighbour. The neighbour gives the same tag; its `send` is this rank's
 * `recv`, and its `recv` this rank's `send`. */
typedef struct osla_halo {
  int peer; /* rank of the neighbour */
  /* tag from 0 to 2^29 - 1, which distinguishes halos between the same two ranks */
  int tag;
  int64_t send, recv; /* numbers of doubles that are sent and received */
} osla_halo;

typedef struct osla_sweep_group osla_sweep_group; /* private to the library */

/* This rank's part of a problem A x = b as a fixed point x = M x + c. A state is an array of
 * `length` doubles in any order: this rank's own part of x, halos received from neighbours, and
 * constants such as boundaries. Each function gets `arg` as its first argument, and must not wait
 * for another rank. */
typedef struct osla_fixed_point {
  void *arg;
  int64_t length; /* number of doubles in a state; 0: this rank has no part and makes no sweeps */
  int n_halos;
  const osla_halo *halos; /* [n_halos] halos of this rank; borrowed */
  /* Writes the own part, and nothing else, of y := x + omega (M x + c - x). Returns the sum of the
   * squares of b - A x over the own rows. */
  double (*sweep)(void *arg, double omega, const double *x, double *y);
  /* pack writes the message for halo number h, whose values it takes from the own part of x. unpack
   * stores a received message in x. */
  void (*pack)(void *arg, int h, const double *x, double *message);
  void (*unpack)(void *arg, int h, const double *message, double *x);
  /* The following members may be NULL, on all ranks or on none.
   *   sweep_edge and sweep_rest are the sweep in two parts: first the values that halos are packed
   *   from, then the rest. In SYNC mode the halos are sent after sweep_edge, before sweep_rest. */
  double (*sweep_edge)(void *arg, double omega, const double *x, double *y);
  double (*sweep_rest)(void *arg, double omega, const double *x, double *y);
  /* Returns the sum of the squares of |b| + |A| |x| over the own rows, for the bound of rounding
   * errors. row_terms: largest number of products in a row. */
  double (*magnitude)(void *arg, const double *x);
  int row_terms;
  /* Writes the own part of y := |M| x for x > 0 and returns the largest y_i / x_i of the own part.
   * Boundaries in x count as 0 and may be overwritten. */
  double (*bound_sweep)(void *arg, double *x, double *y);
  /* Returns the largest |x_i - y_i| / v_i over the own part. */
  double (*distance)(void *arg, const double *x, const double *y, const double *v);
  /* group of ranks that share a diagonal block and wait for one another in each sweep
   * (osla_splitting_options.group); osla_splitting_problem sets this member. A program that
   * describes its own problem sets it to NULL on all ranks */
  osla_sweep_group *group;
} osla_fixed_point;

typedef enum osla_iterate_mode {
  OSLA_ITERATE_ASYNC,
  OSLA_ITERATE_RACY,
  OSLA_ITERATE_SYNC
} osla_iterate_mode;

/* Options of an iteration, equal on all ranks except record_bytes. */
typedef struct osla_iterate_options {
  osla_iterate_mode mode; /* 0: ASYNC */
  /* the iteration has converged when |b - A x| <= tolerance * norm; 0 means 1e-6; -1: iterate until
   * the residual consists of rounding errors */
  double tolerance;
  double norm;    /* norm that `tolerance` is relative to, >= 0; 0: |b - A x| of the start */
  double omega;   /* relaxation factor, > 0; 0: 1 */
  int64_t sweeps; /* largest number of sweeps of each rank; 0: 1000000; -1: no sweeps */
  int period;     /* number of sweeps between two sends of a halo; 0 means 1 */
  /* ASYNC, RACY: largest number of sweeps on an unchanged halo. 1: lock-step; -1: unlimited; 0:
   * OSLA_ITERATE_LEAD, or OSLA_ITERATE_LEAD_CROWDED if ranks outnumber cores, since more sweeps
   * would take the core from the rank that must send the next halo */
  int lead;
  /* ASYNC between nodes: number of halos in flight to one neighbour; 0 means 2 */
  int in_flight;
  int check; /* SYNC: number of sweeps between two residual checks; 0 means 10 */
  /* true: every rank makes `sweeps` sweeps without residual checks and without a certified result,
   * as a preconditioner needs it */
  bool uncertified;
  /* seconds, >= 0. The run ends with STALLED if a rank in it makes no step for this time. A step is
   * one sweep, sometimes followed by a call of `magnitude`, or with a second sweep and a call of
   * `distance`. The limit should be at least five times the time of a step. 0: no limit except
   * OSLA_PATIENCE, which ends the program */
  double patience;
  /* true: osla_iterate refuses to run unless osla_iterate_bound proved convergence for all modes */
  bool proven;
  /* memory in bytes for the record of each run on this rank (osla_iterate_record.h); may differ
   * between ranks; 0: no record. A problem with groups (osla_splitting_options.group) makes none */
  int64_t record_bytes;
  uint64_t reserved[8]; /* must be 0 (osla_types.h) */
} osla_iterate_options;

enum { OSLA_ITERATE_LEAD = 64, OSLA_ITERATE_LEAD_CROWDED = 8 };

typedef enum osla_iterate_end {
  OSLA_ITERATE_CONVERGED,
  OSLA_ITERATE_STAGNATED, /* the residual consists of rounding errors, but exceeds the tolerance */
  OSLA_ITERATE_SWEEPS,    /* all ranks made the largest number of sweeps */
  /* the residual is not finite, or above 1e10 times the largest of three numbers: the first
     residual, the tolerance, the rounding error */
  OSLA_ITERATE_DIVERGED,
  OSLA_ITERATE_STALLED /* a rank made no step for `patience` seconds */
} osla_iterate_end;
/* Name of the end in lower case, such as "converged". */
OSLA_API const char *osla_iterate_end_name(osla_iterate_end end);

/* Result of a run, equal on all ranks except `sweeps`. STALLED holds for this rank only: if a rank
 * stops at the very end of a run, another rank may already have returned with another end, and does
 * not know that a rank stalled. In this case end the job, or notify the other ranks by other means.
 * Residual and counts are then the last that this rank knew, x is its current state, and the only
 * call that is left for the iteration is its destruction (collective). */
typedef struct osla_iterate_result {
  osla_iterate_end end;
  /* |b - A x| of the returned x; for DIVERGED, STALLED and `uncertified` a stale estimate from the
   * last sweep of each rank (NaN: none) */
  double residual;
  /* |b - A x| of the start; with `uncertified` computed from halos that may be newer than the
   * start */
  double start;
  double norm;         /* norm that `tolerance` refers to */
  double rounding;     /* bound of the rounding error in `residual`; 0: no `magnitude` was given */
  double error;        /* bound of max |x - solution| / v (osla_iterate_bound); 0: unknown */
  int64_t sweeps;      /* number of sweeps of this rank */
  int64_t least, most; /* smallest and largest number of sweeps over all ranks */
  double mean;
  int64_t snapshots; /* number of snapshots taken during the run */
  int stalled;       /* rank that made no more steps if the run ended with STALLED; otherwise -1 */
  double seconds;
} osla_iterate_result;

/* Creates an iteration: channels, a reduction, and memory for two states. Collective.
 *   problem [in]  copied; its pointers are borrowed until destroy
 *   options [in]  NULL: defaults
 *   out     [out] owned by the caller
 * Errors, on all ranks together: ARG (options, halos that do not match), MEM, MPI, RANGE (several
 * nodes and no progress hook left). */
typedef struct osla_iteration osla_iteration;
OSLA_API osla_err osla_iteration_create(osla_transport *transport, const osla_fixed_point *problem,
                                        const osla_iterate_options *options, osla_iteration **out);
OSLA_API void osla_iteration_destroy(
  osla_iteration **iteration); /* Destroys the iteration. Collective. Accepts NULL, and sets the
                                * pointer to NULL. */

/* Finds a positive vector v and alpha with |M| v <= alpha v (Collatz and Wielandt). alpha < 1
 * proves that every mode converges for every schedule, and the results of later runs then contain
 * `error`, a bound of the error of x. alpha >= 1 proves nothing: some schedules may diverge (Chazan
 * and Miranker 1969), so the caller should warn. Makes `steps` synchronous averaged sweeps with
 * |M|, each of which can lower alpha; stops when an element of v, scaled to a largest element of 1,
 * falls below 1e-292. Collective.
 *   alpha [out] smallest value found, raised by the rounding error of a row; infinite if none
 * With another omega than 1 convergence is proved only for omega < 2 / (1 + alpha). `error` does
 * not include the rounding errors of the run. Errors, on all ranks together: UNSUPPORTED (no
 * bound_sweep or distance), ARG (steps), MEM, MPI. */
OSLA_API osla_err osla_iterate_bound(osla_iteration *iteration, int64_t steps, double *alpha);

/* Runs the iteration. Collective. May be called again with another x or right-hand side. Residuals
 * are sums of squares: numbers below 1e-154 count as 0, those above 1e154 as not finite.
 *   x      [in,out] [length] start with its boundaries (halos are fetched); on return the certified
 *                   state with its halos, or (DIVERGED, STALLED, `uncertified`) the last state,
 *                   with halos of any age
 *   result [out]
 * Errors, on all ranks together: ARG (the start or the right-hand side is not finite, with the
 * rank; `uncertified` returns DIVERGED instead), STATE (`proven` without a proof), MPI. On this
 * rank alone: STATE (an earlier run ended with STALLED). A communication failure between nodes ends
 * all ranks. */
OSLA_API osla_err osla_iterate(osla_iteration *iteration, double *x, osla_iterate_result *result);

#ifdef __cplusplus
}
#endif
#endif
