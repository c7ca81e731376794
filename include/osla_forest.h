/* Star forests: irregular communication that is described once and used often (floor 3).
 *
 * A star is a root vertex and the leaves that are joined to it; a forest is many of them, whose
 * roots and leaves lie on the ranks of a transport (Zhang et al., The PetscSF Scalable
 * Communication Layer, IEEE TPDS 2022, section 3). Each rank says for each of its leaves which root
 * of which rank it is joined to; a rank need not know who is joined to its roots.
 *
 * A vertex holds a *unit*, the same on all ranks: some numbers of one type, or bytes. The values of
 * a rank's roots are an array of units, those of its leaves another one; the forest does not own
 * them. Values in memory of osla_vertices_create (or of a segment that is named to
 * osla_vertices_in) are read in place by the ranks of the node: one load, one store, no message
 * (but where values of up to 16 bytes lie almost alone in their lines of memory, and where two
 * ranks exchange 512 bytes or less: these are packed). Values elsewhere are staged once; the two
 * may be mixed, and ranks may differ.
 *
 * Between nodes values travel in parts. A broadcast sends a value that several leaves of a node
 * need across once, and so does a reduction what leaves of a node have for one root, if its order
 * does not count (where that saves a quarter or more, of more than a few); else, and of fetches,
 * each leaf's crosses.
 *
 * Every transfer is begun and ended. Begin is collective over the forest in the sense that all
 * ranks begin the same transfers in the same order; they may end them in any order, and begin and
 * end those of several forests in orders that cross. Neither is a barrier: a rank waits in End for
 * those that it is joined to, and only for them; Begin waits where a neighbour has yet to read the
 * eighth transfer before. Between Begin and End the values that are read must stay as they are, and
 * those that are written must not be touched. What was begun is also read and sent in every other
 * wait of the library, which may look for it in 20 ms alone, and in osla_progress.
 *
 * Where two joined ranks begin different transfers (another kind, combination, type or count, or
 * another order) and one reads what the other gives, or waits for it, all ranks end with a line
 * that says what the two have begun.
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
  OSLA_UNIT_BYTES, /* of any meaning: REPLACE alone */
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
  OSLA_UNIT_COMPLEX_FLOAT, /* no MIN, MAX */
  OSLA_UNIT_COMPLEX_DOUBLE,
  OSLA_UNIT_FLOAT_AT, /* osla_float_at, osla_double_at, osla_int64_at: MINLOC, MAXLOC, REPLACE */
  OSLA_UNIT_DOUBLE_AT,
  OSLA_UNIT_INT64_AT,
  OSLA_UNIT_TYPES
} osla_unit_type;

/* A value and where it is. */
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
  int32_t count;  /* so many in each vertex, at least 1 */
  int64_t stride; /* bytes from one vertex to the next, of this rank's roots and leaves alike; 0:
                     they follow one another. Ranks may differ in it */
} osla_unit;

#define OSLA_ONE_DOUBLE ((osla_unit){OSLA_UNIT_DOUBLE, 1, 0})
#define OSLA_ONE_INT64  ((osla_unit){OSLA_UNIT_INT64, 1, 0})

/* What becomes of the value that is there: it is replaced, or combined with the one that comes.
 * Logical ones give 0 or 1; bitwise ones and those are for integers. MINLOC and MAXLOC of equal
 * values take the smaller position. Sums and products of integers must not overflow, nor those of
 * any of their terms. */
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
  OSLA_SUM_ARRIVAL, /* as SUM, in the order in which values arrive: other bits in each run */
  OSLA_SUM_EXACT, /* of float, double and complex ones: as if summed without rounding, then rounded
                     once: the same bits for any order, number of ranks and distribution */
  OSLA_COMBINES
} osla_forest_combine;

/* Memory whose values neighbours read in place. Collective; `bytes` may differ by rank, and be 0.
 *   out [out] this rank's memory, zeroed, aligned to pages; owned by the library until
 *             osla_vertices_free, which is collective, accepts NULL and nulls the pointer;
 *             never NULL, also where bytes = 0
 * Errors, on all ranks together: MEM, MPI; of _free STATE: a transfer of any forest
 * of the transport is under way; ARG: not from osla_vertices_create, or other
 * memory than on other ranks; of _create RANGE: 65,536 arrays are there, those of sparse matrices
 * and solvers among them. */
OSLA_API osla_err osla_vertices_create(osla_transport *transport, size_t bytes, void **out);
OSLA_API osla_err osla_vertices_free(osla_transport *transport, void **vertices);

