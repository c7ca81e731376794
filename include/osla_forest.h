/* Star forests: irregular communication that is described once and used often (layer 3).
 *
 * A star is a root vertex and the leaves that are joined to it. A forest is many stars, whose roots
 * and leaves lie on the ranks of a transport (Zhang et al., The PetscSF Scalable Communication
 * Layer, IEEE TPDS 2022, section 3; "the paper" below). Each rank names, for each of its leaves,
 * the root that the leaf is joined to. A rank need not know which leaves are joined to its roots.
 *
 * A vertex holds a *unit*: some numbers of one type, or bytes. All ranks use the same unit. The
 * values of a rank's roots are one array of units, and the values of its leaves are another. The
 * caller owns both arrays. Values in memory of osla_vertices_create are read in place by the ranks
 * of the node, by one load and one store, and without a message. If a broadcast or reduction moves
 * at most 512 bytes from one rank to another, the owner copies these values into a buffer of the
 * reader instead. Values in other memory are always copied through such a buffer. Ranks may use
 * different kinds of memory.
 *
 * Values may lie on a device (osla_device.h), in memory of osla_vertices_create_on, in the memory
 * of a segment or matrix, or in memory that the program has allocated there and has registered
 * (osla_device_register). Devices of the node read values in memory of osla_vertices_create_on in
 * place. The roots may lie on a device while the leaves lie in host memory, and vice versa. No call
 * has an argument for the kind of memory, because each call finds the kind from the address, which
 * costs nothing if no device is open. A transfer reads the values that result from all work that
 * the rank queued on the device before the begin. Work that the rank queues on the device after the
 * end, and later copies to host memory, see the transferred values; the end itself may return
 * before the device has completed the transfer.
 *
 * If several leaves of a node are joined to one root on another node, a broadcast can send one
 * value for all of them, and a reduction whose order does not matter can send their combined value.
 * They do so if the ranks have on average more than 64 leaves that are joined to roots on other
 * nodes, and if at least a quarter of the values between nodes is saved. Fetches, and all other
 * broadcasts and reductions, send a value for each leaf.
 *
 * Every transfer is begun and ended. All ranks begin the same transfers of a forest in the same
 * order. They may end them in any order, and may interleave transfers of several forests in any
 * way. Neither call is a barrier: osla_forest_end waits for joined ranks only; a begin waits only
 * until the joined ranks of the node have read the transfer that was begun eight transfers earlier.
 * Between begin and end the values that are read must not change, and those that are written must
 * not be touched. Every other wait of the library, and osla_progress, also advances the transfers
 * that were begun; some waits do so only every 20 ms.
 *
 * If two joined ranks begin different transfers (another kind, combination, type, count, or order),
 * and one of them reads the other's values or waits for them, all ranks end with a message that
 * names both transfers.
 *
 * Threads: as osla_transport.h says of collective and of local calls.
 * Part: stable (osla.h).
 */
#ifndef OSLA_FOREST_H
#define OSLA_FOREST_H

#include "osla_api.h"
#include "osla_segment.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- values ---- */

typedef enum osla_unit_type {
  OSLA_UNIT_BYTES, /* bytes without a number type; the only combination is REPLACE */
  OSLA_UNIT_INT8,
  OSLA_UNIT_INT16,
  OSLA_UNIT_INT32,
  OSLA_UNIT_INT64,
  OSLA_UNIT_UINT8,
  OSLA_UNIT_UINT16,
  OSLA_UNIT_UINT32,
  OSLA_UNIT_UINT64,
  OSLA_UNIT_FLOAT,
  OSLA_UNIT_DOUBLE,
  OSLA_UNIT_LONG_DOUBLE,
  OSLA_UNIT_COMPLEX_FLOAT, /* complex numbers, which have no combinations MIN and MAX */
  OSLA_UNIT_COMPLEX_DOUBLE,
  /* values with positions; the only combinations are MINLOC, MAXLOC and REPLACE */
  OSLA_UNIT_FLOAT_AT,
  OSLA_UNIT_DOUBLE_AT,
  OSLA_UNIT_INT64_AT,
  OSLA_UNIT_TYPES
} osla_unit_type;

