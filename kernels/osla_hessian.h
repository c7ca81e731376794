/* The Hessian accumulator: thousands of asynchronous indexed updates of a distributed symmetric
 * matrix, H[ix, ix] += G^T G, then a commit, then the matrix itself, in place (floor 3).
 *
 * Source: French, Zheng, Romanowicz, Yelick, "Parallel Hessian Assembly for Seismic Waveform
 * Inversion Using Global Updates" (IPDPS 2015), sections II.B and III: update / commit / local
 * data.
 *
 * Model. H is symmetric of order n; one triangle is stored, in a block-cyclic osla_matrix. Every
 * update is split into its parts by owner; a part is the dense block of the owner's rows and
 * columns among ix, restricted to the triangle. Updates commute; those of all ranks and threads
 * between two commits are summed. What the matrix holds before a commit returns is not defined.
 *
 * Isolation. A part is added under locks of the owner, so that no addition is lost and no other
 * part of the same columns is half visible. A part whose values exceed `piece_bytes` (or, off the
 * node, a ring slot) is added in several pieces, each in isolation.
 *
 * Progress. On the node the updating rank itself adds to the owner's memory; the owner does
 * nothing. Off the node a piece goes to a ring in the owner's segment, and the owner adds it in its
 * next progress step: in any waiting call of the library, in its own update calls, in osla_progress
 * or in the transport's progress thread. A full ring makes the sender wait, never fail.
 *
 * Threads. update, update_block, update_gradient may be called by many threads at once
 * (MPI_THREAD_SERIALIZED suffices, see osla_transport.h); all other calls by one.
 *
 * Memory per rank above the matrix: two vectors of order n for the gradient; ring_bytes if there
 * are several nodes (at least 256 KiB for each rank of another node); for each concurrently
 * updating thread 2 k n elements for G, piece_bytes (off the node as much again, at most a ring
 * slot) and 96 bytes for each index.
 */
#ifndef OSLA_HESSIAN_H
#define OSLA_HESSIAN_H

#include "osla_matrix.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct osla_hessian osla_hessian;

/* What an update does to an element of H: adds to it, or leaves the smaller or the larger of the
 * two, or what a function of the user's makes of them. */
typedef enum osla_combine {
  OSLA_COMBINE_SUM,
  OSLA_COMBINE_MIN,
  OSLA_COMBINE_MAX,
  OSLA_COMBINE_USER
} osla_combine;

/* inout[i] := inout[i] combined with in[i], i = 0 .. count - 1, elements of H's type; associative
 * and commutative, the same on all ranks. Called under an owner's locks, by any thread of any rank
 * (each process calls its own): it must be short and must not call this library. */
typedef void osla_combine_function(int64_t count, void *inout, const void *in, void *context);

enum { OSLA_HESSIAN_SAME = -1 }; /* for update_dtype: that of H */

typedef struct osla_hessian_options {
  osla_uplo uplo;       /* stored triangle, or OSLA_GENERAL: the whole matrix; default OSLA_LOWER */
  osla_dtype dtype;     /* OSLA_FLOAT or OSLA_DOUBLE, of H; default OSLA_DOUBLE */
  int64_t nb;           /* block size of the matrix; default 128 */
  size_t ring_bytes;    /* room for other nodes' updates on each rank; default 64 MiB */
  size_t piece_bytes;   /* values that are computed and added at a time; default 64 MiB */
  int update_dtype;     /* of G and U: an osla_dtype, or OSLA_HESSIAN_SAME (default) */
  osla_combine combine; /* default OSLA_COMBINE_SUM */
  osla_combine_function *combine_function; /* of OSLA_COMBINE_USER, else NULL */
  void *combine_context;                   /* handed to it; borrowed */
  /* What H holds at first; NaN (default): 0, for MIN +infinity, for MAX -infinity. */
  double initial;
  bool order_independent; /* the same bits in any order, see above; default false */
  double bound;           /* then: of |H_ij| */
  double gradient_bound;  /* then: of the gradient's elements; 0 (default): no gradient */
} osla_hessian_options;