/* From now on the values in this segment's data areas (a matrix's, an own one's) are read in place,
 * too, until osla_vertices_out. The segment is borrowed. Collective. Errors, on all ranks together:
 * MEM; ARG (no segment, or memory that was attached, which neighbours cannot read); of _out STATE
 * (a transfer is under way). */
OSLA_API osla_err osla_vertices_in(osla_segment *segment);
OSLA_API osla_err osla_vertices_out(osla_segment *segment);

/* ---- graphs ---- */

typedef struct osla_forest osla_forest;

/* A root: the index-th of that rank. */
typedef struct osla_root {
  int32_t rank;
  int64_t index;
} osla_root;

/* Makes a forest. Collective.
 *   n_roots  [in]  this rank's roots, 0 .. n_roots - 1, whether leaves are joined to them or not
 *   n_edges  [in]  this rank's leaves that are joined to roots
 *   leaf     [in]  [n_edges] the index of each, any order, gaps allowed, none twice;
 *                  NULL: 0 .. n_edges - 1
 *   root     [in]  [n_edges] what each is joined to; here or on any rank
 *   out      [out] owned by the caller
 * The lists are copied, where they are needed: none is kept of leaves, or of roots, that ascend by
 * 1 towards a rank, nor of those that form a block of up to three dimensions (rows of 8 and more,
 * equal steps) where that rank is on another node. Memory: 4 bytes for each leaf and 4 for each
 * root of the others on the leaves' side, 4 more on the other where that is another node, 12 at
 * most (for a halo of blocks 0 in place of 12); for each other rank that has leaves of my roots,
 * and for each that has roots of my leaves, a ring of 64 bytes an edge between the two, from 17 KiB
 * (of 128 edges 34) to 512; where that rank is on another node 128 bytes an edge, from 17 KiB to
 * 505, and as much again; of it is touched what travels through it. Where broadcasts cross between
 * nodes once, as much for another three forests, whose edges are those of this one and one for each
 * value that crosses. Errors, on all ranks together: ARG (a rank out of range; a root that its
 * owner has not, with the owner's count; a leaf twice; a negative index or count), RANGE (an index
 * of 2^32 or more; all 16 progress hooks of the transport are in use), MEM, MPI. */
OSLA_API osla_err osla_forest_create(osla_transport *transport, int64_t n_roots, int64_t n_edges,
                                     const int64_t *leaf, const osla_root *root, osla_forest **out);

/* The same from global indices: rank p owns the roots start[p] .. start[p + 1] - 1.
 *   start [in] [size + 1] from 0, none less than the one before, the same on all ranks
 *   root  [in] [n_edges] global indices
 * Errors: as above; ARG where start does not ascend. */
OSLA_API osla_err osla_forest_create_global(osla_transport *transport, const int64_t *start,
                                            int64_t n_edges, const int64_t *leaf,
                                            const int64_t *root, osla_forest **out);

/* Known shapes. Collective; *out is owned by the caller. Errors, on all ranks together: ARG (a
 * negative number, no such rank; a rank or n that differ), and as above.
 *
 * All-gather: leaf i of every rank is joined to the i-th root of all ranks, one rank's after the
 * other's; n_roots may differ by rank. Gather: the same leaves on one rank alone. */
OSLA_API osla_err osla_forest_allgather(osla_transport *transport, int64_t n_roots,
                                        osla_forest **out);
OSLA_API osla_err osla_forest_gather(osla_transport *transport, int64_t n_roots, int rank,
                                     osla_forest **out);

/* All-to-all: leaf p * n + i of rank q is joined to root q * n + i of rank p. */
OSLA_API osla_err osla_forest_alltoall(osla_transport *transport, int64_t n, osla_forest **out);

/* Collective. Accepts NULL and nulls the handle. On all ranks, and the forest stays: STATE, where
 * any rank has a transfer that has not ended; ARG, where some have begun fewer than others. What
 * has ended by osla_forest_end_read has been read then. */
OSLA_API osla_err osla_forest_destroy(osla_forest **forest);

/* Local queries. Of ranks: ascending, mine among them where I am joined to myself; borrowed. */
OSLA_API int64_t osla_forest_n_roots(const osla_forest *forest);
OSLA_API int64_t osla_forest_n_edges(const osla_forest *forest);
OSLA_API int64_t osla_forest_leaf_space(const osla_forest *forest); /* the largest leaf index + 1 */
OSLA_API int osla_forest_root_ranks(const osla_forest *forest,
                                    const int **ranks); /* of my leaves' roots */
