/* The Hessian accumulator: thousands of asynchronous indexed updates of a distributed symmetric
 * matrix, H[ix, ix] += G^T G, then a commit, then the matrix itself, in place (floor 3).
 *
 * Source: French, Zheng, Romanowicz, Yelick, "Parallel Hessian Assembly for Seismic Waveform
 * Inversion Using Global Updates" (IPDPS 2015), sections II.B and III: update / commit / local
 * data.
 *
 * Model. H has order n. It is symmetric, and one triangle is stored in a block-cyclic osla_matrix;
 * or, with OSLA_GENERAL, it is any square matrix, and all of it is stored. Every update is split
 * into its parts by owner; a part is the dense block of the owner's rows and columns among ix,
 * restricted to the triangle. Updates commute; those of all ranks and threads between two commits
 * are combined: summed, or what options.combine says. What the matrix holds before a commit returns
 * is not defined. The gradient is always summed.
 *
 * Types. G and U are of H's type, or float where H is double: then products G^T G are computed in
 * float, and added in double. An update that is ready (U)
 * is added from the caller's array to owners on the node, without a copy. NaN and infinite values
 * are added like others; MIN and MAX leave NaN out.
 *
 * Order-independent mode (options.order_independent; sums into double). Every element is a sum of
 * whole multiples of 2^-s, in the 8 bytes of the double; s is the largest with bound 2^s <= 2^51.
 * - Matrix and gradient have the same bits for any number of ranks and threads, any grid, block
 *   size, piece_bytes and share of the updates between ranks, any order of arrival, and any number
 *   of commits, if the updates are the same (with an index list in the same order) and the BLAS
 *   computes a product of given shape alike: the same library, on processors of one kind, with
 *   one number of BLAS threads.
 * - Each contribution (an element of U or of one G^T G) is rounded to the nearest multiple, so that
 *   its error is at most bound 2^-51, beside the rounding of the product itself; sums are exact.
 * - The caller promises |contribution| <= bound, |H_ij| <= bound at each commit with some room for
 *   rounding, and partial sums below 2^11 bound in any order. A promise that is not kept, and NaN
 *   or infinity, make the commit fail on all ranks with RANGE and the element in question; then the
 *   matrix is refused until a reset.
 * - What a program writes to the matrix after a commit is rounded alike before more is added. Not
 *   so after create or reset: that is reported as out of bound. Start from options.initial instead.
 *
 * Isolation. The part of one update for one owner is added as a whole (OSLA_ISOLATE_UPDATE): under
 * one hold of the owner's locks, one lock for each block column that it touches, also when its
 * values need several pieces or messages. So of two updates that meet in some block columns of an
 * owner, one is added there before the other, and who holds these locks sees each of them wholly or
 * not at all. The parts of one update for different owners are added at different times. With
 * OSLA_ISOLATE_ELEMENT no addition is lost, but parts may interleave; locks are held for one block
 * column, or one message, at a time, so that threads and ranks which update the same columns wait
 * less for one another. (In the order-independent mode an update with G whose products exceed
 * piece_bytes is added as several.)
 *
 * Progress. On the node the updating rank itself adds to the owner's memory; the owner does
 * nothing. Off the node the update waits in a ring of the updating rank's memory until any rank of
 * the owner's node gets it and adds it. Both sides' part of that is done in progress steps, which
 * never wait: in any call that waits on this transport, in update calls, in osla_progress or in the
 * transport's progress thread. Small updates that wait for one node travel together. A full ring
 * makes the update call wait, never fail. A rank that has begun to add an update of another node's
 * and makes no progress may keep the owner's locks, and its neighbours' updates wait for it.
 *
 * What travels is a part's values, or, where these are more, the columns of G, which the owner then
 * multiplies (options.shipping).
 *
 * Sums of a node. With options.node_sums a node holds an array for each part of H that lies on
 * other nodes, divided among its ranks. Updates are added there as on the node, and what was summed
 * travels once, at the commit (or checkpoint): at most one H from each node, however many updates
 * there were. It pays when the updates between two commits have more elements than H, and there is
 * memory for the part of H that a rank hosts (within memory_cap). Not with the order-independent
 * mode, a function of the user's, or float updates of a double H.
 *
 * Threads. update, update_block, update_gradient, update_once may be called by many threads at once
 * (MPI_THREAD_SERIALIZED suffices, see osla_transport.h), also beside a checkpoint (which makes a
 * matrix: MPI_THREAD_MULTIPLE); all other calls by one.
 *
 * Memory per rank above the matrix and two vectors of order n for the gradient: ring_bytes if there
 * are several nodes (at least 64 KiB, and 128 KiB for each of up to 4 ranks of other nodes), and
 * some 20 bytes for each rank and 250 for each node; and for each thread that updates, kept for its
 * next update, 2 k n elements for G, n^2 elements of values but at most piece_bytes, and 96 bytes
 * for each index; in the order-independent mode also as much again for products, and 4 vectors of
 * order n.
 * With memory_cap all of this together stays below that many bytes: the rings get at most half of
 * it, pieces at most an eighth, and a thread that finds no room for its update waits for others'.
 * An update that would never fit, and a cap below what the rings need, are errors that say how much
 * is needed. stats.bytes_peak is the most that was in use.
 * Beside the cap: about 16 bytes for each id (update_once), and a second H during a checkpoint.
 *
 * Each datum once. Updates may carry ids. A checkpoint writes the sums and the ids of the updates
 * that are in them; a job that was killed goes on from there, on any number of ranks, and what is
 * in is skipped.
 *
 * Part: stable (osla.h).
 */
