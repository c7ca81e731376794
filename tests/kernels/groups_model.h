/* Code that the tests of groups of ranks share: a small linear system, and a fixed-point problem in
 * which ranks can be slow or stop for a while. */
#ifndef GROUPS_MODEL_H
#define GROUPS_MODEL_H

#include "osla_splitting.h"
#include "tests/osla_test_help.h"

enum { SIDE = 6, N = SIDE * SIDE };

/* Distributions of the rows over the ranks. HALVES: each rank has half of the rows that the ranks
 * before it left. GAPS: every third rank has no rows. */
enum { EVEN, HALVES, GAPS, DISTRIBUTIONS };

/* A system with the five-point matrix of a grid of SIDE x SIDE points, whose diagonal elements
 * vary. `wind` > 0 makes the matrix unsymmetric. */
typedef struct groups_system {
  osla_transport *t;
  osla_csr *a;
  int64_t rows, *start; /* number of this rank's rows, and [ranks + 1] first row of each rank */
  double *b, solution[N];
} groups_system;

/* Writes the columns and values of the entries of row i. Returns their number, at most 5. */
int64_t groups_fill_row(double wind, int64_t i, int64_t *column, double *value);

/* Creates the system, with a known solution. If a call of the library fails, an assertion fails and
 * the function returns false. Collective. The caller frees the system by groups_free. */
bool groups_make(groups_system *s, int distribution, double wind);
void groups_free(groups_system *s);

/* Returns options of a splitting with CG, in which `group` ranks share a block. */
osla_splitting_options groups_options(int64_t group, double inner_tolerance);

/* Returns how many ranks each group but the last one has, for this value of the option `group`. */
int groups_width(int64_t group);

/* A fixed-point problem that behaves like `inner` and counts calls of its functions. On a slow rank
 * most sweeps first sleep for up to 0.8 ms. In sweep number `stops_at` the process first stops for
 * 1.6 s. */
typedef struct slowed {
  osla_fixed_point inner;
  bool is_slow;
  int stops_at; /* number, from 1, of the sweep in which the process stops; 0: it never stops */
  int n_outer;  /* number of halos with other groups */
  /* Numbers of calls. `inner` stands for halos with ranks of the own group, `outer` for others. */
  int sweeps, packs_outer, packs_inner, unpacks_outer;
} slowed;

/* Initialises *s, and returns the problem, which borrows `s` and `inner`. Each group has `width`
 * ranks. Asserts that the halos with ranks of the group are the last ones of `inner`. Local. */
osla_fixed_point groups_slow_down(slowed *s, const osla_fixed_point *inner, int width,
                                  bool is_slow);

#endif
