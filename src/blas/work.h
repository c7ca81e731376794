/* What BLAS, LAPACK and the moves of bulk data in the kernels do, as work that a model can price
 * (floor 0). On a real machine nobody listens, and a word here costs a look at a pointer; where
 * time is simulated each piece of work advances the clock (src/simulation).
 */
#ifndef WORK_H
#define WORK_H

#include "osla_types.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In the words of the BLAS; sizes that a kind does not name are 1. */
typedef enum osla_work_kind {
  OSLA_WORK_GEMM,       /* C (m x n) += A (m x k) B (k x n) */
  OSLA_WORK_SYRK,       /* a triangle of C (n x n), A with k columns or rows */
  OSLA_WORK_TRSM_LEFT,  /* triangle of order m, n right-hand sides */
  OSLA_WORK_TRSM_RIGHT, /* triangle of order n, m rows */
  OSLA_WORK_POTRF,      /* order n */
  OSLA_WORK_GETRF,      /* m x n */
  OSLA_WORK_LASWP,      /* k interchanges of rows of n columns */
  OSLA_WORK_GEMV,       /* a pass over m x n elements: GEMV, TRSV (half of them), GER */
  OSLA_WORK_VECTOR,     /* a pass over n elements: SCAL, IxAMAX */
  OSLA_WORK_COPY,       /* n pieces, each of m words of 8 bytes, to another place */
  OSLA_WORK_ADD,        /* n elements added at places that an index names */
  OSLA_WORK_KINDS
} osla_work_kind;

typedef struct osla_work {
  osla_work_kind kind;
  osla_dtype dtype;
  double m, n, k;
} osla_work;

/* Called after each piece of work. */
typedef void osla_work_charge(const osla_work *work);

/* begin: called where a call of BLAS begins, before it has done anything; charge: after each piece.
 * NULL: nothing is. For the whole process. Local. */
void osli_work_listen(void (*begin)(void), osla_work_charge *charge);

/* From now on work takes its time and is not done: elements of matrices, panels and values are
 * neither read nor written, and what would be read from them to decide something comes from
 * osli_work_random. What steers (heads, pivots, indices, words) is real. For the whole process,
 * which listens. Local. */
void osli_work_only_model(void);

extern osla_work_charge *osli_work_listener; /* NULL: nobody listens */
extern bool osli_work_modelled;              /* osli_work_only_model was called */

/* Before and after a call of BLAS. false: it is only modelled, and charged already. Local. */
bool osli_work_begin(const osla_work *work);
static inline void osla_work_end(const osla_work *work)
{
  if (osli_work_listener) osli_work_listener(work);
}

/* This piece of work was done, or would have been. Local. */
static inline void osla_work_did(osla_work_kind kind, osla_dtype dtype, int64_t m, int64_t n,
                                 int64_t k)
{
  osla_work work = {kind, dtype, (double)m, (double)n, (double)k};
  osla_work_end(&work);
}

/* The next number of a sequence, in (0, 1], that is the same in every run of a simulation. Local.
 */
double osli_work_random(void);

#ifdef __cplusplus
}
#endif
#endif
