/* Records of iterations: what each sweep has read (layer 3).
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

/* A reading of a halo. From sweep `sweep` on (the first sweep is 0) this rank's halo number `halo`
 * contains the neighbour's state after `version` sweeps (0: the start), until the next reading of
 * this halo. In RACY mode some elements may be newer. */
typedef struct osla_reading {
  int64_t sweep, version;
  int halo;
} osla_reading;

/* A residual that was known during a run, from states of different ages. */
typedef struct osla_estimate {
  /* time since the begin of the run, and estimate of |b - A x| at that time */
  double seconds, residual;
} osla_estimate;

/* The record of one rank. */
typedef struct osla_record {
  int64_t sweeps;   /* number of sweeps that this rank made */
  int64_t returned; /* number of sweeps that led to the returned state */
  int64_t n_readings;
  /* [n_readings] readings, ascending by sweep; of several readings with equal sweep and halo the
   * last one counts */
  osla_reading *readings;
  double *values; /* RACY: [n_readings][stride] messages that were read; otherwise NULL */
  int64_t stride;
  bool complete; /* false: record_bytes did not suffice, and later readings are missing */
  int n_estimates;
  /* [n_estimates] some of the residuals that were known during the run, at most a few thousand */
  osla_estimate *estimates;
} osla_record;

/* Collects the records of all ranks. Collective.
 *   out [out] on root: [ranks], freed by osla_records_free; NULL elsewhere
 * Errors, on all ranks together: STATE (record_bytes is 0, or there was no run), ARG (root), MEM,
 * MPI. On this rank alone: STATE (a run ended with STALLED). */
OSLA_API osla_err osla_iteration_gather(osla_iteration *iteration, int root, osla_record **out);
/* Frees the records. Local. Accepts NULL, and sets the pointer to NULL. */
OSLA_API void osla_records_free(int n, osla_record **records);

/* Counts the lags of the halos that the sweeps used. The lag is the number of the sweep minus the
 * version of the halo; it is negative if the neighbour was ahead. Each sweep counts once for each
 * halo, as far as the record goes. Local.
 *   count [in,out] [2 most + 1] numbers of lags from -most to most, to which the call adds; the
 *                  first and the last number include larger lags */
OSLA_API void osla_record_lags(const osla_record *record, int n_halos, int64_t most,
                               int64_t *count);

#ifdef __cplusplus
}
#endif
#endif
