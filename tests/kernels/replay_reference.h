/* Replays the records of an iteration on one rank: an independent computation of its result. */
#ifndef REPLAY_REFERENCE_H
#define REPLAY_REFERENCE_H

#include "osla_iterate_record.h"

/* Repeats the sweeps of all ranks of a recorded run, each with the halo values that it read in the
 * run. Local.
 *   n       [in]     number of ranks
 *   parts   [in]     [n] the problem of each rank, as in the run
 *   records [in]     [n] the record of each rank
 *   omega   [in]     relaxation factor of the run; 0 means 1
 *   x       [in,out] [n][length] on entry the initial x of each rank; on return the x
 *                    that each rank returned, bit for bit. The halos in x are equal to the
 *                    returned ones only if the run had a certificate.
 *   depth   [out]    number m such that each element of the result depends on at least m sweeps
 *                    of every element that it depends on (macro-iterations: El Tarazi, Numer.
 *                    Math. 39, 1982). If omega is 1, |error|_v <= alpha^m |initial error|_v with
 *                    alpha and v of osla_iterate_bound. In RACY mode depth is 0. May be NULL.
 * Errors: OSLA_ERR_ARG (halos that do not match; a record that is incomplete or names an unknown
 * halo; values on some ranks only, or shorter than a message; versions that decrease or can never
 * be read), OSLA_ERR_MEM. */
osla_err replay_records(int n, const osla_fixed_point *parts, const osla_record *records,
                        double omega, double *const *x, int64_t *depth);

#endif
