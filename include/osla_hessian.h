/* Hessian accumulator: asynchronous indexed updates of a distributed symmetric matrix, H[ix, ix] +=
 * G^T G, then a commit, then the matrix itself for use in place (layer 3).
 *
 * Source: French, Zheng, Romanowicz, Yelick, "Parallel Hessian Assembly for Seismic Waveform
 * Inversion Using Global Updates" (IPDPS 2015), sections II.B and III.
 *
 * Model. H is a matrix of order n in a block-cyclic osla_matrix. It is symmetric and one triangle
 * is stored, or with OSLA_GENERAL it is a general square matrix. Every update is split into parts
 * by owner; a part is the dense block of the owner's rows and columns among ix, restricted to the
 * triangle. Updates commute. All updates of all ranks and threads between two commits are combined:
 * summed, or as options.combine says. Between an update and the next commit the contents of the
 * matrix are undefined. The gradient is always summed.
 *
 * Layout. H is a full matrix, of which one triangle is used, or a triangular matrix, which takes
 * about half the memory (options.triangle, or osla_hessian_create_on with a matrix of
 * osla_matrix_create_triangle). All options serve both layouts, and order-independent mode gives
 * the same bits in both. Only the lower triangle can be stored in this way, and only in host
 * memory.
 *
 * Types. G and U have H's type, or they have type float while H has type double. In that case
 * products G^T G are computed in float and added in double. A ready block (U) for an owner on the
 * node is added from the caller's array without a copy. NaN and infinite values are added like
 * others; MIN and MAX ignore NaN.
 *
 * Order-independent mode (options.order_independent; sums into double). Every element is a sum of
 * whole multiples of 2^-s, stored in the 8 bytes of the double; s is the largest integer with bound
 * 2^s <= 2^51.
 * - Matrix and gradient have the same bits for any number of ranks and threads, any grid, block
 *   size, piece_bytes and distribution of the updates over ranks, any order of arrival, and any
 *   number of commits. Conditions: equal updates (with equally ordered index lists), and a BLAS
 *   that computes a product of given shape identically: the same library on processors of one kind
 *   with the same number of BLAS threads.
 * - Each contribution (an element of U or of one G^T G) is rounded to the nearest multiple, with an
 *   error of at most bound 2^-51 besides the rounding of the product itself; sums are exact.
 * - The caller guarantees |contribution| <= bound, |H_ij| <= bound at each commit with some room
 *   for rounding, and partial sums below 2^11 bound in any order. If this fails, or a value is NaN
 *   or infinite, the commit fails on all ranks with RANGE and names the element; the matrix is then
 *   refused until a reset.
 * - Values that a program writes to the matrix after a commit are rounded in the same way before
 *   more is added. Values that a program writes after create or reset, before the first commit, are
 *   reported as out of bound; set options.initial instead.
 *
 * Isolation. With OSLA_ISOLATE_UPDATE the part of one update for one owner is added as a whole:
 * while it is added, one thread holds the locks of all block columns of the owner that the update
 * touches, even if the values need several pieces or messages. So if two updates share block
 * columns of an owner, one is added before the other, and a holder of these locks sees each update
 * completely or not at all. The parts of one update for different owners are added at different
 * times. With OSLA_ISOLATE_ELEMENT no addition is lost, but parts may interleave; locks are held
 * for one block column or one message at a time, so that threads and ranks that update the same
 * columns wait less. (In order-independent mode an update with G whose products exceed piece_bytes
 * is added as several updates.)
 *
 * Progress. On a node the updating rank itself adds to the owner's memory; the owner does nothing.
 * For another node the update waits in a ring in the updating rank's memory until a rank of the
 * owner's node fetches and adds it. Both sides work in progress steps that never wait: in every
 * call that waits on this transport, in update calls, in osla_progress, or in the transport's
 * progress thread. Small updates for one node travel together. A full ring makes the update call
 * wait, never fail. A rank that has begun to add another node's update and then makes no progress
 * may keep the owner's locks. Then updates of the ranks on the owner's node wait for that rank.
 *
 * Shipping. For an update with G another node gets the values of the part, or the columns of G if
 * these take less time. A receiver of columns computes the product itself (options.shipping).
 *
 * Node sums. With options.node_sums a node holds an array for each part of H on other nodes,
 * distributed over its ranks. Updates are added to this array as to parts on the node, and the sums
 * are sent once, at the commit or checkpoint: at most one H per node, whatever the number of
 * updates. This pays if the updates between two commits have more elements than H, and if each rank
 * has memory for its share of H (within memory_cap). Node sums cannot be combined with
 * order-independent mode, user functions, and float updates of a double H.
 *
 * Threads. update, update_block, update_gradient and update_once may be called by several threads
 * at once (MPI_THREAD_SERIALIZED suffices, see osla_transport.h), also during a checkpoint (which
 * creates a matrix: MPI_THREAD_MULTIPLE). All other calls are made by one thread.
 *
 * Memory per rank, besides the matrix and two vectors of order n for the gradient: with several
 * nodes, the ring of ring_bytes (at least 64 KiB, plus 128 KiB for each of up to 4 ranks of other
 * nodes), and about 20 bytes per rank and 250 per node. Each updating thread needs 2 k n elements
 * for G, n^2 elements of values but at most piece_bytes, and 96 bytes per index, cached for its
 * next update; in order-independent mode as much again for products, and 4 vectors of order n. With
 * memory_cap the sum stays below that many bytes: rings get at most half of it, pieces at most an
 * eighth, and a thread that finds no room waits for other threads. An update that can never fit,
 * and a cap below the needs of the rings, are errors whose text gives the bytes that are needed.
 * stats.bytes_peak is the largest number of bytes in use. For a matrix on a device, the memory for
 * G, values and products lies on the device and counts, too; a thread may also need a copy of G on
 * the device and values in host memory. The cap does not cover about 16 bytes per id (update_once)
 * and a second H during a checkpoint.
 *
 * Ids. Updates may carry ids. A checkpoint writes the sums and the ids of the updates in them. A
 * job that was killed continues from there, on any number of ranks, and skips updates that are
 * already included.
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

/* Unit that is added as a whole: an update or an element (section "Isolation" of the head). */
typedef enum osla_isolation { OSLA_ISOLATE_UPDATE, OSLA_ISOLATE_ELEMENT } osla_isolation;

