/* Replays the records of an iteration on one rank: an independent computation of its result. */
#ifndef REPLAY_REFERENCE_H
#define REPLAY_REFERENCE_H

#include "osla_iterate_record.h"

/* Repeats the sweeps of all ranks of a run, in an order that the readings allow. Local.
 *   n       [in]     number of ranks
 *   parts   [in]     [n] the problem of each rank, as in the run
 *   records [in]     [n]
 *   omega   [in]     relaxation factor of the run; 0: 1
 *   x       [in,out] [n][length] the starts; on return the state that each rank returned, with its
 *                    halos: the same bits as in the run (halos only if the run was certified)
 *   depth   [out]    number m such that each element of the result depends on at least m sweeps of
 *                    every element it depends on (macro-iterations: El Tarazi, Numer. Math. 39,
 *                    1982): |error|_v <= alpha^m |error of the start|_v, with alpha and v of
 *                    osla_iterate_bound and omega 1. RACY: 0. May be NULL
 * Errors: ARG (halos that do not match; a record that is incomplete or names an unknown halo;
 * values on some ranks only, or shorter than a message; versions that decrease or can never be
 * read), MEM. */
osla_err replay_records(int n, const osla_fixed_point *parts, const osla_record *records,
                        double omega, double *const *x, int64_t *depth);

#endif