/* A value and its position, for MINLOC and MAXLOC. */
typedef struct osla_float_at {
  float value;
  int32_t at;
} osla_float_at;
typedef struct osla_double_at {
  double value;
  int64_t at;
} osla_double_at;
typedef struct osla_int64_at {
  int64_t value;
  int64_t at;
} osla_int64_at;

typedef struct osla_unit {
  osla_unit_type type;
  int32_t count; /* number of values in a vertex, at least 1 */
  /* distance in bytes from one vertex to the next in this rank's arrays; 0: vertices are adjacent.
   * Ranks may use different strides */
  int64_t stride;
} osla_unit;

#define OSLA_ONE_DOUBLE ((osla_unit){OSLA_UNIT_DOUBLE, 1, 0})
#define OSLA_ONE_INT64  ((osla_unit){OSLA_UNIT_INT64, 1, 0})

/* How a value that arrives is combined with the value at its destination. REPLACE overwrites it.
 * Logical combinations give 0 or 1; logical and bitwise ones are for integers. MINLOC and MAXLOC
 * take the smaller position of equal values. Sums and products of integers must not overflow in any
 * partial result. */
typedef enum osla_forest_combine {
  OSLA_REPLACE,
  OSLA_SUM,
  OSLA_PROD,
  OSLA_MIN,
  OSLA_MAX,
  OSLA_LOGICAL_AND,
  OSLA_LOGICAL_OR,
  OSLA_LOGICAL_XOR,
  OSLA_BITS_AND,
  OSLA_BITS_OR,
  OSLA_BITS_XOR,
  OSLA_MINLOC,
  OSLA_MAXLOC,
  OSLA_SUM_ARRIVAL, /* sum, like SUM, but the order of the terms, and so the rounding, may change */
  /* exact sum of real or complex floating-point numbers, rounded once: the bits are equal in any
     order, on any number of ranks, in any distribution */
  OSLA_SUM_EXACT,
  OSLA_COMBINES
} osla_forest_combine;

/* Allocates memory whose values ranks of the node read in place. Collective; `bytes` may differ by
 * rank and be 0.
 *   out [out] this rank's memory, zeroed, aligned to pages; owned by the library until
 *             osla_vertices_free; not NULL even if bytes = 0
 * osla_vertices_free is collective, accepts NULL and sets the pointer to NULL.
 * Errors, on all ranks together: MEM, MPI; osla_vertices_create: RANGE (65,536 arrays exist,
 * including those of sparse matrices and solvers); osla_vertices_free: STATE (a transfer of any
 * forest of the transport is under way), ARG (memory that is not from osla_vertices_create, or not
 * the array of the other ranks). */
OSLA_API osla_err osla_vertices_create(osla_transport *transport, size_t bytes, void **out);
OSLA_API osla_err osla_vertices_free(osla_transport *transport, void **vertices);

/* ---- graphs ---- */

typedef struct osla_forest osla_forest;

/* Root number `index` of a rank, from 0. */
typedef struct osla_root {
  int32_t rank;
  int64_t index;
} osla_root;