/* Data sent to another node for an update with G: values or columns of G, whichever takes less time
 * including the receiver's work; always values; or columns of G whenever they fit into a message (4
 * MiB, less with small rings). */
typedef enum osla_shipping { OSLA_SHIP_LESS, OSLA_SHIP_VALUES, OSLA_SHIP_FACTORS } osla_shipping;

/* Operation of an update on an element of H: add, keep the smaller or the larger value, or call a
 * user function. */
typedef enum osla_combine {
  OSLA_COMBINE_SUM,
  OSLA_COMBINE_MIN, /* keeps the smaller value; ignores NaN */
  OSLA_COMBINE_MAX, /* keeps the larger value; ignores NaN */
  OSLA_COMBINE_USER /* calls options.combine_function */
} osla_combine;

/* Combines: inout[i] := op(inout[i], in[i]) for i = 0 .. count - 1, elements of H's type. op is
 * associative and commutative, and equal on all ranks. Any thread of any rank calls the function
 * while it holds locks of an owner (each process calls its own function). Therefore the function
 * must be short and must not call this library. */
typedef void osla_combine_function(int64_t count, void *inout, const void *in, void *context);

typedef struct osla_hessian_options {
  osla_uplo uplo;      /* stored triangle; OSLA_GENERAL: the whole matrix; 0: OSLA_LOWER */
  bool single;         /* true: H has type OSLA_FLOAT; false: OSLA_DOUBLE */
  bool single_updates; /* true: G and U have type OSLA_FLOAT; false: H's type */
  int64_t nb;          /* block size of the matrix; 0: OSLA_DEFAULT_BLOCK */
  size_t ring_bytes;   /* bytes per rank of the ring for updates to other nodes; 0: 64 MiB */
  /* largest number of bytes of values that are computed and added at a time; 0: 64 MiB */
  size_t piece_bytes;
  osla_combine combine; /* operation of an update on an element; 0: OSLA_COMBINE_SUM */
  /* the user's function for OSLA_COMBINE_USER; otherwise NULL */
  osla_combine_function *combine_function;
  void *combine_context; /* last argument of combine_function; borrowed */
  /* first value of every element of H; 0: +infinity for MIN, -infinity for MAX, else 0 */
  double initial;
  /* true: with MIN and MAX the first value is 0, not an infinity; requires initial = 0 */
  bool from_zero;
  /* true: the bits of the result do not depend on the order of updates (head of this file) */
  bool order_independent;
  double bound; /* order-independent mode: bound of |H_ij| */
  /* order-independent mode: bound of the gradient's elements; 0: no gradient */
  double gradient_bound;
  /* largest number of bytes that the accumulator may use on a rank (head of this file); 0: no
   * limit */
  size_t memory_cap;
  osla_isolation isolation; /* 0: OSLA_ISOLATE_UPDATE */
  osla_shipping shipping;   /* 0: OSLA_SHIP_LESS */
  /* true: a node sums updates for parts of H that some of its ranks cannot access, until the commit
   * ("Node sums" in the head) */
  bool node_sums;
  /* true if checkpoints make no copy of H, and updates therefore wait until the file is written. If
   * H lies on a device, a checkpoint copies H to host memory in any case. */
  bool checkpoint_holds;
  /* true if osla_hessian_create_on first sets the stored triangle of the matrix to `initial`; false
   * if the updates are added to its contents. osla_hessian_create always sets the
   * triangle to `initial`. */
  bool clear;
  /* 1: osla_hessian_create makes H by osla_matrix_create_triangle, in about half the memory;
   * requires uplo = OSLA_LOWER. 0: H is a full matrix. */
  int64_t triangle;
  uint64_t reserved[7]; /* must be 0 (osla_types.h) */
} osla_hessian_options;

