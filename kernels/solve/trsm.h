/* Data structures and functions of the triangular solve (internal). README.md lists the files.
 *
 * A "moving" solve fetches blocks of T and works on B in place. A "stationary" solve keeps T in
 * place and moves X; it is used if T is on other nodes and there are few right-hand sides. */
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
  bool forward; /* true if block 0 is solved first; false if the last block is solved first */
  /* true for a stationary solve, in which T stays in place and X is moved (trsm_stationary.c) */
  bool stationary;
  bool keeps_shares; /* stationary solve: true if X stays in `share` for a second solve */
  /* stationary solve: true if this is the second solve and X is already in `share` */
  bool reuses_shares;
  osla_panels *panels; /* NOTRANS: panels that publish solved rows */
  /* pieces that ranks send each other: with TRANS, partial sums; in a stationary solve,
   * contributions to the block row of a step */
  osla_pieces *pieces;
  bool readable;          /* true if ranks of a node read one another's parts of B in place */
  _Atomic int64_t solved; /* number of steps whose block rows this rank has solved */
  int64_t widest;         /* largest number of local columns of B on any process column */
  int64_t strip; /* moving solve with TRANS: number of columns of B that are solved at a time */
  /* block columns of A that were fetched from other nodes, for the current and the next step */
  unsigned char *column[2];
  osla_transfer transfer[2];
  unsigned char *sums; /* send buffers: one block row of B for each set of receive buffers */
  /* stationary: [this rank's rows of A, all columns of B] share of this rank in X, see
   * trsm_stationary.c */
  unsigned char *share;
  int64_t share_ld; /* leading dimension of `share` */
  /* stationary: number of steps whose block row of X may be sent along the process row */
  _Atomic int64_t publishable;
  /* stationary, NOTRANS: number of steps whose block row of X has been stored in B */
  int64_t n_stored;
  /* stationary, NOTRANS: products that have been deferred */
  struct deferred_products *deferred;
  /* stationary, TRANS: pieces by which columns of B are sent to the owner of the diagonal block */
  osla_pieces *columns_of_b;
  unsigned char *packed; /* send buffers for columns_of_b */
} trsm;

/* Geometry of step s, which solves for block k. */
typedef struct trsm_step {
  int64_t s, k, start, size;
  int prow;    /* process row of the owner of the diagonal block */
  int pcol;    /* process column of the owner of the diagonal block */
  int64_t row; /* first local row with a global index of at least `start` */
  /* with NOTRANS, step s updates the local rows first .. last - 1; with TRANS, these rows were
   * solved before step s */
  int64_t first, last;
} trsm_step;

/* Triangle, operation and kind of diagonal of a solve. */
typedef struct trsm_op {
  osla_uplo uplo;
  osla_trans trans;
  osla_diag diag;
} trsm_op;

/* B := op(T)^-1 B. B must be distributed like A (rhs.h); other arguments are not checked. _open
 * allocates all memory of the run; A and B may still change before _run. _open_two opens two solves
 * that are run one after the other; between the two runs B is undefined. _close must be called even
 * if _open has failed. All calls are collective. Errors of _open, on all ranks together: ARG, MEM,
 * MPI. Errors of _run: MPI. */
osla_err osli_trsm_open(trsm *f, trsm_op op, const osla_matrix *a, osla_matrix *b);
osla_err osli_trsm_open_two(trsm *first, trsm_op op, trsm *second, trsm_op next,
                            const osla_matrix *a, osla_matrix *b);
osla_err osli_trsm_run(trsm *f);
void osli_trsm_close(trsm *f);

/* ---- trsm_operands.c ---- */

trsm_step osli_trsm_step(const trsm *f, int64_t s);

/* Starts to fetch this rank's rows of the block column of step s, including the diagonal block, if
 * the rows are needed and are on another node. */
osla_err osli_trsm_prefetch(trsm *f, int64_t s);

/* Waits for rows first .. last of block column k of A, and sets *out to these rows. */
osla_err osli_trsm_wait_column(trsm *f, const trsm_step *s, operand *out);

/* Solves with the diagonal block for this rank's block row of B. */
osla_err osli_trsm_diagonal(trsm *f, const trsm_step *s);

/* to += sign * sum, for an m x n block of B's type. `sum` is dense; `to` has leading dimension
 * ld. */
void osli_trsm_add(const local_view *b, int64_t m, int64_t n, int sign, const void *sum, void *to,
                   int64_t ld);

/* ---- trsm_run.c ---- */

