/* BLAS and LAPACK calls, and copies of bulk data in the kernels, as work that a performance model
 * can price (layer 0). On a real machine no model is registered, and a report costs the test of a
 * pointer. In a simulation each piece of work advances the simulated clock (src/simulation).
 */
#ifndef WORK_H
#define WORK_H

#include "osla_types.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The sizes m, n and k have the meaning of the BLAS; sizes that a kind does not name are 1. */
typedef enum osla_work_kind {
  OSLA_WORK_GEMM,       /* C (m x n) += A (m x k) B (k x n) */
  OSLA_WORK_SYRK,       /* update of one triangle of C (n x n) by A with k columns or rows */
  OSLA_WORK_TRSM_LEFT,  /* solve with a triangle of order m for n right-hand sides */
  OSLA_WORK_TRSM_RIGHT, /* solve from the right with a triangle of order n, for m rows */
  OSLA_WORK_POTRF,      /* Cholesky factorisation of order n */
  OSLA_WORK_GETRF,      /* m x n */
  OSLA_WORK_LASWP,      /* k row interchanges in n columns */
  /* a pass over m x n elements: GEMV, GER, or TRSV (which counts half of the elements) */
  OSLA_WORK_GEMV,
  OSLA_WORK_VECTOR, /* a pass over n elements: SCAL, IxAMAX */
  OSLA_WORK_COPY,   /* copy of n pieces of m words of 8 bytes */
  OSLA_WORK_ADD,    /* addition of n elements at indexed positions */
  /* a sweep over n elements of a state: reads one array and writes another. Not in the fitted model
   * of a core, because the cores of a processor share the bandwidth of its memory */
  OSLA_WORK_SWEEP,
  OSLA_WORK_KINDS
} osla_work_kind;

typedef struct osla_work {
  osla_work_kind kind;
  osla_dtype dtype;
  double m, n, k;
} osla_work;

/* Function of the performance model that is called after each piece of work. */
typedef void osla_work_charge(const osla_work *work);

/* Registers the performance model for the whole process: `begin` is called before each BLAS or
 * LAPACK call, `charge` after each piece of work. NULL: no function is called. Local. */
void osli_work_set_model(void (*begin)(void), osla_work_charge *charge);

/* After this call, work takes simulated time but is not executed: the elements of matrices, panels
 * and values are neither read nor written, and decisions that depend on them use osli_work_random.
 * Control data (headers, pivots, indices, notifications) stay real. The call applies to the whole
 * process, which must have registered a model. Local. */
void osli_work_model_only(void);

extern osla_work_charge
  *osli_work_charge_function;   /* charge function of the registered model; NULL if there is none */
extern bool osli_work_modelled; /* true after a call of osli_work_model_only */

/* Begins a piece of work, before the BLAS or LAPACK call that does it. Returns false if work is
 * only modelled: the piece is then charged already, and the call must be skipped. work_end follows
 * the call. Local. */
bool osli_work_begin(const osla_work *work);
static inline void work_end(const osla_work *work)
{
  if (osli_work_charge_function) osli_work_charge_function(work);
}

/* Charges a piece of work that was done, or skipped because it is only modelled. Local. */
static inline void work_charge(osla_work_kind kind, osla_dtype dtype, int64_t m, int64_t n,
                               int64_t k)
{
  osla_work work = {kind, dtype, (double)m, (double)n, (double)k};
  work_end(&work);
}

/* Charges passes over arrays that read and write `bytes` bytes of memory in all, whose bandwidth
 * the cores of a processor share. Rules of the callers: an array of n doubles that is read counts 8
 * n bytes; one that is changed in place, or written, counts 16 n bytes, because a cache line is
 * read before it is written. Caches hold nothing from one pass to the next. Local. */
static inline void work_charge_memory(double bytes)
{
  enum { OF_SWEEP = 24 }; /* bytes of an element of OSLA_WORK_SWEEP by the same rules */
  osla_work work = {OSLA_WORK_SWEEP, OSLA_DOUBLE, 1.0, bytes / OF_SWEEP, 1.0};
  work_end(&work);
}

/* The next number of a pseudorandom sequence in (0, 1], identical in every run of a simulation.
 * Local.
 */
double osli_work_random(void);

#ifdef __cplusplus
}
#endif
#endif