/* Creates an accumulator of order n on a grid with H = options.initial. Collective. The grid is
 * borrowed.
 *   options [in] NULL: defaults; equal on all ranks except piece_bytes and combine_context
 * Errors, on all ranks together: ARG; UNSUPPORTED (order-independent mode for anything but sums
 * into double; excluded options with node_sums); MEM (checked before allocation); RANGE (several
 * nodes and no progress hook left, see osla_transport.h); MPI. */
OSLA_API osla_err osla_hessian_create(osla_grid *grid, int64_t n,
                                      const osla_hessian_options *options, osla_hessian **out);

/* Creates an accumulator that adds to the matrix of the caller: H := H + updates, or, with
 * options.clear, H := updates. Collective. The matrix must be square with square blocks, of type
 * OSLA_DOUBLE or OSLA_FLOAT, on any grid. It may have been made by any call of osla_matrix.h, also
 * by osla_matrix_wrap or osla_matrix_wrap_own from memory of ScaLAPACK, Global Arrays or numpy, and
 * by osla_matrix_create_triangle. It must outlive the accumulator, which does not destroy it. From
 * create_on to the commit only the accumulator may access the stored triangle; the other triangle
 * is neither read nor written.
 *
 * If other ranks of a node cannot access the owner's memory (osla_matrix_wrap), every update for
 * another rank is sent to the owner, on one node, too, and the owner adds it. So each owner must
 * make progress (section "Progress"), and each rank needs rings and receive buffers, as if it were
 * a node of its own (section "Memory"). With options.node_sums the ranks of a node add to arrays in
 * shared memory instead, at most one H for each node, and the owner adds them to the matrix at the
 * commit.
 *
 * The matrix may lie on a device (osla_matrix_create_on), which then computes the additions. The
 * arrays G and U of an update lie in host memory or on the device of the matrix (in memory that
 * this library has allocated, or that the program has registered by osla_device_register). All
 * other arrays lie in host memory. doc/devices.md has the rules for matrices on devices.
 *   options [in] as in osla_hessian_create, except that nb is 0 or the block size of the matrix,
 *                that the matrix determines `single` and `triangle`, and that initial and
 *                from_zero require clear.
 *                In order-independent mode the contents of the matrix are converted to fixed point,
 *                so elements beyond the bound are an error.
 *                osla_hessian_reset and osla_hessian_restore replace the former contents;
 *                checkpoint and restore include both triangles of a full matrix, and are
 *                UNSUPPORTED for a matrix of osla_matrix_wrap_own on several ranks
 * Errors, on all ranks together; the matrix is unchanged: those of osla_hessian_create; ARG (the
 * matrix is not square, has blocks that are not square, lies in read-only memory, or differs from
 * the options); UNSUPPORTED (a complex matrix; OSLA_COMBINE_USER for a matrix on a device; a device
 * whose plug-in was compiled without nvcc and therefore has no kernels); RANGE (an element beyond
 * the bound); STATE (another accumulator adds to this memory). */
OSLA_API osla_err osla_hessian_create_on(osla_matrix *matrix, const osla_hessian_options *options,
                                         osla_hessian **out);

/* Destroys the accumulator, and its matrix if osla_hessian_create made it; sets the handle to NULL.
 * Accepts NULL. Collective. No commit is needed; without it the contents of a matrix of the caller
 * are undefined. */
