/* Records of iterations: what each sweep has read (floor 3).
 *
 * An asynchronous run is not repeatable. Its record says which state of a neighbour each sweep has
 * read, so that lags can be studied and the run be repeated bit for bit in one process.
 *
 *   osla_iterate_options o = {.record_bytes = 1 << 24};
 *   ... osla_iterate(it, x, &result);
 *   osla_iteration_gather(it, 0, &records);     collective; rank 0 gets the records of all ranks
 *   osla_record_lags(&records[r], n_halos, most, count);
 *   osla_records_free(size, &records);
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

/* The records of all ranks. Collective.
 *   out [out] on root: [ranks], freed by osla_records_free; NULL elsewhere
 * Errors, on all ranks together: STATE (as above), ARG (root), MEM, MPI. On this rank alone: STATE
 * (the run has STALLED here). */
OSLA_API osla_err osla_iteration_gather(osla_iteration *iteration, int root, osla_record **out);
OSLA_API void osla_records_free(
  int n, osla_record **records); /* local; accepts NULL; sets the pointer to NULL */

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