#ifndef OSLA_HESSIAN_H
#define OSLA_HESSIAN_H

#include "osla_api.h"
#include "osla_matrix.h"
#include "osla_shape.h"
#include <stdbool.h>

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

/* What an update does to an element of H: adds to it, or leaves the smaller or the larger of the
 * two, or what a function of the user's makes of them. */
typedef enum osla_combine {
  OSLA_COMBINE_SUM,
  OSLA_COMBINE_MIN, /* without NaN */
  OSLA_COMBINE_MAX, /* without NaN */
  OSLA_COMBINE_USER /* options.combine_function */
} osla_combine;

/* inout[i] := inout[i] combined with in[i], i = 0 .. count - 1, elements of H's type; associative
 * and commutative, the same on all ranks. Called under an owner's locks, by any thread of any rank
 * (each process calls its own): it must be short and must not call this library. */
typedef void osla_combine_function(int64_t count, void *inout, const void *in, void *context);

typedef struct osla_hessian_options {
  osla_uplo uplo;       /* stored triangle, or OSLA_GENERAL: the whole matrix; 0: OSLA_LOWER */
  bool single;          /* H is of OSLA_FLOAT, else of OSLA_DOUBLE */
  bool single_updates;  /* G and U are of OSLA_FLOAT, else of H's type */
  int64_t nb;           /* block size of the matrix; 0: OSLA_DEFAULT_BLOCK */
  size_t ring_bytes;    /* room for other nodes' updates on each rank; 0: 64 MiB */
  size_t piece_bytes;   /* values that are computed and added at a time; 0: 64 MiB */
  osla_combine combine; /* 0: OSLA_COMBINE_SUM */
  osla_combine_function *combine_function; /* of OSLA_COMBINE_USER, else NULL */
  void *combine_context;                   /* handed to it; borrowed */
  double initial; /* what H holds at first; 0: 0, but for MIN +infinity, for MAX -infinity */
  bool from_zero; /* MIN, MAX: H holds 0 at first; with initial = 0 */
  bool order_independent;   /* the same bits in any order, see above */
  double bound;             /* then: of |H_ij| */
  double gradient_bound;    /* then: of the gradient's elements; 0: no gradient */
  size_t memory_cap;        /* bytes of each rank, see above; 0: no cap */
  osla_isolation isolation; /* 0: OSLA_ISOLATE_UPDATE */
  osla_shipping shipping;   /* 0: OSLA_SHIP_LESS */
  bool node_sums;        /* a node sums what it adds to other nodes' parts of H, and sends the sums
                            at the commit, see above */
  bool checkpoint_holds; /* checkpoints copy nothing, updates wait for the disk */
  uint64_t reserved[8];  /* 0: osla_types.h */
} osla_hessian_options;

