/* Star forests: data shared by the implementations of the cases. README.md lists the files. */
#ifndef OSLA_BENCH_FOREST_H
#define OSLA_BENCH_FOREST_H

#include "bench/bench.h"

typedef enum forest_case {
  FOREST_PINGPONG, /* Round trip between two ranks: bcast REPLACE, then reduce REPLACE. */
  FOREST_GATHER,   /* bcast with REPLACE */
  FOREST_REDUCE,   /* reduce with SUM */
  FOREST_FETCH,    /* fetch with SUM */
  /* bcast with REPLACE; the leaves get the last roots of the previous rank and the first roots of
   * the next rank */
  FOREST_HALO,
  FOREST_SPMV, /* case spmv: product with a sparse matrix (bench_sparse.h) */
  FOREST_CG,
  FOREST_MIGRATE, /* migration: a mesh changes its distribution (bench_migrate.c) */
  FOREST_SETUP,   /* case setup: creation of a forest (bench_setup.c) */
  FOREST_CASES
} forest_case;

/* Value of a vertex: `count` in the case FETCH, `number` in the other cases. All values are
 * integers, so that sums are exact. */
typedef union forest_value {
  double number;
  int64_t count;
} forest_value;

/* List of this rank's leaves, or of this rank's roots, that have an edge to another rank. There is
 * one entry for each edge. Entries are sorted by the rank at the other end of the edge, then by the
 * leaf of the edge, so that both ranks of a pair list their common edges in equal order. */
typedef struct forest_list {
  int n_peers;
  /* [n_peers] ranks that share edges with this rank; peer, count, start and index are one
   * allocation */
  int *peer;
  int *count; /* [n_peers] number of edges to each peer */
  int *start; /* [n_peers + 1] position in `index` where the vertices of each peer begin */
  int *index; /* indices of this rank's vertices, sorted by the ranks in `peer` */
} forest_list;

/* Sets the peers of a list: every rank but this one with count[rank] > 0 vertices; `count` has an
 * element for each rank. The caller fills in `index`, and frees `peer`. Collective. Errors, on all
 * ranks together: MEM. */
osla_err forest_list_create(bench_job *job, const int *count, forest_list *l);

/* Edges of a case. Leaf i of a rank belongs to its edge i. */
typedef struct forest_graph {
  bench_job *job;
  forest_case which;
  int leaf_rank; /* PINGPONG: rank that has the leaves; rank 0 has the roots */
  /* number of roots on each rank that has roots, and of leaves on each rank that has leaves */
  int64_t n;
  int64_t n_roots, n_edges; /* number of roots and number of edges of this rank */
  /* [n_edges] root of each leaf, as rank of the root * n + index of the root */
  int64_t *root;
  /* this rank's leaves, and this rank's roots, that have edges to other ranks */
  forest_list leaves, roots;
  /* number of edges on this rank; edge i joins leaf own_leaf[i] and root own_root[i] */
  int64_t n_own;
  int *own_leaf, *own_root; /* [n_own] leaves and roots of the edges on this rank */
  /* true if both lists hold the vertices 0, 1, ..., so that values need no packing */
  bool contiguous;
  int64_t *total; /* REDUCE, FETCH: [size * n] sum of the leaves of each root */
  /* FETCH: [size * n] for each root, the sum of the leaves that were added before this rank's
   * leaves. */
  int64_t *before;
  int *arrival; /* arrival orders of all ranks, [size * size]; the check of FETCH uses them */
} forest_graph;

/* Creates the edges of a case. Collective. Errors, on all ranks together: MEM. */
osla_err forest_graph_create(bench_job *job, forest_case which, int64_t n, int leaf_rank,
                             forest_graph *g);
void forest_graph_free(forest_graph *g);

struct forest_method;

