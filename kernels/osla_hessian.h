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
 * Isolation. The part of one update for one owner is added as a whole (OSLA_ISOLATE_UPDATE): under
 * one hold of the owner's locks, one lock for each block column that it touches, also when its
 * values need several pieces or messages. So of two updates that meet in some block columns of an
 * owner, one is added there before the other, and who holds these locks sees each of them wholly or
 * not at all. The parts of one update for different owners are added at different times. With
 * OSLA_ISOLATE_ELEMENT no addition is lost, but parts may interleave; locks are held for one block
 * column, or one message, at a time, so that threads and ranks which update the same columns wait
 * less for one another.
 *
 * Progress. On the node the updating rank itself adds to the owner's memory; the owner does
 * nothing. Off the node the update waits in a ring of the updating rank's memory until the owner
 * gets it and adds it. Both sides' part of that is done in progress steps, which never wait: in any
 * waiting call of the library, in update calls, in osla_progress or in the transport's progress
 * thread. Small updates that wait for one owner travel together. A full ring makes the update call
 * wait, never fail. An update that is under way to a rank that makes no progress may keep that
 * rank's locks, and its neighbours' updates wait for it.
 *
 * What travels is a part's values, or, where these are more, the columns of G, which the owner then
 * multiplies (options.shipping).
 *
 * Threads. update, update_block, update_gradient may be called by many threads at once
 * (MPI_THREAD_SERIALIZED suffices, see osla_transport.h); all other calls by one.
 *
 * Memory per rank above the matrix and two vectors of order n for the gradient: ring_bytes if there
 * are several nodes (at least 64 KiB for each rank of another node and 128 KiB for each of up to 4
 * of them); and for each thread that updates, kept for its next update, 2 k n elements for G, n^2
 * elements of values but at most piece_bytes, and 96 bytes for each index.
 * With memory_cap all of this together stays below that many bytes: the rings get at most half of
 * it, pieces at most an eighth, and a thread that finds no room for its update waits for others'.
 * An update that would never fit, and a cap below what the rings need, are errors that say how much
 * is needed. stats.bytes_peak tells the most that was in use.
 */
#ifndef OSLA_HESSIAN_H
#define OSLA_HESSIAN_H

#include "osla_matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct osla_hessian osla_hessian;

/* What sees an update as a whole; see above. */
typedef enum osla_isolation { OSLA_ISOLATE_UPDATE, OSLA_ISOLATE_ELEMENT } osla_isolation;

/* What travels to another node for an update with G: what is less, counting the owner's work;
 * always the values; or the columns of G wherever they fit a message (4 MiB, less with small
 * rings). */
typedef enum osla_shipping { OSLA_SHIP_LESS, OSLA_SHIP_VALUES, OSLA_SHIP_FACTORS } osla_shipping;

typedef struct osla_hessian_options {
  osla_uplo uplo;           /* stored triangle; default OSLA_LOWER */
  osla_dtype dtype;         /* OSLA_FLOAT or OSLA_DOUBLE, of H, G and U; default OSLA_DOUBLE */
  int64_t nb;               /* block size of the matrix; default 128 */
  size_t ring_bytes;        /* room for other nodes' updates on each rank; default 64 MiB */
  size_t piece_bytes;       /* values that are computed and added at a time; default 64 MiB */
  size_t memory_cap;        /* bytes of each rank, see above; default 0: no cap */
  osla_isolation isolation; /* default OSLA_ISOLATE_UPDATE */
  osla_shipping shipping;   /* default OSLA_SHIP_LESS */
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
  int64_t elements_sent;  /* of them, those for other nodes */
  int64_t bytes_sent;     /* to other nodes, with all lists and heads */
  int64_t bytes_received; /* from other nodes */
  int64_t transfers;      /* in which these came */
  int64_t bytes_peak;     /* most memory in use, see above; reset to what is still kept */
  double seconds_split;   /* sorting indices by owner, gathering columns of G */
  double seconds_product; /* G^T G */
  double seconds_add;     /* waiting for locks and adding on the node */
  double seconds_send;    /* packing for other nodes, waiting for room */
  double seconds_apply;   /* adding what came from other nodes */
} osla_hessian_stats;
osla_hessian_stats osla_hessian_get_stats(osla_hessian *hessian);

#ifdef __cplusplus
}
#endif
#endif
