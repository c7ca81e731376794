/* Data structures and functions of the triangular solve (internal). README.md lists the files.
 *
 * "Moving" solves read T where it is and work on B in place. "Stationary" solves keep T in place
 * and move X; they are used if T is on other nodes and there are few right-hand sides. */
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
  bool forward;    /* true if block 0 comes first; otherwise the last block */
  bool stationary; /* true if T stays in place and X is moved (trsm_stationary.c) */
  bool keeps_shares,
    reuses_shares; /* stationary: X stays in `share` for a second solve; this is the second solve */
  osla_panels *panels; /* NOTRANS: solved rows */
  /* TRANS: partial sums; stationary: contributions to the block row of a step */
  osla_pieces *pieces;
  bool readable;          /* true if node neighbours read B in place */
  _Atomic int64_t solved; /* number of steps whose rows this rank has solved */
  int64_t widest;         /* columns of B on the process column with the most columns */
  int64_t strip;          /* moving, TRANS: columns of B that are solved at a time */
  /* block columns of A from other nodes, for this step and the next step */
  unsigned char *column[2];
  osla_transfer transfer[2];
  unsigned char *sums; /* send buffers: a block row of B for each set of buffers */
  /* stationary: [rows of A on this rank, all columns of B], see trsm_stationary.c */
  unsigned char *share;
  int64_t share_ld; /* leading dimension of `share` */
  /* stationary: number of steps whose X may be sent along the process row */
  _Atomic int64_t publishable;
  int64_t n_stored; /* stationary, NOTRANS: number of steps whose X has been stored in B */
  /* stationary, NOTRANS: products that are still to be computed */
  struct deferred_products *deferred;
  /* stationary, TRANS: block rows of B on the way to the diagonal block */
  osla_pieces *columns_of_b;
  unsigned char *packed; /* send buffers of columns_of_b */
} trsm;

/* Geometry of step number s, which solves for block k. */
typedef struct trsm_step {
  int64_t s, k, start, size;
  int prow, pcol; /* process coordinates of the owner of the diagonal block */
  int64_t row;    /* first local row with a global index >= start */
  /* local rows that step s updates (NOTRANS), or that are already solved (TRANS) */
  int64_t first, last;
} trsm_step;

/* Triangle, operation and diagonal of a solve. */
typedef struct trsm_op {
  osla_uplo uplo;
  osla_trans trans;
  osla_diag diag;
} trsm_op;

/* B := op(T)^-1 B. B must be distributed like A (rhs.h); other arguments are not checked. Opening
 * allocates all memory of the run, and A and B may still change afterwards. _open_two opens two
 * solves that are run one after the other; between them B is undefined. _close is needed also after
 * a failed opening. All calls are collective. Errors of opening, on all ranks together: ARG, MEM,
 * MPI. Errors of the run: MPI. */
osla_err osli_trsm_open(trsm *f, trsm_op op, const osla_matrix *a, osla_matrix *b);
osla_err osli_trsm_open_two(trsm *first, trsm_op op, trsm *second, trsm_op next,
                            const osla_matrix *a, osla_matrix *b);
osla_err osli_trsm_run(trsm *f);
void osli_trsm_close(trsm *f);

/* ---- trsm_operands.c ---- */

trsm_step osli_trsm_step(const trsm *f, int64_t s);

/* Starts to fetch this rank's rows of the block column of step s (with the diagonal block) if they
 * are needed and on another node. */
osla_err osli_trsm_prefetch(trsm *f, int64_t s);

/* Waits for rows first .. last of block column k of A. Returns their address and leading
 * dimension. */
osla_err osli_trsm_wait_column(trsm *f, const trsm_step *s, unsigned char **at, int64_t *ld);

/* Solves with the diagonal block for this rank's block row of B. */
osla_err osli_trsm_diagonal(trsm *f, const trsm_step *s);

/* to += sign * sum for an m x n block of B's type; `sum` is dense. */
void osli_trsm_add(const local_view *b, int64_t m, int64_t n, int sign, const void *sum, void *to,
                   int64_t ld);

/* ---- trsm_run.c ---- */

/* Allocates the memory of a moving solve: f->panels, or f->pieces and send buffers. Collective.
 * Errors: MEM, MPI. */
osla_err osli_trsm_moving_open(trsm *f);

/* Number of columns of B that are solved at a time with TRANS: such that the sums take about 32 MiB
 * on a rank, but at least 256 columns. Pure. */
int64_t osli_trsm_strip(int64_t nb, int64_t widest, int p, size_t element);

/* TRANS: whether process row `prow` owns solved rows of this step's block column. Pure. */
bool osli_trsm_has_part(const trsm *f, const trsm_step *s, int prow);

/* Run all steps of a moving solve. Local. */
osla_err osli_trsm_run_notrans(trsm *f);
osla_err osli_trsm_run_trans(trsm *f);

/* ---- trsm_stationary.c ---- */

/* True if, with T on other nodes, X is moved: there are few right-hand sides. Pure. */
bool osli_trsm_is_stationary(int64_t n, int64_t nrhs);

/* Stationary solve: allocates its memory except that of _open_trans (collective; errors: MEM, MPI);
 * bytes with NOTRANS (pure); runs all steps with NOTRANS (local). */
osla_err osli_trsm_stationary_open(trsm *f);
uint64_t osli_trsm_stationary_memory(const osla_shape *shape, int64_t nrhs, bool follows);
osla_err osli_trsm_stationary_run_notrans(trsm *f);

#endif