OSLA_API int osla_forest_leaf_ranks(const osla_forest *forest,
                                    const int **ranks);                    /* of my roots' leaves */
OSLA_API osla_transport *osla_forest_transport(const osla_forest *forest); /* its object keeps it */

/* This rank's edges, by the roots' ranks: leaf, root [n_edges], the caller's. Local. */
OSLA_API void osla_forest_edges(const osla_forest *forest, int64_t *leaf, osla_root *root);

/* What this rank has of a forest, as lines of text: how many roots, edges and leaves; for each rank
 * that it is joined to how many edges, whether that is on its node, and which indices: a range, a
 * block, or a list. Local.
 *   edges [in]  every edge of a leaf of mine, too, a line for each
 *   text  [out] [size] as much as has room, ending with 0 (size > 0); the caller's
 * Returns how long the whole text is without that 0, as snprintf does: where it is below `size`,
 * all is there. */
OSLA_API size_t osla_forest_view(const osla_forest *forest, bool edges, char *text, size_t size);

/* degree[j] := how many leaves are joined to my root j; [n_roots], the caller's. Local. */
OSLA_API void osla_forest_degrees(const osla_forest *forest, int64_t *degree);

/* Forests from forests. Collective; those that they are made of stay, and may go. Roots and leaves
 * keep their indices, unless it is said otherwise. *out is owned by the caller. Errors, on all
 * ranks together: ARG (as said), STATE (no transfer can begin on one that they are made of, see
 * below), MEM, MPI. Sections 3.2 and 3.3 of the paper. */

/* Each leaf gets a root of its own: those of root 0 first, in the order of the leaves' ranks and
 * lists, then those of root 1, and so on. A reduction with REPLACE then gathers the values of all
 * leaves at their roots, a broadcast scatters them. (Their multi-SF.) */
OSLA_API osla_err osla_forest_split(osla_forest *forest, osla_forest **out);

/* The roots of `a` and the leaves of `b`, joined where a leaf of `a` is the root of `b` with the
 * same index on the same rank. */
OSLA_API osla_err osla_forest_compose(osla_forest *a, osla_forest *b, osla_forest **out);

/* The roots of `a`, and as leaves the roots of `b`: joined where both have a leaf with the same
 * index on the same rank. ARG: a root of `b` has more than one leaf. */
OSLA_API osla_err osla_forest_compose_inverse(osla_forest *a, osla_forest *b, osla_forest **out);

/* Roots become leaves, leaves roots (leaf_space of them on each rank). ARG: a root has more than
 * one leaf. */
OSLA_API osla_err osla_forest_inverse(osla_forest *forest, osla_forest **out);

/* Only the edges of these roots, or leaves, of mine: chosen [n] indices; a leaf without an edge may
 * be among them. ARG: no such root; a leaf not below leaf_space. */
OSLA_API osla_err osla_forest_embed_roots(osla_forest *forest, int64_t n, const int64_t *chosen,
                                          osla_forest **out);
OSLA_API osla_err osla_forest_embed_leaves(osla_forest *forest, int64_t n, const int64_t *chosen,
                                           osla_forest **out);

/* n forests side by side, on each rank: the leaves of each follow those of the one before
 * (leaf_space of them), and so do the roots (n_roots); `same_roots`: all have the roots of the
 * first one. ARG: none; other numbers of the same roots; of two transports. */
OSLA_API osla_err osla_forest_concatenate(int n, osla_forest *const *forests, bool same_roots,
                                          osla_forest **out);

/* Each edge becomes `count` edges: root i * root_stride + c and leaf j * leaf_stride + c, c <
 * count. leaf_stride may differ by rank. ARG: strides below count; a count or root_stride that
 * differ. RANGE: 2^32 vertices or more. */
OSLA_API osla_err osla_forest_strided(osla_forest *forest, int64_t count, int64_t root_stride,
                                      int64_t leaf_stride, osla_forest **out);

/* ---- transfers ---- */

/* One that was begun; to be ended exactly once. */
typedef struct osla_forest_run {
  osla_forest *forest;
  uint64_t number; /* of the forest's transfers, from 1 */
} osla_forest_run;

/* Values may be NULL on a rank that has none of them with edges.
 *
 * leaves[i] := leaves[i] (combine) roots[of i]. */
