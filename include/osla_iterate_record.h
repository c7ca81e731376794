/* What an iteration read, and the same iteration once more on one rank (floor 3).
 *
 * A run that waits for nobody is another one each time. Its record says which state of a neighbour
 * each sweep has read; with it the run can be repeated bit for bit, in the absence of the other
 * ranks. A record made by hand is a schedule: it shows what a mode may do.
 *
 *   osla_iterate_options o = {.record_bytes = 1 << 24};
 *   ... osla_iterate(it, x, &result);
 *   osla_iteration_gather(it, 0, &records);           all ranks; rank 0 has them
 *   osla_replay(size, parts, records, o.omega, xs, &depth);
 *
 * Threads: as osla_transport.h says of collective and of local calls.
 * Part: stable (osla.h).
 */
#ifndef OSLA_ITERATE_RECORD_H
#define OSLA_ITERATE_RECORD_H

#include "osla_api.h"
#include "osla_iterate.h"

#ifdef __cplusplus
extern "C" {
#endif

/* From sweep number `sweep` (0: the first one) of this rank on, halo number `halo` is that of the
 * peer's state after `version` sweeps (0: the start). RACY: no element is older than that. */
typedef struct osla_reading {
  int64_t sweep, version;
  int halo;
} osla_reading;

/* A residual that was known at some time of a run, of states of any ages. */
typedef struct osla_estimate {
  double seconds, residual; /* since the begin of the run; |b - A x| */
} osla_estimate;

/* The record of a rank. */
typedef struct osla_record {
  int64_t sweeps;   /* that were made */
  int64_t returned; /* sweeps that lie behind the state that was returned */
  int64_t n_readings;
  osla_reading *readings; /* by sweep; of the same sweep and halo the last one holds */
  double *values;         /* RACY: [n_readings][stride], the messages; otherwise NULL */
  int64_t stride;
  bool complete; /* no: record_bytes were too few, and the readings end early */
  int n_estimates;
  osla_estimate *estimates; /* a selection of some thousand at most */
} osla_record;

/* The record of the latest run, [borrowed until the next run]. Local.
 * Errors: STATE (record_bytes is 0, or there was no run). */
OSLA_API osla_err osla_iteration_record(const osla_iteration *iteration, osla_record *out);

/* The records of all ranks. Collective.
 *   out [out] on root: [ranks], freed by osla_records_free; NULL elsewhere
 * Errors, on all ranks together: STATE (as above), ARG (root), MEM, MPI. On this rank alone: STATE
 * (the run has STALLED here). */
OSLA_API osla_err osla_iteration_gather(osla_iteration *iteration, int root, osla_record **out);
OSLA_API void osla_records_free(
  int n, osla_record **records); /* local; accepts NULL; sets the pointer to NULL */

/* Makes the sweeps of all ranks of a run, in an order that the readings allow. Local.
 *   n       [in]     ranks
 *   parts   [in]     [n] the problem of each rank, as the run had it
 *   records [in]     [n]
 *   omega   [in]     relaxation of the run; 0: 1
 *   x       [in,out] [n][length] the starts; the state that each rank returned, with the halos of
 *                    those: the same bits as the run's (in its halos where it was certified)
 *   depth   [out]    the number m such that each element of the result lies behind m sweeps of
 *                    whatever it depends on, at least (macro-iterations: El Tarazi, Numer. Math.
 *                    39, 1982): |error|_v <= alpha^m |error of the start|_v, with alpha and v of
 *                    osla_iterate_bound and omega 1. RACY: 0. NULL: not wanted
 * Errors: ARG (halos that do not match; a record that is not complete, or of a halo that is not
 * there; values of some ranks alone, or shorter than a message; versions that go back, or that can
 * never be read), MEM. */
OSLA_API osla_err osla_replay(int n, const osla_fixed_point *parts, const osla_record *records,
                              double omega, double *const *x, int64_t *depth);

/* How old the halos were that were swept on: the number of the sweep minus the version (negative:
 * the neighbour was ahead). Adds each sweep on each halo to its count, as far as the record goes.
 * Local.
 *   count [in,out] [2 most + 1] of the lags -most to most, both with all beyond them */
OSLA_API void osla_record_lags(const osla_record *record, int n_halos, int64_t most,
                               int64_t *count);

#ifdef __cplusplus
}
#endif
#endif