/* Makes a forest. Collective.
 *   n_roots  [in]  number of this rank's roots, 0 .. n_roots - 1, with or without leaves
 *   n_edges  [in]  number of this rank's leaves that are joined to roots
 *   leaf     [in]  [n_edges] index of each leaf, in any order, with gaps, none twice; NULL: 0 ..
 *                  n_edges - 1
 *   root     [in]  [n_edges] the root of each leaf, on any rank
 *   out      [out] owned by the caller
 * The lists are copied. The indices of the edges to one rank are not stored if they ascend by 1. If
 * that rank is on another node, indices that form a block of up to three dimensions (rows of at
 * least 8 indices, equal steps) are not stored either. Memory of the lists: at most 12 bytes an
 * edge; 0 for a halo of blocks between nodes. Memory of the rings (buffers for values that are not
 * read in place), for each joined rank and direction: on a node 17 to 33 KiB for at most 128 edges,
 * and 64 bytes an edge, but at most 512 KiB, for more edges; to another node 128 bytes an edge,
 * from 17 to 505 KiB, and a send buffer of equal size. A page of a ring takes memory only after a
 * value has passed through it. If one value is sent between nodes for several leaves, the library
 * makes three more forests. Together they use the memory described here for the edges of this
 * forest, and for one further edge for each value that is sent between nodes.
 * Errors, on all ranks together: ARG (a rank out of range; a root that its owner does not have,
 * with the owner's count; a leaf twice; a negative index or count), RANGE (an index of 2^32 or
 * more; all 16 progress hooks of the transport are in use), MEM, MPI. */
OSLA_API osla_err osla_forest_create(osla_transport *transport, int64_t n_roots, int64_t n_edges,
                                     const int64_t *leaf, const osla_root *root, osla_forest **out);

/* Makes a forest from global indices: rank p owns the roots start[p] .. start[p + 1] - 1.
 * Collective.
 *   start    [in]  [size + 1] start[0] = 0, never descending; equal on all ranks
 *   root     [in]  [n_edges] global index of the root of each leaf
 * n_edges, `leaf` and `out` are those of osla_forest_create. Errors, on all ranks together: those
 * of osla_forest_create; ARG (start[0] is not 0, start descends, or ranks pass different lists). */
OSLA_API osla_err osla_forest_create_global(osla_transport *transport, const int64_t *start,
                                            int64_t n_edges, const int64_t *leaf,
                                            const int64_t *root, osla_forest **out);

/* Forests of common patterns. Collective; *out is owned by the caller. Errors, on all ranks
 * together: those of osla_forest_create; ARG (a negative number, no such rank, a rank or n that
 * differs).
 *
 * All-gather: the roots of all ranks are numbered in the order of ranks; leaf i of every rank is
 * joined to the root with number i. n_roots may differ by rank. Gather: only `rank` has leaves. */
OSLA_API osla_err osla_forest_allgather(osla_transport *transport, int64_t n_roots,
                                        osla_forest **out);
OSLA_API osla_err osla_forest_gather(osla_transport *transport, int64_t n_roots, int rank,
                                     osla_forest **out);

/* All-to-all of n values: leaf p * n + i of rank q is joined to root q * n + i of rank p. */
OSLA_API osla_err osla_forest_alltoall(osla_transport *transport, int64_t n, osla_forest **out);

/* Destroys a forest. Collective. Accepts NULL and sets the handle to NULL. Returns when all ranks
 * have read the transfers that ended by osla_forest_end_read. Errors, on all ranks together, and
 * the forest stays: STATE (a rank has a transfer that has not ended), ARG (ranks have begun
 * different numbers of transfers, or pass different forests). */
OSLA_API osla_err osla_forest_destroy(osla_forest **forest);

/* Local queries. The lists of ranks ascend, include this rank if it is joined to itself, and belong
 * to the forest. */
OSLA_API int64_t osla_forest_n_roots(const osla_forest *forest);
OSLA_API int64_t osla_forest_n_edges(const osla_forest *forest);
/* largest index of a leaf of this rank, plus 1 */
OSLA_API int64_t osla_forest_leaf_space(const osla_forest *forest);
OSLA_API int osla_forest_root_ranks(const osla_forest *forest,
                                    const int **ranks); /* ranks with roots of this rank's leaves */
OSLA_API int osla_forest_leaf_ranks(const osla_forest *forest,
                                    const int **ranks); /* ranks with leaves of this rank's roots */