/* Values and state of one implementation of a case. */
typedef struct forest_data {
  forest_graph *graph;
  const struct forest_method *method;
  /* before: for FETCH, the values that roots had before leaves were added */
  forest_value *roots, *leaves, *before;
  int64_t first_root, n_roots; /* roots[0] is root number first_root of all roots */
  /* FETCH: [size] position, from 0, of each rank's leaves in the order in which they reached
   * this rank's roots. */
  int *arrival;
  bool in_no_order; /* FETCH: true if the order is unknown; `arrival` is not used then */
  int iterations;   /* number of transfers in a run, the same on all ranks */
  void *own;        /* data that only this implementation has, such as buffers and communicators */
} forest_data;

/* Functions of an implementation; NULL if it lacks the operation. All are collective. */
typedef struct forest_method {
  /* Allocates the values and the member `own`. destroy must be called, also after an error. */
  osla_err (*create)(forest_data *d);
  osla_err (*bcast)(forest_data *d);
  osla_err (*reduce)(forest_data *d);
  osla_err (*fetch)(forest_data *d);
  void (*destroy)(forest_data *d);
} forest_method;

/* Runs the case migrate with a mesh of about n cells. Collective. */
osla_err bench_migrate_case(bench_job *job, int64_t n);

/* Runs the case setup with n edges on each rank. Collective. */
osla_err bench_setup_case(bench_job *job, int64_t n);

/* Implementations in forest_osla.c: OSLA, and two limits, a copy of memory and a loop over local
 * memory. */

extern const forest_method forest_osla, forest_memcpy, forest_loop;
extern const forest_method forest_mpi; /* two-sided messages (forest_reference_mpi.c) */
/* neighbourhood collectives of MPI (forest_neighbor.c) */
extern const forest_method forest_neighbor;

/* Allocates the values of this rank's vertices by malloc. Collective. Errors: MEM. */
osla_err forest_values_create(forest_data *d);
void forest_values_free(forest_data *d);

/* Sets all values to those that they have before the first transfer. Local. */
void forest_values_set(forest_data *d);

/* *right := true if the values have exactly the bits that `iterations` transfers give. Collective;
 * all ranks get the same. */
osla_err forest_values_check(forest_data *d, bool *right);

/* --- loops of the implementations that pack by hand ---
 *
 * The elements of a buffer have the order of the list of vertices. `from` and `to` bound the range
 * of elements. */
static inline void forest_pack(const forest_list *l, int from, int to,
                               const forest_value *restrict values, forest_value *restrict buffer)
{
  for (int k = from; k < to; k++)
    buffer[k] = values[l->index[k]];
}

static inline void forest_unpack(const forest_list *l, int from, int to,
                                 const forest_value *restrict buffer, forest_value *restrict values)
{
  for (int k = from; k < to; k++)
    values[l->index[k]] = buffer[k];
}

static inline void forest_add(const forest_list *l, int from, int to,
                              const forest_value *restrict buffer, forest_value *restrict values)
{
  for (int k = from; k < to; k++)
    values[l->index[k]].number += buffer[k].number;
}

/* Adds the elements of the buffer to the values; the buffer then holds the values as they were
 * before the addition. */
static inline void forest_fetch_add(const forest_list *l, int from, int to,
                                    forest_value *restrict buffer, forest_value *restrict values)
{
  for (int k = from; k < to; k++) {
    int64_t before = values[l->index[k]].count;
    values[l->index[k]].count = before + buffer[k].count;
    buffer[k].count = before;
  }
}

/* Transfers along the edges whose ends are both on this rank. */
static inline void forest_own_bcast(forest_data *d)
{
  const forest_graph *g = d->graph;
  for (int64_t i = 0; i < g->n_own; i++)
    d->leaves[g->own_leaf[i]] = d->roots[g->own_root[i]];
}

static inline void forest_own_reduce(forest_data *d)
{
  const forest_graph *g = d->graph;
  for (int64_t i = 0; i < g->n_own; i++)
    d->roots[g->own_root[i]].number += d->leaves[g->own_leaf[i]].number;
}

static inline void forest_own_fetch(forest_data *d)
{
  const forest_graph *g = d->graph;
  for (int64_t i = 0; i < g->n_own; i++) {
    d->before[g->own_leaf[i]] = d->roots[g->own_root[i]];
    d->roots[g->own_root[i]].count += d->leaves[g->own_leaf[i]].count;
  }
}

#endif