/* Allocates the memory of a moving solve: f->panels (NOTRANS), or f->pieces and send buffers
 * (TRANS). Collective. Errors: MEM, MPI. */
osla_err osli_trsm_moving_open(trsm *f);

/* Number of columns of B that a transposed solve (TRANS) solves at a time. It is such that the sums
 * on a rank take about 32 MiB, but it is at least 256. Pure. */
int64_t osli_trsm_strip(int64_t nb, int64_t widest, int p, size_t element);

/* TRANS: returns whether process row `prow` owns rows of this step's block column that were solved
 * before. Pure. */
bool osli_trsm_has_part(const trsm *f, const trsm_step *s, int prow);

/* Run all steps of a moving solve: _run_notrans without transposition, _run_trans with
 * transposition. Local. */
osla_err osli_trsm_run_notrans(trsm *f);
osla_err osli_trsm_run_trans(trsm *f);

/* ---- trsm_stationary.c ---- */

/* Returns whether X is moved if T is on other nodes: true if there are few right-hand sides.
 * Pure. */
bool osli_trsm_is_stationary(int64_t n, int64_t nrhs);

/* Allocates the memory of a stationary solve, except the memory that
 * osli_trsm_stationary_open_trans allocates. Collective. Errors: MEM, MPI. */
osla_err osli_trsm_stationary_open(trsm *f);
/* Returns the number of bytes that a stationary solve with NOTRANS needs. Pure. */
uint64_t osli_trsm_stationary_memory(const osla_shape *shape, int64_t nrhs, bool follows);
/* Runs all steps of a stationary solve with NOTRANS. Local. */
osla_err osli_trsm_stationary_run_notrans(trsm *f);

/* Bytes of a block row that has all columns of B. */
static inline size_t block_row_bytes(const trsm *f)
{
  return (size_t)(f->a.nb * f->b.n) * f->a.element;
}

/* Operand that begins with row `first` of block column k of A in this rank's memory, for a rank
 * that owns this block column. */
static inline operand own_column(const trsm *f, const trsm_step *s, int64_t first)
{
  return local_operand(&f->a, first, osla_index_local(s->start, f->a.nb, f->a.q));
}

static inline unsigned char *share_at(const trsm *f, int64_t row, int64_t col)
{
  return f->share + (size_t)(row + col * f->share_ld) * f->a.element;
}

/* Send buffer in which this step's block row is sent to the owner of the diagonal block. */
static inline unsigned char *sum_at(const trsm *f, const trsm_step *s)
{
  return f->sums + (size_t)(s->s % osli_pieces_depth(f->pieces)) * block_row_bytes(f);
}

/* Number of rows of the pieces into which a product with a block column of T is cut, so that
 * messages are served between pieces. A piece takes about 8 million operations, or 1 MiB of T.
 * Pure. */
int64_t osli_trsm_tile_rows(const trsm *f, int64_t size);

/* Copies this rank's columns of X(k) to B. x: address of X(k). Local. */
void osli_trsm_store_columns(trsm *f, const trsm_step *s, const unsigned char *x, int64_t ldx);

/* Stationary solve with TRANS or CONJTRANS. _open_trans allocates the memory that it needs in
 * addition to the memory that _open allocates (collective; errors: MEM, MPI). _run_trans runs all
 * steps (local). */
osla_err osli_trsm_stationary_open_trans(trsm *f);
osla_err osli_trsm_stationary_run_trans(trsm *f);

/* ---- trsm_deferred.c: NOTRANS ---- */

/* Allocates the memory of the deferred products. Local. Errors: MEM. */
osla_err osli_trsm_deferred_create(trsm *f);
/* Returns the number of bytes of the memory of the deferred products. Pure. */
uint64_t osli_trsm_deferred_memory(const osla_shape *shape, size_t piece);

/* Defers the product share(first .. last) -= T(first .. last, k) X(k). x: [size, all columns of B]
 * the block X(k), which is copied unless it is in this rank's share. Local. */
osla_err osli_trsm_deferred_add(trsm *f, const trsm_step *s, const void *x);

/* Completes all deferred products for the block row of this step. This rank must own the block row.
 * Local. */
osla_err osli_trsm_deferred_finish_rows(trsm *f, const trsm_step *s);

/* Computes a piece of the deferred product that is needed next, then makes a progress step. *any:
 * true if a deferred product was left. Local. */
osla_err osli_trsm_deferred_advance(trsm *f, bool *any);

#endif