/* Makes an accumulator of order n on a grid; H = options.initial. Collective. The grid is borrowed.
 *   options [in] NULL = defaults; the same on all ranks, but for piece_bytes and combine_context
 * Errors, on all ranks together: ARG, UNSUPPORTED (order-independent
 * mode for other than sums into double; node_sums as above), MEM (checked before allocation), RANGE
 * (several nodes and no progress hook left, see osla_transport.h), MPI. */
OSLA_API osla_err osla_hessian_create(osla_grid *grid, int64_t n,
                                      const osla_hessian_options *options, osla_hessian **out);

/* Collective. Accepts NULL and nulls the handle; the matrix goes with it. No commit is needed. */
OSLA_API void osla_hessian_destroy(osla_hessian **hessian);

/* H[ix, ix] += G^T G. Local, thread-safe. On return the caller's arrays may be reused.
 *   count [in] number of indices, >= 0
 *   ix    [in] [count] indices in 0 .. n-1, in any order; an index that occurs twice gets both
 *              contributions, as in the sum over all pairs
 *   k     [in] rows of G (data), >= 0
 *   g     [in] k x count, column-major, leading dimension ldg >= max(1, k); column a belongs to
 *              ix[a]. Not checked for NaN
 * Errors: ARG (index out of range, with position and value: then nothing is added); MEM, MPI (then
 * a part of the update may have been added). */
OSLA_API osla_err osla_hessian_update(osla_hessian *hessian, int64_t count, const int64_t *ix,
                                      int64_t k, const void *g, int64_t ldg);

/* H[ix, jx] += U, restricted to the stored triangle: elements of U whose (ix, jx) lies in the other
 * one are ignored. So a symmetric U with jx = ix is added once. With OSLA_GENERAL all of U is.
 * Local, thread-safe. u [in] rows x cols, column-major, leading dimension ldu >= max(1, rows) */
OSLA_API osla_err osla_hessian_update_block(osla_hessian *hessian, int64_t rows, const int64_t *ix,
                                            int64_t cols, const int64_t *jx, const void *u,
                                            int64_t ldu);

/* g[ix] += values. The gradient is a double vector of order n, replicated on each rank and summed
 * over the ranks at commit. Local, thread-safe. Errors: ARG, STATE (order-independent mode without
 * gradient_bound). */
OSLA_API osla_err osla_hessian_update_gradient(osla_hessian *hessian, int64_t count,
                                               const int64_t *ix, const double *values);

/* --- each datum once ------------------------------------------------------------------------ */

/* All that one datum adds. Unused parts are zero; ix serves them all. */
typedef struct osla_hessian_datum {
  uint64_t id;       /* any number */
  int64_t count;     /* indices */
  const int64_t *ix; /* [count] */
  int64_t k;         /* H[ix, ix] += G^T G, as osla_hessian_update; g = NULL: none */
  const void *g;
  int64_t ldg;
  int64_t cols;      /* H[ix, jx] += U, as osla_hessian_update_block; u = NULL: none */
  const int64_t *jx; /* [cols] */
  const void *u;
  int64_t ldu;
  const double *gradient; /* [count] gradient[ix] += these; NULL: none */
} osla_hessian_datum;

/* Adds a datum, unless its id is in already: added on this rank since create or reset, or on any
 * rank before the checkpoint that was restored. Local, thread-safe; two threads with one id add it
 * once. The same id on two ranks of one run is the caller's error: both are added, and a restore
 * refuses a checkpoint that has them. On return the caller's arrays may be reused. Memory: about 16
 * bytes for each id that this rank knows, beside memory_cap.
 *   skipped [out] NULL, or: the id was in, nothing was done
 * Errors: as those of the parts. After ARG, STATE, and MEM for the ledger, nothing was added and
 * the id is not in. After another error a part may have been added; then there are no more
 * checkpoints until a reset. */
OSLA_API osla_err osla_hessian_update_once(osla_hessian *hessian, const osla_hessian_datum *datum,
                                           bool *skipped);