OSLA_API osla_transport *osla_forest_transport(const osla_forest *forest);

/* This rank's edges, sorted by root rank. Local.
 *   leaf, root [out] [n_edges], the caller's */
OSLA_API void osla_forest_edges(const osla_forest *forest, int64_t *leaf, osla_root *root);

/* Describes this rank's part of a forest in lines of text: the numbers of roots, edges and leaves;
 * for each joined rank the number of edges, whether the rank is on this node, and the indices as a
 * range, a block, or a list. Local.
 *   edges [in]  true: also writes a line for every edge of this rank's leaves
 *   text  [out] [size] as much as fits, with a final 0 if size > 0; owned by the caller
 * Returns the length of the whole text without the final 0, as snprintf does: the text is complete
 * if the length is below `size`. */
OSLA_API size_t osla_forest_view(const osla_forest *forest, bool edges, char *text, size_t size);

/* degree[j] := number of leaves that are joined to this rank's root j. degree: [n_roots], the
 * caller's. Local. */
OSLA_API void osla_forest_degrees(const osla_forest *forest, int64_t *degree);

/* Forests derived from forests (sections 3.2 and 3.3 of the paper). Collective. The given forests
 * stay valid, and may be destroyed before the result. Roots and leaves keep their indices unless a
 * call says otherwise. *out is owned by the caller. Errors of all calls below, on all ranks
 * together: ARG (as each call says), STATE (a given forest has so many transfers under way that
 * none can begin), RANGE (2^32 roots or edges, or more, on a rank), MEM, MPI. */

/* Splits each root into one root for each of its leaves: the roots for the leaves of root 0 come
 * first, in the order of leaf ranks and of their lists, then those of root 1, and so on. A
 * reduction with REPLACE then gathers the values of all leaves; a broadcast scatters them. (The
 * multi-SF of the paper.) */
OSLA_API osla_err osla_forest_split(osla_forest *forest, osla_forest **out);

/* Joins the leaves of `b` to the roots of `a`: where a leaf of `a` and a root of `b` have equal
 * index and rank, the leaves of the root of `b` are joined to the root of the leaf of `a`. ARG:
 * forests of two transports. */
OSLA_API osla_err osla_forest_compose(osla_forest *a, osla_forest *b, osla_forest **out);

/* Joins the roots of `b`, as leaves, to the roots of `a`: a root of `b` to a root of `a` if they
 * have leaves of equal index on the same rank. ARG: forests of two transports; a root of `b` has
 * more than one leaf. */
OSLA_API osla_err osla_forest_compose_inverse(osla_forest *a, osla_forest *b, osla_forest **out);

/* Exchanges roots and leaves. On each rank the result has osla_forest_leaf_space(forest) roots.
 * ARG: a root has more than one leaf. */
OSLA_API osla_err osla_forest_inverse(osla_forest *forest, osla_forest **out);

/* Keeps only the edges of the chosen roots, or leaves, of this rank. chosen: [n] indices; leaves
 * without an edge are allowed. ARG: an index outside 0 .. n_roots - 1, or outside 0 .. leaf_space -
 * 1. */
OSLA_API osla_err osla_forest_embed_roots(osla_forest *forest, int64_t n, const int64_t *chosen,
                                          osla_forest **out);
OSLA_API osla_err osla_forest_embed_leaves(osla_forest *forest, int64_t n, const int64_t *chosen,
                                           osla_forest **out);

/* Concatenates n forests. On each rank the leaves of forest k + 1 follow the leaf_space leaves of
 * forest k, and the roots of forest k + 1 follow the n_roots roots of forest k; with same_roots all
 * forests have the roots of the first one. ARG: n < 1; an n or same_roots that differs by rank;
 * same_roots with different n_roots; forests of two transports. A rank that passes n < 1 fails
 * alone, and ranks that pass more forests wait for it for ever. */