OSLA_API void osla_hessian_destroy(osla_hessian **hessian);

/* H[ix, ix] += G^T G. Local, thread-safe. The caller's arrays may be reused on return.
 *   count [in] number of indices, >= 0
 *   ix    [in] [count] indices in 0 .. n-1, in any order; an index that occurs twice gets both
 *              contributions, as in the sum over all pairs
 *   k     [in] rows of G (data), >= 0
 *   g     [in] k x count, column-major, leading dimension ldg >= max(1, k); column a belongs to
 *              ix[a]; not checked for NaN
 * Errors: ARG (index out of range, with position and value; a matrix G on another device than H, in
 * device memory of another rank, or in device memory that is not registered; nothing was added);
 * MEM, MPI (a part of the update may have been added). */
OSLA_API osla_err osla_hessian_update(osla_hessian *hessian, int64_t count, const int64_t *ix,
                                      int64_t k, const void *g, int64_t ldg);

/* H[ix, jx] += U, restricted to the stored triangle: elements of U whose (ix, jx) lies in the other
 * triangle are ignored, so a symmetric U with jx = ix is added once. With OSLA_GENERAL all of U is
 * added. Local, thread-safe.
 *   u [in] rows x cols, column-major, leading dimension ldu >= max(1, rows) */
OSLA_API osla_err osla_hessian_update_block(osla_hessian *hessian, int64_t rows, const int64_t *ix,
                                            int64_t cols, const int64_t *jx, const void *u,
                                            int64_t ldu);

/* gradient[ix] += values. The gradient is a double vector of order n, replicated on each rank and
 * summed over the ranks at commit. Local, thread-safe. Errors: ARG, STATE (order-independent mode
 * without gradient_bound). */
OSLA_API osla_err osla_hessian_update_gradient(osla_hessian *hessian, int64_t count,
                                               const int64_t *ix, const double *values);

/* --- updates with an id ----------------------------------------------------------------------- */

/* All updates of one datum. Members that are not used are zero; the indices ix belong to G, to the
 * rows of U, and to the gradient. */
typedef struct osla_hessian_datum {
  uint64_t id;       /* number that identifies the datum; any value */
  int64_t count;     /* number of indices in ix */
  const int64_t *ix; /* [count] row and column indices of H */
  int64_t k;         /* rows of G for H[ix, ix] += G^T G (osla_hessian_update); g = NULL: none */
  const void *g;
  int64_t ldg;
  /* columns of U for H[ix, jx] += U (osla_hessian_update_block); u = NULL: none */
  int64_t cols;
  const int64_t *jx; /* [cols] column indices of H */
  const void *u;
  int64_t ldu;
  const double *gradient; /* [count] added to gradient[ix]; NULL: none */
} osla_hessian_datum;

/* Adds a datum, unless its id is known: added on this rank since create or reset, or on any rank
 * before the restored checkpoint. Local, thread-safe; two threads with one id add it once. The same
 * id on two ranks of one run is the caller's error: both data are added, and restore refuses a
 * checkpoint with them. The caller's arrays may be reused on return. Memory: about 16 bytes per id
 * that this rank knows, not counted in memory_cap.
 *   skipped [out] set to true if the id was known and nothing was done; may be NULL
 * Errors: those of the updates. After ARG, STATE, and MEM for the list of ids, nothing was added
 * and the id is not known. After other errors a part may have been added; then checkpoints fail
 * until a reset. */
OSLA_API osla_err osla_hessian_update_once(osla_hessian *hessian, const osla_hessian_datum *datum,
                                           bool *skipped);

/* Returns whether this rank knows the id, so that the caller can avoid computing the datum. Local,
 * thread-safe. */
OSLA_API bool osla_hessian_has_id(osla_hessian *hessian, uint64_t id);