OSLA_API osla_err osla_forest_bcast_begin(osla_forest *forest, osla_unit unit, const void *roots,
                                          void *leaves, osla_forest_combine combine,
                                          osla_forest_run *run);

/* roots[j] := roots[j] (combine) all leaves[of j], one after the other in the order of the leaves'
 * ranks, and on each rank in the order of its list: the same bits in every run. SUM_ARRIVAL does
 * not wait for lower ranks first (nor does what has the same bits in any order anyway: integers,
 * but for REPLACE). SUM_EXACT gathers the leaves' values: a unit and 4 bytes for each of their
 * edges, 8 bytes for each root, kept from the first one on but for the units. */
OSLA_API osla_err osla_forest_reduce_begin(osla_forest *forest, osla_unit unit, const void *leaves,
                                           void *roots, osla_forest_combine combine,
                                           osla_forest_run *run);

/* The same in the same order, and each leaf gets the value that its root had before the leaf's was
 * combined with it: in before[i]. There is no SUM_EXACT of it.
 *
 * SUM_ARRIVAL is of integers of 4 and 8 bytes alone, and promises no order between ranks: the
 * leaves of a root come one after the other, those of a rank in the order of its list. */
OSLA_API osla_err osla_forest_fetch_begin(osla_forest *forest, osla_unit unit, void *roots,
                                          const void *leaves, void *before,
                                          osla_forest_combine combine, osla_forest_run *run);

/* Errors of these, on this rank: ARG (a unit of no type or count, without such a combination, with
 * a stride smaller than it; values or a stride that are not multiples of what C aligns the type to;
 * values that are read and values that are written in one place: vertices that may interleave, as
 * points and ghosts of a mesh or fields of a record), STATE (the eighth transfer before
 * it on this forest has not ended). Nothing was begun then; unless all ranks fail alike, the
 * program must end (osla_transport_abort), since others wait for this rank. Where this rank lacks
 * memory, all ranks end with a line. So up to 8 transfers may be under way on one forest, and any
 * number on different ones. */

/* What these would refuse here: ranks that are not sure of their arguments agree on the answers
 * (osla_agree) before any of them begins. Local. Errors: ARG, STATE as above, MEM; not RANGE (an
 * exact sum of 2^32 edges). */
OSLA_API osla_err osla_forest_bcast_check(osla_forest *forest, osla_unit unit, const void *roots,
                                          void *leaves, osla_forest_combine combine);
OSLA_API osla_err osla_forest_reduce_check(osla_forest *forest, osla_unit unit, const void *leaves,
                                           void *roots, osla_forest_combine combine);
OSLA_API osla_err osla_forest_fetch_check(osla_forest *forest, osla_unit unit, void *roots,
                                          const void *leaves, void *before,
                                          osla_forest_combine combine);

/* Waits until the transfer is over here: what is written here is complete, and what was read from
 * here may be overwritten. *run is cleared. Local. Errors: STATE (it was not begun, or has ended).
 */
OSLA_API osla_err osla_forest_end(osla_forest_run *run);

/* Has the values that neighbours on the node have begun to give brought to this core's caches,
 * while the program goes on: worth its call where they are few, and are not needed at once. Local;
 * no wait, no progress. Nothing else changes. */
OSLA_API void osla_forest_nearer(const osla_forest_run *run);

/* Is it over? Then this stands for osla_forest_end. Local; makes progress. */
OSLA_API osla_err osla_forest_test(osla_forest_run *run, bool *done);

/* Begin and end in one. */
OSLA_API osla_err osla_forest_bcast(osla_forest *forest, osla_unit unit, const void *roots,
                                    void *leaves, osla_forest_combine combine);
OSLA_API osla_err osla_forest_reduce(osla_forest *forest, osla_unit unit, const void *leaves,
                                     void *roots, osla_forest_combine combine);
OSLA_API osla_err osla_forest_fetch(osla_forest *forest, osla_unit unit, void *roots,
                                    const void *leaves, void *before, osla_forest_combine combine);

/* As osla_forest_end, but does not wait for others to read my values: they must stay as they are
 * until osla_forest_writable, which waits for all readers of all transfers that have ended so. With
 * OSLA_VERIFY=on in the environment values that were overwritten before that are found by their
 * owner's next begin, writable or destroy of the forest: all ranks end with a line. */
OSLA_API osla_err osla_forest_end_read(osla_forest_run *run);
OSLA_API osla_err osla_forest_writable(osla_forest *forest);

#ifdef __cplusplus
}
#endif
#endif