OSLA_API osla_err osla_forest_concatenate(int n, osla_forest *const *forests, bool same_roots,
                                          osla_forest **out);

/* Creates the forest that has `count` edges for each edge of `forest`. For an edge that joins leaf
 * j to root i, and for each c from 0 to count - 1, the new forest joins leaf j * leaf_stride + c to
 * root i * root_stride + c. leaf_stride may differ by rank. ARG: count < 1; strides below count; a
 * count or root_stride that differs by rank. RANGE: 2^32 vertices or more. */
OSLA_API osla_err osla_forest_strided(osla_forest *forest, int64_t count, int64_t root_stride,
                                      int64_t leaf_stride, osla_forest **out);

/* Makes a forest whose vertices are the values of sections. A section is a vertex with any number
 * of values, which may be 0: the values of root j are the roots root_start[j] .. root_start[j + 1]
 * - 1 of the result, those of leaf i are its leaves leaf_start[i] .. leaf_start[i + 1] - 1, and
 * value c of a leaf is joined to value c of its root. A broadcast of numbers of values gives each
 * leaf the number of its root. Leaves of one root keep their order in reductions. (Section 4.2 of
 * the paper uses such forests for degrees of freedom on meshes.)
 *   root_start [in] [n_roots + 1] index of the first value of each root, then the number of all
 *              values of roots; root_start[0] = 0, never descending
 *   leaf_start [in] [leaf_space + 1] index of the first value of each leaf, then the number of all
 *              values of leaves; leaf_start[0] = 0, never descending; a leaf without an edge may
 *              have any number of values
 * Errors: ARG (a list is NULL, does not begin with 0, or descends; a leaf and its root have
 * different numbers of values: the message has both numbers), RANGE (2^32 values or more on a
 * rank). */
OSLA_API osla_err osla_forest_sections(osla_forest *forest, const int64_t *root_start,
                                       const int64_t *leaf_start, osla_forest **out);

/* ---- transfers ---- */

/* A transfer under way. Each transfer must be ended exactly once. */
typedef struct osla_forest_run {
  osla_forest *forest;
  uint64_t number; /* number of the transfer among those of its forest, from 1 */
} osla_forest_run;

/* Begins a broadcast: leaves[i] := leaves[i] (combine) value of its root, for all leaves. The array
 * of roots, or of leaves, may be NULL on a rank that has no roots, or no leaves, with edges.
 * Errors: those listed after osla_forest_fetch_begin. */
OSLA_API osla_err osla_forest_bcast_begin(osla_forest *forest, osla_unit unit, const void *roots,
                                          void *leaves, osla_forest_combine combine,
                                          osla_forest_run *run);

/* Begins a reduction: roots[j] := roots[j] (combine) values of its leaves, one after the other, in
 * the order of leaf ranks and of the list of each rank: the same bits in every run. SUM_ARRIVAL
 * promises no order, so that one value may cross between nodes for all leaves of a node, as for
 * combinations of integers other than REPLACE. SUM_EXACT gathers all values, which takes a unit and
 * 4 bytes for each edge, and 8 bytes for each root. The memory of the units is freed at the end of
 * the transfer, the other memory with the forest. Errors: those listed after
 * osla_forest_fetch_begin. */
OSLA_API osla_err osla_forest_reduce_begin(osla_forest *forest, osla_unit unit, const void *leaves,
                                           void *roots, osla_forest_combine combine,
                                           osla_forest_run *run);

/* Begins a fetch: a reduction in the order of ranks and lists, in which each leaf also gets the
 * value that its root had before the leaf's value was combined with it, in before[i]. SUM_EXACT is
 * not allowed. SUM_ARRIVAL is allowed for integers of 4 and 8 bytes, and promises only that the
 * leaves of a root come one after the other, and the leaves of one rank in the order of its list.
 * Errors: those listed after this call. */
OSLA_API osla_err osla_forest_fetch_begin(osla_forest *forest, osla_unit unit, void *roots,
                                          const void *leaves, void *before,
                                          osla_forest_combine combine, osla_forest_run *run);

