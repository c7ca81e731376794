/* Replays the records of an iteration on one rank: an independent computation of its result. */
#ifndef REPLAY_REFERENCE_H
#define REPLAY_REFERENCE_H

#include "osla_iterate_record.h"

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
osla_err replay_records(int n, const osla_fixed_point *parts, const osla_record *records,
                        double omega, double *const *x, int64_t *depth);

#endif