/* Is that id in, as far as this rank knows? To spare the work of making the datum. Local,
 * thread-safe. */
OSLA_API bool osla_hessian_has_id(osla_hessian *hessian, uint64_t id);

/* Writes matrix, gradient and ids to a file that osla_hessian_restore reads, on any number of
 * ranks. Collective, by one thread of each rank, while others may go on calling update (then MPI
 * needs MPI_THREAD_MULTIPLE, see osla_transport.h). New updates wait from the time when their own
 * rank has come here until all ranks have copied their parts of H in memory; if there is no memory
 * for a second H (beside memory_cap), or with options.checkpoint_holds, until the file is written.
 * The file has exactly the ids whose updates are in its matrix. Updates without an id that returned
 * before this call began are in, too: the caller must know not to repeat them. It is no commit:
 * the sums go on as if it had not been called. In order-independent mode the whole numbers are
 * written, and the ids in ascending order, so that equal sums of equal data have equal bits in the
 * file, and a job which goes on from there ends with the same bits; then H must not have been
 * overwritten since a commit (by its factors), and each rank needs 8 bytes for each id of all ranks
 * while it is written.
 * The file appears all at once (osla_file.h): a job that is killed meanwhile leaves the former one.
 *   path [in] HDF5 file, the same on all ranks; replaced
 *   job  [in] a text of at most 1023 bytes that a restore must know, the same on all ranks;
 *             NULL: ""
 * Errors, on all ranks together: those of osla_file.h (the accumulator is as good as before, and
 * the next checkpoint may succeed), STATE (an update failed halfway), RANGE (order-independent
 * mode: the next commit will fail, too), MEM, ARG. */
OSLA_API osla_err osla_hessian_checkpoint(osla_hessian *hessian, const char *path, const char *job);

/* Brings an accumulator that is fresh (or reset) to the state of a checkpoint; updates whose ids
 * are in the file are skipped from then on. Ranks, grid and block size may be others than those of
 * the job that wrote it. Collective; no update may be running. A commit must follow before matrix
 * and gradient are asked for.
 *   job [in] as it was given to osla_hessian_checkpoint
 * Errors, on all ranks together: STATE (not fresh), IO for a file that is missing, foreign,
 * truncated or changed, or of another order, type, triangle, operation, initial value, mode, bound
 * or job; MEM. After an error the accumulator is as after a reset. */
OSLA_API osla_err osla_hessian_restore(osla_hessian *hessian, const char *path, const char *job);

/* Waits until the updates of all ranks are in H and in the gradient. Collective; every rank's
 * threads must have returned from update. May be called again, and more updates may follow.
 * Errors: MPI; on all ranks together RANGE (order-independent mode), MEM. */
OSLA_API osla_err osla_hessian_commit(osla_hessian *hessian);

/* The matrix itself, to be factored in place; borrowed. Call after commit. Only the stored triangle
 * is meaningful. A rank that updates again changes the parts of other ranks at once: first let all
 * ranks finish with the matrix (a collective kernel, or osla_barrier). Local. Errors: STATE
 * (updates of this rank since the last commit), RANGE (the commit failed with it). */
OSLA_API osla_err osla_hessian_matrix(osla_hessian *hessian, osla_matrix **out);

/* The summed gradient [n], the same on all ranks, valid until the next commit; borrowed. Local. */
OSLA_API const double *osla_hessian_gradient(const osla_hessian *hessian);

/* H := options.initial and gradient := 0, and no ids, for another iteration. Collective. Errors:
 * STATE, MPI. */
OSLA_API osla_err osla_hessian_reset(osla_hessian *hessian);

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
  int64_t ids_skipped;    /* calls of update_once whose id was in */
  int64_t ids_restored;   /* ids that osla_hessian_restore brought */
} osla_hessian_stats;
OSLA_API osla_hessian_stats osla_hessian_get_stats(osla_hessian *hessian);

/* Bytes that it takes beside the matrix, with default options, before the first update. Local,
 * pure. */
OSLA_API uint64_t osla_hessian_memory(const osla_shape *shape);

#ifdef __cplusplus
}
#endif
#endif