/* Errors of osla_forest_bcast_begin, osla_forest_reduce_begin and osla_forest_fetch_begin, on this
 * rank:
 * UNSUPPORTED: values of type long double on a device, or a device whose plug-in was compiled
 * without nvcc and therefore has no kernels.
 * ARG: an array that lies on another rank's device, does not end in its piece of device memory, or
 * lies in device memory that is not registered; a unit of unknown type or count < 1; a combination
 * that the type does not have; a stride smaller than the unit; values or a stride that are not
 * multiples of the type's alignment in C; a vertex that is read and a vertex that is written in the
 * same memory (vertices may interleave, as points and ghosts of a mesh, or fields of a record).
 * RANGE: an exact sum, or a reduction by a function, on a rank with 2^32 edges or more.
 * STATE: the transfer that was begun eight transfers earlier on this forest has not ended. At most
 * 8 transfers of a forest may be under way, and any number of different forests. After an error
 * nothing was begun. Unless all ranks fail alike, the program must then end (osla_transport_abort),
 * since other ranks wait for this one. If this rank lacks memory, all ranks end with a message. */

/* Return the error that the begin of the transfer would return on this rank. Ranks that are unsure
 * of their arguments can so agree on the results (osla_agree) before any of them begins. Local.
 * Errors: UNSUPPORTED, ARG and STATE as for the begin of the transfer, and MEM. These calls do not
 * detect the error RANGE (an exact sum of 2^32 edges). */
OSLA_API osla_err osla_forest_bcast_check(osla_forest *forest, osla_unit unit, const void *roots,
                                          void *leaves, osla_forest_combine combine);
OSLA_API osla_err osla_forest_reduce_check(osla_forest *forest, osla_unit unit, const void *leaves,
                                           void *roots, osla_forest_combine combine);
OSLA_API osla_err osla_forest_fetch_check(osla_forest *forest, osla_unit unit, void *roots,
                                          const void *leaves, void *before,
                                          osla_forest_combine combine);

/* Waits until the transfer is over on this rank: the values written on this rank are complete, and
 * the values read from it may be overwritten. If values lie on a device, the call need not wait for
 * the device: only work that is queued later in the device's stream may use or overwrite the
 * values. Before host code or another stream uses them, call osla_device_wait. Clears *run. Local.
 * Errors: STATE (the transfer was not begun, or has ended). */
OSLA_API osla_err osla_forest_end(osla_forest_run *run);

/* *done := true if the transfer is over on this rank; it has then ended as by osla_forest_end.
 * Local; makes progress. Errors: STATE as osla_forest_end. */
OSLA_API osla_err osla_forest_test(osla_forest_run *run, bool *done);

/* Begin and end a transfer in one call. Errors: those of the begin of the transfer. */
OSLA_API osla_err osla_forest_bcast(osla_forest *forest, osla_unit unit, const void *roots,
                                    void *leaves, osla_forest_combine combine);
OSLA_API osla_err osla_forest_reduce(osla_forest *forest, osla_unit unit, const void *leaves,
                                     void *roots, osla_forest_combine combine);
OSLA_API osla_err osla_forest_fetch(osla_forest *forest, osla_unit unit, void *roots,
                                    const void *leaves, void *before, osla_forest_combine combine);

/* Combines `count` numbers of one vertex: inout[c] := inout[c] (combine) in[c]. Both arrays hold
 * numbers of the unit's type, which are adjacent and aligned as in C. The function must return,
 * must not call OSLA or MPI, and may be called by any thread that waits in a call of OSLA.
 *   inout   [in, out] [count] value of the root so far
 *   in      [in] [count] value of a leaf
 *   context [in, out] the caller's; valid until the transfer has ended on this rank */
typedef void osla_forest_function(int64_t count, void *inout, const void *in, void *context);