/* The defaults above: change what differs. Local. */
osla_hessian_options osla_hessian_defaults(void);

/* Makes an accumulator of order n on a grid; H = 0. Collective. The grid is borrowed.
 *   options [in] NULL = defaults; the same on all ranks
 * Errors, on all ranks together: ARG, UNSUPPORTED (complex), MEM (checked before allocation), RANGE
 * (several nodes and no progress hook left, see osla_transport.h), MPI. */
osla_err osla_hessian_create(osla_grid *grid, int64_t n, const osla_hessian_options *options,
                             osla_hessian **out);

/* Collective. Accepts NULL and nulls the handle; the matrix goes with it. No commit is needed. */
void osla_hessian_destroy(osla_hessian **hessian);

/* H[ix, ix] += G^T G. Local, thread-safe. On return the caller's arrays may be reused.
 *   count [in] number of indices, >= 0
 *   ix    [in] [count] indices in 0 .. n-1, in any order; an index that occurs twice gets both
 *              contributions, as in the sum over all pairs
 *   k     [in] rows of G (data), >= 0
 *   g     [in] k x count, column-major, leading dimension ldg >= max(1, k); column a belongs to
 *              ix[a]. Not checked for NaN
 * Errors: ARG (index out of range, with place and value: then nothing is added); MEM, MPI (then a
 * part of the update may have been added). */
osla_err osla_hessian_update(osla_hessian *hessian, int64_t count, const int64_t *ix, int64_t k,
                             const void *g, int64_t ldg);

/* H[ix, jx] += U, restricted to the stored triangle: elements of U whose (ix, jx) lies in the other
 * one are ignored. So a symmetric U with jx = ix is added once. Local, thread-safe.
 *   u [in] rows x cols, column-major, leading dimension ldu >= max(1, rows) */
osla_err osla_hessian_update_block(osla_hessian *hessian, int64_t rows, const int64_t *ix,
                                   int64_t cols, const int64_t *jx, const void *u, int64_t ldu);

/* g[ix] += values. The gradient is a double vector of order n, replicated on each rank and summed
 * over the ranks at commit. Local, thread-safe. Errors: ARG. */
osla_err osla_hessian_update_gradient(osla_hessian *hessian, int64_t count, const int64_t *ix,
                                      const double *values);

/* Waits until the updates of all ranks are in H and in the gradient. Collective; every rank's
 * threads must have returned from update. May be called again, and more updates may follow.
 * Errors: MPI. */
osla_err osla_hessian_commit(osla_hessian *hessian);

/* The matrix itself, to be factored in place; borrowed. Call after commit. Only the stored triangle
 * is meaningful. A rank that updates again changes the parts of other ranks at once: first let all
 * ranks finish with the matrix (a collective kernel, or osla_barrier). Local. Errors: STATE
 * (updates of this rank since the last commit). */
osla_err osla_hessian_matrix(osla_hessian *hessian, osla_matrix **out);

/* The summed gradient [n], the same on all ranks, valid until the next commit; borrowed. Local. */
const double *osla_hessian_gradient(const osla_hessian *hessian);

/* H := 0 and gradient := 0, for another iteration. Collective. Errors: STATE, MPI. */
osla_err osla_hessian_reset(osla_hessian *hessian);

/* What this rank did since create or reset: for reports. Local; no update may be running. */
typedef struct osla_hessian_stats {
  int64_t updates;        /* calls of update and update_block that had something to add */
  int64_t elements;       /* elements added to H by them */
  int64_t bytes_sent;     /* to other nodes */
  double seconds_split;   /* sorting indices by owner, gathering columns of G */
  double seconds_product; /* G^T G */
  double seconds_add;     /* waiting for locks and adding on the node */
  double seconds_send;    /* packing, waiting for room, sending to other nodes */
} osla_hessian_stats;
osla_hessian_stats osla_hessian_get_stats(osla_hessian *hessian);

#ifdef __cplusplus
}
#endif
#endif
