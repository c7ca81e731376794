/* Calls with one argument that is another one on the last rank: all ranks must refuse it, by its
 * name; without that they would wait for one another, or compute something else. */
#ifndef SAME_CALL_H
#define SAME_CALL_H

#include "osla_chol.h"
#include "osla_hessian.h"
#include "osla_lu.h"
#include "osla_products.h"
#include "osla_solve.h"
#include "tests/osla_test_help.h"

enum { SAME_N = 12, SAME_NB = 4 };

/* The arguments of any call; each runner takes some. */
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

/* The last rank of several: the one that differs. */
bool same_odd(void);

/* All ranks fail with one text, which holds that one. Collective, as all of these. */
void same_refuse(same_runner *run, const same_call *c, const char *text);

/* The call where the last rank has another value of a member. */
#define OTHER(run, base, member, value, text)                                                      \
  do {                                                                                             \
    same_call changed_ = (base);                                                                   \
    if (same_odd()) changed_.member = (value);                                                     \
    same_refuse(run, &changed_, text);                                                             \
  } while (0)

/* The same for each number of a part: the text has `name` and the member. */
#define OTHER_PART(run, base, member, name)                                                        \
  do {                                                                                             \
    same_call changed_ = (base);                                                                   \
    same_other_part(run, &changed_, &changed_.member, name);                                       \
  } while (0)
void same_other_part(same_runner *run, same_call *c, osla_part *part, const char *name);

/* Matrices for all of it: n x n three times, n x 2 twice, complex n x n three
 * times, (n - 1) x (n - 1). */
typedef struct same_matrices {
  osla_transport *t;
  osla_grid *grid;
  osla_matrix *square[3], *tall[2], *complex_square[3], *narrow;
} same_matrices;

/* Runs checks on them, where there are several ranks. */
void same_run(void (*check)(const same_matrices *m));

/* A call on parts of three matrices, which can grow and shrink by one everywhere. */
same_call same_parts(osla_matrix *const square[3]);

/* A call on two matrices. */
same_call same_wholes(osla_matrix *a, osla_matrix *b);

#endif