/* Begins a reduction whose combination is a function of the caller: roots[j] := function of
 * roots[j] and the value of each of its leaves, one after the other, in the order of leaf ranks and
 * of the list of each rank. So the function need not commute, and the result has the same bits in
 * every run. Units of all types are allowed, also bytes. All ranks must begin it at the same
 * position among the transfers of the forest, with equal unit. Functions are called only on ranks
 * with roots; they may differ between ranks, and are not compared. Values of leaves are gathered
 * first; the memory for them is that of SUM_EXACT. Values must lie in host memory. Errors: those
 * listed after osla_forest_fetch_begin; ARG (function is NULL), UNSUPPORTED (an array lies on a
 * device). */
OSLA_API osla_err osla_forest_reduce_with_begin(osla_forest *forest, osla_unit unit,
                                                const void *leaves, void *roots,
                                                osla_forest_function *function, void *context,
                                                osla_forest_run *run);

/* Begins and ends a reduction by a function in one call. Errors: those of the begin. */
OSLA_API osla_err osla_forest_reduce_with(osla_forest *forest, osla_unit unit, const void *leaves,
                                          void *roots, osla_forest_function *function,
                                          void *context);

/* Begin a gather, which copies the values of all leaves to their roots, and a scatter, which copies
 * them back (section 3.2 of the paper). A leaf without an edge takes no part.
 *   leaves   [in] of a gather, [out] of a scatter: [leaf_space] units
 *   gathered [out] of a gather, [in] of a scatter: [sum of osla_forest_degrees] units: those of the
 *            leaves of root 0 come first, in the order of leaf ranks and of their lists, then those
 *            of the leaves of root 1, and so on
 * Either array may be NULL on a rank that has no vertices of it. No value that is read may lie in
 * the memory of one that is written. osla_forest_end, osla_forest_test and osla_forest_end_read end
 * the transfer. At most 8 gathers and scatters of a forest may be under way; other transfers of the
 * forest do not count. All ranks must begin gathers and scatters in the same order, also relative
 * to other transfers of the forest; ranks wait for ever if one begins a gather or scatter where
 * another begins a broadcast, reduction or fetch. Combination: REPLACE, so that units of all types
 * are allowed. The first begin of a gather or scatter of a forest is collective and a barrier,
 * because it makes the forest of osla_forest_split, which osla_forest_destroy destroys. Later
 * begins are no barrier. Errors: those listed after osla_forest_fetch_begin; the first begin also
 * returns, on all ranks together, those of osla_forest_split. */
OSLA_API osla_err osla_forest_gather_leaves_begin(osla_forest *forest, osla_unit unit,
                                                  const void *leaves, void *gathered,
                                                  osla_forest_run *run);
OSLA_API osla_err osla_forest_scatter_leaves_begin(osla_forest *forest, osla_unit unit,
                                                   const void *gathered, void *leaves,
                                                   osla_forest_run *run);

/* Begin and end a gather or a scatter in one call. Errors: those of the begin. */
OSLA_API osla_err osla_forest_gather_leaves(osla_forest *forest, osla_unit unit, const void *leaves,
                                            void *gathered);
OSLA_API osla_err osla_forest_scatter_leaves(osla_forest *forest, osla_unit unit,
                                             const void *gathered, void *leaves);

/* Ends a transfer as osla_forest_end does, but without waiting until other ranks have read this
 * rank's values. The values must not change until osla_forest_writable, which waits for the readers
 * of all transfers that ended in this way. With OSLA_VERIFY=on in the environment the next begin,
 * writable or destroy of the forest finds values in host memory that changed too early, and ends
 * all ranks with a message. Local. Errors: STATE as osla_forest_end. */
OSLA_API osla_err osla_forest_end_read(osla_forest_run *run);
OSLA_API osla_err osla_forest_writable(osla_forest *forest);

#ifdef __cplusplus
}
#endif
#endif
