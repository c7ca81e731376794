/* What the triangular solve's files share (internal).
 *
 *   trsm.c           contract: sides, factors, right-hand sides that lie otherwise; memory
 *   trsm_operands.c  the triangle's blocks, one-sided
 *   trsm_run.c       the steps of the two directions
 *   trsm_stationary.c       the steps where T stays and X moves; trsm_stationary_trans.c: with the
 * transpose trsm_deferred.c  their products that are put off until a rank would wait
 */
#ifndef OSLA_TRSM_H
#define OSLA_TRSM_H

#include "kernels/common/local_view.h"
#include "kernels/common/panels.h"
#include "kernels/common/pieces.h"
#include "osla_blas.h"
#include "osla_solve.h"

#include <stdatomic.h>

typedef struct trsm {
  local_view a, b;
  osla_uplo uplo;
  osla_trans trans;
  osla_diag diag;
  int64_t steps;
  bool forward;    /* block 0 first, or the last one first */
  bool stationary; /* T stays: trsm_stationary.c */
  bool keeps_shares,
    reuses_shares;          /* fan: X stays in the shares, for a second solve; it is that one */
  osla_panels *panels;      /* NOTRANS: solved rows */
  osla_pieces *pieces;      /* TRANS: partial sums; fan: shares */
  bool readable;            /* node neighbours read B in place */
  _Atomic int64_t solved;   /* steps; the next one's rows are not ready */
  int64_t widest;           /* columns of B on the process column that has most */
  int64_t strip;            /* TRANS: of them, those that are solved at a time */
  unsigned char *column[2]; /* block columns of A from afar: this step's and the next one's */
  osla_transfer transfer[2];
  unsigned char *sums;         /* those on their way: a block row of B for each set of buffers */
  unsigned char *share;        /* fan: [my rows of A, all columns of B], see trsm_stationary.c */
  int64_t share_ld;            /* its leading dimension */
  _Atomic int64_t publishable; /* fan: steps whose X may go along the process row */
  int64_t n_stored;            /* fan, NOTRANS: steps whose X I need no more of */
  struct deferred_products *deferred; /* fan, NOTRANS: products to come */
  osla_pieces *columns_of_b; /* fan, TRANS: B's block rows on their way to the diagonal block */
  unsigned char *packed;     /* [sets of buffers] of them, mine */
} trsm;

/* Step number s works on block k. */
typedef struct trsm_step {
  int64_t s, k, start, size;
  int prow, pcol;      /* owner of the diagonal block */
  int64_t row;         /* my first local row of the block, or behind where it would be */
  int64_t first, last; /* NOTRANS: my local rows still to be updated; TRANS: those already solved */
} trsm_step;

/* Which triangle, and how. */
typedef struct trsm_op {
  osla_uplo uplo;
  osla_trans trans;
  osla_diag diag;
} trsm_op;

/* B := op(T)^-1 B where B fits A (rhs.h); nothing else is checked. Opening gets all the memory that
 * the run needs, while A and B may still change; what was opened, or failed to, is closed. Two that
 * are run one behind the other: B is not B's between them.
 * Collective, all four. Errors of opening, on all ranks together: ARG, MEM, MPI; of the run: MPI.
 */
osla_err osli_trsm_open(trsm *f, trsm_op op, const osla_matrix *a, osla_matrix *b);
osla_err osli_trsm_open_two(trsm *first, trsm_op op, trsm *second, trsm_op next,
                            const osla_matrix *a, osla_matrix *b);
osla_err osli_trsm_run(trsm *f);
void osli_trsm_close(trsm *f);

/* ---- trsm_operands.c ---- */

trsm_step osli_trsm_step(const trsm *f, int64_t s);

/* Starts to fetch step s's block column of A (my rows of it, with the diagonal block), if it is
 * afar and wanted. */
osla_err osli_trsm_prefetch(trsm *f, int64_t s);

/* The address of A(first .. last, k) and its leading dimension. */
osla_err osli_trsm_wait_column(trsm *f, const trsm_step *s, unsigned char **at, int64_t *ld);

/* Solves with the diagonal block for the block row of B that is mine. */
osla_err osli_trsm_diagonal(trsm *f, const trsm_step *s);

/* to += sign * sum, for an m x n block of B's type that is dense in `sum`. */
void osli_trsm_add(const local_view *b, int64_t m, int64_t n, int sign, const void *sum, void *to,
                   int64_t ld);

/* ---- trsm_run.c ---- */

/* What passes between the ranks: f->panels or f->pieces. Collective. Errors: MEM, MPI. */
osla_err osli_trsm_moving_open(trsm *f);

/* TRANS: columns of B that are solved at a time, such that the sums take some 32 MiB of a rank, but
 * at least 256. Pure. */
int64_t osli_trsm_strip(int64_t nb, int64_t widest, int p, size_t element);

/* TRANS: does process row `prow` own solved rows of this step's block column? Pure. */
bool osli_trsm_has_part(const trsm *f, const trsm_step *s, int prow);

/* The steps of one direction. Local. */
osla_err osli_trsm_run_notrans(trsm *f);
osla_err osli_trsm_run_trans(trsm *f);

/* ---- trsm_stationary.c ---- */

/* Where T lies afar: are there so few right-hand sides that they should move? Pure. */
bool osli_trsm_is_stationary(int64_t n, int64_t nrhs);

/* As osli_trsm_moving_open, with all memory; what that takes with NOTRANS; the steps. */
osla_err osli_trsm_stationary_open(trsm *f);
uint64_t osli_trsm_stationary_memory(const osla_shape *shape, int64_t nrhs, bool follows);
osla_err osli_trsm_stationary_run_notrans(trsm *f);

#endif
