/* Helpers for calls in which one argument differs on the last rank. All ranks must refuse such a
 * call and name the argument, because otherwise ranks would wait for one another, or compute a
 * wrong result. */
#ifndef SAME_CALL_H
#define SAME_CALL_H

#include "osla_chol.h"
#include "osla_hessian.h"
#include "osla_lu.h"
#include "osla_products.h"
#include "osla_solve.h"
#include "tests/osla_test_help.h"

enum { SAME_N = 12, SAME_NB = 4 };

/* The arguments of the calls under test; each call uses some of these members. */
typedef struct same_call {
  osla_side side;
  osla_uplo uplo;
  osla_trans trans, transb;
  osla_diag diag;
  osla_complex alpha, beta;
  osla_part a, b, c;
  osla_gemm_options gemm;
  osla_lu_options lu;
  osla_chol_options chol;
  osla_hessian_options hessian;
  double anorm;
  int64_t n;
  osla_norm norm;
  osla_fill fill;
  uint64_t seed;
  const char *text;
} same_call;

typedef osla_err same_runner(const same_call *c);

/* True if this rank is the last of several ranks. Only on this rank an argument is changed. */
bool same_is_last_rank(void);

/* Asserts that all ranks fail with the same message, and that it contains `text`. Collective, like
 * all functions of this file. */
void same_refuse(same_runner *run, const same_call *c, const char *text);

/* Makes the call with another value of one member of same_call on the last rank, and asserts that
 * all ranks refuse it. */
#define OTHER(run, base, member, value, text)                                                      \
  do {                                                                                             \
    same_call changed_ = (base);                                                                   \
    if (same_is_last_rank()) changed_.member = (value);                                            \
    same_refuse(run, &changed_, text);                                                             \
  } while (0)

/* Makes one call for each number of a part (i, j, m, n), with another value of this number on the
 * last rank. The message must contain `name` and the name of the number. */
#define OTHER_PART(run, base, member, name)                                                        \
  do {                                                                                             \
    same_call changed_ = (base);                                                                   \
    same_other_part(run, &changed_, &changed_.member, name);                                       \
  } while (0)
void same_other_part(same_runner *run, same_call *c, osla_part *part, const char *name);

/* Matrices for all calls: three of n x n, two of n x 2, three complex ones of n x n, and one of (n
 * - 1) x (n - 1). */
typedef struct same_matrices {
  osla_transport *t;
  osla_grid *grid;
  osla_matrix *square[3], *tall[2], *complex_square[3], *narrow;
} same_matrices;

/* Makes same_matrices and runs `check` on them, if there are several ranks. */
void same_run(void (*check)(const same_matrices *m));

/* Arguments of a call on parts of three matrices. The parts are not at the borders of their
 * matrices, so that each size and offset can change by one. */
same_call same_parts(osla_matrix *const square[3]);

/* Arguments of a call on two whole matrices. */
same_call same_wholes(osla_matrix *a, osla_matrix *b);

#endif