/* Writes matrix, gradient and ids to a file that osla_hessian_restore reads on any number of ranks.
 * Collective, by one thread of each rank; other threads may go on calling update (then MPI needs
 * MPI_THREAD_MULTIPLE, see osla_transport.h). New updates wait from this call until all ranks have
 * copied their parts of H in memory. Without memory for a second H (not counted in memory_cap), or
 * with options.checkpoint_holds, they wait until the file is written. The file has exactly the ids
 * whose updates are in its matrix. Updates without an id that returned before this call are
 * included, too: the caller must not repeat them. A checkpoint is no commit: the sums go on as if
 * it had not been called. In order-independent mode fixed-point numbers are written, and the ids in
 * ascending order. So equal sums of equal data give files of equal bits, and a restored job ends
 * with the same bits. Then H must not have been overwritten since a commit (for example by its
 * factors), and each rank needs 8 bytes for each id of all ranks during the call. The file is
 * replaced atomically (osla_file.h): a killed job leaves the former file. If H is triangular, the
 * file holds its lower triangle alone, in half of the bytes.
 *   path [in] HDF5 file, equal on all ranks; replaced
 *   job  [in] a text of at most 1023 bytes that a restore must pass, equal on all ranks; NULL: ""
 * Errors, on all ranks together: those of osla_file.h (the accumulator is intact, and the next
 * checkpoint may succeed), STATE (an update failed halfway), RANGE (order-independent mode: the
 * next commit will fail, too), MEM, ARG. */
OSLA_API osla_err osla_hessian_checkpoint(osla_hessian *hessian, const char *path, const char *job);

/* Sets a fresh (or reset) accumulator to the state of a checkpoint; updates whose ids are in the
 * file are skipped from then on. Ranks, grid, block size and layout of H may differ from those of
 * the job that wrote the file. Collective; no update may be running. A commit must follow before
 * matrix and gradient are used. job [in] text that was passed to osla_hessian_checkpoint Errors, on
 * all ranks together: STATE (not fresh); IO for a file that is missing, foreign, truncated or
 * changed, or that has another order, type, triangle, operation, initial value, mode, bound or job;
 * MEM. After an error the accumulator is reset. */
OSLA_API osla_err osla_hessian_restore(osla_hessian *hessian, const char *path, const char *job);

/* Waits until the updates of all ranks are in H and in the gradient. Collective; every thread must
 * have returned from update. More updates and commits may follow. Errors: MPI; on all ranks
 * together RANGE (order-independent mode), MEM. */
OSLA_API osla_err osla_hessian_commit(osla_hessian *hessian);

/* Returns the matrix itself, for example to factor it in place; borrowed. Call it after a commit.
 * Only the stored triangle is defined. Later updates of a rank change other ranks' parts at once,
 * so all ranks must have finished with the matrix before (by a collective kernel or osla_barrier).
 * Local. Errors: STATE (updates of this rank since the last commit), RANGE (the commit failed with
 * it). */
OSLA_API osla_err osla_hessian_matrix(osla_hessian *hessian, osla_matrix **out);

/* Returns the summed gradient [n], equal on all ranks and valid until the next commit; borrowed.
 * Local. */
OSLA_API const double *osla_hessian_gradient(const osla_hessian *hessian);

/* Sets H to options.initial and the gradient to 0, and forgets all ids. Collective. Errors: STATE,
 * MPI. */
OSLA_API osla_err osla_hessian_reset(osla_hessian *hessian);

/* Statistics of this rank since create or reset. Local; no update may be running. */
typedef struct osla_hessian_stats {
  /* number of calls of osla_hessian_update and osla_hessian_update_block that had something to
   * add */
  int64_t updates;
  int64_t elements; /* elements that update and update_block added to H */
  /* elements that update and update_block added to parts of H on other nodes */
  int64_t elements_sent;
  int64_t bytes_sent;     /* bytes sent to other nodes, including index lists and headers */
  int64_t bytes_received; /* bytes received from other nodes */
  int64_t transfers;      /* number of transfers that fetched updates of other nodes */
  /* largest number of bytes in use (head of this file); a reset sets it to the bytes still in
   * use */
  int64_t bytes_peak;
  double seconds_split;   /* seconds spent to sort indices by owner and to gather columns of G */
  double seconds_product; /* seconds spent in the products G^T G */
  double seconds_add;     /* seconds spent to wait for locks and to add on the node */
  /* seconds spent to pack updates for other nodes and to wait for room in the ring */
  double seconds_send;
  double seconds_apply; /* seconds spent to add updates that arrived from other nodes */
  int64_t ids_skipped;  /* calls of update_once that were skipped because the id was known */
  int64_t ids_restored; /* number of ids that osla_hessian_restore read */
} osla_hessian_stats;
OSLA_API osla_hessian_stats osla_hessian_get_stats(osla_hessian *hessian);

/* Returns the bytes that an accumulator with default options needs per rank besides the matrix,
 * before the first update. Local, pure. */
OSLA_API uint64_t osla_hessian_memory(const osla_shape *shape);

#ifdef __cplusplus
}
#endif
#endif
